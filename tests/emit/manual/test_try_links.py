"""A link into the evaluator, and what is copied from it, give the same results again."""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers.browser import Visits
from helpers.sizes import spread
from helpers.trying import follow, results, written
from ptxspec.__main__ import main
from ptxspec.model import Spec

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.exhaustive
def test_a_link_carries_the_whole_state(visit: Visits) -> None:
    page = visit("ex2.html#try=ex2.approx.f32&a=0.3&target=sm_75")
    assert page.locator("#try-target").input_value() == "sm_75" and results(page) == ["0x3f9d9624"]
    assert "reported" in page.locator("#try-claim").inner_text()
    page.locator("#try-operand-a").fill("0.5")
    page.wait_for_function("location.hash === '#try=ex2.approx.f32&a=0.5&target=sm_75'")
    shown = results(page)
    page.reload()
    assert page.locator("#try-operand-a").input_value() == "0.5" and results(page) == shown


@pytest.mark.exhaustive
def test_the_address_of_a_variant_chooses_it(visit: Visits) -> None:
    page = visit("max.html#max.NaN.f32-3")
    for state, spelling, operands in (
        (None, "max.NaN.f32", 3),
        ("max.ftz.f32", "max.ftz.f32", 2),
        ("try=max.f32.NaN.ftz", "max.ftz.NaN.f32", 2),
        ("try=max.f32-3", "max.f32", 3),
    ):
        if state:
            follow(page, state)
        assert page.locator("#try-variant").input_value() == spelling
        assert page.locator("#try-operands input").count() == operands
    follow(page, "max.NaN.xorsign.abs.f32")
    page.locator(".card.target .snippet").get_by_role("link", name="Try it").click()
    assert page.locator("#try-variant").input_value() == "max.NaN.xorsign.abs.f32"


HEARD = "() => { navigator.clipboard.writeText = async text => { globalThis.copied = text } }"


def copied(page: Page, name: str) -> str:
    page.get_by_role("button", name=name).click()
    assert "Copied" in page.locator("#try-copied").inner_text()
    text: str = page.evaluate("globalThis.copied")
    return text


@pytest.mark.exhaustive
def test_what_is_copied_gives_the_same(
    visit: Visits, ptxas: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], spec: Spec
) -> None:
    rng = random.Random(4)
    for opcode in spec.instructions:
        page = visit(f"{opcode}.html")
        page.evaluate(HEARD)
        variants = [v for v in spec.instructions[opcode].variants if not v.crash and not v.requires.until]
        for v in spread(variants, 3):
            texts = [written(rng, s.type) for s in v.sources for _ in s.places]
            names = [place for s in v.sources for place in s.places]
            shown = follow(page, "&".join([f"try={v.spelling}", *map("=".join, zip(names, texts, strict=True))]))
            address = copied(page, "Copy link")
            name, *command = shlex.split(copied(page, "Copy command"))
            assert name == "ptxspec" and main([*command, "--format", "json"]) == 0
            found = json.loads(capsys.readouterr().out)["result"]
            said = [str(x).lower() for x in (found if isinstance(found, list) else [found])]
            assert said == shown, command
            module = tmp_path / "module.ptx"
            module.write_text(copied(page, "Copy PTX"))
            target = re.search(r"\.target (\w+)", module.read_text())[1]  # type: ignore[index]
            if f"No current CUDA release compiles for {target}" not in module.read_text():
                subprocess.run([ptxas, "-arch", target, "-o", tmp_path / "module.cubin", module], check=True)
            follow(page, "try")
            follow(page, address.partition("#")[2])
            assert results(page) == shown
        visit.leave(page)

"""The evaluator in an opcode's page shows what `ptxspec eval` says, and whatever one types, nothing is lost."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import ptxemu
import pytest
from helpers.browser import Browser, Visits
from helpers.sizes import each_size, spread
from helpers.trying import follow, results, written
from ptxspec.evaluate import parse_operand
from ptxspec.model import BOOL, Spec, Type, Variant

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Lanes and packed results, predicates, a unit of a target.
SOME = ("cvt", "setp", "ex2")


@pytest.fixture(scope="module")
def opened(browser: Browser) -> Iterator[Page]:
    """One page for many tests: opening it takes longer than most of them."""
    visits = Visits(browser)
    yield visits("fma.html")
    visits.close()


@pytest.fixture
def fma(opened: Page) -> Page:
    follow(opened, "try")
    follow(opened, "try=fma.rn.f32&a=1.1&b=2.3&c=0.7")
    return opened


def emulated(v: Variant, texts: Sequence[str], target: str | None) -> list[str]:
    """Return the emulator's results for operands, read as `ptxspec eval` reads them."""
    types = [s.type for s in v.sources for _ in s.places]
    bits = [parse_operand(text, t) for text, t in zip(texts, types, strict=True)]
    arrays = [_array(x, t) for x, t in zip(bits, types, strict=True)]
    found = ptxemu.compile(v.spelling, v.operands, target)(*arrays, results=len(v.results))
    registers = found if isinstance(found, tuple) else (found,)
    return [_shown(x, r.type) for r, x in zip((r for r in v.results for _ in r.places), registers, strict=True)]


def _array(bits: int, type_: Type) -> np.generic:
    return np.bool_(bits) if type_.kind == BOOL else np.dtype(f"u{type_.width // 8}").type(bits)


def _shown(x: Any, type_: Type) -> str:
    return str(bool(x)).lower() if type_.kind == BOOL else f"0x{int(x.view(f'u{x.itemsize}')):0{type_.width // 4}x}"


@each_size
def test_the_page_shows_what_eval_says(visit: Visits, spec: Spec, whole: bool) -> None:
    rng = random.Random(16)
    for opcode in spec.instructions if whole else SOME:
        page = visit(f"{opcode}.html")
        variants = [v for v in spec.instructions[opcode].variants if not v.crash]
        for v in spread(variants, 40 if whole else 2):
            texts = [written(rng, s.type) for s in v.sources for _ in s.places]
            targets = [t for t in spec.targets if spec.catalog.takes(v.requires, t) and spec.reporter(v, t)]
            target = rng.choice(targets) if targets else None
            names = [place for s in v.sources for place in s.places]
            state = "&".join([f"try={v.spelling}", *map("=".join, zip(names, texts, strict=True))])
            follow(page, state + (f"&target={target}" if target else ""))
            assert page.locator("#try-stale").inner_text() == "", (state, page.locator(".wrong").all_inner_texts())
            assert results(page) == emulated(v, texts, target), (state, target)
            assert page.locator("#try-target").input_value() == (target or ""), state
        visit.leave(page)


def test_a_file_may_name_the_variant_that_comes_first(visit: Visits, spec: Spec) -> None:
    named = [i for i in spec.instructions.values() if i.trial]
    assert "cvt" in [i.opcode for i in named]
    for i in named:
        assert i.trial is not None
        v = next(v for v in i.variants if v.spelling == i.trial.spelling)
        assert v.listed and not v.hazards and not v.requires.until
        types = {place: s.type for s in v.sources for place in s.places}
        for place, text in i.trial.operands.items():
            parse_operand(text, types[place])
    page = visit("cvt.html")
    assert page.get_by_role("combobox", name="Variant").input_value() == "cvt.rn.satfinite.e4m3x2.f32"
    # One lane rounds, the other is clamped.
    assert page.locator("#try-results .value").all_inner_texts() == ["0.3125", "448.0"]
    assert page.locator("#try-stale").inner_text() == ""


@pytest.mark.exhaustive
def test_one_types_and_the_result_follows(fma: Page) -> None:
    page = fma
    place = page.locator("#try-results").bounding_box()
    for name, text in (("a", "1.5"), ("b", "0x40000000"), ("c", "-0x1p-1")):
        field = page.get_by_label(re.compile(rf"^{name} \."))
        field.fill(text[:-1] + "-")  # On the way there.
        assert page.locator("#try-results").bounding_box() == place
        field.fill(text)
    assert page.locator("#try-results .value").inner_text() == "2.5"
    assert page.locator("#try-results .forms").inner_text() == "0x1.4p+1 · 0x40200000 · a normal number"
    row = page.locator("#try-results .bit-row")
    assert row.get_attribute("aria-label") == "sign 0, exponent 10000000, fraction 01000000000000000000000"
    assert page.locator("#try-claim").inner_text().startswith("exact: IEEE 754 and NVIDIA's manual fix every bit")


@pytest.mark.exhaustive
def test_the_steps_name_their_lines_and_light_them(fma: Page) -> None:
    page = fma
    follow(page, "try=fma.rn.ftz.f32&a=0x00800000&b=0.5&c=0")
    steps = page.locator("#try-trace .step")
    assert steps.count() == 1
    said = steps.first.inner_text()
    assert "d = fusedMultiplyAdd(a, b, c, type)" in said and "a subnormal result becomes a zero of its sign" in said
    lit = page.locator("section.semantics .lit")
    assert "fusedMultiplyAdd" in lit.first.inner_text()
    place = steps.first.get_by_role("link", name="spec/instructions/fma.yaml:")
    place.click()
    assert page.evaluate("document.activeElement.classList.contains('lit')")
    page.get_by_label("more steps without effect").check()
    assert steps.count() == 5 and page.locator("#try-trace .step.idle").count() == 4
    follow(page, "try=fma.rn.ftz.f32&a=0x00000001&b=0.5&c=0")
    assert "copySign" in page.locator("section.semantics [data-path='spec/modifiers.yaml'] .lit").inner_text()


BAD = {
    "fma.rn.f32": {
        "": "a value is required",
        "1.5x": "is not a number",
        "inff": "did you mean 'inf'?",
        "0x3f8": "0x and 8 hexadecimal digits",
        "0x3f8000000": "0x and 8 hexadecimal digits",
        "1,2": "takes one number",
        "9" * 5001: "too long",
    },
    "fma.rn.bf16x2": {"1": "its bits, or its lanes as low,high", "1,2,3": "its bits, or its lanes"},
}
BAD_INTEGERS = {
    "slct.f32.s32": {"2147483648": "is out of range for .s32", "1.5": "is not an integer", "-": "is not a number"}
}
BAD_PREDICATES = {"selp.f32": {"maybe": "takes true or false", "1": "takes true or false"}}


# Types it and tells what is seen then.
TYPE = """([place, text]) => {
  const field = document.querySelectorAll("#try-operands input")[place];
  field.value = text;
  field.dispatchEvent(new Event("input", {bubbles: true}));
  const note = document.getElementById(field.getAttribute("aria-describedby"));
  return {
    text: field.value,
    invalid: field.getAttribute("aria-invalid"),
    note: note?.checkVisibility() ? note.innerText : "",
    greyed: document.querySelectorAll(".stale").length,
    said: document.getElementById("try-stale").innerText,
    copied: Array.from(document.querySelectorAll("button")).find(b => b.innerText === "Copy link")
      .disabled ? "no" : "yes",
  };
}"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("opcode, bad", [("fma", BAD), ("slct", BAD_INTEGERS), ("selp", BAD_PREDICATES)])
def test_bad_input_is_told_beside_its_field(visit: Visits, opcode: str, bad: dict[str, dict[str, str]]) -> None:
    page = visit(f"{opcode}.html")
    place = 0 if opcode == "fma" else 2
    for spelling, inputs in bad.items():
        follow(page, f"try={spelling}")
        good, before = page.locator("#try-operands input").nth(place).input_value(), results(page)
        for text, why in inputs.items():
            seen = page.evaluate(TYPE, [place, text])
            assert (seen["text"], seen["invalid"]) == (text, "true")
            assert why in seen["note"]
            assert results(page) == before and seen["greyed"] == 2, text  # The last one and its steps, greyed.
            assert seen["said"].endswith(f"The last result of {spelling} is shown.")
            assert seen["copied"] == "no"
            seen = page.evaluate(TYPE, [place, good])
            assert (seen["invalid"], seen["greyed"], seen["copied"]) == ("false", 0, "yes")


@pytest.mark.exhaustive
def test_a_variant_that_there_is_not_leads_to_those_that_there_are(fma: Page) -> None:
    page = fma
    before = results(page)
    field = page.get_by_role("combobox", name="Variant")
    field.fill("fma.rq.f32")
    field.press("Escape")
    assert field.input_value() == "fma.rn.f32"
    field.fill("fma.rn.f33")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    told = page.locator("#try-variant-told")
    assert "There is no variant fma.rn.f33" in told.inner_text()
    assert results(page) == before and page.locator(".outcome.stale").count() == 1
    told.get_by_role("button", name="fma.rn.f32", exact=True).click()
    assert field.get_attribute("aria-invalid") == "false" and page.locator(".outcome.stale").count() == 0
    field.fill("add.f32")
    field.press("Enter")
    assert told.get_by_role("link", name="add.f32").get_attribute("href") == "add.html#try=add.f32"


@pytest.mark.exhaustive
def test_what_was_typed_outlives_a_change_of_the_variant(fma: Page) -> None:
    page = fma
    follow(page, "try=fma.rn.f32&a=0.1&b=3&c=1e0")
    follow(page, "try=fma.rn.bf16x2")
    assert page.locator("#try-operand-a").input_value() == "0.1,0.1"
    assert page.locator("#try-operand-c").input_value() == "1.0,1.0"  # The number, not the text.
    follow(page, "try=fma.rn.f32")
    assert page.locator("#try-operand-a").input_value() == "0.1"
    assert page.locator("#try-operand-c").input_value() == "1e0"


# Links that lead nowhere any more, and those that stay

LOST = {
    "try=fma.rq.f32&a=1&b=2&c=3": "The link asks for fma.rq.f32, which does not exist (any more). Nearest: fma.r",
    "try=fma.rn.f32&a=1&b=2&z=3": "The link also gives z, which fma.rn.f32 does not have. The link gives no value",
    "try=fma.rn.f32&a=1&b=2&c=3&target=sm_9": "there is no target sm_9",
    "try=fma.rn.bf16&a=1&b=2&c=3&target=sm_75": "sm_75 does not support fma.rn.bf16",
    "try=&&&=": "The link names no variant. Nearest: fma.",
    "try=add.f32&a=1&b=2": "add.f32 is on another page.",
    "try=fma.rn.f32&a=%zz&b=2&c=3": "is not a number; write a number",
}


@pytest.mark.exhaustive
def test_the_address_that_one_goes_to_stays(fma: Page) -> None:
    """An address that one goes to is not replaced by that of an operand typed just before."""
    fma.locator("#try-operand-a").fill("2")
    follow(fma, "semantics")
    fma.wait_for_timeout(600)
    assert fma.evaluate("location.hash") == "#semantics"


@pytest.mark.exhaustive
def test_a_link_to_what_is_no_more_says_so(fma: Page) -> None:
    page = fma
    for state, said in LOST.items():
        assert len(follow(page, state)) == 1, state
        assert said in page.locator("#try-form").inner_text(), state
        assert page.locator(".outcome.stale").count() == ("%zz" in state), state


# By keyboard


@pytest.mark.exhaustive
def test_the_keyboard_alone_is_enough(fma: Page) -> None:
    page = fma
    page.locator("#try-variant").focus()
    keys = page.keyboard
    keys.press("Control+a")
    keys.type("relu rn bf16")
    options = page.locator("#try-variants [role=option]")
    assert options.all_text_contents() == ["fma.rn.relu.bf16", "fma.rn.relu.bf16x2", *options.all_text_contents()[2:]]
    keys.press("ArrowDown")
    active = page.locator("#try-variant").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    keys.press("ArrowUp")
    keys.press("Enter")
    assert page.locator("#try-variant").input_value() == "fma.rn.relu.bf16"
    assert page.locator("#try-variants").is_hidden()
    keys.press("Tab")  # The target is disabled: it makes no difference.
    assert page.evaluate("document.activeElement.id") == "try-operand-a"
    keys.type("-2")
    keys.press("Tab")
    keys.type("2")
    assert results(page) == ["0x0000"]
    for _ in range(2):
        keys.press("Tab")
    assert page.evaluate("document.activeElement.id") == "try-copy-link"


@pytest.mark.exhaustive
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_state(visit: Visits, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit("fma.html", theme=theme, reduced_motion="reduce")

    def serious() -> list[str]:
        found = Axe().run(page, context="section.try", options={"preload": False}).response["violations"]
        return [v["nodes"][0]["failureSummary"] for v in found if v["impact"] in ("serious", "critical")]

    field = page.locator("#try-variant")
    field.fill("rn")
    assert serious() == []  # The list is open.
    field.fill("nonsense")
    assert serious() == []  # It is empty.
    field.press("Enter")
    assert serious() == []  # The text is refused, the last result greyed.
    field.press("Escape")
    page.locator("#try-operand-a").fill("nonsense")
    page.locator("#try-specials summary").click()
    page.locator("#try-everything").check()
    assert serious() == []


# Special operands


@pytest.mark.exhaustive
def test_the_table_of_special_operands_is_the_emulators(visit: Visits) -> None:
    page = visit("max.html#try=max.f32&a=1&b=2")
    table = page.locator("#try-table table")
    assert table.count() == 0
    page.locator("#try-specials summary").click()
    table.wait_for()
    (_, *labels), *rows = page.evaluate(CELLS)
    assert {"-inf", "-0", "+0", "+least subnormal", "+largest", "+inf", "NaN"} <= set(labels)
    assert len(rows) == len(labels)
    values = {"-inf": -np.inf, "-0": -0.0, "+0": 0.0, "+1": 1.0, "+inf": np.inf, "NaN": np.nan}
    for down, *cells in rows:
        for across, cell in zip(labels, cells, strict=True):
            if down in values and across in values:
                wanted = ptxemu.execute("max.f32", np.float32(values[down]), np.float32(values[across]))
                assert cell == ("NaN" if np.isnan(wanted) else str(wanted)), (down, across)

    # What cannot be read leaves the table as it is, though its operands are others now.
    page.locator("#try-operand-b").fill("x")
    follow(page, "try=max.f32&a=1&b=y&c=2")
    page.locator("#try-axes").select_option("1,2")
    assert page.evaluate(CELLS) == [["a \\ b", *labels], *rows]
    page.locator("#try-operand-b").fill("3")
    table.get_by_role("columnheader", name="b \\ c").wait_for()


CELLS = (
    """() => Array.from(document.querySelectorAll("#try-table tr"), row => Array.from(row.cells, c => c.textContent))"""
)


def test_without_javascript_the_section_says_what_would_be_there(visit: Visits) -> None:
    page = visit("fma.html", javascript=False)
    section = page.locator("section.try")
    assert "The form in this section requires JavaScript" in section.inner_text()
    assert not page.locator("#try-form").is_visible() and not page.locator(".try-answer").is_visible()

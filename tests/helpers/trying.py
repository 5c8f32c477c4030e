"""The evaluator in an opcode's page, as a browser shows it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ptxspec.diagnostics import PtxspecError
from ptxspec.evaluate import parse_operand
from ptxspec.model import BOOL, Type

if TYPE_CHECKING:
    from playwright.sync_api import Page

NUMBERS = ("1.5", "-0.0", "0x1.8p-3", "1e-40", "inf", "-inf", "nan", "65504", "0.1", "-3", "1e5", "7")

# What stands there: of each result register its bits, true or false.
RESULTS = """() => Array.from(document.querySelectorAll("#try-results .result"), result =>
  (result.querySelector("h3 code + span + code") ?? result.querySelector(".forms code:last-of-type")
    ?? result.querySelector(".value")).textContent.trim())"""


def results(page: Page) -> list[str]:
    found: list[str] = page.evaluate(RESULTS)
    return found


def follow(page: Page, state: str) -> list[str]:
    """As a link in the page does it; the results that stand there then."""
    page.evaluate(FOLLOW, state)
    return results(page)


FOLLOW = """state => new Promise(done => {
  addEventListener("hashchange", () => setTimeout(done), {once: true});
  location.hash = state;
})"""


def written(rng: random.Random, type_: Type) -> str:
    """An operand as somebody may type it: a number, where the type has it, or any bits."""
    if type_.kind == BOOL:
        return rng.choice(("true", "false"))
    text = ",".join(rng.choice(NUMBERS) for _ in range(type_.lanes))
    try:
        parse_operand(text, type_)
    except PtxspecError:
        text = ""
    return text if text and rng.random() < 0.6 else f"0x{rng.getrandbits(type_.width):0{type_.width // 4}x}"

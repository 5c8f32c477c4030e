"""The search box in the header of every page, in a browser: by keyboard, on a phone, and for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from helpers.browser import FOLDER, Visits
from helpers.sizes import each_size, spread

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGES = sorted(path.name for path in FOLDER.glob("*.html"))
ACTIVE = "document.activeElement.id"


def ready(page: Page) -> None:
    page.wait_for_function("globalThis.ptxspec?.search?.ask !== undefined")


def shown(page: Page) -> list[str]:
    return page.locator("#search-results [role=option] .title").all_inner_texts()


def chosen(page: Page) -> str:
    """Return the title of the chosen option, the only one that is marked so for a screen reader."""
    place = page.locator("#search-words").get_attribute("aria-activedescendant")
    marked = page.locator("#search-results [aria-selected=true]")
    assert marked.count() == 1 and marked.get_attribute("id") == place
    return marked.locator(".title").inner_text()


@pytest.mark.sampled(0)
@each_size
def test_slash_leads_to_the_box_on_every_page(visit: Visits, whole: bool) -> None:
    for name in PAGES if whole else spread(PAGES, 1):
        page = visit(name)
        page.keyboard.press("/")
        assert page.evaluate(ACTIVE) == "search-words"
        ready(page)
        page.keyboard.type("add bf16 sm_80")
        assert shown(page)[0] == "add.bf16 is not available on sm_80"
        visit.leave(page)


def test_arrows_choose_enter_goes_and_escape_closes(visit: Visits) -> None:
    page = visit("index.html")
    box, results = page.locator("#search-words"), page.locator("#search-results")
    page.keyboard.press("/")
    ready(page)
    assert not results.is_visible() and box.get_attribute("aria-expanded") == "false"
    page.keyboard.type("fma")
    titles = shown(page)
    assert (box.get_attribute("aria-expanded"), chosen(page)) == ("true", titles[0])
    page.keyboard.press("ArrowDown")
    assert chosen(page) == titles[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert chosen(page) == titles[-1]
    page.keyboard.press("ArrowDown")
    assert chosen(page) == titles[0]
    page.wait_for_function(f"document.getElementById('search-count').textContent === '{len(titles)} results'")
    page.keyboard.press("Escape")
    assert not results.is_visible() and box.get_attribute("aria-activedescendant") is None
    assert (box.input_value(), page.evaluate(ACTIVE)) == ("fma", "search-words")
    page.keyboard.press("ArrowDown")
    assert chosen(page) == titles[0]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert (box.input_value(), page.evaluate(ACTIVE)) == ("", "")
    page.keyboard.press("/")
    assert page.evaluate(ACTIVE) == "search-words" and box.input_value() == ""
    page.keyboard.type("add")
    page.keyboard.press("Enter")
    page.wait_for_url("**/add.html")


@pytest.mark.exhaustive
def test_a_verdict_leads_to_the_card_of_its_variant(visit: Visits) -> None:
    page = visit("index.html")
    page.keyboard.press("/")
    ready(page)
    page.keyboard.type("add bf16 sm_80")
    page.keyboard.press("Enter")
    page.wait_for_url("**/add.html#add.bf16")
    card = page.locator("details.card[open]")
    card.wait_for()
    assert card.count() == 1 and "add{.rn}.{bf16,bf16x2}" in card.inner_text()


def test_the_box_returns_to_where_somebody_was(visit: Visits) -> None:
    page = visit("index.html")
    page.locator("main a").first.focus()
    before = page.evaluate("document.activeElement.href")
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.href") == before


@pytest.mark.exhaustive
def test_a_slash_is_typed_where_text_is_written(visit: Visits) -> None:
    page = visit("availability.html")
    field = page.locator("main input").first
    field.focus()
    page.keyboard.type("a/b")
    assert field.input_value() == "a/b" and page.evaluate(ACTIVE) != "search-words"


@pytest.mark.exhaustive
def test_results_are_clicked_and_close_when_somebody_goes_elsewhere(visit: Visits) -> None:
    page = visit("index.html")
    page.keyboard.press("/")
    ready(page)
    page.keyboard.type("sm_90")
    page.locator("#search-results [role=option]").first.click()
    page.wait_for_url("**/history.html#sm_90")
    ready(page)
    page.keyboard.press("/")
    page.keyboard.type("xyzzyx")
    assert "No results for “xyzzyx”." in page.locator("#search-results").inner_text()
    page.mouse.click(20, 700)
    assert not page.locator("#search-results").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("fma")
    assert page.locator("#search-results").is_visible()
    page.keyboard.press("Tab")
    assert not page.locator("#search-results").is_visible()


@pytest.mark.exhaustive
def test_on_a_phone_a_button_opens_it_over_the_page(visit: Visits) -> None:
    page = visit("index.html", width=320)
    box, opener = page.locator("#search-words"), page.locator("#search-open")
    height = page.evaluate("document.documentElement.scrollHeight")
    assert not box.is_visible() and opener.get_attribute("aria-expanded") == "false"
    opener.click()
    ready(page)
    assert (page.evaluate(ACTIVE), opener.get_attribute("aria-expanded")) == ("search-words", "true")
    page.keyboard.type("cvt e2m1x2 sm_120")
    assert shown(page)[0].startswith("No variant of cvt with .e2m1x2 is available on sm_120, but on sm_120a")
    width = page.evaluate(
        "[...document.querySelectorAll('#search-results *')].every(e => e.getBoundingClientRect().right <= 320)"
    )
    assert width and page.evaluate("document.documentElement.scrollHeight") == height
    page.keyboard.press("Escape")
    assert not box.is_visible() and page.evaluate(ACTIVE) == "search-open"
    opener.click()
    page.locator("#search-close").click()
    assert not box.is_visible() and page.evaluate(ACTIVE) == "search-open"


def test_without_scripts_there_is_no_box(visit: Visits) -> None:
    assert not visit("index.html", javascript=False).locator("#search-words").is_visible()


@pytest.mark.exhaustive
def test_axe_finds_nothing_in_the_open_box(visit: Visits) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for theme, width in (("light", 1280), ("dark", 320)):
        page = visit("index.html", theme=theme, width=width)
        ready(page)
        page.locator("#search-open" if width == 320 else "#search-words").click()
        page.keyboard.type("fma.rz.bf16 sm_80")
        assert shown(page)
        violations = Axe().run(page, context="#search", options={"preload": False}).response["violations"]
        assert [(v["id"], v["nodes"][0]["failureSummary"]) for v in violations] == []

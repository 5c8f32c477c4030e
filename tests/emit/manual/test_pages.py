"""Every page of the manual can be read by anybody, at any size, by keyboard, from disk."""

from __future__ import annotations

import re
from typing import Any

import pytest
from helpers.browser import FOLDER, Visits
from helpers.repository import specification
from helpers.sizes import each_size, spread

pytestmark = pytest.mark.inputs("manual")

PAGES = sorted(path.name for path in FOLDER.glob("*.html"))
assert PAGES
SPEC = specification()
LIMIT = {"availability.html": 1 << 20}


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_large(name: str) -> None:
    assert (FOLDER / name).stat().st_size <= LIMIT.get(name, 300_000)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_nothing_of_a_network_and_runs_no_script_of_its_own_text(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]*)"', text)
    assert loaded and all((FOLDER / place).is_file() for place in loaded)
    assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
    assert re.findall(r"\son[a-z]+=", text) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_one_title_and_one_main_part(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    assert len(re.findall(r"<h1\b", text)) == len(re.findall(r"<main\b", text)) == 1
    assert re.findall(r"<th\b[^>]*>\s*(?=<)(?!<(?:code|span|a|button|small)\b)", text) == []


# In a browser


def some(whole: bool) -> list[str]:
    """The pages that a test opens: all of them among the sweeps, at once a short one that has all that pages have."""
    return PAGES if whole else ["copysign.html"]


@pytest.mark.exhaustive
def test_axe_finds_nothing_serious(visit: Visits) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found: dict[tuple[str, str], Any] = {}
    # Of the other theme only colours are others, and pages have them of one sheet.
    for theme, pages, only in (("light", PAGES, {}), ("dark", spread(PAGES, 12), {"runOnly": ["color-contrast"]})):
        for name in pages:
            page = visit(name, theme=theme)
            violations = Axe().run(page, options={"preload": False, **only}).response["violations"]
            if serious := [v for v in violations if v["impact"] in ("serious", "critical")]:
                found[name, theme] = [(v["id"], v["help"], v["nodes"][0]["failureSummary"]) for v in serious]
            visit.leave(page)
    assert found == {}


@pytest.mark.sampled(0)
@each_size
def test_no_page_is_wider_than_the_window_and_what_scrolls_can_be_focused(visit: Visits, whole: bool) -> None:
    for width in (320, 768, 1440, 3840) if whole else (320, 1440):
        for name in some(whole):
            page = visit(name, width=width)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (name, width, page.evaluate(WIDEST, width))
            # The narrowest has most that scrolls.
            assert width > 320 or page.evaluate(UNREACHED) == [], (name, width)
            visit.leave(page)


WIDEST = """width => Array.from(document.querySelectorAll("main *"))
  .filter(e => e.getBoundingClientRect().right > width && !e.closest(".scroll, pre"))
  .slice(0, 3).map(e => e.outerHTML.slice(0, 200))"""


UNREACHED = """Array.from(document.querySelectorAll("body *")).filter(e => {
  const flow = getComputedStyle(e).overflowX;
  return ["auto", "scroll"].includes(flow) && e.scrollWidth > e.clientWidth && e.tabIndex < 0
    && !e.querySelector("a[href], button, input, select, [tabindex='0']");
}).map(e => e.outerHTML.slice(0, 200))"""


@each_size
def test_nothing_moves_while_a_page_loads(visit: Visits, whole: bool) -> None:
    for name in some(whole):
        for width in (375, 1280) if whole else (375,):
            page = visit(name, width=width)
            assert page.evaluate(SHIFTS) < 0.01, (name, width)
            visit.leave(page)


SHIFTS = """() => new Promise(done => {
  let moved = 0;
  new PerformanceObserver(list => { for (const e of list.getEntries()) { moved += e.value; } })
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(moved), 200);
})"""


@pytest.mark.sampled(0)
@each_size
def test_a_page_reads_without_javascript(visit: Visits, whole: bool) -> None:
    for name in some(whole):
        page, plain = visit(name), visit(name, javascript=False)
        there = plain.inner_text("main")
        for heading in page.locator("main h2").all_inner_texts():
            assert heading in there, (name, heading)
        visit.leave(page)
        visit.leave(plain)


@pytest.mark.exhaustive
def test_the_theme_is_chosen_with_a_button_and_kept(visit: Visits) -> None:
    page = visit("index.html", theme="light")
    shade = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    button = page.get_by_role("button", name="Theme")
    for _ in range(2):
        button.click()
    assert page.evaluate(shade) != light
    page.reload()
    assert page.evaluate(shade) != light
    assert "dark" in (page.get_by_role("button", name="Theme").get_attribute("aria-label") or "")


def test_the_first_page_lists_every_instruction_once_in_its_group() -> None:
    text = (FOLDER / "index.html").read_text("utf-8")
    listed = dict(re.findall(r'<h2 id="(\w+)">[^<]*</h2>\n<ul class="cards">(.*?)</ul>', text, re.DOTALL))
    found = {group: re.findall(r"<code>(\w+)</code>", cards) for group, cards in listed.items()}
    for group in SPEC.group_titles:
        assert found.pop(group) == [i.opcode for i in SPEC.instructions.values() if i.group == group]
    assert found.pop("guide") == [] and set(found.pop("matrices")) <= set(SPEC.outside.opcodes)
    assert found == {}


def test_the_first_page_answers_what_people_ask() -> None:
    text = (FOLDER / "index.html").read_text("utf-8")
    (asked,) = re.findall(r'<ul class="questions">(.*?)</ul>', text, re.DOTALL)
    assert re.findall(r'href="(.*?)"', asked) == [q.page for q in SPEC.questions]


def test_a_narrow_window_folds_the_header_and_the_contents(visit: Visits) -> None:
    page = visit("fma.html", width=360)
    for button, list_ in (("Menu", "#site-pages"), ("On this page", "#page-contents")):
        links = page.locator(f"{list_} a")
        assert not links.first.is_visible()
        page.get_by_role("button", name=button).click()
        assert all(link.is_visible() for link in links.all())
        right = page.evaluate(
            f"Math.max(...[...document.querySelectorAll('{list_} a')].map(a => a.getBoundingClientRect().right))"
        )
        assert right <= 360
        page.keyboard.press("Escape")
        assert not links.first.is_visible()
    page.get_by_role("button", name="On this page").click()
    page.locator("#page-contents a").last.click()
    page.wait_for_function("!document.querySelector('#page-contents').matches(':popover-open')")


def test_a_link_to_something_that_is_folded_opens_it(visit: Visits) -> None:
    page = visit("history.html#sm_80")
    assert page.locator("#sm_80 .brought").is_visible() and not page.locator("#sm_90 .brought").is_visible()


@pytest.mark.exhaustive
def test_the_first_key_leads_past_the_header(visit: Visits) -> None:
    page = visit("fma.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the text"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"


@pytest.mark.sampled(0)
@each_size
def test_paper_has_the_text_alone(visit: Visits, whole: bool) -> None:
    for name in some(whole):
        page = visit(name)
        page.emulate_media(media="print")
        assert not page.locator("header.site").is_visible() and not page.locator(".side").is_visible()
        assert page.locator("main h1").is_visible()
        visit.leave(page)

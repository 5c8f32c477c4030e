"""The matrix of availability in a browser: filters, verdicts, the state in the address, phones, no script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from helpers.browser import Browser, Visits
from helpers.repository import database

if TYPE_CHECKING:
    from playwright.sync_api import Page

DB = database()

# Rows appear slice by slice; what is counted and said is there at once.
SETTLED = """() => {
  const wanted = Number(/in ([\\d,]+) group/.exec(document.getElementById("found").textContent)[1].replace(",", ""));
  return document.querySelectorAll("#matrix tbody:not([hidden]) tr:not([hidden], .opcode, .opened)").length === wanted;
}"""


Show = Callable[[str], "Page"]

GO = """state => new Promise(done => {
  if (location.hash.slice(1) === state) {
    done();
  } else {
    addEventListener("hashchange", () => done(), {once: true});
    location.hash = state;
  }
})"""


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """One window for all of them, as opening one costs more than what is asked in it."""
    visits = Visits(browser)
    yield visits("availability.html", reduced_motion="reduce")
    visits.close()


@pytest.fixture
def matrix(window: Page) -> Show:
    """Shows a state that stands in the address."""

    def show(state: str) -> Page:
        window.evaluate(GO, state)
        return window

    return show


def found(page: Page) -> str:
    return page.locator("#found").inner_text()


def rows(page: Page) -> dict[str, str]:
    """The verdicts of the rows that are shown, by their first notation."""
    page.wait_for_function(SETTLED)
    every = page.locator("#matrix tbody:not([hidden]) tr:not([hidden], .opcode, .opened)")
    pairs = every.evaluate_all("""rows => rows.map(row => [
      [...row.querySelectorAll("code")].find(code => !code.hidden).textContent,
      row.querySelector(".needs strong").textContent])""")
    return dict(pairs)


@pytest.mark.exhaustive
def test_a_state_in_the_address_is_answered(matrix: Show) -> None:
    page = matrix("q=add+bf16&target=sm_80&ptx=7.8")
    assert found(page) == "20 variants in 3 groups; none available on sm_80 with PTX 7.8"
    assert set(rows(page).values()) == {"no"}
    matrix("q=add+bf16&target=sm_90")
    assert found(page) == "20 variants in 3 groups; 4 available on sm_90"
    assert rows(page)["add{.rn}.{bf16,bf16x2}"] == "yes, PTX 7.8 (CUDA 11.8) on"
    assert page.locator("th.picked").inner_text().startswith("sm_90")
    page.get_by_label("Only available variants").check()
    assert found(page) == "4 variants in 1 group; all available on sm_90"
    assert page.url.endswith("#q=add+bf16&target=sm_90&only=1")
    page.go_back()
    page.wait_for_function("!document.querySelector('[name=only]').checked")
    assert found(page) == "20 variants in 3 groups; 4 available on sm_90"
    page.get_by_role("button", name="Clear").click()
    assert found(page).startswith(f"{sum(not v.crash for v in DB.variants):,} variants in ")
    assert "#" not in page.url


@pytest.mark.exhaustive
def test_a_target_and_a_version_have_what_the_query_says(matrix: Show) -> None:
    for target, ptx in (("sm_100a", "8.6"), ("", "1.3")):
        available = DB.available(target=target or None, ptx=ptx or None)
        typed = [v for v in available if "f16" in v.spelling.split(".")]
        bounded = [v for v in typed if v.claim == "bounded"]
        for more, wanted in (("", available), ("&type=f16", typed), ("&type=f16&claim=bounded", bounded)):
            page = matrix(f"target={target}&ptx={ptx}&only=1{more}")
            assert found(page).split()[0] == f"{len(wanted):,}"


def test_typing_filters_and_stands_in_the_address(matrix: Show) -> None:
    page = matrix("")
    page.get_by_label("Name").press_sequentially("fma rn.f64")
    assert found(page) == "1 variant in 1 group"
    link = page.locator(".opened a")
    assert (link.inner_text(), link.get_attribute("href")) == ("fma.rn.f64", "fma.html#fma.rn.f64")
    page.wait_for_url(lambda url: url.endswith("#q=fma+rn.f64"))
    page.get_by_label("Name").fill("fmma bf16")
    assert found(page) == "0 variants in 0 groups"
    assert "No variant matches fmma. Did you mean" in page.locator("#notice").inner_text()
    page.locator("#notice button").click()
    assert page.get_by_label("Name").input_value() == "bf16 fma"
    page.get_by_label("Name").fill("fma RTX4090")
    page.locator("#notice button", has_text="sm_89").click()
    assert page.locator("[name=target]").input_value() == "sm_89"
    assert page.get_by_label("Name").input_value() == "fma"


def test_whoever_goes_on_while_typing_is_not_called_back(matrix: Show) -> None:
    page = matrix("q=add")
    page.evaluate("""() => {
      const usual = setTimeout;
      globalThis.setTimeout = (act, ...more) => {
        globalThis.setTimeout = usual;
        globalThis.written = () => act(...more.slice(1)); // Into the address, when one has stopped typing.
      };
    }""")
    page.get_by_label("Name").fill("max")
    page.evaluate(
        """state => new Promise(done => {
      addEventListener("hashchange", () => done(), {once: true});
      location.hash = state;
      written();
    })""",
        "q=fma&colour=red",
    )
    assert page.get_by_label("Name").input_value() == "fma"


def test_a_row_opens_to_its_variants(matrix: Show) -> None:
    page = matrix("q=max")
    button = page.locator("tr", has_text="max{.ftz}{.NaN}.{f16,f16x2}").get_by_role("button")
    assert button.get_attribute("aria-expanded") == "false"
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    names = page.locator(".opened a").all_inner_texts()
    assert set(names) >= {"max.f16", "max.ftz.NaN.f16x2", "max.NaN.bf16"}
    assert "Claim: exact (IEEE 754" in page.locator(".opened p").inner_text()
    page.keyboard.press("Enter")
    assert page.locator(".opened").count() == 0
    page.get_by_label("Name").fill("max ftz.nan.f32 3")
    assert page.locator(".opened a").get_attribute("href") == "max.html#max.ftz.NaN.f32-3"


@pytest.mark.exhaustive
def test_of_a_state_that_is_no_more_the_nearest_is_shown_and_said(matrix: Show) -> None:
    for state, said, name, value in (
        ("q=fma&target=sm_84", "There is no target sm_84; the table shows the nearest, sm_86.", "target", "sm_86"),
        ("q=fma&target=h100", "h100 is sm_90.", "target", "sm_90"),
        ("q=fma&target=none", "There is no target none.", "target", ""),
        ("q=fma&ptx=7.9", "There is no PTX version 7.9; the table shows the nearest, 8.0.", "ptx", "8.0"),
        ("q=fma&claim=exakt", "There is no claim exakt; the table shows the nearest, exact.", "claim", "exact"),
        ("q=fma&type=bf16x3", "There is no type bf16x3; the table shows the nearest, bf16x2.", "type", "bf16x2"),
        ("q=add&colour=red", "There is no filter colour.", "q", "add"),
        ("q=fma&target=sm_100&ptx=7.0", "PTX 7.0 does not have sm_100, which was introduced in PTX 8.6.", "ptx", "7.0"),
    ):
        page = matrix(state)
        assert page.locator("#notice").inner_text() == said
        assert page.locator(f"[name={name}]").input_value() == value


def test_a_hazard_is_told_in_words(matrix: Show) -> None:
    page = matrix("q=fma.rz.bf16&target=sm_90")
    assert found(page) == "2 variants in 2 groups; all available on sm_90, 2 with a hazard"
    assert set(rows(page).values()) == {"yes, PTX 7.8 (CUDA 11.8) on, but it computes something else"}
    note = page.locator(".needs a.hazard:visible").first.get_attribute("href")
    assert "reads the operands as f16" in page.locator(str(note)).inner_text()


@pytest.mark.exhaustive
def test_a_phone_shows_a_verdict_for_each_row_and_the_newest_target(visit: Visits) -> None:
    page = visit("availability.html#q=max+nan&target=sm_80", width=320, height=640)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert set(rows(page).values()) == {"no", "yes, PTX 7.0 (CUDA 11.0) on"}
    newest = page.locator("#matrix thead th").nth(2)
    page.locator(".scroll.matrix").evaluate("box => box.scrollTo(0, 0)")
    assert newest.bounding_box()["x"] + newest.bounding_box()["width"] <= 320  # type: ignore[index]


@pytest.mark.exhaustive
def test_without_a_script_the_whole_table_reads(visit: Visits) -> None:
    page = visit("availability.html", javascript=False)
    every = page.locator("#matrix tbody tr:not(.opcode)")
    assert every.count() == page.locator("#matrix tbody th[scope=row]:visible").count()
    assert not page.locator("form.filters").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


@pytest.mark.exhaustive
def test_the_header_and_the_first_columns_stay_in_sight(matrix: Show) -> None:
    page = matrix("")
    before = page.locator("#matrix thead th").first.bounding_box()
    page.locator(".scroll.matrix").evaluate("box => box.scrollTo(1500, 2000)")
    assert page.locator("#matrix thead th").first.bounding_box() == before
    first = page.locator("#matrix tbody th[scope=row]").nth(60)
    assert before and first.bounding_box()["x"] == before["x"]  # type: ignore[index]


STROKE = """text => {
  const box = document.querySelector("form.filters").elements.q;
  box.value = text;
  box.dispatchEvent(new Event("input", {bubbles: true}));
  void document.getElementById("matrix").offsetHeight;
}"""


@pytest.mark.exhaustive
def test_a_keystroke_costs_less_than_opening_the_page(visit: Visits) -> None:
    """Of the page's thread, with the layout of what it shows at once, the best of five: other work on the machine does
    not count."""
    page = visit("availability.html")
    console = page.context.new_cdp_session(page)
    console.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = {m["name"]: m["value"] for m in console.send("Performance.getMetrics")["metrics"]}
        return float(sum(found[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")))

    page.reload()
    opening = spent()
    best: dict[str, float] = {}
    for text in ("b", "bf16", "bf16 fma", "", "s", "set eq", "") * 5:
        begun = spent()
        page.evaluate(STROKE, text)
        best[text] = min(best.get(text, opening), spent() - begun)
    assert max(best.values()) < opening


@pytest.mark.exhaustive
def test_nothing_jumps_when_a_state_is_restored(visit: Visits) -> None:
    page = visit("availability.html#q=bf16&target=sm_84")
    shifts = page.evaluate("""() => new Promise(done => {
      let sum = 0;
      new PerformanceObserver(list => list.getEntries().forEach(e => { sum += e.value; }))
        .observe({type: "layout-shift", buffered: true});
      setTimeout(() => done(sum), 100);
    })""")
    assert shifts < 0.01

"""Each of the glossary's words is a link to its definition where a page first uses it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.manual import FOLDER
from ptxspec.emit.markdown import document
from ptxspec.emit.products.manual.terms import Terms

TERMS = Terms("# Glossary\n\n### claim\n\nWhat …\n\n### flush to zero\n\nTo …\n\n### open (of a result)\n\nSaid …\n")
CLAIM = "[claim](glossary.md#claim)"
GLOSSARY = (FOLDER / "glossary.md").read_text("utf-8")
PAGES = [p for p in sorted(FOLDER.glob("*.*")) if p.suffix in (".md", ".html") and p.stem != "glossary"]


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("A claim and a claim.", f"A {CLAIM} and a claim."),
        ("Claims differ.", "[Claims](glossary.md#claim) differ."),
        ("It flushes\nto zero: flush\nto zero.", "It [flushes\nto zero](glossary.md#flush-to-zero): flush\nto zero."),
        ("disclaim, claim.md, claim-like, --claim", "disclaim, claim.md, claim-like, --claim"),
        ("# A claim\n\nThe claim.", f"# A claim\n\nThe {CLAIM}."),
        ("`claim`, ``a ` claim``, claim", f"`claim`, ``a ` claim``, {CLAIM}"),
        ("```json\nclaim\n```\n\n    claim\n\nclaim", f"```json\nclaim\n```\n\n    claim\n\n{CLAIM}"),
        ("[its claim](a.md), ![claim](b.png), claim", f"[its claim](a.md), ![claim](b.png), {CLAIM}"),
        ("| claim |\n| --- |\n| claim |", f"| claim |\n| --- |\n| {CLAIM} |"),
        ("<!-- claim --> claim", f"<!-- claim --> {CLAIM}"),
        ("The file is open.", "The file is open."),
    ],
)
def test_a_page_in_markdown_links_the_first_use_in_running_text(text: str, linked: str) -> None:
    assert TERMS.in_markdown(text) == linked


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("<p>A claim and a claim.", "<p>A <a href=CLAIM>claim</a> and a claim."),
        ('<p title="claim">claim', '<p title="claim"><a href=CLAIM>claim</a>'),
        ("<h2>claim</h2><p>claim", "<h2>claim</h2><p><a href=CLAIM>claim</a>"),
        ("<code>claim</code> <pre>claim</pre> claim", "<code>claim</code> <pre>claim</pre> <a href=CLAIM>claim</a>"),
        ("<a href='x'>its claim</a> claim", "<a href='x'>its claim</a> <a href=CLAIM>claim</a>"),
        ("<thead><tr><th>claim</thead><tr><td>claim", "<thead><tr><th>claim</thead><tr><td><a href=CLAIM>claim</a>"),
        ("<th>claim<td>claim", "<th>claim<td><a href=CLAIM>claim</a>"),
        ('<span class="basis">claim</span> claim', '<span class="basis">claim</span> <a href=CLAIM>claim</a>'),
        ("<button>claim</button> claim", "<button>claim</button> <a href=CLAIM>claim</a>"),
    ],
)
def test_a_page_in_html_links_the_first_use_in_its_main_part(text: str, linked: str) -> None:
    frame = '<p>claim<main id="main">'
    assert TERMS.in_html(frame + text) == frame + linked.replace("CLAIM", '"glossary.html#claim"')


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_a_page_links_a_word_once_and_to_a_definition(path: Path) -> None:
    found = re.findall(r"glossary\.(?:md|html)#([\w-]+)", path.read_text("utf-8"))
    assert len(found) == len({*found})
    titles = re.findall(r"^### (.+)$", GLOSSARY, re.MULTILINE)
    assert {*found} <= {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}


def test_most_pages_lead_to_the_glossary() -> None:
    pages = [p for p in PAGES if p.suffix == ".html"]
    leading = [p for p in pages if '"glossary.html#' in p.read_text("utf-8")]
    assert len(leading) > 0.95 * len(pages)


def test_a_summary_is_text_without_links() -> None:
    assert document("# A title\n\nA [claim](glossary.md#claim), and\n`more`.\n").summary == "A claim, and more."

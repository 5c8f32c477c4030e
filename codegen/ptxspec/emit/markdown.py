"""Markdown -> HTML, for pages of the manual that are written once and published as both."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape


@dataclass(frozen=True)
class MarkdownDocument:
    """The title, the first paragraph as text, the headings below the title, each with its tag and its anchor, and the
    HTML of everything below the title."""

    title: str
    summary: str
    headings: Sequence[tuple[str, str, str]]
    body: Markup


def document(text: str) -> MarkdownDocument:
    """Return the document of a text that begins with its title as `# Title`."""
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    tokens = parser.parse(text)
    assert tokens[0].type == "heading_open" and tokens[0].tag == "h1", "a page opens with its title"
    paragraph = next(i for i, t in enumerate(tokens) if t.type == "paragraph_open")
    environment: dict[str, Any] = {}
    body = parser.renderer.render(tokens[3:], parser.options, environment)
    return MarkdownDocument(
        _plain(tokens[1]), _plain(tokens[paragraph + 1]), environment.get("headings", []), Markup(body)
    )


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as code hosts generate it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _plain(inline: Token) -> str:
    """Return the text of a paragraph or a heading, without its markup."""
    parts = (t.content if t.content else " " * t.type.endswith("break") for t in inline.children or ())
    return "".join(parts)


class _Renderer(RendererHTML):
    """A renderer that matches the manual's other pages: headings with anchors, boxes that scroll around tables, links
    to pages."""

    def heading_open(
        self, tokens: Sequence[Token], at: int, options: Any, environment: MutableMapping[str, Any]
    ) -> str:
        title = _plain(tokens[at + 1])
        environment.setdefault("headings", []).append((tokens[at].tag, anchor(title), title))
        environment["section"] = title
        return f'<{tokens[at].tag} id="{escape(anchor(title))}">'

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, environment: MutableMapping[str, Any]) -> str:
        address = re.sub(r"^([\w-]+)\.md(?=#|$)", r"\1.html", str(tokens[at].attrGet("href")))
        return f'<a href="{escape(address)}">'

    def table_open(self, tokens: Sequence[Token], at: int, options: Any, environment: MutableMapping[str, Any]) -> str:
        label = escape(environment.get("section", "Table"))
        return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: Any, environment: MutableMapping[str, Any]) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], at: int, options: Any, environment: MutableMapping[str, Any]) -> str:
        return '<th scope="col">'

    def fence(self, tokens: Sequence[Token], at: int, options: Any, environment: MutableMapping[str, Any]) -> str:
        """Return a fenced block as HTML. In a transcript ("console") the typed lines stand out. Its lines are not
        broken, because carets point at the text above them; the block scrolls instead, also by keyboard."""
        lines = tokens[at].content.rstrip("\n").split("\n")
        if tokens[at].info != "console":
            return f"<pre>\n{escape(tokens[at].content)}</pre>\n"
        shown = (Markup("<b>{}</b>").format(line) if line.startswith("$ ") else escape(line) for line in lines)
        return f'<pre class="console" tabindex="0">\n{Markup(chr(10)).join(shown)}\n</pre>\n'

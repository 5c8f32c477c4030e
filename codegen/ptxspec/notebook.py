"""HTML of answers for notebooks: small, with all text escaped.

Text inherits the page's own colours, and lines are of a grey that is visible on white and on black. ptxemu contains a
copy of this file, which therefore imports the standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_GREY = "#808080"
_CELL = "text-align:left;padding:.1em 1em .1em 0"


def block(title: str, *parts: str) -> str:
    """Return the HTML of an answer from its first line and its parts, which are HTML already."""
    style = f"border-left:3px solid {_GREY};padding-left:.8em;margin:.3em 0"
    return f'<div style="{style}"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def text(*paragraphs: str) -> str:
    return "".join(f'<div style="max-width:50em">{escape(p)}</div>' for p in paragraphs)


def code(lines: str) -> str:
    """Return PTX or a program, line by line."""
    style = "margin:.3em 0;background:none;color:inherit;white-space:pre-wrap"
    return f'<pre style="{style}">{escape(lines)}</pre>'


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and the facts about them."""
    rows = [_row([_th(name, "row"), _td(value)]) for name, value in pairs]
    return _table(rows) if rows else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = _row([_th(name, "col") for name in header])
    return _table([head, *(_row([_td(cell) for cell in row]) for row in rows)])


def _table(rows: Sequence[str]) -> str:
    return f'<table style="border-collapse:collapse;font:inherit;margin:.3em 0">{"".join(rows)}</table>'


def _row(cells: Sequence[str]) -> str:
    return f'<tr style="background:none;vertical-align:top">{"".join(cells)}</tr>'


def _th(name: str, scope: str) -> str:
    return f'<th scope="{scope}" style="{_CELL};white-space:nowrap">{escape(name)}</th>'


def _td(cell: str) -> str:
    return f'<td style="{_CELL}">{escape(cell)}</td>'

"""Markdown on a terminal, wrapped and rendered."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.markdown import Markdown

from .. import terminal
from ..diagnostics import escaped

_TO_A_PAGE = re.compile(r"\[([^]]*)\]\([\w.-]+\.md(?:#[\w-]*)?\)")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")


def print_markdown(text: str, width: int) -> None:
    """Print a text in the given number of columns. Code that is wider is wrapped."""
    coloured = terminal.has_colours(sys.stdout)
    # rich writes control sequences itself, so the text is escaped first.
    console = Console(
        file=terminal.as_it_is(sys.stdout),
        width=width,
        force_terminal=coloured,
        color_system="standard" if coloured else None,
    )
    console.print(_read("\n".join(_lines(escaped(text), width))))


def _read(text: str) -> Markdown:
    return Markdown(text, code_theme="bw", hyperlinks=False)


def _lines(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text, without links to pages, and with lists in place of tables that do not fit."""
    table: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        fenced ^= line.lstrip().startswith("```")
        line = line if fenced else _TO_A_PAGE.sub(r"\1", line)
        if line.startswith("|") and not fenced:
            table.append(line)
            continue
        if table:
            yield from table if _fits(table, width) else _as_list(table)
            table = []
        yield line


def _fits(table: list[str], width: int) -> bool:
    """Return whether a table fits a width without cutting a word."""
    out = io.StringIO()
    Console(width=width, file=out).print(_read("\n".join(table)))
    return "…" not in out.getvalue()


def _as_list(table: list[str]) -> Iterator[str]:
    """Yield a list of a table: an item for each row, and in it one for each cell that is not empty."""
    head, _, *rows = ([c.strip() for c in _BETWEEN_CELLS.split(line.strip())[1:-1]] for line in table)
    for first, *others in rows:
        yield f"- {first}"
        for name, cell in zip(head[1:], others, strict=True):
            if cell:
                yield f"  - {name}: {cell}" if name else f"  - {cell}"
    yield ""

"""Markdown on a terminal, without loss however narrow it is."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table


class _Table(TableElement):
    """A table that breaks a word which is wider than its column, where rich would cut it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                for column in part.columns:
                    column.overflow = "fold"
            yield part


class _Page(Markdown):
    elements: ClassVar = {**Markdown.elements, "table_open": _Table}


def show(text: str) -> None:
    """Print Markdown, as wide as the terminal is."""
    Console().print(_Page(text))

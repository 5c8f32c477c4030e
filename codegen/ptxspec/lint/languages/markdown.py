"""Markdown: the fenced blocks with a language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ptx.scanning import View
from .text import Text, is_plainly_ptx

# A fence may be in a list and in a quote.
_FENCE = re.compile(
    r"""^(?P<before>(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+)(?P<fence>`{3,}+|~{3,}+)
        [ \t]*+\{?\.?(?P<language>[\w+#-]*+)[^\n`]*+\n""",
    re.MULTILINE | re.VERBOSE,
)
# A choice of names in a spelling: such a block is not PTX, but describes its syntax.
_NOTATION = re.compile(r"\{[ \t]*+[.,]\w*+[ \t]*+[,}]|\.\{")


def as_ptx(block: Text) -> Iterator[Text]:
    """Yield a block labelled as PTX, unless it describes PTX's syntax."""
    if not _NOTATION.search(block.text):
        block.prose = block.named = True
        yield block


def unnamed(block: Text) -> Iterator[Text]:
    """Yield a block without a label if it is plainly PTX."""
    if is_plainly_ptx(block.text) and not _NOTATION.search(block.text):
        block.prose = True
        yield block


def blocks(view: View) -> Iterator[tuple[str, Text]]:
    """Yield the blocks of Markdown that are not empty, each with its label."""
    text, position = view.text, 0
    while m := _FENCE.search(text, position):
        quotes = m["before"].count(">")
        end = _end(m["fence"], quotes > 0).search(text, m.end())
        position = end.end() if end else len(text)
        block = Text(view)
        _add(text, m.end(), end.start() if end else len(text), quotes, block)
        if block.length:
            yield m["language"].lower(), block.close()


def _end(fence: str, is_quoted: bool) -> re.Pattern[str]:
    """Return the pattern of a block's end: a fence at least as long, followed by nothing, or a line outside of the
    quote."""
    unquoted = r"|^(?![ \t]*+(?:>|\Z))" if is_quoted else ""
    return re.compile(rf"^[ \t>]*+{fence}{fence[0]}*+[ \t\r]*+$\n?{unquoted}", re.MULTILINE)


def _add(text: str, start: int, end: int, quotes: int, into: Text) -> None:
    """Add a block without the marks of a quote."""
    if not quotes:
        into.add(text[start:end], start)
        return
    mark = re.compile(rf"(?:[ \t]*+>){{0,{quotes}}}")
    while start < end:
        after = text.find("\n", start, end) + 1 or end
        marked = mark.match(text, start, after)
        start = marked.end() if marked else start
        into.add(text[start:after], start)
        start = after

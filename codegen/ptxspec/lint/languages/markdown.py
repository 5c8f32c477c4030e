"""Markdown: the fenced blocks that say which language they are in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ...ptx.scanning import View
from .text import Text, consume

_FENCE = re.compile(
    r"^(?P<indent>[ \t>]*+)(?P<fence>`{3,}+|~{3,}+)[ \t]*+\{?\.?(?P<language>[\w+#-]*+)[^\n`]*+\n", re.MULTILINE
)
# A place in a spelling where one of several may stand: such a block is no PTX, but tells what PTX may be.
_NOTATION = re.compile(r"\{\s*+[.,]|\.\{")


def markdown(view: View, extract: Mapping[str, Callable[[View], Iterator[Text]] | None]) -> Iterator[Text]:
    """What is found in the blocks of a window on Markdown. `extract` has the languages that are looked into, None for
    PTX itself."""
    text, position = view.text, 0
    while m := _FENCE.search(text, position):
        end = re.compile(rf"^[ \t>]*+{re.escape(m['fence'])}", re.MULTILINE).search(text, m.end())
        if end is None and not view.final:
            position = m.start()
            break
        position = text.find("\n", end.end()) + 1 or len(text) if end else len(text)
        language = m["language"].lower()
        if language in extract:
            block = Text(view)
            block.add(text[m.end() : end.start() if end else len(text)], m.end())
            block.close()
            reader = extract[language]
            if reader:
                yield from reader(block)
            elif not _NOTATION.search(block.text):
                block.prose = True
                yield block
    else:
        # A fence may go on behind the window.
        position = len(text) if view.final else max(position, text.rfind("\n") + 1)
    consume(view, position)

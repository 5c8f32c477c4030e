"""MLIR and LLVM's assembly: the text of inline_asm, inline_ptx and asm, and the strings that are PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ptx.scanning import View
from .. import constraints
from .cpp import by_itself
from .text import ELSEWHERE, Text, last_trace

_STRING = r'"(?P<body>(?:[^"\\]|\\(?s:.))*+)"'
_TOKEN = re.compile(
    rf"""(?P<comment> (?://|;)[^\n]*+ )
      | (?P<asm> \b(?:inline_asm|inline_ptx|asm)\b(?P<between>[^"\n;]{{0,200}}+){_STRING} )
      | (?P<string> {_STRING.replace("body", "other")} )
      | (?P<open> "(?s:.)*+ | \b(?:inline_asm|inline_ptx|asm)\b[^"\n;]{{0,200}}+(?:"(?s:.)*+|\Z) | /\Z )
      | (?P<word> \w++ )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{2})|(?s:(.)))")
_NAMED = {"n": "\n", "t": "\t", "r": "\r"}


def llvm(view: View) -> Iterator[Text]:
    """Yield the inline assembly of MLIR or LLVM's assembly, and its strings that are PTX."""
    text, position, last = view.text, 0, last_trace(view)
    while position <= last and (m := _TOKEN.search(text, position)):
        position = m.end()
        if m.lastgroup == "asm" or m["body"] is not None:
            found = Text(view)
            _unescape(m["body"], m.start("body"), found)
            found.close_without_braces()
            found.listed = constraints.llvm(text, position)
            found.constraints = constraints.letters(found.listed)
            yield found
        elif m["other"] is not None:
            found = Text(view)
            found.add(ELSEWHERE, m.start())
            _unescape(m["other"], m.start("other"), found)
            found.add(ELSEWHERE, position)
            yield from by_itself(found.close())


def _unescape(body: str, start: int, into: Text) -> None:
    """Add a string's text with LLVM's escapes replaced: \\0A, two digits, ends a line. `$$` is a dollar."""
    position = 0
    for m in _ESCAPE.finditer(body):
        into.add(body[position : m.start()], start + position)
        into.add(chr(int(m[1], 16)) if m[1] else _NAMED.get(m[2], m[2]), start + m.start())
        position = m.end()
    into.add(body[position:], start + position)

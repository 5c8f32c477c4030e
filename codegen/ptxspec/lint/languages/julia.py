"""Julia: the text of @asmcall, the LLVM assembly in its strings, and the strings that are PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...ptx.scanning import View
from .. import constraints
from .cpp import by_itself, in_program
from .llvm import llvm
from .text import (
    ELSEWHERE,
    Text,
    before,
    filled_in,
    last_trace,
    unescape,
    verbatim,
)

_STRING = r"""(?P<prefix>[A-Za-z_]\w*)?
    (?: \"\"\"(?P<long>(?:[^"\\]|\\(?s:.)|"(?!""))*+)\"\"\" | (?!\"\"\")"(?P<short>(?:[^"\\]|\\(?s:.))*+)" )"""
_COMMENT = r"\#=(?s:.)*?=\# | \#(?!=)[^\n]*+"
_TOKEN = re.compile(
    rf"""(?P<comment> {_COMMENT} | \#=(?s:.)*+ )
      | (?P<asm> @?\w*asm\w*+[(\s]\s*+(?=") )
      | (?P<string> {_STRING} )
      | (?P<open> (?:[A-Za-z_]\w*+)?"(?s:.)*+ | @?\w*asm\w*+[(\s]\s*+\Z | '(?:[^'\\\n]|\\[^'\n]{{0,9}})?\Z )
      | (?P<char> '(?:[^'\\\n]|\\[^'\n]{{1,9}}|\\')' )
      | (?P<word> \w++ )""",
    re.VERBOSE,
)
_PART = re.compile(rf"(?P<skip> [\s*]++ | {_COMMENT} ) | (?P<string> {_STRING} )", re.VERBOSE)
_END = re.compile(r"\s*+[,)]")
# What is filled in; a dollar of PTX stands behind a backslash.
_FILLED = re.compile(r"(?P<literal>\\\$)|\$(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[A-Za-z_]\w*)")
# What a string documents follows in the next line; it is a statement of its own, and not the last one of a block.
_DOCUMENTED = re.compile(r"[ \t]*+\n\s*+(?!(?:end|else|elseif|catch|finally)\b)[@A-Za-z_]")
_DOCUMENTS = re.compile(r"(?:\A|[^=(,\[{*+?:&|<>~$\\/%^\s-])\s*?(?:\A|\n)[ \t]*+\Z")
_DOC = re.compile(r"@doc\s++\Z")


def julia(view: View) -> Iterator[Text]:
    """The inline assembly of Julia, and its strings that are PTX."""
    text, position, last = view.text, 0, last_trace(view)
    while position <= last and (m := _TOKEN.search(text, position)):
        position = m.start()
        argument = m.lastgroup == "asm"
        if not argument and m.lastgroup != "string":
            position = m.end()
            continue
        found = Text(view)
        after = _parts(view, m.end() if argument else position, found, argument)
        begun, position = position, after
        if not argument and _documents(view, begun, after):
            continue
        found.constraints = constraints.listed(text, after)
        if argument:
            yield found.close_without_braces()
        elif "asm" in found.close().text:
            yield from [t for t in llvm(found) if t.text.strip()] or in_program(found) or by_itself(found)
        else:
            yield from by_itself(found)


def _documents(view: View, position: int, after: int) -> bool:
    """Return whether a string documents the function or type behind it."""
    known = before(view, position)
    return bool(_DOC.search(known) or (_DOCUMENTED.match(view.text, after) and _DOCUMENTS.search(known)))


def _parts(view: View, position: int, into: Text, argument: bool) -> int:
    """Strings joined by * from a position on, and where they end."""
    text = view.text
    start = after = position
    if not argument:
        into.add(ELSEWHERE, start)
    while m := _PART.match(text, position):
        position = m.end()
        if m.lastgroup != "skip":
            after = position
            group = "short" if m["long"] is None else "long"
            if m["prefix"]:
                verbatim(m[group], m.start(group), into)
            else:
                into.written_as["$"] = "\\$"
                filled_in(m[group], m.start(group), _FILLED, into, unescape)
    if not argument or not _END.match(text, position):
        into.add(ELSEWHERE, after)
    return after

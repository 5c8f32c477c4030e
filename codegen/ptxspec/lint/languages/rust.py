"""Rust: the text of asm!() and its kin, and the strings that are PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce

from .cpp import by_itself, in_program
from .text import ELSEWHERE, FORMATTED_LATER, Text, View, consume, filled_in, goes_on, last_trace, unescape, verbatim

_STRING = r"""(?:[bc]?r(?P<hashes>\#*)"(?P<raw>(?s:.)*?)"(?P=hashes) | [bc]?"(?P<body>(?:[^"\\]|\\(?s:.))*+)")"""
# Comments may hold comments.
_BLOCK = r"/\*(?:[^*/]++|\*(?!/)|/(?!\*){})*+\*/"
_COMMENT = "//[^\\n]*+ | " + reduce(lambda inner, _: _BLOCK.format("|" + inner), range(8), _BLOCK.format(""))
_TOKEN = re.compile(
    rf"""(?P<comment> {_COMMENT} | /\*(?s:.)*+ )
      | (?P<asm> \b(?:\w*_)?asm!\s*+[(\[{{] )
      | (?P<string> {_STRING} )
      | (?P<open> [bc]?r\#*+(?:"(?s:.)*+|\Z) | [bc]?"(?s:.)*+ | \b(?:\w*_)?asm!?\s*+\Z | /\Z
            | '(?:[^'\\\n]|\\[^'\n]{{0,9}})?\Z )
      | (?P<char> '(?:[^'\\\n]|\\[^'\n]{{1,9}}|\\')' )
      | (?P<word> \w++ )""",
    re.VERBOSE,
)
# asm!() puts each of its strings on a line.
_PART = re.compile(rf"(?P<skip> \s++ | {_COMMENT} ) | (?P<string> {_STRING} ) (?:\s*+(?P<comma>,))?", re.VERBOSE)
# Strings that are joined.
_JOIN = re.compile(r"concat!\s*+[(\[{]")
_JOINED = re.compile(r"[)\]}]\s*+(?P<comma>,)?")
_OPEN = re.compile(r'/|[a-z]\w*+!?\s*+\Z|[bc]?r?\#*+(?:"|\Z)|[bcr]\w?\Z')
_OPERAND = re.compile(r"(?P<literal>\{\{|\}\})|\{(?P<name>[\w:]*+)\}")


def rust(view: View) -> Iterator[Text]:
    """The inline assembly of a window on Rust, and its strings that are PTX."""
    text, position = view.text, 0
    end, last = len(text), last_trace(view)
    while True:
        m = _TOKEN.search(text, position) if position <= last else None
        if m is None:
            position = end
            break
        if m.end() >= end and not view.final:
            position = m.start()
            break
        position = m.end()
        if m.lastgroup == "asm":
            found = Text(view)
            after = _template(view, position, found)
            if after is None:
                position = m.start()
                break
            position = after
            yield found.close()
        elif m.lastgroup == "string":
            found = Text(view)
            found.add(ELSEWHERE, m.start())
            raw = m["body"] is None
            body, start = (m["raw"], m.start("raw")) if raw else (m["body"], m.start("body"))
            filled_in(body, start, FORMATTED_LATER, found, verbatim if raw else unescape)
            found.add(ELSEWHERE, position)
            yield from in_program(found.close()) or by_itself(found)
    consume(view, position)


def _template(view: View, position: int, into: Text) -> int | None:
    """The strings of asm!() from a position on, and where they end; None where that is not in the window."""
    text, end = view.text, len(view.text)
    joined = False  # within concat!()
    while True:
        if m := _PART.match(text, position):
            if m.lastgroup != "skip":
                _lines(m, into)
            is_last = m.lastgroup == "string" and not joined
        elif m := (_JOINED if joined else _JOIN).match(text, position):
            joined = not joined
            is_last = not joined and m["comma"] is None
        else:
            break
        position = m.end()
        if not view.final and not text[position:].strip():
            return None
        if is_last:
            return position
        if m.lastgroup == "comma" and not joined:
            into.add("\n", position)
    if not view.final and goes_on(_OPEN, text, position):
        return None
    if joined or (position < end and text[position].isalpha() and not into.length):
        into.add(ELSEWHERE, position)
    return position


def _lines(m: re.Match[str], into: Text) -> None:
    """A string of a template, with its operands as registers, each as long as before."""
    raw = m["body"] is None
    body, start = (m["raw"], m.start("raw")) if raw else (m["body"], m.start("body"))
    plain = verbatim if raw else unescape
    position = 0
    into.written_as |= {"{": "{{", "}": "}}"}
    for operand in _OPERAND.finditer(body):
        plain(body[position : operand.start()], start + position, into)
        if operand["literal"]:
            into.add(operand["literal"][0], start + operand.start())
        else:
            # What has no name is the next of the operands that have none.
            name = re.sub(r"\W", "_", operand["name"])
            if name:
                into.written_as[f"${name}"] = operand[0]
            elif into.unnamed < 10:
                name = str(into.unnamed)
                into.written_as[f"${name}"] = f"{{{name}}}"
                into.unnamed += 1
            into.add(f"${name or '_'}".ljust(len(operand[0])), start + operand.start())
        position = operand.end()
    plain(body[position:], start + position, into)

"""Rust: the text of asm!() and its kin, and the strings that are PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce

from ...ptx.scanning import View
from .cpp import by_itself, in_program
from .text import ELSEWHERE, FORMATTED_LATER, Text, filled_in, last_trace, unescape, verbatim

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
_OPERAND = re.compile(r"(?P<literal>\{\{|\}\})|\{(?P<name>[\w:]*+)\}")


def rust(view: View) -> Iterator[Text]:
    """The inline assembly of Rust, and its strings that are PTX."""
    text, position, last = view.text, 0, last_trace(view)
    while position <= last and (m := _TOKEN.search(text, position)):
        position = m.end()
        if m.lastgroup == "asm":
            found = Text(view)
            position = _template(view, position, found)
            yield found.close()
        elif m.lastgroup == "string":
            found = Text(view)
            found.add(ELSEWHERE, m.start())
            raw = m["body"] is None
            body, start = (m["raw"], m.start("raw")) if raw else (m["body"], m.start("body"))
            filled_in(body, start, FORMATTED_LATER, found, verbatim if raw else unescape)
            found.add(ELSEWHERE, position)
            yield from in_program(found.close()) or by_itself(found)


def _template(view: View, position: int, into: Text) -> int:
    """The strings of asm!() from a position on, and where they end."""
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
        if is_last:
            return position
        if m.lastgroup == "comma" and not joined:
            into.add("\n", position)
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

"""Semantics and syntax as pages show them: keywords, comments and numbers marked, names linked to explanations."""

from __future__ import annotations

import keyword
import re
from collections.abc import Container, Iterator
from functools import lru_cache

from markupsafe import Markup, escape

from .....model import INSTRUCTIONS, Code
from .....semantics.functions import TABLE

# A number may be an exact hexadecimal float, which Python's own tokens would split.
_WORD = re.compile(r"0[xX][0-9a-fA-F]*(?:\.[0-9a-fA-F]*)?[pP][+-]?\d+|[A-Za-z_]\w*|\d[\w.]*")
# A name after a dot or in a choice.
_NAME = re.compile(r"(?:\.|(?<=[{,]))[A-Za-z0-9]\w*(?:::\w+)*")


@lru_cache(maxsize=512)
def highlighted(code: Code, names: frozenset[str] = frozenset()) -> Markup:
    """Return a piece of semantics as lines with their numbers in the file of the instruction. `names` are modifiers and
    types that the page's syntax explains."""
    lines = code.text.split("\n")
    comments = dict(_comments(lines))
    helpers = {m[1] for line in lines if (m := re.match(r"\s*def (\w+)", line))}
    own = code.path.startswith(INSTRUCTIONS)
    shown = [
        Markup('<span class="line"{}>{}</span>').format(
            Markup(' data-line="{}"').format(code.start.line + place) if own else "",
            _line(text, comments.get(place, len(text)), names, helpers),
        )
        for place, text in enumerate(lines)
    ]
    return Markup("\n").join(shown)


def linked(spelling: str, groups: Container[str], names: Container[str]) -> Markup:
    """Return a spelling with a link from each name to its explanation. Names of groups are placeholders and look
    different; `names` are the other names that the page explains."""
    parts: list[Markup] = []
    at = 0
    for m in _NAME.finditer(spelling):
        parts.append(escape(spelling[at : m.start()]))
        at = m.end()
        text, name = m[0], m[0].removeprefix(".")
        if name in groups:
            parts.append(Markup('<a class="v" href="#name-{}">{}</a>').format(name, text))
        elif name in names:
            parts.append(Markup('<a href="#name-{}">{}</a>').format(name, text))
        else:
            parts.append(escape(text))
    return Markup("").join([*parts, escape(spelling[at:])])


def _comments(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the lines with a comment, and the place where it begins."""
    for place, text in enumerate(lines):
        if "#" in text:
            quoted = re.sub(r'"[^"]*"', lambda m: "_" * len(m[0]), text)
            if "#" in quoted:
                yield place, quoted.index("#")


def _line(text: str, end: int, names: frozenset[str], helpers: set[str]) -> Markup:
    code, comment = text[:end], text[end:]
    parts: list[Markup] = []
    at = 0
    for m in _WORD.finditer(code):
        word, called = m[0], code[m.end() : m.end() + 1] == "("
        parts.append(escape(code[at : m.start()]))
        at = m.end()
        if keyword.iskeyword(word):
            parts.append(Markup('<b class="k">{}</b>').format(word))
        elif called and word in TABLE:
            parts.append(Markup('<a class="f" href="functions.html#{0}">{0}</a>').format(word))
        elif called and word in helpers:
            parts.append(Markup('<span class="f">{}</span>').format(word))
        elif word in names:
            parts.append(Markup('<a class="m" href="#name-{0}">{0}</a>').format(word))
        elif word[0].isdigit():
            parts.append(Markup('<span class="n">{}</span>').format(word))
        else:
            parts.append(escape(word))
    parts.append(escape(code[at:]))
    if comment:
        parts.append(Markup('<span class="c">{}</span>').format(comment))
    return Markup("").join(parts)

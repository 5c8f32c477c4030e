"""The text of a program's strings, with the place of each character in the program, and checks whether it is PTX."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from ...ptx.complaints import Position
from ...ptx.scanning import HOLE, View
from .. import traces
from ..constraints import Constraints, closing

# Unknown text before or behind a string: a space, to distinguish it from the string's own text.
ELSEWHERE = HOLE + " "


class Text:
    """The text of a program's strings. `prose`: it may be about PTX rather than PTX. `named`: it is labelled as PTX.
    `before`: the text to which it is appended. `replaced`: the parts that the program replaces by others. `listed` are
    LLVM's constraints of its operands. If it is in an asm statement of C++, that begins at `begins` in the text around
    it, with its parenthesis open at `opened`."""

    embedded = True
    prose = False
    named = False
    constraints: Constraints = ()
    listed = ""
    begins = opened = 0
    before: Text | None = None
    replaced: tuple[str, ...] = ()

    def __init__(self, outer: View) -> None:
        self.text = ""
        self._outer = outer
        # From each offset in `text` on, characters follow one by one from the offset in the outer text.
        self._inner_starts: list[int] = []
        self._outer_starts: list[int] = []
        self._parts: list[str] = []
        self.length = 0
        self.unnamed = 0  # Rust's operands without a name
        # Parts of PTX that are written in another way here, as in a format string.
        self.written_as: dict[str, str] = {}

    def written(self, ptx: str) -> str:
        """Return PTX as it is to be written in these strings."""
        if self.written_as:
            longest_first = sorted(self.written_as, key=len, reverse=True)
            words = "|".join(re.escape(w) + r"\b" * w[-1].isalnum() for w in longest_first)
            ptx = re.sub(words, lambda m: self.written_as[m[0]], ptx)
        return self._outer.written(ptx) if isinstance(self._outer, Text) else ptx

    def add(self, text: str, outer: int) -> None:
        if text:
            self._inner_starts.append(self.length)
            self._outer_starts.append(outer)
            self._parts.append(text)
            self.length += len(text)

    def close(self) -> Text:
        self.text = "".join(self._parts)
        return self

    def close_without_braces(self) -> Text:
        """Finish the text, with LLVM's and MLIR's operands in braces replaced by registers of the same length."""
        self.close()
        if "{$" in self.text or "${" in self.text:
            opening, closing = (self.written_as.get(brace, brace) for brace in "{}")
            names = (m["nvvm"] for m in _BRACED.finditer(self.text) if m["nvvm"])
            self.written_as |= {name: f"{opening}{name}{closing}" for name in names}
            self.text = _BRACED.sub(_unbraced, self.text)
        return self

    @property
    def whole(self) -> bool:
        """Return whether the text has no placeholders, so that undeclared names are declared nowhere."""
        return HOLE not in self.text.removeprefix(ELSEWHERE).removesuffix(ELSEWHERE)

    def place(self, offset: int) -> Position:
        return self._outer.place(self._inner(offset))

    @property
    def statement(self) -> str:
        """The asm statement of C++ that it is in; empty if there is none, or it does not end."""
        end = closing(self._outer.text, self.opened) if self.opened else None
        return self._outer.text[self.begins : end] if end else ""

    def place_in_statement(self, offset: int) -> Position:
        """Return the position of a character of the asm statement."""
        return self._outer.place(self.begins + offset)

    def outside(self, offset: int) -> int:
        """Return the offset in the file of the character at an offset."""
        inner = self._inner(offset)
        return self._outer.outside(inner) if isinstance(self._outer, Text) else inner

    def _inner(self, offset: int) -> int:
        i = bisect_right(self._inner_starts, offset) - 1
        return self._outer_starts[i] + offset - self._inner_starts[i] if i >= 0 else 0


# Checks whether a string is PTX

_MODULE = re.compile(rf"\.version\s+(?:\d+\.\d|(?:\d+\.)?{HOLE})")
_STATEMENT = re.compile(
    rf"""(?:^|[;{{}}{HOLE}]|\*/)[^\S\n]*+(?:[%$\w{HOLE}]++\s*+:\s*+)?(?:@!?[%$\w{HOLE}]++\s++)?
        [A-Za-z]\w*(?:\.[\w:]+)*\.{traces.TYPE}\s(?P<operands>[^;]{{0,4096}});""",
    re.MULTILINE | re.VERBOSE,
)
# Names that are clearly operands, and those that may be.
_MARKED = re.compile(rf"[%${HOLE}\[{{]")
_OPERAND = re.compile(r"\s*+[-!]?(?:\w{1,3}|\w*[\d_]\w*|\d[\w.+-]*)\s*+")


def is_module(text: str) -> bool:
    return _MODULE.search(text) is not None


def has_statement(text: str) -> bool:
    """Return whether a string has a statement with a PTX type, and not a sentence about one."""
    return any(are_operands(m["operands"]) for m in _STATEMENT.finditer(text))


_COMMENT = re.compile(r"//[^\n]*|/\*(?s:.)*?(?:\*/|\Z)")
_LINE = re.compile(r"[;{}:,]\Z|\.\w+(?:\s+[^;]*)?\Z|\A[)}\]]")


def is_plainly_ptx(text: str) -> bool:
    """Return whether a text is a module of PTX, or only statements and declarations, one of which has a type."""
    lines = filter(None, map(str.strip, _COMMENT.sub("", text).split("\n")))
    return is_module(text) or (has_statement(text) and all(map(_LINE.search, lines)))


def are_operands(text: str) -> bool:
    """Return whether the text between a spelling and a semicolon may be operands: registers, or short names."""
    return _MARKED.search(text) is not None or all(map(_OPERAND.fullmatch, re.split("[,|]", text)))


# Placeholders

# LLVM's operands may be in braces, with a modifier: ${0}, ${1:r}. ${:uid} is another number in each copy. Those of
# MLIR's nvvm.inline_ptx are: {$r0} is read, {$w0} written, {$rw0} both.
_BRACED = re.compile(r"\$\{(?P<number>\d++)(?::\w++)?\}|(?P<other>\$\{:\w++\})|\{(?P<nvvm>\$(?:rw|r|w)\d++)\}")
_CONVERSION = r"(?:\(\w+\))?[-+\ \#0]*+(?:\d++|\*)?(?:\.(?:\d++|\*))?(?:l|ll|z)?[sdiurxXofFeEgGca]"
_LATER = r"""\{\{(?=[^{};\n]*\w)[^{};\n]*+\}\} | \{%[^{}]*%\} | \{\#[^{}]*\#\} | \$?\{[\w.!:\[\]]*\}
    | \b__(?!CUDA)[A-Z][A-Z\d_]*__\b"""
# Placeholders of the operator % and of strings that are formatted later: {name}, {{ name }}, ${name}, %s, %(name)s,
# __NAME__. Vectors of PTX have a % or $, or a comma, instead, and registers more than one letter.
FORMATTED = re.compile(rf"(?P<literal>%%)|%{_CONVERSION}|{_LATER}", re.VERBOSE)
FORMATTED_LATER = re.compile(
    rf"(?P<literal>%%)|%\(\w+\){_CONVERSION}|%(?:[sdi]|l?l[du]|z?u)(?!\w)|{_LATER}", re.VERBOSE
)


# Characters that are doubled in a string that is filled in at once.
DOUBLED_BRACES = re.compile(r"(?P<literal>\{\{|\}\})")
_NO_LITERAL = r"(?P<literal>(?!))"


def replaced_later(replaced: Iterable[str], others: re.Pattern[str] | None) -> re.Pattern[str]:
    """Return the pattern of placeholders with texts that are replaced as further ones."""
    texts = "|".join(map(re.escape, sorted(replaced, key=len, reverse=True)))
    return re.compile(f"{texts}|{others.pattern if others else _NO_LITERAL}", re.VERBOSE)


def _unbraced(m: re.Match[str]) -> str:
    if m["other"]:
        return "_" * len(m[0])
    return f" {m['nvvm']} " if m["nvvm"] else f"${m['number']}".ljust(len(m[0]))


def filled_in(
    body: str, start: int, holes: re.Pattern[str], into: Text, plain: Callable[[str, int, Text], None]
) -> None:
    """Add a string's text with holes for placeholders; `plain` adds the text between them."""
    position = 0
    for hole in holes.finditer(body):
        plain(body[position : hole.start()], start + position, into)
        into.add(hole["literal"][-1] if hole["literal"] else HOLE, start + hole.start())
        position = hole.end()
    plain(body[position:], start + position, into)


# Escapes

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[Nu]\{[^}]*\}|\r?\n|(?s:.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": " ", "b": " ", "e": " ", "\n": "", "\r\n": ""}


def verbatim(body: str, start: int, into: Text) -> None:
    into.add(body, start)


def doubled(body: str, start: int, into: Text) -> None:
    """Add a string's text in which a quotation mark is written as two."""
    for i, part in enumerate(body.split('""')):
        if i:
            into.add('"', start)
            start += 2
        into.add(part, start)
        start += len(part)


def unescape(body: str, start: int, into: Text) -> None:
    """Add a string's text, with its escapes replaced."""
    position = 0
    for m in _ESCAPE.finditer(body):
        into.add(body[position : m.start()], start + position)
        into.add(_escaped(m[0][1:]), start + m.start())
        position = m.end()
    into.add(body[position:], start + position)


def _escaped(what: str) -> str:
    if what in _ESCAPED:
        return _ESCAPED[what]
    if what[0] in "xuU01234567" and what[1:] and what[1] != "{":
        number = int(what[1:], 16) if what[0] in "xuU" else int(what, 8)
        return chr(number) if number < 0x110000 else "?"
    return what if len(what) == 1 else "?"


def last_trace(view: View) -> int:
    """Return the offset of the last trace in a text; nothing is found behind it."""
    return max(traces.offsets(view.text), default=-1)

"""PTX text -> the database's instructions, the .version and .target directives, declarations of registers, and the text
that cannot be read.

Statements are separated as the assembler separates them; other statements are not understood any further."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

from .complaints import Position

# The most semicolons that may be missing before an existing one: for each, the text before it is read again.
_MISSING = 32

HOLE = "\0"  # unknown text, in strings of other languages

_SPACE = r"[ \t]"
_REGISTER = r"(?:%{0,2}(?!_\b)[A-Za-z_$][\w$]*+|[%$]\d++)"
_LINE = r'\#[ \t]*+(?:line[ \t]++)?\d++[ \t]++"[^"\n]*+"[ \t\d\r]*+(?=\n|\Z)'
COMMENT = r"//[^\n]*+|/\*(?s:.)*?\*/"
_GAP = rf"(?:\s|{COMMENT})*+"
_STRING = r'"[^"\n]*+"|"[^";]*+"'
_STRINGS = re.compile(_STRING)
_DECLARES = re.compile(r"\.(?:reg|func|entry|param|global|const|shared|local|tex)\b")
_DEFINES = re.compile(r"#\s*[a-z]")  # not a line marker, as in # 1 "a.ptx"
_NAMES = r"(?:\.[\w:]++)*+"
# The directives of a module, before which the prototype of a function may end without a semicolon.
_OF_MODULE = r"\.(?:extern|visible|weak|common|func|entry|global|const|shared|local|tex|file|section|alias)\b"
_BLANKED = re.compile(rf"{COMMENT}|{_LINE}")
# Comments may contain any characters.
_STRANGE = re.compile(r"[^\t\n\f\r\x1a -~\0]")
_PLAIN = bytes(b for b in range(128) if not _STRANGE.match(chr(b)))

# A statement: an optional predicate, the opcode and its names, and its operands.
_HEAD = re.compile(
    r"(?:@\s*+!?\s*+(?!\d|_\b)[%\w$\0]++(?=[\s\\\x1a])[\s\x1a]*+(?:\\[\s\x1a]*+)?)?"
    r"(?P<head>(?P<opcode>[A-Za-z_][\w$]*+)(?:\s*+\.[\w:.]*+)*+)",
    re.ASCII,
)
# A placeholder of a program's own: for an opcode, as in `$s.$s` or `%1.f32`, and for a type, as in `.$t`.
_PLACEHOLDER = re.compile(r"(?:@\s*+!?\s*+[%\w$]++\s++)?(?:\$[A-Za-z]|[%$]\d++\.)", re.ASCII)
_TYPE_TO_FILL_IN = re.compile(r"\.[$%]\w")
_OPERANDS_IN_BRACES = re.compile(r"\{[^{};]*+\}\s*+(?:,[^;]*+)?;")
# How far before operands a placeholder for a spelling may be.
_NEAR = 64
# The rest of a spelling behind a placeholder.
_REST = re.compile(r"[^\s;]*+\s*+")
# Two operands side by side, or an operand and the next statement.
_ADJACENT = re.compile(r"[\w$\]}](?P<gap>\s++(?=[\w%$@])|(?=\s*+\.[a-z])[^\S\n]*+\n\s*+)", re.ASCII)
_NEXT_ON_LINE = re.compile(r"[A-Za-z_]\w*+\.[A-Za-z][\w.:]*+\s", re.ASCII)
_NEXT = re.compile(r"[@.]|[A-Za-z_]\w*+(?:\s*+\.[A-Za-z]|\s++[^\s,;]|\s*+[;:]|\s*+\Z)|[%$\w]++\s*+:", re.ASCII)
_DECLARATION = re.compile(
    r"(?:\.(?:extern|visible|weak|common)\s++)?\.(?:reg|local|shared|param|global|const)\b|\.pragma\b"
)
_DECLARED = re.compile(
    r"(?<![\w.:$%])[A-Za-z_$%][\w$]*+(?:\s*+<\d++>|\s*+\[[^\]]{0,99}+\])*+(?P<gap>\s++)(?=[.@A-Za-z_$%])", re.ASCII
)
_INITIAL = re.compile(rf"(?P<comment>{COMMENT}|/\*(?s:.)*+)|(?P<end>;)|(?P<space>[^;/]{{1,4096}}+|/)").match


class View(Protocol):
    """A text to scan: a file, or a string in a program."""

    text: str
    embedded: bool

    def place(self, offset: int) -> Position: ...


class Instruction(NamedTuple):
    """An instruction of the database. `head` is its spelling as written, `plain` the number of operands if all are
    registers or symbols, else -1. `statement` is the start of the statement, with its guard."""

    start: int
    head: str
    operands: str
    operands_start: int
    plain: int
    statement: int


class DirectiveWord(NamedTuple):
    """A word of a directive, and its place in the text."""

    start: int
    text: str


class Directive(NamedTuple):
    """`.version` or `.target` with its values."""

    start: int
    name: str
    values: tuple[DirectiveWord, ...]


class Problem(NamedTuple):
    """Text that the assembler cannot read. `place` is its position if that is already known, `statement` the start of
    the statement that it is about. `stray`: it belongs to no statement; `header`: it is about .version or .target."""

    start: int
    length: int
    code: str
    message: str
    help: str = ""
    place: Position | None = None
    statement: int | None = None
    stray: bool = False
    header: bool = False


class Declaration(NamedTuple):
    """A text that declares names: of registers, of variables, of a function and its parameters; or braces; None for one
    that was not read."""

    text: str | None
    start: int = 0


STRANGER, STATEMENT = "stranger", "statement"


class Other(NamedTuple):
    """Any other item: a statement with its spelling and operands; and, if the scanner yields everything, a label or a
    directive. A STRANGER is a statement with an opcode that PTX does not have, as far as is known. `statement` is the
    start of the statement, with its guard."""

    start: int
    kind: str
    text: str
    operands: str = ""
    operands_start: int = 0
    statement: int = 0


Item: TypeAlias = Instruction | Directive | Problem | Declaration | Other


class Scanner:
    """A scanner of one text. `opcodes` are those to search for; `others` are PTX's other opcodes, for recognising
    strangers; `everything`: yield all other items, too."""

    def __init__(
        self, opcodes: Iterable[str], embedded: bool = False, everything: bool = False, others: Iterable[str] = ()
    ) -> None:
        self._opcodes = frozenset(opcodes)
        self._others = frozenset(others)
        self._embedded = embedded
        self._everything = everything
        self._last: str | None = None  # the kind of the last item
        self._match = _pattern(self._opcodes).match
        self._initialised: int | None = None  # the start of a variable's declaration with initial values in braces
        # The number of open braces, and the outermost one. A program may open them in one string and close them in
        # another.
        self._depth = None if embedded else 0
        self._brace: Position | None = None

    def scan(self, view: View) -> Iterator[Item]:
        """Yield the items of a text."""
        text, end, position = view.text, len(view.text), 0
        missing = behind = 0  # missing semicolons before the one that ends at `behind`
        backslash = -1  # the offset of a backslash with no statement after it yet
        strange = not text.isascii() or text.encode("ascii").translate(None, _PLAIN) != b""
        while position < end:
            m = (self._match if self._initialised is None else _INITIAL)(text, position)
            assert m is not None, "one alternative matches anything"
            kind, start, position = m.lastgroup, position, m.end()
            if strange and kind != "comment" and (problem := _strange(m[0], start)):
                yield problem
            if kind == "space" or kind == "comment":
                if m[0].startswith("/*") and (len(m[0]) < 4 or not m[0].endswith("*/")):
                    yield _open_comment(start)
                continue
            if kind == "backslash" and (self._embedded or backslash < 0):
                # In a string of a program it may be an escape of another language.
                backslash = -1 if self._embedded else start
                continue
            if backslash >= 0:
                if kind not in ("plain", "general") or not m[0][0].isalpha():
                    yield _backslash(backslash)
                backslash = -1
            # Superfluous semicolons, a .TARGET and stray text have complaints of their own.
            if not self._embedded and kind not in ("empty", "stray") and not m[0][1:2].isupper():
                if problem := _misplaced(kind, self._last, start):
                    yield problem
                self._last = kind
            if kind == "open" and self._embedded and HOLE in text[max(0, start - _NEAR) : start]:
                # The whole spelling may be a placeholder.
                spelled = text[max(0, start - _NEAR) : start].rstrip().endswith(HOLE)
                if spelled and (filled := _OPERANDS_IN_BRACES.match(text, start)):
                    position = filled.end()
                    continue
            if kind == "plain":
                operands = m["args"]
                yield Instruction(m.start("head"), m["head"], operands, m.start("args"), operands.count(",") + 1, start)
            elif kind == "general":
                items, length = self._statement(_blank(m[0]), start)
                yield from items
                position = start + length
            elif kind == "directive":
                problem, length = self._directive(_blank(m[0]), start, text[position : position + 1])
                position = start + length
                if self._initialised is not None:
                    pass  # More variables may be declared after its values.
                elif _DECLARES.search(m[0]):
                    is_unread = self._embedded and _TYPE_TO_FILL_IN.search(m[0], 0, length)
                    yield Declaration(None if is_unread else m[0][:length], start)
                elif self._everything:
                    yield Other(start, kind, m[0][:length])
                if problem:
                    yield problem
            elif kind == "prototype":
                yield Declaration(m[0], start)
            elif kind == "open" or kind == "close":
                yield Declaration(m[0], start)
                if problem := self._braces(view, m[0], start):
                    yield problem
            elif kind == "version" or kind == "target":
                value = _blank(m[kind + "_value"] or "")
                at = m.end() - len(value)
                yield Directive(
                    start, kind, tuple(DirectiveWord(at + v.start(), v[0]) for v in re.finditer(r"[^\s,]+", value))
                )
            elif kind == "quote":
                yield Problem(start, 1, "unterminated-string", "this string does not end")
                position = text.find("\n", start) + 1 or end
            elif kind == "empty":
                yield Problem(start, 1, "syntax", "there is no statement before this semicolon", "remove it")
            elif kind == "preprocessor":
                if _DEFINES.match(m[0]):
                    yield Declaration(None)
                yield Problem(
                    start, 1, "syntax", "unexpected '#'", 'comments begin with //; # is for lines such as # 1 "file"'
                )
            elif kind == "end" and self._initialised is not None:
                yield Declaration(text[self._initialised : position], self._initialised)
                self._initialised = None
            elif kind == "stray" and not (strange and _STRANGE.search(m[0])):
                yield Problem(start, len(m[0]), "syntax", f"unexpected {m[0]!a}", stray=True)
            elif kind == "label" and self._everything:
                yield Other(start, kind, m[0])
            if position < m.end():
                missing, behind = (missing + 1 if m.end() == behind else 1), m.end()
                position = position if missing < _MISSING else behind
        if backslash >= 0:
            yield _backslash(backslash)
        if self._depth and self._brace:
            yield Problem(0, 1, "syntax", "this brace is not closed", "close it with }", self._brace)

    def _statement(self, statement: str, start: int) -> tuple[list[Item], int]:
        """Return the items of one statement, and its length. If its semicolon is missing, the next statement
        follows."""
        m, length = _HEAD.match(statement), len(statement)
        if m is None:
            is_filled_in = HOLE in statement or (self._embedded and _PLACEHOLDER.match(statement))
            return ([] if is_filled_in else [_no_opcode(statement, start)]), length
        ours = m["opcode"].lower() in self._opcodes
        problem = None
        end = length - statement.endswith(";")
        head = m["head"]
        # If a hole follows the spelling, the spelling continues there, or with a placeholder after a dot or a name.
        behind = statement[m.end() : m.end() + 1]
        goes_on = behind == HOLE or (
            self._embedded and (behind in ("%", "$") or (head.endswith(".") and not behind.isspace()))
        )
        if HOLE not in statement:
            rest = _REST.match(statement, m.end()) if goes_on else None
            two = _ADJACENT.search(statement, rest.end() if rest else m.end())
            if two and (_NEXT if "\n" in two["gap"] else _NEXT_ON_LINE).match(statement, two.end()):
                end, length = two.start("gap"), two.end()
                problem = _no_semicolon(start + end)
            elif not self._embedded and "\\" in statement[m.end() :]:
                problem = _backslash(start + statement.index("\\", m.end()))
            elif two and not ours:
                problem = Problem(start + two.end(), 1, "syntax", "a comma is missing before this")
            elif end == length:
                problem = _no_semicolon(start + len(statement.rstrip()))
        items: list[Item] = [problem._replace(statement=start)] if problem else []
        operands, place = statement[m.end() : end], start + m.end()
        if ours and not goes_on:
            items.insert(0, Instruction(start + m.start("head"), head, operands, place, -1, start))
        else:
            is_typed = "." in head or head[-1].isdigit()
            strange = self._others and not goes_on and m["opcode"] not in self._others and is_typed
            kind = STRANGER if strange else STATEMENT
            text = statement[m.start("head") : end] if goes_on else head
            items.insert(0, Other(start + m.start("head"), kind, text, operands, place, start))
        return items, length

    def _directive(self, directive: str, start: int, behind: str) -> tuple[Problem | None, int]:
        """Return the problem in a directive, and the directive's length."""
        length = len(directive)
        if directive[1:2].isupper():
            name = re.match(r"\.\w+", directive)
            first = name[0] if name else "."
            help = f"write {first.lower()}"
            header = first.lower() in (".version", ".target")
            return Problem(start, len(first), "syntax", f"there is no directive {first}", help, header=header), len(
                first
            )
        if not self._embedded and "\\" in (plain := _STRINGS.sub(lambda m: " " * len(m[0]), directive)):
            return _backslash(start + plain.index("\\")), length
        if behind == "{" and directive.rstrip().endswith("="):
            self._initialised = start
        elif self._embedded and _TYPE_TO_FILL_IN.search(directive):
            pass
        elif HOLE not in directive and (m := _DECLARATION.match(directive)):
            if two := _DECLARED.search(directive, m.end()):
                return _no_semicolon(start + two.start("gap")), two.end()
            if behind != '"' and not directive.endswith(";"):
                return _no_semicolon(start + len(directive.rstrip())), length
        return None, length

    def _braces(self, view: View, braces: str, start: int) -> Problem | None:
        if self._depth is None:
            return None
        if braces.startswith("{"):
            if self._depth == 0:
                self._brace = view.place(start)
            self._depth += len(braces)
            return None
        superfluous = len(braces) - self._depth
        self._depth = max(0, -superfluous)
        at = start + len(braces) - superfluous
        return Problem(at, 1, "syntax", "there is no open brace for this one", "remove it") if superfluous > 0 else None


def _blank(text: str) -> str:
    """Return the text with its comments replaced by spaces."""
    if "/" in text or "#" in text:
        return _BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return text


def _open_comment(start: int) -> Problem:
    return Problem(start, 2, "unterminated-comment", "this comment does not end")


def _no_semicolon(at: int) -> Problem:
    return Problem(at, 1, "syntax", "a semicolon is missing here", "end the statement with ;")


def _backslash(at: int) -> Problem:
    """Return the problem about a backslash. The assembler skips one before an opcode, and accepts none elsewhere."""
    return Problem(at, 1, "syntax", "unexpected backslash: no line continues after it", "remove it")


def _no_opcode(statement: str, start: int) -> Problem:
    if statement.startswith("@"):
        help = "write @p or @!p before one instruction"
        return Problem(start, 1, "syntax", "an instruction must follow this predicate", help)
    first = re.match(r"[%\w$]*", statement)
    return Problem(start, len(first[0]) if first else 1, "syntax", "a statement must begin with an opcode")


def _misplaced(kind: str | None, last: str | None, start: int) -> Problem | None:
    """Return the problem about a directive in the wrong place: a module begins with its version and target."""
    if kind == "version" and last is not None:
        message, help = ".version must come first in a module, and only once", "move or remove it"
        return Problem(start, 8, "syntax", message, help, header=True)
    if last == "version" and kind != "target":
        message, help = ".target is missing between .version and this", "add one, as in .target sm_90"
        return Problem(start, 1, "syntax", message, help, header=True)
    return None


def _strange(token: str, start: int) -> Problem | None:
    m = _STRANGE.search(_blank(token))
    if m is None:
        return None
    return Problem(
        start + m.start(), 1, "syntax", f"unexpected {m[0]!a}", "outside comments, only ASCII characters are allowed"
    )


@cache
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of one token, with the most frequent alternatives first."""
    opcodes = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    inner = rf'(?:[^;{{}}"/]++|{COMMENT}|/(?![/*])|\{{[^;{{}}"]*+\}}|{_STRING})'
    return re.compile(
        rf"""
        (?P<space> [\s\x1a]++ | {_LINE} )
      | (?P<plain> (?:@!?(?!\d|_\b)[%\w$]++{_SPACE}++)? (?P<head>(?:{opcodes}){_NAMES})
            {_SPACE}++ (?P<args>{_REGISTER}(?:{_SPACE}*+,{_SPACE}*+{_REGISTER})*+) {_SPACE}*+; )
      | (?P<label> (?!\d)[%\w$\0]++\s*+:(?!:) )
      | (?P<version> \.version\b (?:[^\S\n]++(?P<version_value>\d++\.\d++(?![\w\0]|\.\d)|[^\s;]++))? )
      | (?P<target> \.target\b (?P<target_value>{_GAP}[\w\0]++(?:{_GAP},{_GAP}[\w\0]++)*+)? )
      | (?P<line> \.(?:loc(?:\s++\d++)++
                (?:\s*+,\s*+function_name\s++[^\s,]++(?:\s*+\+\s*+\d++)?\s*+,\s*+inlined_at(?:\s++\d++)++)?
            | file\s++\d++\s++(?:{_STRING})(?:\s*+,\s*+\d++)*+ | address_size\s++\d++) )
      | (?P<comment> {COMMENT}|/\*(?s:.)*+ )
      | (?P<prototype> (?:\.(?:extern|visible|weak)\b{_GAP})?\.func\b
            (?:[^().;{{}}"/]++ | {COMMENT} | \((?:[^()/]++|{COMMENT}|\([^()]*+\))*+\) | (?!{_OF_MODULE})\. )*+
            (?={_OF_MODULE}) )
      | (?P<directive> \.(?:[^;{{}}"/]++|{_STRING}|{COMMENT}|/(?![/*]))*+;? )
      | (?P<open> \{{++ )
      | (?P<close> \}}++ )
      | (?P<hole> (?:\0++\s++)++(?=[A-Za-z@{{}}.\#/"]|\Z) )
      | (?P<general> [@A-Za-z_%$\0] {inner}*+;? )
      | (?P<backslash> \\ )
      | (?P<empty> ; )
      | (?P<string> {_STRING} )
      | (?P<quote> "[^"\n]*+ )
      | (?P<preprocessor> \#[^\n]*+ )
      | (?P<stray> \d[\w$]*+:? | (?:[^\w\s;{{}}.@%$"\#/\0]|/(?![/*]))++ | . )
        """,
        re.VERBOSE | re.ASCII,
    )

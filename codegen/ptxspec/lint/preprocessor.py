"""The conditions of C's preprocessor around code, decided for a target in three values.

True is compiled, False is not, and None is unknown: it depends on something outside of the file. The value of a macro
is an integer, or None if it is unknown."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .macros import NONE, UNKNOWN, Macro, Truth

# The longest chain of macros that expand to each other, and the most levels of brackets.
_DEEPEST = 40

_WORD = re.compile(r"\w+")
_DIRECTIVE = re.compile(
    r"""^(?:[ \t]|/\*(?s:.)*?\*/)*+\#[ \t]*(?P<name>[A-Za-z_]\w*)
        (?P<rest>(?:[^\n\\/]|\\\n|\\|/\*(?s:.)*?(?:\*/|\Z)|//(?:\\\n|[^\n])*|/)*)
    |(?P<comment>//(?:\\\n|[^\n])*|/\*(?s:.)*?(?:\*/|\Z))
    |(?P<string>(?:u8|[LuU])?R"(?P<d>[^()\\\s]{0,16})\((?s:.)*?(?:\)(?P=d)"|\Z)|"(?:[^"\\\n]|\\(?s:.))*"?|'(?:[^'\\\n]|\\.){1,8}')
    """,
    re.VERBOSE | re.MULTILINE,
)
_PRAGMA = re.compile(r"^[ \t]*\#[ \t]*pragma\b[^\n]*", re.MULTILINE)
_COMMENT = re.compile(r"//(?:\\\n|[^\n])*|/\*(?s:.)*?(?:\*/|\Z)")
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*)[uUlLzZ]*)|(?P<name>[A-Za-z_]\w*)
    |(?P<operator><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),]))""",
    re.VERBOSE,
)
# C++'s words for operators.
_SPELLED: dict[str, str] = dict(
    re.findall(r"(\w+) (\S+)", "and && or || not ! not_eq != bitand & bitor | xor ^ compl ~")
)


class _Directive(NamedTuple):
    """A directive from `start` to `end`, and the text after its name, without comments."""

    start: int
    end: int
    name: str
    rest: str


class Region(NamedTuple):
    """The text from `start` on, up to the next region. `condition`: the unknown one."""

    start: int
    compiled: Truth
    condition: str = ""


@dataclass
class _Group:
    """An #if with its branches so far. `taken`: whether one of them was compiled; `outer`: whether the group is. `off`:
    the condition is the same for every target, as in `#if 0`. `condition`: the last unknown one."""

    outer: Truth
    taken: Truth
    off: bool = False
    condition: str = ""


@dataclass
class _State:
    """The macros so far, of which those in `fixed` do not change, and the enclosing groups."""

    macros: dict[str, Macro]
    fixed: frozenset[str]
    groups: list[_Group] = field(default_factory=list)
    compiled: Truth = True


def regions(
    text: str, macros: Mapping[str, Macro], known: Mapping[str, Macro], said: Mapping[str, Macro]
) -> tuple[list[Region], Mapping[str, Macro]]:
    """Return the regions of a text, and the macros at its end. `macros` are the compiler's for the target, and `known`
    those of headers, which the text's own definitions override; `said` override all."""
    directives = list(_directives(text))
    # A macro that the text defines may mean something else than a header's of the same name.
    own = {m[0] for d in directives if d.name == "define" and (m := _WORD.match(d.rest))}
    others = {name: macro for name, macro in known.items() if name.removesuffix("()") not in own}
    state = _State({**others, **macros, **said}, frozenset(said))
    return list(_regions(text, directives, state)), state.macros


def _regions(text: str, directives: Sequence[_Directive], state: _State) -> Iterator[Region]:
    yield Region(0, True)
    guard = _include_guard(text, directives)
    for start, end, name, rest in directives:
        if name in ("define", "undef"):
            _define(state, name, rest)
            continue
        if name in ("if", "ifdef", "ifndef"):
            state.groups.append(_Group(state.compiled, False))
            _branch(state, f"#{name} {rest}", True if start == guard else decided(_condition(name, rest), state.macros))
            state.groups[-1].off = rest.isdigit()
        elif name in ("elif", "elifdef", "elifndef") and state.groups:
            _branch(state, f"#{name} {rest}", decided(_condition(name.removeprefix("el"), rest), state.macros))
        elif name == "else" and state.groups:
            _branch(state, "", True)
        elif name == "endif" and state.groups:
            state.compiled = state.groups.pop().outer
        else:
            continue
        asked = next((g.condition for g in reversed(state.groups) if g.condition), "")
        yield Region(end, state.compiled, asked if state.compiled is None else "")


def _directives(text: str) -> Iterator[_Directive]:
    for m in _DIRECTIVE.finditer(text):
        if m["name"]:
            rest = _COMMENT.sub(" ", m["rest"].replace("\\\n", " ")).strip()
            yield _Directive(m.start(), m.end(), m["name"], rest)


def _include_guard(text: str, directives: Iterable[_Directive]) -> int:
    """Return the start of the include guard's condition, which is true on the first reading; -1 if there is no
    guard."""
    first, guard, depth, is_defined = -1, "", 0, False
    for start, end, name, rest in directives:
        if name == "pragma":
            continue
        if first < 0:
            before = _COMMENT.sub("", _PRAGMA.sub("", text[:start])).strip()
            m = re.fullmatch(r"!\s*defined\s*\(?\s*(\w+)\s*\)?", _condition(name, rest))
            if before or m is None:
                return -1
            first, guard, depth = start, m[1], 1
            continue
        if not is_defined:
            if name != "define" or rest.split()[:1] != [guard]:
                return -1
            is_defined = True
        depth += name in ("if", "ifdef", "ifndef")
        if depth == 1 and name in ("else", "elif", "elifdef", "elifndef"):
            return -1
        if name == "endif":
            depth -= 1
            if not depth:
                # Text behind it is read twice, so it is not an include guard.
                return -1 if _COMMENT.sub("", text[end:]).strip() else first
    return -1


def _condition(name: str, rest: str) -> str:
    """Return the condition of a directive as that of an #if."""
    word = rest.split(maxsplit=1)[0] if rest else ""
    return {"ifdef": f"defined({word})", "ifndef": f"!defined({word})"}.get(name, rest)


def _branch(state: _State, condition: str, holds: Truth) -> None:
    """Begin a branch of the innermost group."""
    group = state.groups[-1]
    if holds is None:
        group.condition = condition
    state.compiled = both(group.outer, both(opposite(group.taken), holds))
    group.taken = either(group.taken, holds)


def _define(state: _State, name: str, rest: str) -> None:
    """Define or undefine a macro. One that the file defines only for other targets is undefined for this one unless it
    is known; one that `#if 0` leaves out may be defined by an option."""
    m = re.match(r"([A-Za-z_]\w*)(\()?(.*)", rest, re.DOTALL)
    if m is None or m[1] in state.fixed:
        return
    macros = state.macros
    if state.compiled is False:
        if name == "define" and not any(g.off for g in state.groups):
            macros.setdefault(m[1], NONE)
    elif state.compiled is None:
        macros[m[1]] = UNKNOWN
    elif name == "undef":
        macros[m[1]] = NONE
    else:
        macros[m[1]] = Macro(True, None if m[2] else m[3].strip())


def both(a: Truth, b: Truth) -> Truth:
    """Return whether both are true."""
    return False if a is False or b is False else None if a is None or b is None else True


def either(a: Truth, b: Truth) -> Truth:
    """Return whether one of two is true."""
    return opposite(both(opposite(a), opposite(b)))


def opposite(a: Truth) -> Truth:
    return None if a is None else not a


def decided(condition: str, macros: Mapping[str, Macro]) -> Truth:
    """Return whether the condition of an #if is true; None if it is unknown or cannot be read."""
    try:
        value = _Expression(condition, macros, {}).value()
    except _UnreadableError:
        return None
    return None if value is None else value != 0


class _UnreadableError(Exception):
    """A condition that is not a preprocessor expression, or is too deep."""


# Operators that bind tighter have a higher number.
_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class _Expression:
    """A preprocessor expression, evaluated while it is read. `known` are the values of macros so far."""

    def __init__(self, text: str, macros: Mapping[str, Macro], known: dict[str, int | None], depth: int = 0) -> None:
        self._macros, self._known, self._depth = macros, known, depth
        self._tokens = list(_tokens(text))
        self._at = 0

    def value(self) -> int | None:
        found = self._ternary()
        if self._at < len(self._tokens):
            raise _UnreadableError
        return found

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> bool:
        if self._next() in wanted and self._next():
            self._at += 1
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise _UnreadableError

    def _ternary(self) -> int | None:
        test = self._binary(1)
        if not self._take("?"):
            return test
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnreadableError
        then = self._ternary()
        self._expect(":")
        other = self._ternary()
        self._depth -= 1
        if test is None:
            return then if then == other else None
        return then if test else other

    def _binary(self, least: int) -> int | None:
        left = self._unary()
        while _BINARY.get(self._next(), 0) >= least:
            sign = self._next()
            self._at += 1
            left = _applied(sign, left, self._binary(_BINARY[sign] + 1))
        return left

    def _unary(self) -> int | None:
        signs = []
        while self._next() in ("!", "-", "+", "~"):
            signs.append(self._next())
            self._at += 1
        x = self._primary()
        for sign in reversed(signs):
            x = None if x is None else {"!": int(not x), "-": -x, "+": x, "~": ~x}[sign]
        return x

    def _primary(self) -> int | None:
        token = self._next()
        self._at += 1
        if token == "(":
            self._depth += 1
            if self._depth > _DEEPEST:
                raise _UnreadableError
            found = self._ternary()
            self._expect(")")
            self._depth -= 1
            return found
        if token[:1].isdigit():
            return _number(token)
        if not token.isidentifier():
            raise _UnreadableError
        if token == "defined":
            bracket = self._take("(")
            name = self._next()
            self._at += 1
            if bracket:
                self._expect(")")
            defined = self._macros.get(name, self._macros.get(f"{name}()", UNKNOWN)).defined
            return None if defined is None else int(defined)
        return self._macro(token)

    def _macro(self, name: str) -> int | None:
        if name in ("true", "false"):
            return int(name == "true")
        if self._take("("):
            return self._called(self._macros.get(f"{name}()"), self._arguments())
        macro = self._macros.get(name)
        if macro is None or macro.defined is None or (macro.defined and not macro.body):
            return None
        if not macro.defined:
            return 0
        if self._depth >= _DEEPEST:
            raise _UnreadableError
        if name not in self._known:
            self._known[name] = self._stands_for(macro.body or "")
        return self._known[name]

    def _stands_for(self, body: str) -> int | None:
        return _Expression(body, self._macros, self._known, self._depth + 1).value()

    def _called(self, macro: Macro | None, arguments: Sequence[str]) -> int | None:
        """Return the value of a macro with arguments. It is unknown for operators such as __has_include(<x>), and if
        there are fewer arguments than the replacement has."""
        if macro is None or not macro.body:
            return None
        if self._depth >= _DEEPEST:
            raise _UnreadableError
        try:
            return self._stands_for(macro.body.format(*arguments))
        except IndexError:
            return None

    def _arguments(self) -> list[str]:
        """Read arguments, behind their opening bracket."""
        found, depth = [""], 1
        while self._at < len(self._tokens):
            token = self._next()
            self._at += 1
            depth += {"(": 1, ")": -1}.get(token, 0)
            if not depth:
                return found
            if token == "," and depth == 1:
                found.append("")
            else:
                found[-1] += token
        raise _UnreadableError


def _tokens(text: str) -> Iterator[str]:
    position, text = 0, text.rstrip()
    while position < len(text):
        m = _TOKEN.match(text, position)
        if m is None:
            raise _UnreadableError
        token = m[m.lastgroup or 0]
        yield _SPELLED.get(token, token)
        position = m.end()


def _number(token: str) -> int:
    digits = token.rstrip("uUlLzZ").replace("'", "")
    if digits.startswith("0") and digits.isdigit():
        return int(digits, 8) if set(digits) <= set("01234567") else 0
    return _wrapped(int(digits, 0)) if len(digits) < 100 else 0


def _wrapped(x: int) -> int:
    """Return an integer wrapped to 64 bits, with which the preprocessor computes."""
    return (x + (1 << 63)) % (1 << 64) - (1 << 63)


_COMPUTED: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _applied(name: str, a: int | None, b: int | None) -> int | None:
    if name in ("&&", "||"):
        sides = (None if x is None else x != 0 for x in (a, b))
        found = both(*sides) if name == "&&" else either(*sides)
        return None if found is None else int(found)
    if a is None or b is None:
        return None
    if name in ("<<", ">>"):
        return None if not 0 <= b < 64 else _wrapped(a << b) if name == "<<" else a >> b
    if name in ("/", "%"):
        if not b:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return _wrapped(quotient if name == "/" else a - quotient * b)
    return _wrapped(int(_COMPUTED[name](a, b)))

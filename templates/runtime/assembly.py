"""Inline assembly as programs write it -> PTX, and the operands that its text names by number.

An asm statement of CUDA C++ is read whole: strings, operands and constraints. For LLVM, Triton, Julia and Rust, the
text and its constraints are read separately."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .assembler import ASSEMBLER

_HEAD = re.compile(r"\s*(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile|inline|goto)\b\s*)*\(")
_SKIP = re.compile(r"(?:\s|\\\n|//[^\n]*|/\*(?s:.)*?(?:\*/|\Z))*+")
_MARK = re.compile(r"(?P<mark>::|[:,])")
_STRING = re.compile(r'R"(?P<mark>[^\s()\\"]{0,16})\((?P<raw>(?s:.)*?)\)(?P=mark)"|"(?P<plain>(?:[^"\\\n]|\\(?s:.))*)"')
_ESCAPE = re.compile(r"\\(?:x[\da-fA-F]{1,2}|[0-7]{1,3}|(?s:.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "\n": ""}
# The tokens of a C++ expression up to the parenthesis that ends it.
_PIECE = re.compile(r"""(?P<open>\()|(?P<close>\))|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|[^()"']+|'""")
# Casts and dereferences around a name: `*(unsigned *)&x`, `reinterpret_cast<int &>(x)`.
_NAMED = re.compile(r"(?:[(*&\s]|\(\s*[A-Za-z_][\w:\s*&]*\)|\w+_cast\s*<[^<>]*>)*(?P<name>[A-Za-z_]\w*)[)\s]*")
_INTEGER = re.compile(r"(?:\(\s*[A-Za-z_][\w\s]*\))?\s*(-?)\s*(0[xX][\da-fA-F]{1,16}|\d{1,20})[uUlL]*", re.ASCII)
# The types of registers by the letters of their constraints. Constants have none.
_REGISTERS: dict[str, str] = {
    letter: types[0] for letter, types in ASSEMBLER["constraints"].items() if types[0] != "b128"
}
_CONSTANTS = "ni"
_NUMBER = re.compile(r"[0-9]{1,4}")
# Operands and escapes in a template of C, and in one of LLVM.
_OF_C = re.compile(r"%(?:(?P<twice>%)|\[(?P<name>\w+)\]|(?P<number>\d+)|(?P<unique>=))")
_OF_LLVM = re.compile(r"\$(?:(?P<twice>\$)|(?P<number>\d+)|\{(?P<braced>\d+)(?::\w*)?\}|(?P<unique>\{:uid\}))")


class Argument(NamedTuple):
    """An operand of inline assembly: its name in the program, the letter of its constraint, whether it is read and
    written, and the number of the operand whose register it uses, usually its own. The `value` of a constant is None
    where it is not known."""

    name: str
    letter: str
    reads: bool
    writes: bool
    register: int
    value: int | None = None

    @property
    def type(self) -> str:
        """The type of its register; empty for a constant."""
        return _REGISTERS.get(self.letter, "")


class Template(NamedTuple):
    """PTX in which `%0` names an operand. `places` are the offsets of its characters in the original text."""

    text: str
    places: Sequence[int]
    arguments: tuple[Argument, ...]


class AssemblyError(Exception):
    """An error for inline assembly that cannot be read: the problem and its offset."""

    def __init__(self, start: int, message: str) -> None:
        super().__init__(message)
        self.start, self.message = start, message


def is_statement(text: str) -> bool:
    """Return whether a text is an asm statement of C++."""
    return _HEAD.match(text) is not None


def of_statement(text: str) -> Template:
    """Return the template of an asm statement of C++. Raises AssemblyError."""
    head = _HEAD.match(text)
    assert head is not None
    characters, position = _strings(text, head.end())
    entries: list[_Entry] = []
    section = 0
    while not text.startswith(")", position):
        m = _MARK.match(text, position)
        if m is None:
            raise _no_string(text, position)
        section += m["mark"].count(":")
        position = _after(text, m.end())
        if section > 2:
            break  # clobbers are no operands
        if text[position : position + 1] not in (":", ")"):
            entry, position = _entry(text, position)
            entries.append(entry)
    if not section:
        return Template("".join(c for c, _ in characters), [at for _, at in characters], ())
    names = {e.label: i for i, e in enumerate(entries) if e.label}
    return _template(characters, _OF_C, names, _arguments(entries))


def of_template(text: str, constraints: str) -> Template:
    """Return the template of a text whose operands have LLVM's constraints, such as "=r,r,f"; they are called `_0`,
    `_1` and so on. The text names them by `$0`, or by `%0`. Raises AssemblyError."""
    parts = [part.strip() for part in constraints.split(",")]
    entries = [_Entry(0, "", part, "") for part in parts if part and not part.startswith("~")]
    pattern = _OF_LLVM if re.search(r"\$\{?\d", text) or "$$" in text else _OF_C
    return _template([(c, i) for i, c in enumerate(text)], pattern, {}, _arguments(entries))


def _strings(text: str, position: int) -> tuple[list[tuple[str, int]], int]:
    """Return the characters of adjacent string literals, each with its offset, and the position after them."""
    found: list[tuple[str, int]] = []
    position = _after(text, position)
    while m := _STRING.match(text, position):
        if m["raw"] is not None:
            found += [(c, m.start("raw") + i) for i, c in enumerate(m["raw"])]
        else:
            found += _unescaped(m["plain"], m.start("plain"))
        position = _after(text, m.end())
    return found, position


def _after(text: str, position: int) -> int:
    m = _SKIP.match(text, position)
    return m.end() if m else position


def _unescaped(text: str, start: int) -> Iterator[tuple[str, int]]:
    position = 0
    for m in _ESCAPE.finditer(text):
        yield from ((text[i], start + i) for i in range(position, m.start()))
        code = m[0][1:]
        if code[0] == "x" and len(code) > 1:
            yield chr(int(code[1:], 16)), start + m.start()
        elif code[0] in "01234567":
            yield chr(int(code, 8)), start + m.start()
        else:
            yield from ((c, start + m.start()) for c in _ESCAPED.get(code, code))
        position = m.end()
    yield from ((text[i], start + i) for i in range(position, len(text)))


def _no_string(text: str, position: int) -> AssemblyError:
    """Return the error for text where a string could continue."""
    m = re.compile(r"\w+").match(text, position)
    if m is None:
        return AssemblyError(position, "this asm statement has no closing parenthesis")
    return AssemblyError(position, f"{m[0]} is among the strings; replace it by its text")


class _Entry(NamedTuple):
    start: int
    label: str
    constraint: str
    expression: str


def _entry(text: str, position: int) -> tuple[_Entry, int]:
    """Return an operand behind a colon or a comma, and the position of the next mark."""
    start, label = position, re.compile(r"\[\s*(\w+)\s*\]").match(text, position)
    if label:
        position = _after(text, label.end())
    m = _STRING.match(text, position)
    if m is None or m["plain"] is None:
        raise AssemblyError(position, 'an operand must be a constraint and an expression, as in "r"(x)')
    position = _after(text, m.end())
    if text[position : position + 1] != "(":
        raise AssemblyError(position, f'an expression in parentheses must follow a constraint, as in "{m["plain"]}"(x)')
    begin, depth = position + 1, 0
    for piece in _PIECE.finditer(text, position):
        depth += (piece["open"] is not None) - (piece["close"] is not None)
        if not depth:
            expression = text[begin : piece.start()]
            return _Entry(start, label[1] if label else "", m["plain"], expression), _after(text, piece.end())
    raise AssemblyError(position, "this parenthesis is not closed")


def _arguments(entries: Sequence[_Entry]) -> tuple[Argument, ...]:
    found: list[Argument] = []
    labels = {e.label: i for i, e in enumerate(entries) if e.label}
    for number, e in enumerate(entries):
        letter = e.constraint.strip("=+&% ")
        named = _NAMED.fullmatch(e.expression)
        name = named["name"] if named else f"_{number}"
        writes = e.constraint.startswith(("=", "+"))
        reads = not e.constraint.startswith("=")
        same = [a for a in found if a.name == name and (a.writes if writes else a.reads)]
        name = f"_{number}" if same else name
        tied = (
            labels.get(letter.strip("[]"))
            if letter.startswith("[")
            else int(letter)
            if _NUMBER.fullmatch(letter)
            else None
        )
        if tied is not None and not writes:
            if tied >= len(found) or not found[tied].writes:
                message = f'"{e.constraint}" names operand {tied}, which is not an output'
                raise AssemblyError(e.start, message)
            found.append(Argument(name, found[tied].letter, True, False, tied))
        elif letter in _REGISTERS:
            found.append(Argument(name, letter, reads, writes, number))
        elif letter and all(c in _CONSTANTS for c in letter) and not writes:
            value = _INTEGER.fullmatch(e.expression.strip())
            known = _integer(value[2]) * (-1 if value[1] else 1) if value else None
            found.append(Argument(name, letter[0], known is None, False, number, known))
        else:
            letters = ", ".join([*_REGISTERS, "n"])
            raise AssemblyError(e.start, f'unknown constraint "{e.constraint}"; the letters of registers are {letters}')
    return tuple(found)


def _integer(text: str) -> int:
    """Return the value of a C integer. Octal digits that are invalid are read as decimal."""
    is_octal = text.startswith("0") and not re.search(r"[^0-7]", text)
    return int(text, 8) if is_octal else int(text, 0 if text[:2] in ("0x", "0X") else 10)


def _template(
    characters: Sequence[tuple[str, int]],
    pattern: re.Pattern[str],
    names: dict[str, int],
    arguments: tuple[Argument, ...],
) -> Template:
    """Return the template with PTX's own marks: `%%r` becomes `%r`, `$0` and `%[name]` become `%0`."""
    text = "".join(c for c, _ in characters)
    places = [at for _, at in characters]
    made: list[str] = []
    offsets: list[int] = []
    position = 0
    for m in pattern.finditer(text):
        made.append(text[position : m.start()])
        offsets += places[position : m.start()]
        written = _meant(m, names, places[m.start()], len(arguments))
        made.append(written)
        offsets += [places[m.start()]] * len(written)
        position = m.end()
    made.append(text[position:])
    return Template("".join(made), [*offsets, *places[position:]], arguments)


def _meant(m: re.Match[str], names: dict[str, int], at: int, count: int) -> str:
    groups = m.groupdict()
    if groups["twice"]:
        return groups["twice"]
    if groups["unique"]:
        return "0"
    if groups.get("name"):
        if groups["name"] not in names:
            raise AssemblyError(at, f"there is no operand {groups['name']}")
        return f"%{names[groups['name']]}"
    written = groups["number"] or groups["braced"]
    number = int(written) if _NUMBER.fullmatch(written) else count
    if number >= count:
        operands = f"{count} operand" + "s" * (count != 1)
        raise AssemblyError(
            at,
            f"{m[0]} has no constraint: there {'is' if count == 1 else 'are'} {operands}, and the first is {m[0][0]}0",
        )
    return f"%{number}"

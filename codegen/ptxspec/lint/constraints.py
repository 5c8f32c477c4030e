"""The constraints of inline assembly, which determine the registers of its operands."""

from __future__ import annotations

import re
from collections import Counter

_SKIP = r"(?:[ \t\r\n]|\\\r?\n|//[^\n]*|/\*(?s:.)*?\*/)*+"
_MARK = re.compile(rf"{_SKIP}(?P<mark>::|[:,)])")
_ENTRY = re.compile(rf'{_SKIP}(?:\[\s*(?P<name>\w+)\s*\]{_SKIP})?"(?P<constraint>[^"\\\n]*+)"{_SKIP}\(')
# The parentheses of C++, outside of strings, characters and comments; a ' within a number is a separator.
_EXPRESSION = re.compile(
    r"""(?P<open>\()|(?P<close>\))|(?:"(?:[^"\\\n]|\\.)*+"|(?<=\w)'(?=\w)|'(?:[^'\\\n]|\\.)++'
      |//[^\n]*+|/\*(?s:.)*?\*/|/(?![/*])|[^()"'/]++)++""",
    re.VERBOSE,
)
# The same in one step, up to the closing parenthesis, if nesting is shallow and there are no characters or divisions.
_ATOM = r""""(?:[^"\\\n]|\\.)*+"|//[^\n]*+|/\*(?s:.)*?\*/|[^()"'/]++"""
_CLOSED = re.compile(rf"(?:{_ATOM}|\((?:{_ATOM}|\((?:{_ATOM})*+\))*+\))*+\)")
_NUMBER = re.compile(r"[%$](\d{1,4})(?!\d)")
_LLVM = re.compile(r'\s*+,\s*+"([^"]*+)"')

# The type of the registers of a letter that CUDA's manual does not list: LLVM has it, and nvcc takes it for a bool.
_UNLISTED = {"b": ".pred"}

# The letter of each operand, or its type; None if unknown.
Constraints = tuple[str | None, ...]


def cpp(text: str, position: int) -> tuple[Constraints, dict[str, int]] | None:
    """Return the operands behind the text of an asm statement in C++, outputs, then inputs, and the numbers of those
    with names. None if the statement does not end."""
    if closing(text, position) is None:
        return None
    found: list[str] = []
    names: dict[str, int] = {}
    sections = 0
    while m := _MARK.match(text, position):
        position = m.end()
        sections += m["mark"].count(":")
        if m["mark"] == ")" or sections > 2:
            # An operand that is read and written counts once more, behind the others.
            return _letters(found) + (None,) * sum("+" in c for c in found), names
        entry = _ENTRY.match(text, position)
        if entry and (closed := closing(text, entry.end())):
            position = closed
            if entry["name"]:
                names[entry["name"]] = len(found)
            found.append(entry["constraint"])
    # There is something else, such as a macro, which may be several operands.
    return (), {}


def llvm(text: str, position: int) -> str:
    """Return LLVM's constraints behind a string in its own text; empty if there are none."""
    m = _LLVM.match(text, position)
    return m[1] if m else ""


def letters(listed: str) -> Constraints:
    """Return the operands of LLVM's constraints; clobbers, such as ~{memory}, are not operands."""
    if not listed:
        return ()
    return _letters([part.strip() for part in listed.split(",") if "~" not in part])


def uses(text: str) -> Counter[int]:
    """Return how often a text names each operand by its number."""
    return Counter(int(n) for n in _NUMBER.findall(text))


def closing(text: str, position: int) -> int | None:
    """Return the offset behind the parenthesis that closes the one open at a position, or None."""
    if at_once := _CLOSED.match(text, position):
        return at_once.end()
    depth = 1
    while m := _EXPRESSION.match(text, position):
        position = m.end()
        depth += (m["open"] is not None) - (m["close"] is not None)
        if depth == 0:
            return position
    return None


def _letters(found: list[str]) -> Constraints:
    plain = [c.strip("=+&% ") for c in found]
    same = [plain[int(c)] if c.isdigit() and int(c) < len(plain) else c for c in plain]
    return tuple(_UNLISTED.get(c, c) if len(c) == 1 and c.isalpha() else None for c in same)

"""Programs as functions of a language: the code that all back ends that write code share.

An opcode needs one function for each different program, named after the first variant that it serves. Its lines come
from lines of the specification. Each language decides how constants, variables and calls look; the operators that C and
NumPy share are defined here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..check.checking import Checked
from ..model import INSTRUCTIONS, FixedPoint, Kind, Variant
from ..semantics.expressions import holds_all
from ..semantics.functions import ALL, TABLE
from ..semantics.program import Apply, Const, Let, Program, Term, Var

# The functions that IEEE 754 only recommends. No processor has them: they take much code, or are approximations.
ELEMENTARY = frozenset(name for name, f in TABLE.items() if f.clause == "9.2")


@dataclass(frozen=True)
class LoweredLine:
    """A line of a function and its source in the specification. The source is empty if it is that of the line
    before."""

    text: str
    source: str


@dataclass(frozen=True)
class LoweredFunction:
    """A function as text. `written` returns its lines."""

    name: str
    parameters: list[str]
    lines: list[LoweredLine]


def written(statements: Sequence[tuple[str, str, str]], results: Sequence[str], end: str = "") -> list[LoweredLine]:
    """Return the lines of a function from each statement's name, with a type in C, its value and its source.

    The last value has no name if it is the result. A source is only on the first of its lines."""
    lines = [LoweredLine(f"{name} = {value}{end}", source) for name, value, source in statements]
    if statements and [statements[-1][0].rpartition(" ")[2]] == list(results):
        lines[-1] = LoweredLine(f"return {statements[-1][1]}{end}", statements[-1][2])
    else:
        lines.append(LoweredLine(f"return {', '.join(results)}{end}", ""))
    before = ["", *(line.source for line in lines)]
    return [LoweredLine(x.text, "" if x.source == b else x.source) for x, b in zip(lines, before, strict=False)]


def source_of(let: Let) -> str:
    """Return the source of a let: the line in the instruction's own file, or the name of the stage around it."""
    return f":{let.mark.line}" if let.path.startswith(INSTRUCTIONS) else let.stage


@dataclass(frozen=True)
class Shared:
    """A program under the name of its function, which is that of a variant. `targets` has, for each spelling and number
    of operands that it computes, the targets where it does; none if it does by default."""

    name: str
    variant: Variant
    program: Program
    targets: dict[tuple[str, int], list[str]]


def shared(checked: Checked) -> dict[int, Shared]:
    """Return the shared programs by their ids: variants that compute the same share the object."""
    found: dict[int, Shared] = {}
    # A function is named after the first variant that it serves. Variants without a target come first.
    for first in (True, False):
        for variant, programs in checked.programs.items():
            for target, program in programs.items():
                if first == (target is None):
                    function = found.setdefault(id(program), Shared(_name(variant, target), variant, program, {}))
                    function.targets.setdefault(variant.key, []).extend([target] if target else [])
    return found


def _name(variant: Variant, target: str | None) -> str:
    return variant.identifier + (f"_{target}" if target else "")


def applications(program: Program) -> Iterator[Apply]:
    """Yield every call of a function in a program."""
    pending: list[Term] = [*program.results, *(let.value for let in program.lets)]
    while pending:
        term = pending.pop()
        if isinstance(term, Apply):
            yield term
            pending += term.arguments


def rounds(program: Program) -> bool:
    """Return whether some operation may be inexact and depends on a direction rather than random bits."""
    return any(ALL[a.function].rounds and a.mode and not _is_exact(a) for a in applications(program))


def _is_exact(a: Apply) -> bool:
    """Return whether this is a conversion to a format that contains all numbers of the source, or between integers
    without losing fraction bits."""
    source, to = (k.format or k.fixed for k in (a.arguments[0].kind, a.kind))
    if a.function != "convert" or source is None or to is None:
        return False
    both_fixed = isinstance(source, FixedPoint) and isinstance(to, FixedPoint)
    return holds_all(to, source) or (both_fixed and to.point >= source.point)  # type: ignore[union-attr]


class Lowering(ABC):
    """A writer of terms in a language. In all languages, bits are unsigned integers."""

    OPERATORS: ClassVar[dict[str, str]] = {
        "bitAnd": "({} & {})", "bitOr": "({} | {})", "bitXor": "({} ^ {})",
        "sameBits": "({} == {})", "lessBits": "({} < {})", "sameInteger": "({} == {})", "bits": "{}", "float_of": "{}",
        "logicalAnd": "({} & {})", "logicalOr": "({} | {})", "logicalXor": "({} ^ {})",
    }  # fmt: skip

    def term(self, term: Term) -> str:
        if isinstance(term, Const):
            return self.constant(term.kind, term.value)
        if isinstance(term, Var):
            return self.variable(term.name)
        texts = [self.term(a) for a in term.arguments]
        if term.function in self.OPERATORS:
            return self.OPERATORS[term.function].format(*texts)
        match term.function:
            case "bitNot":
                return self.within(term.kind, self.of_kind(term.kind, f"~{texts[0]}"))
            case "addIntegers":
                return self.within(term.kind, self.of_kind(term.kind, f"{texts[0]} + {texts[1]}"))
            case "subtractIntegers":
                return self.within(term.kind, self.of_kind(term.kind, f"{texts[0]} - {texts[1]}"))
            case "multiplyIntegers":
                return self.within(term.kind, self.product(term.kind, *texts))
            case "shiftLeft":
                shifted = self.of_kind(term.kind, f"{texts[0]} << {self.count(term.kind, term.count)}")
                return self.within(term.kind, shifted)
            case "shiftRight":
                return self.of_kind(term.kind, f"{texts[0]} >> {self.count(term.kind, term.count)}")
            case "highWord":
                half = term.kind.width // 2
                return f"({texts[0]} & {self.constant(term.kind, ((1 << half) - 1) << half)})"
        return self.call(term, texts)

    def within(self, kind: Kind, text: str) -> str:
        """Return bits of a kind without the excess bits of the integer that stores them."""
        return text if kind.width == kind.storage else f"({text} & {self.constant(kind, (1 << kind.width) - 1)})"

    @abstractmethod
    def constant(self, kind: Kind, value: int) -> str: ...

    @abstractmethod
    def count(self, kind: Kind, value: int) -> str:
        """Return a count of places to shift bits of a kind by."""

    @abstractmethod
    def variable(self, name: str) -> str: ...

    @abstractmethod
    def of_kind(self, kind: Kind, text: str) -> str:
        """Return an expression of bits as a term of this kind, whatever type the language gives it."""

    def product(self, kind: Kind, x: str, y: str) -> str:
        """Return the product of two terms of this kind, modulo 2 to the number of bits that store it."""
        return self.of_kind(kind, f"{x} * {y}")

    @abstractmethod
    def call(self, t: Apply, arguments: list[str]) -> str: ...

"""The digest of what a variant computes, which identifies a program that somebody has checked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from ..model import Differences, FixedPoint, Format, Kind, Operand, UnitModel, Variant
from .program import Const, Program, Term, Var

# 40 bits: a changed program passes for the checked one with a probability of 2^-40.
DIGITS = 10


class Digests:
    """The digests of programs. Each program is read once."""

    def __init__(self) -> None:
        self._known: dict[Program, str] = {}

    def of(self, variant: Variant, program: Program) -> str:
        """Return the digest of a variant's program. It covers all that decides a result: each operation with its
        rounding and flush, the facts of each format, and the registers and bits of each lane. Names, comments and
        places in files do not count."""
        if program not in self._known:
            self._known[program] = _text(program)
        operands = "; ".join(map(_operand, (*variant.results, *variant.sources)))
        return hashlib.sha256(f"{operands}\n{self._known[program]}".encode()).hexdigest()[:DIGITS]


def together(digests: Sequence[str]) -> str:
    """Return one digest of the digests of several programs."""
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[:DIGITS]


def _operand(o: Operand) -> str:
    lanes = [name.removeprefix(o.name) for name in o.registers]
    return f"{_kind(o.kind)} {o.type.lanes} of {o.type.lane_width} {','.join(lanes)} {o.lane_bits}"


def _text(program: Program) -> str:
    """Return the text of a program, with values numbered in their order."""
    names = {v.name: f"v{i}" for i, v in enumerate(program.inputs)}
    lines = [" ".join(_kind(v.kind) for v in program.inputs)]
    for let in program.lets:
        value = _term(let.value, names)
        names[let.name] = f"v{len(names)}"
        lines.append(value)
    return "\n".join([*lines, *(_term(r, names) for r in program.results)])


def _term(term: Term, names: dict[str, str]) -> str:
    if isinstance(term, Var):
        return names[term.name]
    if isinstance(term, Const):
        return f"{term.value:#x}:{_kind(term.kind)}"
    arguments = ",".join([_term(a, names) for a in term.arguments])
    how = f"{_format(term.format)} {term.mode} {term.ftz} {term.count} {_model(term.model)}"
    return f"{term.function}[{how}]({arguments}):{_kind(term.kind)}"


# There is one object for each format and model.


@lru_cache(maxsize=256)
def _kind(k: Kind) -> str:
    return f"{k.sort} {k.width} {_format(k.format or k.fixed)}"


@lru_cache(maxsize=256)
def _format(f: Format | FixedPoint | None) -> str:
    return " ".join(str(value) for name, value in vars(f).items() if name in _FACTS) if f else "-"


_FACTS = (Format.__dataclass_fields__.keys() | FixedPoint.__dataclass_fields__.keys()) - {"name"}


@lru_cache(maxsize=64)
def _model(m: UnitModel | None) -> str:
    if m is None:
        return "-"
    table = m.core.text if isinstance(m.core, Differences) else ""
    return hashlib.sha256(f"{m}\n{table}".encode()).hexdigest()[:DIGITS]

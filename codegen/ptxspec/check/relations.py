"""The relation of variants to functions of other languages, in words."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Compared, Defined, Executed, Functions


def relation(functions: Functions, c: Compared) -> str:
    """Return a relation in words: "equal to fmaxf, except for the bits of NaNs; C11 leaves open which of two zeros"."""
    names = _and(c.functions)
    head = f"equal to {names}, except for the bits of NaNs"
    if c.differs:
        head = f"differs from {names} for operands {_and([f'({d})' for d in c.differs])}"
    opened: dict[str, list[str]] = {}
    defined: tuple[Defined | Executed, ...] = (*functions.defined, *functions.executed)
    for f in defined:
        if f.name in c.functions:
            whys = opened.setdefault(f.reference.name, [])
            whys += [o.why for o in f.open if o.why not in whys]
    told = [f"{who} leaves open {_and(whys)}" for who, whys in opened.items() if whys]
    told += [f"with -ftz=true {f.name} is {_and(f.ftz)}" for f in functions.compiled if f.ftz and f.name in c.functions]
    return "; ".join([head, *told])


def _and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last

"""The comparisons of an instruction: the operands for which each is true, computed from the semantics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....basis import Basis
from .....model import Kind, Variant
from .....semantics.exact.evaluate import run
from .....semantics.program import Program
from .about import About

# The relation by its results for pairs of numbers: a is less, both are equal, a is greater.
_RELATIONS = {
    (True, False, False): "a < b",
    (True, True, False): "a \N{LESS-THAN OR EQUAL TO} b",
    (False, True, False): "a = b",
    (True, False, True): "a \N{NOT EQUAL TO} b",
    (False, False, True): "a > b",
    (False, True, True): "a \N{GREATER-THAN OR EQUAL TO} b",
    (True, True, True): "neither a nor b is NaN",
    (False, False, False): "",
}


@dataclass(frozen=True)
class Comparison:
    """A comparison: the relation for which it is true, and its result if an operand is NaN; None if no operand can
    be."""

    name: str
    relation: str
    of_nan: bool | None
    basis: Basis

    @property
    def holds(self) -> str:
        """The condition under which it is true."""
        return ", or ".join([self.relation] * bool(self.relation) + ["a or b is NaN"] * bool(self.of_nan))


@dataclass(frozen=True)
class Chapter:
    """Comparisons of the same types of operands."""

    types: Sequence[str]
    comparisons: Sequence[Comparison]


def section(about: About) -> list[Chapter]:
    """Return the comparisons by the types of their operands."""
    spec, i = about.spec, about.instruction
    chapters: dict[tuple[str, ...], list[Comparison]] = {}
    for name in (m for group in i.comparisons for m in spec.groups[group]):
        typical = _typical([v for v in i.variants if name in v.modifiers])
        told = dict.fromkeys(_told(v, about.programs[v][None]) for v in typical.values())
        relations = dict.fromkeys(relation for relation, _ in told)
        of_nan = dict.fromkeys(found for _, found in told if found is not None)
        # One row describes all types.
        assert len(relations) == 1 and len(of_nan) < 2, name
        found = Comparison(name, next(iter(relations)), next(iter(of_nan), None), spec.modifiers[name].basis)
        chapters.setdefault(tuple(typical), []).append(found)
    return [Chapter(types, found) for types, found in chapters.items()]


def _typical(variants: Sequence[Variant]) -> dict[str, Variant]:
    """Return for each type of operands the variant with the fewest modifiers."""
    found: dict[str, Variant] = {}
    for v in sorted(variants, key=lambda v: len(v.modifiers)):
        found.setdefault(v.sources[0].type.name, v)
    order = list(dict.fromkeys(v.sources[0].type.name for v in variants))
    return {name: found[name] for name in order}


def _told(v: Variant, program: Program) -> tuple[str, bool | None]:
    """Return the relation for which a comparison is true, and its result for a NaN."""
    kind = v.sources[0].kind
    one, two = _numbers(kind)

    def holds(a: int, b: int) -> bool:
        # Results other than zero are true.
        return run(program, (a, b))[0] != 0

    relation = _RELATIONS[holds(one, two), holds(one, one), holds(two, one)]
    if kind.format is None:
        return relation, None
    nan = kind.format.canonical_nan
    answers = {holds(*pair) for pair in ((nan, one), (one, nan), (nan, nan))}
    assert len(answers) == 1, v
    return relation, answers.pop()


def _numbers(kind: Kind) -> tuple[int, int]:
    """Return the encodings of 1 and 2."""
    f = kind.format
    return (1, 2) if f is None else (f.bias << f.fraction_bits, (f.bias + 1) << f.fraction_bits)

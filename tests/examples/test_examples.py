"""How a variant is written: the compiler makes the variant of each example, and lint finds nothing wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers.repository import specification
from helpers.sizes import each_size, spread
from oracles.nvcc import made
from ptxspec.examples.languages import Call, calls
from ptxspec.machine.evidence import targets
from ptxspec.model import Spec, Variant

NEWEST = specification().catalog.newest_version


def variants(spec: Spec) -> Iterator[Variant]:
    return (v for i in spec.instructions.values() for v in i.variants if spec.has_kernel(v))


def by_target(spec: Spec, some: Iterable[Variant], whole: bool) -> dict[str, list[Variant]]:
    """The targets that variants are compiled for: all that take one, or the newest architecture."""
    found: dict[str, list[Variant]] = defaultdict(list)
    for v in some:
        here = [t for t in targets(spec) if spec.catalog.takes(v.requires, t, NEWEST)]
        for t in here if whole else here[-1:]:
            found[t].append(v)
    return found


def function(v: Variant, call: Call) -> str:
    """A kernel of one expression. Parameter 0 is where its result goes, the others are the operands in their order."""
    types = [(o.type.in_languages.cuda, p) for o in v.sources for p in o.places]
    given = "".join(f", {type} {name}" for type, name in types)
    return f"({v.result.type.in_languages.cuda} *d_{given}) {{ *d_ = {call.text}; }}"


def same(spelling: str, v: Variant) -> bool:
    """Whether a spelling is the variant's, with its modifiers in any order."""
    opcode, *names = spelling.split(".")
    types = len(v.type_names)
    return (opcode, sorted(names[:-types]), names[-types:]) == (v.opcode, sorted(v.modifiers), list(v.type_names))


@each_size
def test_the_compiler_makes_the_variant_of_each_expression(spec: Spec, nvcc: Path, tmp_path: Path, whole: bool) -> None:
    having = [v for v in variants(spec) if calls(spec, v)]
    assert len(having) > 350
    wrong = []
    for target, some in by_target(spec, having if whole else spread(having, 120), whole).items():
        cases = [
            (v, call)
            for v in some
            for call in calls(spec, v)
            if not call.target or spec.targets[call.target].order <= spec.targets[target].order
        ]
        for (v, call), found in zip(cases, made(nvcc, tmp_path, [function(*c) for c in cases], target), strict=True):
            names = [p for s in v.sources for p in s.places]
            right = len(found) == 1 and same(found[0].spelling, v)
            if not right or found[0].sources != tuple(str(n) for n in range(1, len(names) + 1)):
                wrong.append((target, str(v), call.text, found[:3]))
    assert not wrong, "\n".join(map(str, wrong))

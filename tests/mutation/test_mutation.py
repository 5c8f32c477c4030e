"""Each mutant of the specification is killed by the project's own checks, or named as equivalent with the reason."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from mutation import mutants
from mutation.equivalents import equivalents
from mutation.mutants import Mutant

if TYPE_CHECKING:
    from mutation.running import Outcome

COUNT = 1_150
SOME = 30
# What is to be judged may take several sittings: `-m mutation -k "[7]"` is one part.
PARTS = 24

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a mutant has a process of its own, which is forked")


@cache
def every() -> dict[str, Mutant]:
    return {m.key: m for m in mutants.every()}


def unchanged(path: str) -> Mutant:
    """No mutant: a space at the end of a line."""
    m = next(m for m in every().values() if m.path == path)
    return Mutant(path, m.line, "nothing", m.before, f"{m.before} ", 1)


def judge(chosen: list[Mutant]) -> list[Outcome]:
    """Fails where one survives that is not named, or is killed although it is."""
    # What judges need takes seconds to load.
    from mutation import running

    running.prepare(dict.fromkeys(m.path.removeprefix("instructions/").removesuffix(".yaml") for m in chosen))
    # Where something is found without a mutant, as in roots that are not read, every mutant would seem caught.
    (outcome,) = running.run([unchanged("instructions/xor.yaml")])
    assert (outcome.by, outcome.said) == (running.SURVIVED, "")
    named = equivalents()
    found = list(running.run(chosen, len(os.sched_getaffinity(0))))
    survived = [str(o.mutant) for o in found if o.by == running.SURVIVED and o.mutant.key not in named]
    assert not survived, "nothing catches:\n" + "\n".join(survived)
    killed = [f"{o.mutant}: {o.by}: {o.said}" for o in found if o.killed and o.mutant.key in named]
    assert not killed, "named as equivalent, and caught:\n" + "\n".join(killed)
    broke = [f"{o.mutant}: {o.said}" for o in found if o.by == running.BROKE]
    assert not broke, "a check breaks down on:\n" + "\n".join(broke)
    return found


def test_mutants_are_small_changes_of_every_file_that_people_write() -> None:
    found = every()
    assert len(found) > 10_000
    assert {m.path for m in found.values()} == {p.relative_to(mutants.SPEC).as_posix() for p in mutants.files()}
    operators = Counter(m.operator for m in found.values())
    assert {
        "another operand", "operands swapped", "comparison", "rounding dropped", "another rounding", "constant",
        "PTX version", "target", "ceiling", "no until", "cell", "another modifier", "modifier dropped", "bound",
        "range", "lane count", "register", "another unit", "no within", "figure of a unit",
    } <= {*operators}  # fmt: skip
    for m in list(found.values())[:: len(found) // 50]:
        lines, before = m.text.splitlines(), (mutants.SPEC / m.path).read_text("utf-8").splitlines()
        assert [i for i, (a, b) in enumerate(zip(lines, before, strict=True), 1) if a != b] == [m.line]


def test_each_equivalent_still_exists() -> None:
    assert [key for key in equivalents() if key not in every()] == []


def test_a_mutant_keeps_its_name_where_lines_move() -> None:
    m = next(m for m in every().values() if m.path == "instructions/cos.yaml" and m.operator == "bound")
    assert str(m.line) not in m.key and m.before.strip() in m.key


@pytest.mark.exhaustive
def test_without_a_mutant_nothing_is_found() -> None:
    """A check that complains of the specification as it is would kill every mutant."""
    from mutation import running

    for path in ("instructions/cos.yaml", "instructions/xor.yaml", "modifiers.yaml"):
        (outcome,) = running.run([unchanged(path)])
        assert (outcome.by, outcome.said) == (running.SURVIVED, "")


@pytest.mark.exhaustive
def test_some_mutants_are_caught() -> None:
    judge(mutants.sample([*every().values()], SOME))


@cache
def thousand() -> list[Mutant]:
    """Return the mutants behind the marker: a sample of all, and those that are named as equivalent."""
    chosen = dict.fromkeys(mutants.sample([*every().values()], COUNT))
    return list(chosen | dict.fromkeys(every()[key] for key in equivalents()))


@pytest.mark.mutation
@pytest.mark.parametrize("part", range(PARTS))
def test_a_thousand_mutants_are_caught(part: int) -> None:
    """And whatever is named as equivalent survives. Each part of them runs alone, too."""
    assert len(thousand()) >= 1_000
    found = judge(thousand()[part::PARTS])
    by = Counter(o.by if o.killed else "equivalent" for o in found)
    seconds = sum(o.seconds for o in found)
    print(f"{len(found)} mutants, {dict(by)}, {seconds / len(found):.2f} s of a processor each")

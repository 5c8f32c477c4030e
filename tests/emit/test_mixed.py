"""Forms of several types against MPFR: every variant whose bits are fixed."""

from __future__ import annotations

import pytest
from helpers.judging import Judged
from helpers.mixed import GROUPS, Group, check, everything, ids, operands, rows
from helpers.rounding import thinned
from helpers.sizes import each_size

pytestmark = pytest.mark.inputs("emulator")

FEW = 1 << 18


def variants(group: Group) -> list[tuple[str, int]]:
    return [(spelling, len(group[2]) - 1) for spelling in GROUPS[group]]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("group", GROUPS, ids=ids)
def test_special_values_and_some_random_ones(group: Group) -> None:
    check(group, operands(group, 1 << 12))


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", [g for g in GROUPS if rows(g) > FEW], ids=ids)
def test_many_random_operands(group: Group, judged: Judged) -> None:
    check(group, operands(group, 1 << 16))
    judged("MPFR", variants(group))


@pytest.mark.sampled(1)
@each_size
@pytest.mark.parametrize("group", [g for g in GROUPS if rows(g) <= FEW], ids=ids)
def test_all_pairs_and_triples_of_few_bits(group: Group, whole: bool, judged: Judged) -> None:
    check(group, thinned(everything(group), whole, ids(group)))
    if whole:
        judged("MPFR", variants(group))

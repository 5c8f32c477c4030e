"""Forms of several types against MPFR: every variant whose bits are fixed."""

from __future__ import annotations

import pytest
from helpers.mixed import GROUPS, Group, check, everything, ids, operands, rows

FEW = 1 << 18


@pytest.mark.sampled(12)
@pytest.mark.parametrize("group", GROUPS, ids=ids)
def test_special_values_and_some_random_ones(group: Group) -> None:
    check(group, operands(group, 1 << 12))


@pytest.mark.exhaustive
@pytest.mark.parametrize("group", [g for g in GROUPS if rows(g) > FEW], ids=ids)
def test_many_random_operands(group: Group) -> None:
    check(group, operands(group, 1 << 16))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("group", [g for g in GROUPS if rows(g) <= FEW], ids=ids)
def test_all_pairs_and_triples_of_few_bits(group: Group) -> None:
    check(group, everything(group))

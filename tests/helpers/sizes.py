"""The sizes of tests that grow with the specification or take long: some cases at once, all of them with the sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

# The golden ratio: its multiples spread evenly over [0, 1), and keep no step with the lengths of parametrizations.
_RATIO = 0.6180339887498949

each_size = pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["some", "all"]
)


def spread(items: Sequence[T], count: int) -> list[T]:
    """So many of the items, from everywhere among them, in their order; all where there are fewer."""
    chosen = sorted(range(len(items)), key=lambda i: i * _RATIO % 1)[:count]
    return [items[i] for i in sorted(chosen)]

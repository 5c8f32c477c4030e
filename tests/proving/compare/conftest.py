"""Comparing in this process, with what is read once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from helpers import ROOT, repository
from ptxspec.proving.compare.comparing import ComparisonResult, compare
from ptxspec.proving.compare.reading import Reader
from ptxspec.roots import find

Compare = Callable[..., ComparisonResult]


@cache
def reader(target: str | None) -> Reader:
    return Reader(find(ROOT), target, repository.specification())


@pytest.fixture(scope="session")
def compared() -> Compare:
    def run(a: str, b: str, target: str | None = None, samples: int = 1 << 14) -> ComparisonResult:
        return compare(*reader(target).both(a, b), samples)

    return run

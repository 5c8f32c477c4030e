"""The manual's evaluator, in Node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers import ROOT
from helpers.node import Evaluator


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    found = Evaluator(ROOT / "generated/manual")
    yield found
    found.close()

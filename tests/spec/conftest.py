"""The programs of the specification, checked once."""

from __future__ import annotations

import pytest
from helpers import repository
from ptxspec.check.checking import Checked


@pytest.fixture(scope="session")
def checked() -> dict[str, Checked]:
    return repository.checked()

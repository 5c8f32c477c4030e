"""NumPy without its warnings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture
def quiet() -> Iterator[None]:
    """NumPy says nothing of overflow and NaNs."""
    with np.errstate(all="ignore"):
        yield

"""Property tests hold on a busy machine."""

from __future__ import annotations

import re
import time

from helpers import ROOT
from helpers.properties import given, strategies as st


@given(st.just(0))
def test_an_example_may_take_its_time(_: int) -> None:
    time.sleep(0.3)


def test_no_property_test_has_a_time_limit() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        if path.name != "properties.py":
            assert not re.search(r"^\s*(from|import) hypothesis\b", path.read_text("utf-8"), re.MULTILINE), path

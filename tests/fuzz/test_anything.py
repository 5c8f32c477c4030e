"""Anything at all goes in, and out come answers, or errors that are documented."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from helpers.fuzzing import engine
from helpers.fuzzing.edits import KINDS, spoilt
from helpers.fuzzing.targets import TARGETS
from helpers.properties import HealthCheck, Phase, given, seed, settings, strategies as st

CORPUS = Path(__file__).parent / "corpus"
FOUND = [p.relative_to(CORPUS).as_posix() for p in sorted(CORPUS.glob("*/*"))]
# Of each target, where the sweeps have its thousands.
AT_ONCE = 2


@pytest.mark.parametrize("name", FOUND)
def test_what_once_broke_something_is_answered(name: str) -> None:
    TARGETS[name.partition("/")[0]].run((CORPUS / name).read_bytes())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["some", "all"])
def test_anything_is_answered(target: str, whole: bool) -> None:
    fed(target, TARGETS[target].examples if whole else AT_ONCE, 0)


@pytest.mark.fuzz
@pytest.mark.parametrize("target", TARGETS)
def test_as_long_as_told(target: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """An hour in all unless --fuzz says how long; guided by what is reached where atheris is installed."""
    seconds = int(request.config.getoption("fuzz")) // len(TARGETS)
    if engine.is_there():
        broken = engine.run(target, seconds, tmp_path)
        assert not broken, broken
        return
    end = time.monotonic() + seconds
    for number in range(1 << 30):
        if time.monotonic() > end:
            break
        fed(target, 500, number)


def fed(name: str, examples: int, number: int) -> None:
    """A target is given what is right, spoilt in a few places: the same for the same number."""
    target = TARGETS[name]
    seeds, words = target.seeds(), [w.encode("utf-8", "surrogatepass") for w in target.words]
    edits = st.lists(st.tuples(st.integers(0, KINDS - 1), st.integers(0, 1000), st.integers(0, 1 << 16)), max_size=16)
    chosen = st.sampled_from(seeds)

    @seed(number)
    @settings(
        max_examples=examples, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )  # fmt: skip
    @given(chosen, edits, chosen)
    def feed(one: bytes, spoiling: list[tuple[int, int, int]], other: bytes) -> None:
        target.run(spoilt(one, spoiling, words, other))

    feed()

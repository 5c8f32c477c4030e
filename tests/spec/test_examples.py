"""The examples of spec/examples, which the manual shows: what they say of themselves is so."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.sizes import each_size
from ptxspec import Database

F32, F16 = np.float32, np.float16
InC = Callable[..., AbstractContextManager[None]]
EXAMPLES = sorted((ROOT / "spec" / "examples").glob("*.ptx"))


def example(name: str, **options: Any) -> Any:
    return ptxemu.function((ROOT / "spec" / "examples" / f"{name}.ptx").read_text("utf-8"), **options)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_manual_shows_it_and_lint_has_nothing_to_say(path: Path, db: Database) -> None:
    text = path.read_text("utf-8")
    assert text in (ROOT / "generated" / "manual" / "running.md").read_text("utf-8")
    assert list(db.lint(text)) == []


def ulps(f: Any, x: Any) -> Any:
    """Return how far an example is from the rounded power."""
    return np.abs(f(x).view(np.int32).astype(np.int64) - ptxemu.execute("ex2.approx.f32", x).view(np.int32))


@each_size
def test_exp2_is_as_near_as_it_says_and_as_ex2_may_be(whole: bool, db: Database, in_c: InC) -> None:
    text = (ROOT / "spec" / "examples" / "exp2.ptx").read_text("utf-8")
    said = re.search(r"At most (\d+) ulp", text)
    (accuracy,) = [a for a in db.opcodes["ex2"].data["accuracy"] if a["for"] == ".f32"]
    assert said and said[1] == accuracy["bound"] and accuracy["kind"] == "ulp from the rounded result"
    # All 2**31 numbers, by C.
    with in_c() if whole else nullcontext():
        check_exp2(whole, int(said[1]))


def check_exp2(whole: bool, bound: int) -> None:
    f = example("exp2")
    integers = np.arange(-126, 128, dtype=F32)
    np.testing.assert_array_equal(f(integers), np.ldexp(F32(1), integers.astype(int)))
    np.testing.assert_array_equal(f(F32([-127, -1e9, -np.inf, np.nan])), 0)
    ends = [int(F32(x).view(np.uint32)) for x in (-126, 128)]
    ranges = [(0x80000000, ends[0] + 1), (0, ends[1])]
    if whole:
        size = 1 << 24
        found = [
            ulps(f, np.arange(start, min(end, start + size), dtype=np.uint32).view(F32)).max()
            for first, end in ranges
            for start in range(first, end, size)
        ]
    else:
        noise = np.random.default_rng(2)
        found = [ulps(f, noise.uniform(-126, 128, 1 << 17).astype(F32)).max()]
        found += [ulps(f, noise.integers(*r, 1 << 14, np.uint32).view(F32)).max() for r in ranges]
    assert max(found) == bound


def test_integers_of_four_bits_become_f16() -> None:
    f = example("int4_to_f16")
    assert (f.inputs, f.results) == (("q",), ("d0", "d1", "d2", "d3"))
    q = np.random.default_rng(3).integers(0, 1 << 32, 1000, np.uint32)
    for k, d in enumerate(f(q)):
        low, high = ((q >> np.uint32(4 * k + shift) & 15).astype(F16) - F16(8) for shift in (0, 16))
        np.testing.assert_array_equal(d.view(F16).reshape(-1, 2), np.stack([low, high], 1))


def test_numbers_become_e4m3() -> None:
    f = example("f32_to_e4m3")
    assert set(f.inputs) == {"a", "b", "c", "d", "scale", "keep"} and f.results == ("packed",)
    a, b, c, d = F32([2, 0]), F32([-4, 0]), F32([1e9, 0]), F32([0.6, 0])
    packed = f(a=a, b=b, c=c, d=d, scale=F32(0.5), keep=np.array(True))
    np.testing.assert_array_equal(packed, np.uint32([0x2A7EC038, 0]))
    assert f(a=a, b=b, c=c, d=d, scale=F32(0.5), keep=np.array(False)).tolist() == [0, 0]

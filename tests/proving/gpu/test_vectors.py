"""The operands on which variants are run: functions of their place, which stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.bench import VARIANTS, variant
from helpers.sizes import each_size, spread
from ptxspec.model import Variant
from ptxspec.proving.gpu import bounds, registers, vectors

FIRST = {"f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2"}


def taken(v: Variant) -> str:
    """Return what operands depend on: the types of the sources, and for a conversion that of the result."""
    result = f" {v.result.type.name}" if v.operands == 1 else ""
    return " ".join(s.type.name for s in v.sources) + f" x{v.lanes}{result}"


@each_size
def test_operands_are_functions_of_their_place(whole: bool) -> None:
    kinds = list({taken(v): v for v in VARIANTS}.values())
    for v in kinds if whole else spread(kinds, 80):
        words = [registers.word(type) for _, type in registers.places(v.sources)]
        for part in vectors.parts(v, vectors.Sizes(random=300)):
            whole = vectors.operands(v, part.stream, 0, part.count)
            start = part.count // 3
            later = vectors.operands(v, part.stream, start, min(20, part.count - start))
            assert [x.dtype for x in whole] == words
            for x, y in zip(whole, later, strict=True):
                assert x.size == part.count
                assert np.array_equal(x[start : start + 20], y)


def together(found: dict[str, int]) -> str:
    return f"{vectors.digest(np.array([found[k] for k in sorted(found)], np.uint64)):016x}"


@pytest.mark.exhaustive
def test_operands_stay_what_they_were() -> None:
    """A recording says nothing any more when other operands are made: then vectors.VERSION must change."""
    first, found = {}, {}
    for v in {taken(v): v for v in VARIANTS}.values():
        # The variants that were there first have floats of one type, and classify them or stay with that type.
        types = {s.type.name for s in v.sources}
        one = len(types) == 1 and types <= FIRST and v.lanes == v.sources[0].type.lanes
        one = one and (v.operands > 1 or v.result.type.name in {*types, "pred"})
        for part in vectors.parts(v, vectors.Sizes(random=5000 if one else 500)):
            made = vectors.digest(np.concatenate(vectors.operands(v, part.stream, 0, part.count)))
            if one:
                assert first.setdefault(f"{v.sources[0].type.name} {v.operands} {part.stream}", made) == made
            found[f"{taken(v)} {part.stream}"] = made
    assert vectors.VERSION == 2
    assert (len(first), together(first)) == (56, "f6080c910765a2cc")
    assert (len(found), together(found)) == (1496, "5699a6b6f724b4bd")


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2"])
def test_near_operands_tie_cancel_and_round(type_: str) -> None:
    """A quarter of the sums cancels but for a few units, and most exponents are near enough to round together."""
    v = variant(f"add.{type_}")
    f = v.result.kind.format
    lane = np.dtype(f"u{f.width // 8}")
    a, b = (bounds.values(x.view(lane), f) for x in vectors.operands(v, "near", 0, 1 << 14))
    with np.errstate(all="ignore"):
        total = a + b
        cancelled = np.mean(np.abs(total) < 2.0 ** (3 - f.fraction_bits) * np.abs(a))
        apart = np.abs(np.frexp(a)[1] - np.frexp(b)[1])
    assert 0.15 < cancelled < 0.4
    assert np.mean(apart <= f.precision + 3) > 0.8


def test_all_inputs_are_run_where_there_are_few_and_on_request() -> None:
    streams = {p.stream for p in vectors.parts(variant("neg.f16"), vectors.Sizes())}
    assert streams == {"grid", "every", "uniform"}
    v = variant("sqrt.rn.f32")
    assert sum(p.count for p in vectors.parts(v, vectors.Sizes()) if p.stream == "uniform") == 1 << 24
    every = [p for p in vectors.parts(v, vectors.Sizes(exhaustive=True)) if p.stream == "every"]
    assert sum(p.count for p in every) == 1 << 32
    last = vectors.operands(v, "every", every[-1].start + every[-1].count - 2, 2)[0]
    assert last.tolist() == [0xFFFFFFFE, 0xFFFFFFFF]
    assert not any(p.stream == "every" for p in vectors.parts(variant("add.f32"), vectors.Sizes(exhaustive=True)))


def test_a_digest_is_blake2b_of_little_endian_bytes() -> None:
    # python -c "import hashlib; print(hashlib.blake2b(bytes([1, 0, 2, 0]), digest_size=8).hexdigest())"
    assert vectors.digest(np.array([1, 2], np.uint16)).to_bytes(8, "little").hex() == "94efc1787237fdac"
    assert vectors.digest(np.array([1, 2], ">u2")) == vectors.digest(np.array([1, 2], "<u2"))

"""Signatures of every sort on a GPU: the operands, and how results are compared, recorded and handed on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.bench import SMALL, Array
from helpers.signatures import Few, few
from helpers.standin import StandIn
from ptxspec.model import Variant
from ptxspec.proving.gpu import export, recording, registers, special, vectors
from ptxspec.proving.gpu.bounds import values
from ptxspec.proving.gpu.compare import found_from_json
from ptxspec.proving.gpu.run import Emulator, Report, replay, run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Few:
    return few(tmp_path_factory.mktemp("signatures"))


def operands(v: Variant, stream: str, size: int) -> tuple[Array, ...]:
    return vectors.operands(v, stream, 0, size)


def grid(v: Variant) -> tuple[Array, ...]:
    return operands(v, "grid", vectors.parts(v, vectors.Sizes())[0].count)


def streams(v: Variant) -> set[str]:
    return {p.stream for p in vectors.parts(v, vectors.Sizes(random=100))}


# Which operands


def test_each_source_register_has_an_array_of_its_own_type(made: Few) -> None:
    wanted = {
        "setp.lt.and.f32": [np.uint32, np.uint32, np.uint32],
        "cvt.rn.f16x2.e4m3x2": [np.uint16],
        "cvt.rn.f16x2.e2m1x2": [np.uint8],
        "cvt.rs.satfinite.e4m3x4.f32": [np.uint32] * 5,
    }
    for spelling, types in wanted.items():
        v = made.variant(spelling)
        assert [x.dtype for x in operands(v, "uniform", 10)] == types and v.operands == len(types)


def test_predicates_are_words_of_0_and_1(made: Few) -> None:
    v = made.variant("setp.lt.and.f32")
    a, b, c = grid(v)
    assert set(c.tolist()) == {0, 1}
    # Each with all pairs of special numbers.
    pairs = {(x, y, z) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)}
    assert len(pairs) == 76 * 76 * 2
    assert 0.4 < operands(v, "uniform", 1000)[2].mean() < 0.6
    # What is near is near for the numbers, as without the predicate.
    near = operands(v, "near", 1000)
    plain = operands(made.variant("setp.lt.f32"), "near", 1000)
    assert all(np.array_equal(x, y) for x, y in zip(near[:2], plain, strict=True))


def test_small_lanes_have_all_their_encodings(made: Few) -> None:
    (a,) = grid(made.variant("cvt.rn.f16x2.e4m3x2"))
    assert set((a & 0xFF).tolist()) == set((a >> 8).tolist()) == set(range(256))
    (a,) = grid(made.variant("cvt.rn.f32.u8"))
    assert sorted(a.tolist()) == [*range(256)]
    # And all registers are run where these have sixteen bits or fewer.
    assert len(operands(made.variant("cvt.rn.f16x2.e4m3x2"), "every", 1 << 16)[0]) == 1 << 16
    parts = {(v.spelling, p) for v in made.variants for p in vectors.parts(v, vectors.Sizes()) if p.stream == "every"}
    counts = {"cvt.rn.f32.u8": 256, "cvt.rn.f16x2.e4m3x2": 1 << 16, "cvt.rn.f16x2.e2m1x2": 256}
    assert {spelling: p.count for spelling, p in parts} == counts


def test_lanes_in_registers_of_their_own_are_lanes(made: Few) -> None:
    v = made.variant("cvt.rs.satfinite.e4m3x4.f32")
    *own, shared = operands(v, "uniform", 100)
    assert [name for name, _ in registers.places(v.sources)] == ["a3", "a2", "a1", "a0", "r"]
    lanes = registers.to_lanes(v.sources[0], own, 4)
    assert np.array_equal(lanes, np.stack(own[::-1], axis=1))
    assert len(np.unique(lanes)) == 400
    # A source that all lanes share is the same for each.
    assert (registers.to_lanes(v.sources[1], [shared], 4) == shared[:, None]).all()
    again = registers.to_registers(v.sources[0].type, v.sources[0].registers, lanes)
    assert all(np.array_equal(x, y) for x, y in zip(own, again, strict=True))


def test_integers_have_their_ends_their_powers_and_every_length(made: Few) -> None:
    v = made.variant("cvt.rn.f32.s32")
    found = {x - (x >> 31 << 32) for x in grid(v)[0].tolist()}
    assert {0, 1, -1, 1 << 30, 1 - (1 << 30), (1 << 31) - 1, -(1 << 31)} <= found
    assert len(found) == len(special.special(v.sources[0].kind, 1))
    assert streams(v) == {"grid", "uniform", "near"}
    near = np.abs(operands(v, "near", 4000)[0].view(np.int32).astype(np.int64))
    lengths = np.frexp(near.astype(np.float64))[1]
    assert set(range(1, 32)) <= set(lengths.tolist())
    # Sums of few powers of two, which tie.
    assert np.mean(near & 0xFF == 0) > 0.1


def test_what_is_converted_is_mostly_in_range(made: Few) -> None:
    for spelling, limit in (("cvt.rn.f16.f32", 65504.0), ("cvt.rzi.s32.f32", 2.0**31)):
        v = made.variant(spelling)
        assert streams(v) == {"grid", "uniform", "near"}
        f = v.sources[0].kind.format
        assert f
        x = np.abs(values(operands(v, "near", 4000)[0], f))
        assert 0.5 < np.mean(x < limit) < 0.99


def test_encodings_that_are_no_ieee_ones_have_their_values(made: Few) -> None:
    e4m3, e2m1 = made.spec.formats["e4m3"], made.spec.formats["e2m1"]
    x = values(np.array([0x7E, 0xFE, 0x7F, 0x01, 0x80, 0x38], np.uint8), e4m3)
    assert x[:2].tolist() == [448.0, -448.0] and np.isnan(x[2]) and x[3:].tolist() == [2.0**-9, -0.0, 1.0]
    assert values(np.arange(8, dtype=np.uint8), e2m1).tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6]


# Run, compared, recorded


def conform(made: Few, device: StandIn, recorder: Any = None) -> Report:
    return run(device, made.spec, ptxemu, made.kernels, SMALL(random=64, sample=32), recorder)


@pytest.fixture(scope="module")
def agreeing(made: Few, tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    """A run in which all agree, and its recording."""
    folder = tmp_path_factory.mktemp("recorded") / "standin"
    return recorded(made, StandIn(ptxemu, target="sm_100"), folder), folder


def recorded(made: Few, device: StandIn, folder: Path) -> Report:
    sizes = SMALL(random=64, sample=32)
    about = recording.provenance(device.about, made.spec, "a test", "2026-01-02", sizes, made.kernels, made.kernels)
    with recording.Recorder(folder, made.spec, about) as recorder:
        report = conform(made, device, recorder)
        recorder.finish({})
    return report


def test_all_signatures_run_and_agree(agreeing: tuple[Report, Path], made: Few) -> None:
    report, _ = agreeing
    ran = {r.variant.spelling for r in report.rows if r.agrees}
    missing = {v.spelling for v in made.variants} - ran
    assert missing == {s for s in missing if "e2m1x2" in s or ".rs." in s}, "these need sm_100a"
    assert not report.failed and not report.disagrees
    counts = {r.variant.spelling: r.found.count for r in report.rows}
    assert counts["setp.lt.and.f32"] == 76 * 76 * 2 + 2 * 64


def test_a_recording_has_every_result_and_is_replayed(agreeing: tuple[Report, Path], made: Few) -> None:
    report, folder = agreeing
    read = recording.read(folder, made.spec)
    again = replay(read, made.spec, ptxemu, sweeps=True)
    assert {r.variant: r.found for r in again.rows} == {r.variant: r.found for r in report.rows if r.found.count}
    v = made.variant("setp.lt.and.f32")
    (unit,) = (u for u in read.parts if u.variant == v.key and u.part.stream == "near")
    columns = operands(v, "near", 32)
    assert unit.results().shape == (32, 2)
    assert np.array_equal(unit.results(), Emulator(ptxemu, None).run(v, columns))


Change = Callable[[Sequence[Array], Array], Array]


def found(made: Few, spelling: str, wrong: Change) -> Any:
    v = made.variant(spelling)
    one = {v.opcode: replace(made.spec.instructions[v.opcode], variants=(v,))}
    device = StandIn(ptxemu, target="sm_100", wrong={spelling: wrong})
    (row,) = conform(replace(made, spec=replace(made.spec, instructions=one)), device).rows
    assert row.agrees is False
    return row.found


def test_a_second_result_that_is_wrong_is_found(made: Few) -> None:
    turns = itertools.cycle((0, 1))

    def wrong(_: Any, x: Array) -> Array:
        # The second result, once in each stream.
        y = x.copy()
        y[5] ^= np.uint32(next(turns))
        return y

    differ = found(made, "setp.lt.f32", wrong)
    assert differ.unequal == 3 and differ.nan == 0
    (p, q), (wanted_p, wanted_q) = differ.case.got, differ.case.want
    assert p == wanted_p and q == 1 - wanted_q
    as_json = differ.as_json()
    assert as_json["case"][-2:] == [f"{hex(p)}|{hex(q)}", f"{hex(p)}|{hex(wanted_q)}"]
    assert found_from_json(json.loads(json.dumps(as_json))) == differ


def test_nans_are_told_apart_by_the_results_format(made: Few) -> None:
    def other_nan(_: Any, x: Array) -> Array:
        # e4m3 has two; only those of the lower lane are changed.
        return np.where(x & 0xFF == 0x7F, x | 0x80, x).astype(x.dtype)

    differ = found(made, "cvt.rn.satfinite.e4m3x2.f32", other_nan)
    assert differ.nan == differ.unequal > 5
    # An integer is none, nor is a predicate.
    differ = found(made, "cvt.rzi.s32.f32", lambda _, x: np.where(x == 0x7FFFFFFF, x ^ np.uint32(1), x))
    assert differ.nan == 0 < differ.unequal


# Handed on


def rows_of(made: Few, spelling: str) -> export.Vectors:
    v = made.variant(spelling)
    columns = operands(v, "near", 20)
    return export.Vectors(v, "emulator", "a test", (("near", columns, Emulator(ptxemu, None).run(v, columns)),))


def test_files_name_every_register(made: Few, tmp_path: Path) -> None:
    compared = rows_of(made, "setp.geu.and.f32")
    header, first, *_ = export.as_csv(compared)
    assert header == "variant,stream,a,b,c,p,q,source,provenance"
    _, _, a, b, c, p, q, *_ = first.split(",")
    assert len(a) == len(b) == 10 and {c, p, q} <= {"0", "1"}
    line = json.loads(next(iter(export.as_jsonl(compared))))
    assert line["operands"] == [a, b, c == "1"] and line["result"] == [p == "1", q == "1"]
    converted = rows_of(made, "cvt.rn.f16x2.f32")
    assert next(iter(export.as_csv(converted))) == "variant,stream,a1,a0,result,source,provenance"
    with (tmp_path / "v.npz").open("wb") as file:
        export.write_npz(converted, file)
    with np.load(tmp_path / "v.npz") as arrays:
        assert arrays["near_a1"].dtype == arrays["near_result"].dtype == np.uint32

"""The emulator against a GPU, told with a stand-in for the GPU: what is run, what counts as agreement, what is kept."""

from __future__ import annotations

import csv
import errno
import functools
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
import ptxemu
import pytest
from helpers import ROOT, fake_cuda
from helpers.project import Project
from helpers.standin import StandIn
from numpy.typing import NDArray
from ptxspec.check.accuracy import parse_bound, parse_range
from ptxspec.cli import conforming
from ptxspec.diagnostics import PtxspecError
from ptxspec.evaluate import emulator
from ptxspec.gpu import bounds, compare as comparing, cuda, recording, vectors
from ptxspec.gpu.device import DeviceError, NoDeviceError
from ptxspec.model import Variant
from ptxspec.read.link import read
from ptxspec.roots import find

Array = NDArray[Any]
Run = Callable[..., Any]

SPEC = read(ROOT)
VARIANTS = [v for i in SPEC.instructions.values() for v in i.variants]
OPCODES = ("add", "ex2", "rsqrt", "testp")
SMALL = functools.partial(vectors.Sizes, random=1 << 10, sample=1 << 7)


def variant(spelling: str, operands: int = 0) -> Variant:
    return next(v for v in VARIANTS if v.spelling == spelling and operands in (0, v.operands))


# What is run


def test_operands_are_functions_of_their_place() -> None:
    for v in {(v.type.name, v.operands): v for v in VARIANTS}.values():
        for part in vectors.parts(v, vectors.Sizes(random=3000)):
            whole = vectors.operands(v.type, v.operands, part.stream, 0, part.count)
            later = vectors.operands(v.type, v.operands, part.stream, 40, 20)
            assert len(whole) == v.operands
            for x, y in zip(whole, later, strict=True):
                assert x.dtype == f"u{v.type.width // 8}" and x.size == part.count
                assert np.array_equal(x[40:60], y)


def test_operands_stay_what_they_were() -> None:
    """A recording says nothing any more when other operands are made: then vectors.VERSION must change."""
    found = {}
    for v in {(v.type.name, v.operands): v for v in VARIANTS}.values():
        for part in vectors.parts(v, vectors.Sizes(random=5000)):
            columns = vectors.operands(v.type, v.operands, part.stream, 0, part.count)
            found[f"{v.type.name} {v.operands} {part.stream}"] = vectors.digest(np.concatenate(columns))
    assert vectors.VERSION == 2
    assert len(found) == 56
    together = vectors.digest(np.array([found[k] for k in sorted(found)], np.uint64))
    assert f"{together:016x}" == "f6080c910765a2cc"


@pytest.mark.parametrize("type_", ["f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2"])
def test_near_operands_tie_cancel_and_round(type_: str) -> None:
    """A quarter of the sums cancels but for a few units, and most exponents are near enough to round together."""
    v = variant(f"add.{type_}")
    f = v.type.format
    lane = np.dtype(f"u{f.width // 8}")
    a, b = (bounds.values(x.view(lane), f) for x in vectors.operands(v.type, 2, "near", 0, 1 << 14))
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
    last = vectors.operands(v.type, 1, "every", every[-1].start + every[-1].count - 2, 2)[0]
    assert last.tolist() == [0xFFFFFFFE, 0xFFFFFFFF]
    assert not any(p.stream == "every" for p in vectors.parts(variant("add.f32"), vectors.Sizes(exhaustive=True)))


def test_a_digest_is_blake2b_of_little_endian_bytes() -> None:
    # python -c "import hashlib; print(hashlib.blake2b(bytes([1, 0, 2, 0]), digest_size=8).hexdigest())"
    assert vectors.digest(np.array([1, 2], np.uint16)).to_bytes(8, "little").hex() == "94efc1787237fdac"
    assert vectors.digest(np.array([1, 2], ">u2")) == vectors.digest(np.array([1, 2], "<u2"))


# Bounds


def test_ranges_and_bounds_are_read_as_they_are_worded() -> None:
    x = np.array([-3.0, -0.75, 0.25, 0.5, 1.0, 2.0, 7.0, 400.0])
    wanted = {
        "": x == x, "positive and finite": x > 0, "(0.5, 2)": (x > 0.5) & (x < 2), "[-2pi, 2pi]": np.abs(x) < 6.3,
        "positive and finite outside (0.5, 2)": (x > 0) & ~((x > 0.5) & (x < 2)),
        "2^-1 <= |b| <= 2^2": (np.abs(x) >= 0.5) & (np.abs(x) <= 4),
    }  # fmt: skip
    for text, holds in wanted.items():
        assert np.array_equal(parse_range(text).holds(x), holds), text
    for text in ("small", "positive and finite outside ", "positive and finite(0, 1)", "[1, 2", "1 <= b <= 2"):
        with pytest.raises(ValueError, match="not a range"):
            parse_range(text)
    assert parse_bound("2") == 2 and parse_bound("2^-23") == Fraction(1, 1 << 23)
    assert 0 <= float(parse_bound("2^-20.5")) / 2.0**-20.5 - 1 < 1e-15


def test_a_range_that_cannot_be_read_is_an_error_of_the_specification(project: Project) -> None:
    shutil.copy(ROOT / "spec/instructions/sin.yaml", project.root / "spec/instructions/sin.yaml")
    project.edit("spec/instructions/sin.yaml", '"[-100pi, 100pi]"', '"up to 100 pi"')
    result = project.run("validate")
    assert result.code == 1 and "'up to 100 pi' is not a range" in result.err
    assert project.place("spec/instructions/sin.yaml", '"up to 100 pi"') in result.err


def judge(spelling: str) -> tuple[Variant, bounds.Judge]:
    v = variant(spelling)
    return v, bounds.Judge(SPEC, SPEC.instructions[v.opcode], v, None)


@pytest.mark.parametrize(
    ("spelling", "function"),
    [
        ("ex2.approx.f32", gmpy2.exp2), ("lg2.approx.f32", gmpy2.log2), ("sin.approx.f32", gmpy2.sin),
        ("cos.approx.f32", gmpy2.cos), ("tanh.approx.f32", gmpy2.tanh), ("tanh.approx.bf16", gmpy2.tanh),
        ("sqrt.approx.f32", gmpy2.sqrt), ("rsqrt.approx.f32", gmpy2.rec_sqrt), ("rcp.approx.f32", lambda x: 1 / x),
        ("ex2.approx.f16", gmpy2.exp2), ("div.full.f32", lambda x, y: x / y),
    ],
)  # fmt: skip
def test_an_error_is_that_of_mpfr(spelling: str, function: Callable[..., gmpy2.mpfr]) -> None:
    """Results that are some units off: each error, and on which side of the bound it is, as MPFR has it."""
    v, j = judge(spelling)
    f = v.type.format
    rng = np.random.default_rng(7)
    columns = [x.astype(f"u{f.width // 8}") for x in _moderate(rng, f, v.operands, 400)]
    want = ptxemu.execute(spelling, *columns)
    steps = 2.0 * float(j.bounds[0].bound) if j.bounds[0].kind == "ulp" else 3
    got = (want.astype(np.int64) + rng.integers(-int(steps), int(steps) + 1, want.size)).astype(want.dtype)
    found = j.judge(columns, got, want)
    checked = 0
    with gmpy2.context(precision=200):
        for i in range(got.size):
            xs = [float(bounds.values(c[i : i + 1], f)[0]) for c in columns]
            exact = function(*map(gmpy2.mpfr, xs))
            g = float(bounds.values(got[i : i + 1], f)[0])
            if not gmpy2.is_finite(exact) or not np.isfinite(g) or exact == 0:
                continue
            parts = []
            for b in j.bounds:
                if b.range.holds(np.array(xs[-1])):
                    unit = gmpy2.mpfr(2) ** (max(gmpy2.get_exp(exact) - 1, f.emin) - f.fraction_bits)
                    if b.kind == "ulp from the rounded result":
                        exact = gmpy2.rint(exact / unit) * unit
                        unit = gmpy2.mpfr(2) ** (max(gmpy2.get_exp(exact) - 1, f.emin) - f.fraction_bits)
                    least = gmpy2.mpfr(2) ** (f.emin - f.fraction_bits)
                    relative = max(abs(exact) * float(b.bound), least)
                    allowed = {"ulp": unit * b.bound, "relative": relative, "absolute": b.bound}[b.kind.split()[0]]
                    allowed = gmpy2.mpfr(allowed)
                    parts.append(float(abs(g - exact) / allowed))
            assert found.outside[i] == (max(parts, default=0) > 1)
            assert found.error[i] == pytest.approx(max(parts, default=0), rel=1e-8, abs=1e-9)
            assert found.open[i] == (not parts)
            checked += 1
    assert checked > 300 and (found.error > 0).sum() > 150


def _moderate(rng: np.random.Generator, f: Any, count: int, size: int) -> Iterator[Array]:
    """Encodings of numbers between 2^-6 and 2^3."""
    for _ in range(count):
        exponent = rng.integers(f.bias - 6, f.bias + 3, size).astype(np.uint64)
        yield exponent << np.uint64(f.fraction_bits) | rng.integers(0, 1 << f.fraction_bits, size).astype(np.uint64)


@pytest.mark.parametrize(
    ("spelling", "operands", "got", "outside", "open"),
    [
        # A NaN and a number; two NaNs, of which the bits are nobody's promise.
        ("lg2.approx.f32", [0xBF800000], 0x3F800000, True, False),
        ("lg2.approx.f32", [0x3F800001], 0x7FFFFFFF, True, False),
        ("lg2.approx.f32", [0xBF800000], 0xFFC00000, False, False),
        # Zeros and infinities are in the tables, their signs too.
        ("rcp.approx.f32", [0x80000000], 0x7F800000, True, False),
        ("sin.approx.f32", [0x80000000], 0x00000000, True, False),
        ("ex2.approx.f32", [0x00000000], 0x3F800001, True, False),
        # With .ftz a subnormal operand counts as a zero, and a subnormal result is none.
        ("ex2.approx.ftz.f32", [0x00000001], 0x3F800001, True, False),
        ("ex2.approx.ftz.f32", [0xC2FC8000], 0x00400000, True, False),
        ("ex2.approx.f32", [0xC2FC8000], 0x006BA280, False, False),
        # Just above the smallest normal number a result may be flushed, well above not.
        ("rcp.approx.ftz.f32", [0x7E7FFFFF], 0x00000000, False, False),
        ("rcp.approx.ftz.f32", [0x7E000000], 0x00000000, True, False),
        # An overflow is the first number beyond the largest one.
        ("ex2.approx.f32", [0x42FFFFFF], 0x7F800000, True, False),
        ("rcp.approx.f32", [0x00200001], 0x7F800000, True, False),
        ("ex2.approx.f32", [0x43000000], 0x7F7FFFFF, False, False),
        ("ex2.approx.f32", [0x43000000], 0x7F7FFFFB, True, False),
        ("ex2.approx.f32", [0x7F000000], 0x7F7FFFFF, True, False),
        ("ex2.approx.f32", [0x7F000000], 0xFF800000, True, False),
        # The powers of two count from the rounded result: here 1, of which two units are 2^-22 on both sides.
        ("ex2.approx.f32", [0x81F36032], 0x3F7FFFFC, False, False),
        ("ex2.approx.f32", [0x81F36032], 0x3F7FFFFB, True, False),
        ("ex2.approx.f32", [0x01F36032], 0x3F800002, False, False),
        ("ex2.approx.f32", [0x01F36032], 0x3F800003, True, False),
        # 2^0.3 is 0.04 units below 0x3f9d9624: two units above that are more than two above the exact value.
        ("ex2.approx.f32", [0x3E99999A], 0x3F9D9626, False, False),
        ("ex2.approx.f32", [0x3E99999A], 0x3F9D9627, True, False),
        # Outside of every range there is no bound.
        ("sin.approx.f32", [0x4B000000], 0x3F000000, False, True),
        ("div.approx.f32", [0x7F000000, 0x7F000001], 0x3F7FFFFE, False, True),
        # Far off.
        ("sqrt.approx.f32", [0x40800000], 0x40000100, True, False),
    ],
)  # fmt: skip
def test_results_at_the_edges(spelling: str, operands: list[int], got: int, outside: bool, open: bool) -> None:
    v, j = judge(spelling)
    columns = [np.array([x], f"u{v.type.width // 8}") for x in operands]
    found = j.judge(columns, np.array([got], columns[0].dtype), ptxemu.execute(spelling, *columns))
    assert (bool(found.outside[0]), bool(found.open[0])) == (outside, open)


def test_every_bounded_variant_is_judged() -> None:
    for v in VARIANTS:
        if v.claim == "bounded":
            comparison = comparing.Comparison(SPEC, v, None)
            columns = vectors.operands(v.type, v.operands, "grid", 0, 50)
            want = ptxemu.execute(v.spelling, *columns)
            assert comparison.agrees(comparison.compare(columns, want, want)) is True
            far = comparison.compare(columns, want ^ want.dtype.type(1 << (v.type.format.width - 2)), want)
            assert comparison.agrees(far) is False and far.case is not None


# The command


@dataclass
class Bench:
    """A project with four opcodes, and the command line on it with a stand-in for the GPU."""

    project: Project
    device: StandIn | None
    root: Path

    def run(self, *arguments: str | Path) -> Any:
        return self.project.run("conformance", *arguments)

    def rows(self, *arguments: str | Path) -> dict[str, dict[str, Any]]:
        found = json.loads(self.run(*arguments, "--format", "json").out)
        assert found["schema"] == 1
        return {v["variant"]: v for v in found["variants"]}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("conformance") / "project"
    for folder in ("spec", "templates", "generated"):
        shutil.copytree(ROOT / folder, root / folder)
    for path in (root / "spec/instructions").iterdir():
        if path.stem not in OPCODES:
            path.unlink()
    (root / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    from ptxspec.emit.generate import generate

    # Whole cores would take minutes by the emulator.
    units = root / "spec/units.yaml"
    units.write_text(re.sub(r"count: \d{6,}", "count: 4096", units.read_text("utf-8")), "utf-8")
    generate(root)
    return root


@pytest.fixture
def bench(
    generated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Bench:
    root = tmp_path / "project"
    shutil.copytree(generated, root)
    made = Bench(Project(root, capsys), StandIn(emulator(find(root))), root)
    monkeypatch.setattr(cuda, "CudaDevice", lambda: made.device)
    monkeypatch.setattr(conforming.vectors, "Sizes", SMALL)
    return made


def up(steps: int) -> Callable[..., Array]:
    """Moves results of a f32 power that are neither special nor near the end of the range."""

    def move(operands: Any, results: Array) -> Array:
        magnitude = results & np.uint32(0x7FFFFFFF)
        ordinary = (magnitude > 1 << 24) & (magnitude < 0x7F000000)
        ordinary &= operands[0] & np.uint32(0x7FFFFFFF) > 0x3F000000
        return np.where(ordinary, results + np.uint32(steps), results)

    return move


def next_up(_: Any, results: Array) -> Array:
    return results + results.dtype.type(1)


def test_all_agree(bench: Bench) -> None:
    result = bench.run()
    assert result.code == 0, result.out
    lines = result.out.splitlines()
    assert lines[-1].startswith("Stand-in (sm_90), driver 0.0, no compiler, ptxspec") and " 0 disagree" in lines[-1]
    (line,) = [x for x in lines if x.startswith("add.f32 ")]
    # The grid and two streams; every bit is equal.
    assert line.split() == ["add.f32", "2", "exact", str(76**2 + 2 * 1024), "0", "0", "0", "agrees"]
    assert any(x.startswith("rsqrt.approx.f64 ") and x.endswith("shown") for x in lines)
    assert any(x.startswith("add.f32x2 ") and x.endswith("skipped: needs sm_100") for x in lines)
    assert any(x.startswith("ex2.f32 ") and x.endswith("skipped: ended with an older PTX version") for x in lines)


def test_what_the_toolkit_does_not_write_is_skipped(bench: Bench) -> None:
    bench.device.release, bench.device.ptx, bench.device.target = "12.0", 80, "sm_90"
    rows = bench.rows()
    assert rows["add.rn.bf16"]["verdict"] == "agrees"
    bench.device.release, bench.device.ptx = "11.0", 70
    assert rows["ex2.approx.ftz.bf16"]["verdict"] == "agrees"
    row = bench.rows()["ex2.approx.ftz.bf16"]
    assert (row["verdict"], row["why"]) == ("skipped", "needs PTX 7.8; CUDA 11.0 writes 7.0")


def test_one_wrong_bit_of_an_exact_variant_is_found(bench: Bench) -> None:
    def last_bit(_: Any, results: Array) -> Array:
        changed = results.copy()
        changed[700:701] ^= changed.dtype.type(1)
        return changed

    bench.device.wrong = {"add.f32": last_bit}
    result = bench.run()
    assert result.code == 1
    row = bench.rows()["add.f32"]
    # Once in the grid and in each stream.
    assert row["verdict"] == "disagrees" and row["found"]["unequal"] == 3
    a, b, got, want = row["found"]["case"]
    assert f"add.f32 (2 operands): 0x{int(a, 16):08x}, 0x{int(b, 16):08x} gives 0x{int(got, 16):08x}, " in result.out
    given = np.array([int(a, 16)], np.uint32), np.array([int(b, 16)], np.uint32)
    assert ptxemu.execute("add.f32", *given)[0] == int(want, 16) == int(got, 16) ^ 1
    assert sum(r["verdict"] == "disagrees" for r in bench.rows().values()) == 1


def test_bits_of_nans_are_told_apart_and_count(bench: Bench) -> None:
    def other_nan(_: Any, results: Array) -> Array:
        return np.where(results == 0x7FFFFFFF, np.uint32(0x7FC00000), results)

    bench.device.wrong = {"add.f32": other_nan}
    row = bench.rows()["add.f32"]
    assert row["verdict"] == "disagrees" and row["found"]["unequal"] == row["found"]["nan"] > 100


def test_a_bounded_variant_may_differ_inside_of_its_bound(bench: Bench) -> None:
    bench.device.wrong = {"ex2.approx.f32": up(1), "ex2.approx.ftz.f32": up(4)}
    result = bench.run()
    rows = bench.rows()
    assert result.code == 1
    inside, outside = rows["ex2.approx.f32"], rows["ex2.approx.ftz.f32"]
    assert inside["verdict"] == "agrees" and inside["found"]["unequal"] > 0 and inside["found"]["worst"] == 0.5
    assert outside["verdict"] == "disagrees" and outside["found"]["outside"] == outside["found"]["unequal"]
    assert 1.7 < outside["found"]["worst"] < 4.3
    assert any("of the bound" in x for x in result.out.splitlines() if x.startswith("ex2.approx.f32 "))


def test_an_unspecified_variant_is_shown_and_never_fails(bench: Bench) -> None:
    bench.device.wrong = {"rsqrt.approx.f64": next_up}
    assert bench.run().code == 0
    row = bench.rows()["rsqrt.approx.f64"]
    assert row["verdict"] == "shown" and row["found"]["unequal"] > 1000


def test_a_predicate_that_is_wrong_is_found(bench: Bench) -> None:
    bench.device.wrong = {"testp.finite.f32": lambda _, r: r ^ np.uint32(1)}
    row = bench.rows()["testp.finite.f32"]
    assert row["verdict"] == "disagrees" and row["found"]["case"][-2:] in (["0x1", "0x0"], ["0x0", "0x1"])


def test_what_fails_is_named_and_the_rest_goes_on(bench: Bench) -> None:
    bench.device.failing, bench.device.large = frozenset(["add.f64"]), {"add.sat.f32": 100}
    bench.device.broken = frozenset(["testp.cu"])
    result = bench.run()
    assert result.code == 2
    lines = result.out.splitlines()
    (kernel,) = [x for x in lines if x.startswith("add.f64 ")]
    (memory,) = [x for x in lines if x.startswith("add.sat.f32 ")]
    assert kernel.endswith("failed: add_f64_2: CUDA_ERROR_ILLEGAL_ADDRESS")
    assert memory.endswith("failed: out of memory")
    assert sum("failed: does not compile: testp.cu(1): error: injected" in x for x in lines) == 12
    assert any(x.startswith("add.rz.f64 ") and x.endswith("agrees") for x in lines)
    assert lines[-1].endswith(", 14 failed, 13 skipped")


def test_a_target_nobody_knows_cannot_run(bench: Bench) -> None:
    bench.device.target = "sm_91"
    result = bench.run()
    assert result.code == 2 and "the specification does not know sm_91" in result.err


def test_without_the_extra_a_driver_or_a_gpu_one_line_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert project.run("generate").code == 0

    def said() -> str:
        result = project.run("conformance")
        assert result.code == 2 and result.out == "" and result.err.count("\n") == 1
        return str(result.err)

    class Driver:
        @staticmethod
        def cuInit(_: int) -> tuple[Any]:
            raise RuntimeError("libcuda.so.1:\n cannot open shared object file")

    class Status:
        name = "CUDA_ERROR_NO_DEVICE"

        def __int__(self) -> int:
            return 100

    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    assert "pip install 'ptxspec[cuda]'" in said()
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", Driver)
    monkeypatch.setitem(sys.modules, "cuda.bindings", Driver)
    monkeypatch.setitem(sys.modules, "cuda", Driver)
    assert "no NVIDIA driver here: libcuda.so.1: cannot open" in said()
    monkeypatch.setattr(Driver, "cuInit", staticmethod(lambda _: (Status(),)))
    assert "the driver says CUDA_ERROR_NO_DEVICE" in said()
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)

    class Ready(Status):
        def __int__(self) -> int:
            return 0

    monkeypatch.setattr(Driver, "cuInit", staticmethod(lambda _: (Ready(),)))
    assert "pip install 'ptxspec[cuda]'" in said()


# Recordings


def test_a_recording_is_replayed_without_the_gpu(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bench.root / "recorded"
    live = bench.rows("--record", folder)
    monkeypatch.setattr(cuda, "CudaDevice", pytest.fail)
    replayed = bench.rows("--replay", folder)
    assert bench.run("--replay", folder).code == 0
    assert {k: v for k, v in live.items() if v["verdict"] != "skipped"} == replayed
    about = json.loads((folder / "about.json").read_text("utf-8"))
    assert about["gpu"] == "Stand-in" and about["target"] == "sm_90" and about["complete"] is True
    assert {"driver", "compiler", "date", "program", "specification"} <= about.keys()


def test_a_replay_finds_what_the_run_found(bench: Bench) -> None:
    folder = bench.root / "recorded"
    hidden = {"add.f32": lambda _, r: np.concatenate([r[:900], r[900:] ^ np.uint32(1)]) if r.size == 1024 else r}
    bench.device.wrong = {"add.f64": next_up, "rsqrt.approx.f64": next_up, "ex2.approx.f16": next_up, **hidden}
    live = bench.run("--record", folder)
    replayed = bench.run("--replay", folder)
    assert live.code == replayed.code == 1
    rows = bench.rows("--replay", folder)
    assert {k for k, v in rows.items() if v["verdict"] == "disagrees"} == {"add.f64", "add.f32", "ex2.approx.f16"}
    # Only digests are left of what differs late in a stream.
    assert rows["add.f32"]["found"] == {"count": 76**2 + 2048, "blocks": 2}
    assert any("0 in 2 blocks" in x for x in replayed.out.splitlines() if x.startswith("add.f32 "))
    assert rows["ex2.approx.f16"]["found"]["outside"] > 0 and rows["rsqrt.approx.f64"]["verdict"] == "shown"


def test_a_stopped_run_goes_on(bench: Bench) -> None:
    folder = bench.root / "recorded"
    whole = bench.rows()
    every = len(bench.device.launches)
    bench.device = StandIn(bench.device.emulator, stops=every // 2)
    assert bench.run("--record", folder).code == 130
    refused = bench.run("--replay", folder)
    assert refused.code == 2 and "incomplete" in refused.err and "--record" in refused.err
    with (folder / "results.jsonl").open("ab") as f:
        f.write(b'{"variant": "add.f3')
    bench.device = StandIn(bench.device.emulator)
    assert bench.rows("--record", folder) == whole
    assert len(bench.device.launches) == every - every // 2
    assert bench.run("--replay", folder).code == 0
    # What is complete is not run again; what failed is.
    bench.device = StandIn(bench.device.emulator)
    assert bench.rows("--record", folder) == whole and bench.device.launches == []


def test_what_failed_is_run_when_the_recording_goes_on(bench: Bench) -> None:
    folder = bench.root / "recorded"
    bench.device.failing = frozenset(["add.f64"])
    assert bench.run("--record", folder).code == 2
    about = json.loads((folder / "about.json").read_text("utf-8"))
    assert about["failed"] == {"add.f64 (2 operands)": "add_f64_2: CUDA_ERROR_ILLEGAL_ADDRESS"}
    bench.device = StandIn(bench.device.emulator)
    assert bench.run("--record", folder).code == 0
    assert set(bench.device.launches) == {"add.f64"}


def test_all_inputs_are_recorded_as_digests(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "INPUTS", 1 << 12)
    monkeypatch.setattr(vectors, "SLICE", 1 << 11)
    folder = bench.root / "recorded"
    counts = {k: v["found"]["count"] for k, v in bench.rows().items() if "found" in v and v["verdict"] != "skipped"}
    assert bench.run("--record", folder).code == 0
    rows = bench.rows("--record", folder, "--exhaustive")
    more = {k for k, v in rows.items() if k in counts and v["found"]["count"] == counts[k] + 4096}
    assert {"ex2.approx.f32", "rsqrt.approx.f32", "testp.normal.f32"} <= more
    assert not any(k.endswith((".f64", ".f16", "add.f32")) for k in more)
    assert bench.run("--replay", folder).code == 0
    bench.device.wrong = {"testp.normal.f32": lambda x, r: np.where(x[0] == 4095, r ^ np.uint32(1), r)}
    assert bench.rows("--exhaustive")["testp.normal.f32"]["found"]["unequal"] == 1
    refused = bench.run("--replay", folder, "--exhaustive")
    assert refused.code == 2 and "--exhaustive needs a GPU" in refused.err


def edited(folder: Path, **changes: Any) -> None:
    about = json.loads((folder / "about.json").read_text("utf-8"))
    (folder / "about.json").write_text(json.dumps({**about, **changes}), "utf-8")


@pytest.fixture(scope="module")
def recorded(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "standin"
    spec, emu = read(generated), emulator(find(generated))
    device, sizes = StandIn(emu), SMALL()
    kernels, package = generated / "generated/cuda", generated / "generated/python/ptxemu"
    about = recording.provenance(device.about, spec, conforming._program(), "2026-01-02", sizes, kernels, package)
    with recording.Recorder(folder, spec, about) as recorder:
        conforming.running.run(device, spec, emu, kernels, sizes, recorder)
        recorder.finish({})
    return folder


@pytest.fixture
def copied(recorded: Path, tmp_path: Path) -> Path:
    shutil.copytree(recorded, tmp_path / "copied")
    return tmp_path / "copied"


def test_a_recording_that_was_changed_is_refused(bench: Bench, copied: Path) -> None:
    results = (copied / "results.jsonl").read_bytes()
    lines = results.splitlines(True)

    def refused(reason: str) -> None:
        result = bench.run("--replay", copied)
        assert result.code == 2 and result.out == "" and reason in result.err and result.err.count("\n") == 1

    (copied / "results.jsonl").write_bytes(results.replace(b'"count":', b'"count": ', 1))
    refused("its digest is not the one in about.json")
    # Whoever mends that digest is refused for those inside.
    for i, line in enumerate(lines):
        unit = json.loads(line)
        if unit.get("stream") == "grid":
            unit["digests"] = "AAAAAAAAAAA="
            changed = b"".join([*lines[:i], json.dumps(unit).encode() + b"\n", *lines[i + 1 :]])
            break
    (copied / "results.jsonl").write_bytes(changed)
    edited(copied, digest=recording._digest(changed))
    refused("the results have another digest")
    one, other = (json.loads(x) for x in [x for x in lines if b'"data"' in x][:2])
    for data, reason in ((other["data"], "the results have another digest"), ("!", "results.jsonl:1: ")):
        changed = b"".join([json.dumps({**one, "data": data}).encode() + b"\n", *lines[1:]])
        (copied / "results.jsonl").write_bytes(changed)
        edited(copied, digest=recording._digest(changed))
        refused(reason)
    (copied / "results.jsonl").write_bytes(results)
    edited(copied, digest=recording._digest(results))
    assert bench.run("--replay", copied).code == 0
    edited(copied, failed=None)
    refused("about.json: not a recording: failed is not an object")
    edited(copied, failed={}, operands=vectors.VERSION + 1)
    refused("another version of the recorder")
    edited(copied, operands=vectors.VERSION, specification={"sha256": "", "variants": "0" * 64})
    refused("recorded for another specification")
    (copied / "about.json").write_text("{}", "utf-8")
    refused("not a recording")
    shutil.rmtree(copied)
    refused("No such file")


def test_a_recording_outlives_edits_but_not_its_variants(bench: Bench, copied: Path) -> None:
    bench.project.edit("spec/instructions/add.yaml", "summary: ", "summary: Reworded. ")
    assert bench.run("--replay", copied).code == 0
    refused = bench.run("--record", copied)
    assert refused.code == 2 and "begun with another specification" in refused.err
    (bench.root / "spec/instructions/rsqrt.yaml").unlink()
    refused = bench.run("--replay", copied)
    assert refused.code == 2 and "recorded for another specification: rsqrt" in refused.err


def test_verdicts_of_an_older_emulator_are_not_kept(bench: Bench) -> None:
    """Its results were others: what it was found to agree with is found anew, in digests too."""
    folder = bench.root / "tests/recordings/standin"
    late = {"add.f64": lambda _, r: np.concatenate([r[:900], r[900:] ^ np.uint64(1)]) if r.size == 1024 else r}
    bench.device.wrong = {"ex2.approx.f32": up(1), **late}
    assert bench.run("--record", folder).code == 1
    path = folder / "results.jsonl"
    units = [json.loads(x) for x in path.read_text("utf-8").splitlines()]

    def judged_by(emulator: str) -> dict[str, dict[str, Any]]:
        for u in units:
            if "found" in u:
                of_then = {"unequal": 5} if u["variant"] == "add.f32" else {}
                u |= {"emulator": emulator or u["emulator"], "found": {"count": u["count"], **of_then}}
        path.write_text("".join(json.dumps(u) + "\n" for u in units), "utf-8")
        bench.device.launches.clear()
        found = bench.rows("--record", folder)
        assert bench.device.launches == []
        return found

    # Those of this emulator are believed.
    assert {k for k, v in judged_by("").items() if v["verdict"] == "disagrees"} == {"add.f32"}
    rows = judged_by("0123456789abcdef")
    # Where all was said to be equal, what is inside of its bound was measured, and disagrees.
    assert {k for k, v in rows.items() if v["verdict"] == "disagrees"} == {"add.f64", "ex2.approx.f32"}
    assert rows["add.f64"]["found"]["blocks"] == 2 and rows["ex2.approx.f32"]["found"]["unequal"] > 0
    (registered,) = read(bench.root).recordings
    findings = {s: registered.finding(variant(s)) for s in ("add.f32", "add.f64", "ex2.approx.f32")}
    assert findings == {"add.f32": "equal", "add.f64": "unequal", "ex2.approx.f32": "inside"}


def test_other_kernels_do_not_go_on(bench: Bench, copied: Path) -> None:
    with (bench.root / "generated/cuda/add.cu").open("a", encoding="utf-8") as f:
        f.write("// another\n")
    refused = bench.run("--record", copied)
    assert refused.code == 2 and "begun with other kernels" in refused.err and refused.err.count("\n") == 1
    assert bench.run("--replay", copied).code == 0


def test_a_new_emulator_has_another_digest(bench: Bench, copied: Path) -> None:
    before = json.loads((copied / "about.json").read_text("utf-8"))["emulator"]
    with (bench.root / "generated/python/ptxemu/rounding.py").open("a", encoding="utf-8") as f:
        f.write("# another\n")
    assert bench.run("--record", copied).code == 0
    assert json.loads((copied / "about.json").read_text("utf-8"))["emulator"] != before


def test_a_quick_run_into_an_exhaustive_recording_is_about_all_of_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "INPUTS", 1 << 12)
    monkeypatch.setattr(vectors, "SLICE", 1 << 11)
    bench.device.wrong = {"testp.normal.f32": lambda x, r: np.where(x[0] == 4095, r ^ np.uint32(1), r)}
    folder = bench.root / "tests/recordings/standin"
    whole = bench.rows("--record", folder, "--exhaustive")
    assert whole["testp.normal.f32"]["verdict"] == "disagrees"
    assert {k: v["found"] for k, v in bench.rows("--record", folder).items()} == {
        k: v["found"] for k, v in whole.items()
    }
    (registered,) = read(bench.root).recordings
    assert registered.finding(variant("testp.normal.f32")) == "unequal"


def test_about_does_not_say_what_only_the_results_know(
    bench: Bench, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with --exhaustive that is stopped at once, and finished without: no input of a sweep was run."""
    monkeypatch.setattr(vectors, "INPUTS", 1 << 12)
    monkeypatch.setattr(vectors, "SLICE", 1 << 11)
    bench.device.stops = 0
    assert bench.run("--record", copied, "--exhaustive").code == 130
    bench.device.stops = -1
    assert bench.run("--record", copied).code == 0
    assert "exhaustive" not in json.loads((copied / "about.json").read_text("utf-8"))


@pytest.mark.parametrize("broken", [False, True])
def test_where_nothing_ran_nothing_is_complete_or_registered(bench: Bench, broken: bool) -> None:
    folder = bench.root / "tests/recordings/standin"

    def fail() -> None:
        bench.device.failing = frozenset(v.spelling for v in VARIANTS)
        bench.device.broken = frozenset(f"{o}.cu" for o in OPCODES if broken)
        assert bench.run("--record", folder).code == 2

    fail()
    assert json.loads((folder / "about.json").read_text("utf-8"))["complete"] is False
    assert recording.below(bench.root) == [] and not (bench.root / "spec/observed/recordings.yaml").exists()
    bench.device = StandIn(bench.device.emulator)
    assert bench.run("--record", folder).code == 0
    register = (bench.root / "spec/observed/recordings.yaml").read_text("utf-8")
    if broken:
        # Nor does it undo what is complete.
        fail()
        assert (bench.root / "spec/observed/recordings.yaml").read_text("utf-8") == register
        assert recording.below(bench.root) == [folder] and bench.run("--replay", folder).code == 0


@pytest.mark.parametrize("full", ["about.json", "recordings.yaml"])
def test_a_full_disk_leaves_what_was_there(
    bench: Bench, recorded: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    folder = bench.root / "tests/recordings/standin"
    shutil.copytree(recorded, folder)
    assert bench.run("--replay", folder).code == 0
    write_text = Path.write_text

    def kept() -> list[Any]:
        about, results = folder / "about.json", folder / "results.jsonl"
        assert sorted(folder.iterdir()) == [about, results]
        return [read(bench.root).recordings, json.loads(about.read_bytes()), results.read_bytes()]

    before = kept()

    def write_half(path: Path, text: str, *arguments: Any, **options: Any) -> int:
        if not path.name.startswith(full):
            return write_text(path, text, *arguments, **options)
        write_text(path, text[: len(text) // 2], *arguments, **options)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_half)
    result = bench.run("--record", folder)
    assert result.code == 2 and result.err.count("\n") == 1
    assert "cannot be written: No space left on device" in result.err
    assert kept() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to write to")
def test_a_disk_that_is_full_while_results_are_written(bench: Bench, copied: Path) -> None:
    spec = read(bench.root)
    about = json.loads((copied / "about.json").read_text("utf-8"))
    v, part = variant("add.f32"), vectors.Part("every", 0, 1, 1)
    recorder = recording.Recorder(copied, spec, about)
    recorder._file.close()
    recorder._file = Path("/dev/full").open("ab")  # noqa: SIM115
    with pytest.raises(PtxspecError, match="No space left"), recorder:
        recorder.write(v, part, np.zeros(1, np.uint32), [0], comparing.Found(1))
    assert bench.run("--replay", copied).code == 2
    assert bench.run("--record", copied).code == 0 and bench.run("--replay", copied).code == 0


def test_only_the_same_run_goes_on(bench: Bench, copied: Path) -> None:
    bench.device.target = "sm_80"
    refused = bench.run("--record", copied)
    assert refused.code == 2 and "begun with another target: sm_90, now sm_80" in refused.err
    refused = bench.run("--record", bench.root / "spec")
    assert refused.code == 2 and "holds other things" in refused.err


# Claims that rest on recordings


def test_a_registered_recording_makes_claims_measured(bench: Bench) -> None:
    folder = bench.root / "tests/recordings/standin"
    bench.device.wrong = {"ex2.approx.f16": next_up}
    result = bench.run("--record", folder)
    assert result.code == 1 and "spec/observed/recordings.yaml; run `ptxspec generate`" in result.err
    assert bench.project.run("validate").code == 0
    assert bench.project.run("generate").code == 0

    def claims(*arguments: str) -> dict[str, tuple[str, str]]:
        listed = json.loads(bench.project.run("list", *arguments, "--format", "json").out)["variants"]
        return {v["variant"]: (v["claim"], v["rests_on"]) for v in listed}

    here, elsewhere = claims("--target", "sm_90"), claims("--target", "sm_80")
    named = "Stand-in (sm_90), driver 0.0, no compiler, "
    assert here["ex2.approx.f32"][0] == "measured" and here["ex2.approx.f32"][1].startswith(named)
    assert here["rsqrt.approx.f64"][0] == "measured"
    assert here["ex2.approx.f16"] == elsewhere["ex2.approx.f16"] == claims()["ex2.approx.f16"]
    assert here["add.f32"][0] == "exact" and f"; equal to {named}" in here["add.f32"][1]
    assert (
        {c for c, _ in elsewhere.values()} == {c for c, _ in claims().values()} == {"exact", "bounded", "unspecified"}
    )

    shown = bench.project.run("show", "ex2.approx.f32").out
    assert "- claim: bounded\n- it rests on: the manual's bound: 2 ulp from the rounded result (9.7.3.21)\n" in shown
    assert f"- recorded: {named}" in shown and "tests/recordings/standin: every bit equal" in shown
    assert "standin: not equal" in bench.project.run("show", "ex2.approx.f16").out
    page = (bench.root / "generated/manual/ex2.md").read_text("utf-8")
    assert "| bounded, measured on sm_90 |" in page and "| `tests/recordings/standin` | Stand-in (sm_90) |" in page
    assert "compared with a GPU yet" not in page
    assert "claim   measured" in bench.project.run("query", "ex2.approx.f32", "--target", "sm_90").out
    assert ", measured\n" in bench.project.run("eval", "ex2.approx.f32", "1", "--target", "sm_90").out

    # A measured claim promises every bit: what was inside of its bound disagrees now.
    bench.device.wrong = {"ex2.approx.f32": up(1)}
    again = bench.rows()["ex2.approx.f32"]
    assert (again["claim"], again["verdict"]) == ("measured", "disagrees") and "outside" not in again["found"]
    # A replay after the emulator has changed says so in the file.
    text = (bench.root / "spec/observed/recordings.yaml").read_text("utf-8")
    (bench.root / "spec/observed/recordings.yaml").write_text(
        text.replace("standin", "other").replace("sm_90", "sm_80"), "utf-8"
    )
    assert bench.run("--replay", folder).code == 1
    registered = read(bench.root).recordings
    assert [r.path for r in registered] == ["tests/recordings/other", "tests/recordings/standin"]


def test_without_recordings_everything_says_so(bench: Bench) -> None:
    assert "- recorded: on no GPU yet" in bench.project.run("show", "add.f32").out
    assert "None of it has been compared with a GPU yet." in bench.project.run("show", "add").out
    assert not (bench.root / "spec/observed/recordings.yaml").exists()


def test_what_is_recorded_in_part_is_not_measured(bench: Bench) -> None:
    folder = bench.root / "tests/recordings/standin"

    def registered() -> str | None:
        (found,) = read(bench.root).recordings
        return found.finding(variant("ex2.approx.f32"))

    bench.device.large = {"ex2.approx.f32": 100}
    assert bench.rows("--record", folder)["ex2.approx.f32"]["why"] == "out of memory"
    assert registered() is None
    bench.run("--replay", folder)
    assert registered() is None
    bench.device.large = {}
    assert bench.run("--record", folder).code == 0 and registered() == "equal"


def test_any_text_is_registered_as_it_is(bench: Bench) -> None:
    bench.device.gpu = 'A "B" \\ C: #1 \u2122\n'
    assert bench.run("--record", bench.root / "tests/recordings/a: b #c").code == 0
    (registered,) = read(bench.root).recordings
    assert (registered.gpu, registered.path) == (bench.device.gpu, "tests/recordings/a: b #c")


def test_a_recording_elsewhere_is_not_registered(bench: Bench) -> None:
    assert bench.run("--record", bench.root / "recorded").code == 0
    assert not (bench.root / "spec/observed/recordings.yaml").exists()


# Vectors


def test_vectors_come_from_the_emulator_where_there_is_no_recording(bench: Bench) -> None:
    lines = bench.project.run("vectors", "add.rn.f32").out.splitlines()
    rows = [json.loads(x) for x in lines]
    assert len(rows) == 76**2 + 2 * 128 and {r["stream"] for r in rows} == {"grid", "uniform", "near"}
    for r in rows[:200]:
        a, b = (np.array([int(x, 16)], np.uint32) for x in r["operands"])
        assert ptxemu.execute("add.rn.f32", a, b)[0] == int(r["result"], 16)
    assert {r["source"] for r in rows} == {"emulator"} and "claim exact" in rows[0]["provenance"]
    rows = [json.loads(x) for x in bench.project.run("vectors", "testp.finite.f32").out.splitlines()]
    assert {r["result"] for r in rows} == {True, False}


def test_vectors_come_from_a_recording_where_there_is_one(bench: Bench, recorded: Path) -> None:
    shutil.copytree(recorded, bench.root / "tests/recordings/standin")
    table = list(csv.DictReader(io.StringIO(bench.project.run("vectors", "ex2.approx.f16", "--format", "csv").out)))
    assert len(table) == 76 + 65536 + 128
    assert {r["source"] for r in table} == {"recording"}
    assert {r["provenance"] for r in table} == {"Stand-in (sm_90), driver 0.0, no compiler, 2026-01-02"}
    a = np.array([int(r["a"], 16) for r in table], np.uint16)
    assert np.array_equal(ptxemu.execute("ex2.approx.f16", a), [int(r["result"], 16) for r in table])
    elsewhere = bench.project.run("vectors", "ex2.approx.f16", "--format", "csv", "--target", "sm_80").out
    assert "emulator" in elsewhere and "recording" not in elsewhere


def test_vectors_pass_over_a_recording_that_is_not_complete(bench: Bench, recorded: Path) -> None:
    folder = bench.root / "tests/recordings/standin"
    shutil.copytree(recorded, folder)
    edited(folder, complete=False)
    assert recording.below(bench.root) == []
    result = bench.project.run("vectors", "ex2.approx.f16")
    assert result.code == 0 and json.loads(result.out.splitlines()[0])["source"] == "emulator"
    # One that is damaged is an error.
    edited(folder, complete=True, digest="")
    result = bench.project.run("vectors", "ex2.approx.f16")
    assert result.code == 2 and "its digest is not the one in about.json" in result.err


def test_vectors_as_npz(bench: Bench) -> None:
    command = [sys.executable, "-m", "ptxspec", "vectors", "--root", bench.root, "add.f16x2", "--format", "npz"]
    done = subprocess.run(command, capture_output=True, check=True)
    with np.load(io.BytesIO(done.stdout)) as arrays:
        assert str(arrays["source"]) == "emulator" and str(arrays["variant"]) == "add.f16x2"
        a, b = arrays["near_a"], arrays["near_b"]
        assert np.array_equal(ptxemu.execute("add.f16x2", a, b), arrays["near_result"])


def test_vectors_of_what_does_not_exist(bench: Bench) -> None:
    result = bench.project.run("vectors", "add.f23")
    assert result.code == 2 and "add.f" in result.err


# The GPU's compiler, which needs no GPU


@pytest.fixture(scope="module")
def nvrtc() -> cuda.Nvrtc:
    try:
        return cuda.Nvrtc()
    except NoDeviceError as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_all_kernels_compile_to_machine_code(nvrtc: cuda.Nvrtc, target: str) -> None:
    folder = ROOT / "generated/cuda"
    headers = {p.name: p.read_text("utf-8") for p in folder.glob("*.cuh")}
    for path in sorted(folder.glob("*.cu")):
        cubin = nvrtc.compile(path.name, path.read_text("utf-8"), headers, target)
        assert cubin.startswith(b"\x7fELF")
        for v in SPEC.instructions[path.stem].variants:
            assert (v.identifier.encode() in cubin) == conforming.running.is_current(SPEC, v)


def test_the_compilers_first_error_is_told(nvrtc: cuda.Nvrtc) -> None:
    with pytest.raises(DeviceError, match=r"x\.cu\(1\): error: "):
        nvrtc.compile("x.cu", "nonsense", {}, "sm_90")


# The GPU's driver, by a stand-in for cuda.bindings


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> fake_cuda.Driver:
    made = fake_cuda.Driver()
    modules: dict[str, Any] = {"driver": made, "nvrtc": fake_cuda.Nvrtc()}
    monkeypatch.setattr(cuda, "_import", modules.__getitem__)
    return made


def test_a_kernel_gets_its_operands_and_gives_its_results(driver: fake_cuda.Driver) -> None:
    device = cuda.CudaDevice()
    assert (device.about.gpu, device.about.target, device.about.release) == ("Fake GPU", "sm_90", "13.0")
    assert device.about.driver.endswith("CUDA 13.2") or device.about.driver.endswith("(CUDA 13.2)")
    module = device.compile("x.cu", "code", {"h.cuh": ""})
    x = np.arange(1000, dtype=np.uint32)
    assert np.array_equal(module.launch("adds_one", [x], np.dtype(np.uint32)), x + 1)
    assert np.array_equal(module.launch("adds_one", [x[::-1]], np.dtype(np.uint32)), x[::-1] + 1)
    assert driver.modules == [b"code"] and driver.memory == {}
    # What no kernel wrote does not look like a result.
    assert set(module.launch("writes_nothing", [x], np.dtype(np.uint32)).tolist()) == {0xA5A5A5A5}


def test_after_an_error_the_next_kernel_runs(driver: fake_cuda.Driver) -> None:
    module = cuda.CudaDevice().compile("x.cu", "code", {})
    x = np.arange(10, dtype=np.uint32)
    with pytest.raises(DeviceError, match=r"^fails: CUDA_ERROR_ILLEGAL_ADDRESS$"):
        module.launch("fails", [x], x.dtype)
    assert np.array_equal(module.launch("adds_one", [x], x.dtype), x + 1)
    driver.limit = 39
    with pytest.raises(DeviceError, match=r"^out of memory$"):
        module.launch("adds_one", [x], x.dtype)
    driver.limit = 40
    assert np.array_equal(module.launch("adds_one", [x], x.dtype), x + 1)
    assert driver.memory == {}


def test_a_gpu_that_the_compiler_does_not_know_cannot_run(driver: fake_cuda.Driver) -> None:
    driver.generation = 7
    with pytest.raises(NoDeviceError, match=r"compiles for sm_75 to sm_90, and not for sm_70"):
        cuda.CudaDevice()


def test_a_driver_older_than_the_compiler_is_told_of_once(driver: fake_cuda.Driver) -> None:
    driver.version = 12080
    with pytest.raises(NoDeviceError, match=r"of CUDA 12\.8, and cannot run what NVRTC 13\.0 compiles"):
        cuda.CudaDevice()


def test_the_compilers_log_is_cut_to_its_first_error(driver: fake_cuda.Driver) -> None:
    with pytest.raises(DeviceError, match=r"^x\.cu\(2\): error: nonsense$"):
        cuda.CudaDevice().compile("x.cu", "nonsense", {})

"""The emulator against a GPU, told with a stand-in for the GPU: what is run, and what counts as agreement."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.bench import Array, Bench, next_up, up
from helpers.json_schemas import complaints
from helpers.project import Project


def test_all_agree(bench: Bench) -> None:
    result = bench.run()
    assert result.code == 0, result.out
    lines = result.out.splitlines()
    assert lines[-1].startswith("Stand-in (sm_90), driver 0.0, no compiler, ptxspec") and " 0 disagree" in lines[-1]
    (line,) = [x for x in lines if x.startswith("add.f32 ")]
    # The grid and two streams; every bit is equal.
    assert line.split() == ["add.f32", "2", "exact", str(76**2 + 2 * 1024), "0", "0", "0", "agrees"]
    assert any(x.startswith("rsqrt.approx.f64 ") and x.endswith("shown") for x in lines)
    assert any(x.startswith("add.f32x2 ") and x.endswith("skipped: requires sm_100") for x in lines)
    assert any(x.startswith("ex2.f32 ") and x.endswith("skipped: ended with an older PTX version") for x in lines)


@pytest.mark.exhaustive
def test_what_the_toolkit_does_not_write_is_skipped(bench: Bench) -> None:
    bench.device.release, bench.device.ptx, bench.device.target = "12.0", 80, "sm_90"
    rows = bench.rows()
    assert rows["add.rn.bf16"]["verdict"] == "agrees"
    bench.device.release, bench.device.ptx = "11.0", 70
    assert rows["ex2.approx.ftz.bf16"]["verdict"] == "agrees"
    row = bench.rows()["ex2.approx.ftz.bf16"]
    assert (row["verdict"], row["why"]) == ("skipped", "requires PTX 7.8; CUDA 11.0 supports 7.0")


def test_one_wrong_bit_of_an_exact_variant_is_found(bench: Bench) -> None:
    def last_bit(_: Any, results: Array) -> Array:
        changed = results.copy()
        changed[700:701] ^= changed.dtype.type(1)
        return changed

    bench.device.wrong = {"add.f32": last_bit}
    result = bench.run()
    assert result.code == 1
    assert complaints("conformance", json.loads(bench.run("--format", "json").out)) == []
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_an_unspecified_variant_is_shown_and_never_fails(bench: Bench) -> None:
    bench.device.wrong = {"rsqrt.approx.f64": next_up}
    assert bench.run().code == 0
    row = bench.rows()["rsqrt.approx.f64"]
    assert row["verdict"] == "shown" and row["found"]["unequal"] > 1000


def test_a_predicate_that_is_wrong_is_found(bench: Bench) -> None:
    bench.device.wrong = {"testp.finite.f32": lambda _, r: r ^ np.uint32(1)}
    row = bench.rows()["testp.finite.f32"]
    assert row["verdict"] == "disagrees" and row["found"]["case"][-2:] in (["0x1", "0x0"], ["0x0", "0x1"])


@pytest.mark.exhaustive
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
    assert lines[-1].endswith(", 14 failed, 108 skipped")


def test_a_target_nobody_knows_cannot_run(bench: Bench) -> None:
    bench.device.target = "sm_91"
    result = bench.run()
    assert result.code == 2 and "the specification does not know sm_91" in result.err


@pytest.mark.exhaustive
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
    assert "there is no NVIDIA driver: libcuda.so.1: cannot open" in said()
    monkeypatch.setattr(Driver, "cuInit", staticmethod(lambda _: (Status(),)))
    assert "the driver says CUDA_ERROR_NO_DEVICE" in said()
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)

    class Ready(Status):
        def __int__(self) -> int:
            return 0

    monkeypatch.setattr(Driver, "cuInit", staticmethod(lambda _: (Ready(),)))
    assert "pip install 'ptxspec[cuda]'" in said()

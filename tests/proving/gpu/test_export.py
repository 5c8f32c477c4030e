"""The command `ptxspec vectors`: operands and results from the emulator, or from a recording where there is one."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.bench import Bench, edited
from ptxspec.proving.gpu import recording


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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


def test_vectors_as_one_document(bench: Bench) -> None:
    found = json.loads(bench.project.run("vectors", "testp.finite.f32", "--format", "json", "--limit", "9000").out)
    vectors = found.pop("vectors")
    assert found == {
        "schema": 1, "variant": "testp.finite.f32", "source": "emulator", "provenance": "ptxemu, claim exact",
        "operands": [{"name": "a", "type": "f32"}], "results": [{"name": "p", "type": "pred"}],
    }  # fmt: skip
    lines = bench.project.run("vectors", "testp.finite.f32").out.splitlines()
    assert vectors == [{k: json.loads(x)[k] for k in ("stream", "operands", "result")} for x in lines]


def test_vectors_of_the_grid_only_and_so_many(bench: Bench) -> None:
    every = bench.project.run("vectors", "add.f16", "--format", "csv").out.splitlines()
    grid = bench.project.run("vectors", "add.f16", "--format", "csv", "--grid").out.splitlines()
    assert len(grid) == 1 + 76**2 and grid == every[: len(grid)] and "near" in every[-1]
    # The first ones, of whatever stream.
    few = bench.project.run("vectors", "add.f16", "--format", "csv", "--limit", str(len(grid) + 2)).out.splitlines()
    assert few == every[: len(grid) + 3]
    for wrong in ("0", "-1", "1.5", "all"):
        refused = bench.project.run("vectors", "add.f16", "--limit", wrong)
        assert refused.code == 2 and f"'{wrong}' is not a positive whole number" in refused.err


@pytest.mark.exhaustive
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


def test_vectors_of_so_many_rows(bench: Bench) -> None:
    lines = bench.project.run("vectors", "add.f16", "--rows", "9000", "--format", "csv").out.splitlines()
    assert len(lines) == 1 + 9000
    assert {line.split(",")[1] for line in lines[1:]} == {"grid", "uniform", "near"}
    assert lines[: 1 + 76**2] == bench.project.run("vectors", "add.f16", "--grid", "--format", "csv").out.splitlines()
    assert bench.project.run("vectors", "add.f16", "--rows", "5", "--grid").code == 2

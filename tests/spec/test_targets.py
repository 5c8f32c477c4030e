"""spec/targets.yaml against the assembler: which PTX version knows which target, and how requirements compare."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import ROOT
from ptxspec.proving.ptxas.asking import UnsupportedTarget, find_ptxas, judge, version

pytestmark = pytest.mark.inputs("requirements", "codegen/ptxspec/proving/ptxas")

TABLES: dict[str, Any] = yaml.load((ROOT / "spec" / "targets.yaml").read_text("utf-8"), Loader=yaml.BaseLoader)
TARGETS, VERSIONS = TABLES["targets"], [entry["version"] for entry in TABLES["ptx"]]

# Releases do not agree: ptxas 13.0 knows sm_88 from an older PTX version on than 13.5 does.
OBSERVED = "13.5"

# Each needs its target "or higher". Others stand in where no floating-point instruction has the floor.
FLOORS = {
    "sm_11": "brkpt;",
    "sm_12": "atom.global.add.u64 %b0, [%b1], %b2;",
    "sm_20": "prmt.b32 %r0, %r1, %r2, %r3;",
    "sm_30": "activemask.b32 %r0;",
    "sm_32": "shf.l.wrap.b32 %r0, %r1, %r2, %r3;",
    "sm_50": "lop3.b32 %r0, %r1, %r2, %r3, 5;",
    "sm_53": "add.f16 %h0, %h1, %h2;",
    "sm_60": "atom.global.add.f64 %d0, [%b1], %d1;",
    "sm_61": "dp4a.s32.s32 %r0, %r1, %r2, %r3;",
    "sm_70": "nanosleep.u32 %r0;",
    "sm_72": "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;",
    "sm_75": "tanh.approx.f32 %f0, %f1;",
    "sm_80": "max.NaN.f32 %f0, %f1, %f2;",
    "sm_86": "max.xorsign.abs.f32 %f0, %f1, %f2;",
    "sm_89": "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;",
    "sm_90": "add.bf16 %h0, %h1, %h2;",
    "sm_100": "add.f32x2 %b0, %b1, %b2;",
}


@pytest.fixture(scope="module")
def ptxas() -> Path:
    found = find_ptxas()
    if found is None:
        pytest.skip("no ptxas found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    if not version(found).startswith(f"{OBSERVED}."):
        pytest.skip(f"the table records ptxas {OBSERVED}, and {found} is {version(found)}")
    return found


def test_the_versions_are_those_that_ptxas_reads(ptxas: Path) -> None:
    listed = subprocess.run([ptxas, "--list-version"], capture_output=True, text=True, check=True)
    assert listed.stdout.split() == VERSIONS


@pytest.mark.exhaustive
@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t["name"])
def test_a_target_is_known_from_its_version_on(ptxas: Path, target: dict[str, str]) -> None:
    last = target.get("until", VERSIONS[-1])
    listed = VERSIONS[VERSIONS.index(target["ptx"]) : VERSIONS.index(last) + 1]
    assert [ptx for ptx in VERSIONS if _known(ptxas, target["name"], ptx)] == listed


@pytest.mark.exhaustive
def test_targets_are_listed_in_the_order_in_which_requirements_compare(ptxas: Path) -> None:
    names = [target["name"] for target in TARGETS]
    for name in names:
        verdicts = judge(ptxas, list(FLOORS.values()), name, VERSIONS[-1])
        met = {floor for floor, messages in zip(FLOORS, verdicts, strict=True) if not messages}
        assert met == {floor for floor in FLOORS if names.index(floor) <= names.index(name)}, name


def test_nvcc_compiles_for_what_is_listed(nvcc: Path) -> None:
    if f"V{OBSERVED}." not in subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout:
        pytest.skip(f"the table records nvcc {OBSERVED}")
    listed = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(TABLES["nvcc"]) == sorted(listed)


def test_variants_of_a_target_follow_their_base() -> None:
    kinds = {"a": "architecture", "f": "family"}
    base = ""
    for target in TARGETS:
        kind = kinds.get(target["name"][-1])
        assert target.get("kind") == kind
        if kind is None:
            assert "base" not in target
            base = target["name"]
        else:
            assert target["base"] == base == target["name"][:-1]


def _known(ptxas: Path, target: str, ptx: str) -> bool:
    try:
        judge(ptxas, [], target, ptx)
    except UnsupportedTarget:
        return False
    return True

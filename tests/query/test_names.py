"""Targets by the names of their GPUs, and the tables of targets and PTX versions."""

from __future__ import annotations

import ctypes
import json
import os
import re
from pathlib import Path
from typing import Any

import ptxspec
import pytest
from helpers import ROOT
from helpers.project import Project
from ptxspec import Database, native
from ptxspec.query import names


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("H100", "sm_90"),
        ("a100", "sm_80"),
        ("B200", "sm_100"),
        ("RTX 4090", "sm_89"),
        ("rtx4090", "sm_89"),
        ("RTX-4090", "sm_89"),
        ("4090", "sm_89"),
        ("1080 Ti", "sm_61"),
        ("A6000", "sm_86"),
        ("hopper", "sm_90"),
        ("ADA", "sm_89"),
        ("Ada Lovelace", "sm_89"),
        ("orin", "sm_87"),
        ("thor", "sm_110"),
        ("DGX Spark", "sm_121"),
        # As nvidia-smi writes them.
        ("NVIDIA H100 80GB HBM3", "sm_90"),
        ("NVIDIA A100-SXM4-80GB", "sm_80"),
        ("Tesla V100-SXM2-16GB", "sm_70"),
        ("Tesla T4", "sm_75"),
        ("NVIDIA GeForce RTX 3070 Laptop GPU", "sm_86"),
        ("NVIDIA GeForce RTX 2080 SUPER", "sm_75"),
        ("NVIDIA RTX 6000 Ada Generation", "sm_89"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "sm_120"),
        # Written in full it is one of two that are alike.
        ("Quadro RTX 6000", "sm_75"),
        ("NVIDIA TITAN X", "sm_61"),
        ("GTX TITAN X", "sm_52"),
        # Without a GPU
        ("sm_90a", "sm_90a"),
        ("SM_90A", "sm_90a"),
        ("compute_90", "sm_90"),
        ("10.3f", "sm_103f"),
    ],
)
def test_a_name_is_a_target(db: Database, name: str, target: str) -> None:
    assert db.target(name) == target
    assert db.query("add.f32", target=name) == db.query("add.f32", target=target)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RTX 6000", ["sm_75 (Quadro RTX 6000)", "sm_89 (RTX 6000 Ada)", "name one of them"]),
        ("TITAN X", ["sm_52 (GeForce GTX TITAN X)", "sm_61 (NVIDIA TITAN X)"]),
        ("GeForce GT 730", ["sm_21 (", "sm_35 ("]),
        ("GTX 860M", ["sm_30 (", "sm_50 ("]),
        ("ampere", ["sm_80 (A100, A30)", "sm_86 (", "sm_87 (Jetson AGX Orin", "sm_88"]),
        ("blackwell", ["sm_100 (B200, GB200)", "sm_120 (GeForce RTX 5090"]),
    ],
)
def test_what_may_be_two_chips_asks_which(db: Database, name: str, said: list[str]) -> None:
    with pytest.raises(ptxspec.PtxspecError, match="means several targets") as caught:
        db.target(name)
    assert all(s in str(caught.value) for s in said), caught.value
    assert str(caught.value).startswith(f"'{name}'")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("H1000", "'H100'"),
        ("hoper", "'Hopper'"),
        ("RTX 4091", "'RTX 4090'"),
        ("sm_91", "'sm_90'"),
        ("9.1", "'sm_"),
        ("xyzzy", "`ptxspec targets`"),
        ("", "`ptxspec targets`"),
        ("NVIDIA", ""),
        ("Ti", ""),
    ],
)
def test_an_unknown_name_gets_a_suggestion(db: Database, name: str, near: str) -> None:
    with pytest.raises(ptxspec.PtxspecError, match="unknown target") as caught:
        db.target(name)
    assert near in str(caught.value)


def test_every_product_is_found_by_its_name(db: Database) -> None:
    listed: dict[str, set[str]] = {}
    for name, target, _ in db.data["products"]:
        listed.setdefault(name, set()).add(target)
    assert len(listed) > 180
    for name, targets in listed.items():
        assert set(names.targets(db, name)) == targets, name
        assert targets <= set(names.targets(db, re.sub("NVIDIA |GeForce |Tesla ", "", name).lower())), name


def test_a_file_names_its_target_as_ptxas_does(db: Database) -> None:
    found = db.lint(".version 8.0\n.target hopper\n")
    assert [f.code for f in found] == ["unknown-target"]
    assert not db.lint(".version 8.0\n.target sm_90\n")
    assert [f.code for f in db.lint("add.bf16 %0, %1, %2;", target="A100")] == ["target-too-old"]


class FakeDriver:
    """A stand-in for libcuda.so.1, with GPUs of these capabilities."""

    def __init__(self, *capabilities: tuple[int, int], error: int = 0) -> None:
        self.capabilities, self.error = capabilities, error

    def cuInit(self, flags: int) -> int:
        assert flags == 0
        return self.error

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self.capabilities)
        return 0

    def cuDeviceGet(self, device: Any, number: int) -> int:
        device._obj.value = 100 + number
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR is 75, and MINOR is 76.
        value._obj.value = self.capabilities[device.value - 100][attribute - 75]
        return 0


def no_library(name: str) -> None:
    raise OSError(name)


def test_native_asks_the_driver(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver((9, 0), (9, 0)))
    assert db.target("native") == db.target("Native") == "sm_90"
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver((8, 9), (12, 0)))
    with pytest.raises(ptxspec.PtxspecError, match=r"'native' means several targets: sm_89 \(.*sm_120"):
        db.target("native")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver((99, 1)))
    with pytest.raises(ptxspec.PtxspecError, match=r"compute capability 99\.1, which this database does not know"):
        db.target("native")


def program(folder: Path, text: str) -> None:
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_native_asks_nvidia_smi_where_there_is_no_library(
    db: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    program(tmp_path, '[ "$1" = --query-gpu=compute_cap ] && echo 8.6')
    assert db.target("native") == "sm_86"
    assert native.capabilities() == [(8, 6)]
    program(tmp_path, "echo 'NVIDIA-SMI has failed because it could not communicate with the driver.'; exit 9")
    with pytest.raises(ptxspec.PtxspecError, match=r"'native' requires a GPU: there is no NVIDIA driver .*has failed"):
        db.target("native")
    program(tmp_path, "echo")
    with pytest.raises(ptxspec.PtxspecError, match="the driver reports no GPU; name a target or a GPU instead"):
        db.target("native")


def test_a_driver_without_a_gpu_is_said(db: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: FakeDriver(error=100))
    with pytest.raises(ptxspec.PtxspecError, match="the driver answers with error 100; nvidia-smi cannot be run"):
        db.target("native")


# The command line


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Project:
    """The repository itself, for commands that write nothing."""
    return Project(ROOT, capsys)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", "add.bf16", "--target", "A100"], "no: add.bf16 (2 operands) is not available on sm_80"),
        (["list", "--target", "H100", "--opcode", "tanh"], "5 variants"),
        (["eval", "add.f32", "1", "2", "--target", "RTX 4090"], "add.f32 (2 operands) on sm_89"),
        (["diff", "--target", "A100..H100"], "sm_80 to sm_90: "),
        (["lint", "--target", "hopper", "FILE"], ""),
        (["vectors", "add.f32", "--target", "B200"], '"variant"'),
    ],
)
def test_commands_take_names(here: Project, tmp_path: Path, arguments: list[str], said: str) -> None:
    file = tmp_path / "a.ptx"
    file.write_text("add.bf16 %0, %1, %2;")
    arguments = [str(file) if a == "FILE" else a for a in arguments]
    result = here.run(*arguments)
    assert result.code == (1 if said.startswith("no") else 0), result.err
    assert said in result.out


def test_a_name_that_asks_which_is_misuse(here: Project) -> None:
    result = here.run("query", "add.f32", "--target", "ampere")
    assert result.code == 2
    assert result.err.startswith("ptxspec: 'ampere' means several targets: sm_80 (A100, A30), ")


def test_targets(here: Project) -> None:
    lines = here.run("targets").out.splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith("sm_")}
    assert len(rows) == 48
    assert re.fullmatch(r"sm_90 +9\.0 +Hopper +7\.8 +11\.8 +H100, H200, GH200", rows["sm_90"])
    assert re.fullmatch(r"sm_90a +9\.0 +Hopper +8\.0 +12\.0", rows["sm_90a"])
    assert re.fullmatch(r"sm_70 +7\.0 +Volta +5\.1 +9\.0 +13\.0 +V100, .*", rows["sm_70"])
    assert re.fullmatch(r"sm_101f +10\.1 +Blackwell +8\.8 +12\.9 +13\.0", rows["sm_101f"])
    # No release is known that brought it.
    assert re.fullmatch(r"sm_82 +8\.2 +6\.2", rows["sm_82"])
    some = here.run("targets", "ampere", "H100").out.splitlines()
    assert [line.split()[0] for line in some if line.startswith("sm_")] == ["sm_80", "sm_86", "sm_87", "sm_88", "sm_90"]
    assert "GeForce RTX 3050 Ti" in "\n".join(some)
    assert here.run("targets", "H1000").code == 2


def test_targets_as_json(here: Project) -> None:
    found = json.loads(here.run("targets", "--format", "json").out)
    rows = {row["target"]: row for row in found["targets"]}
    assert found["schema"] == 1 and len(rows) == 48
    assert rows["sm_100f"] == {
        "target": "sm_100f", "kind": "family", "base": "sm_100", "capability": "10.0", "architecture": "Blackwell",
        "runs_on": ["sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_107a", "sm_107f"],
        "ptx": "8.8", "cuda": "12.9", "gone": None,
        "products": [{"name": "B200", "source": "cuda-gpus"}, {"name": "GB200", "source": "cuda-gpus"}],
    }  # fmt: skip
    assert rows["sm_61"]["gone"] == "13.0" and rows["sm_82"]["cuda"] is None
    used = {p["source"] for row in rows.values() for p in row["products"]}
    assert used == found["references"].keys()
    assert all(r["url"].startswith("https://") for r in found["references"].values())


def test_versions(here: Project) -> None:
    lines = here.run("versions").out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if re.match(r"\d", line)}
    assert rows["8.4"] == ["12.4", "550.54.14", "551.61"]
    # 12.7 never was.
    assert rows["8.6"] == ["12.8", "570.26", "570.65"] == rows["8.7"]
    assert rows["9.1"] == ["13.1", "590.44.01"] and rows["5.1"] == [] and rows["1.0"] == ["1.0"]
    assert "PTX 8.6: NVIDIA's manual names CUDA 12.7, which was never released; 12.8 was the first" in lines
    found = json.loads(here.run("versions", "--format", "json").out)
    by = {row["ptx"]: row for row in found["versions"]}
    assert by["8.6"] == {
        "ptx": "8.6", "cuda": "12.8", "listed": "12.7", "source": "release-notes",
        "driver": {"linux": "570.26", "windows": "570.65"},
    }  # fmt: skip
    assert by["9.5"]["driver"] == {"linux": None, "windows": None} and by["9.5"]["source"] is None


def test_a_newer_release_never_goes_with_an_older_driver(db: Database) -> None:
    for kind in ("linux", "windows"):
        drivers = [[int(x) for x in d.split(".")] for v in db.versions.values() if (d := getattr(v, kind))]
        # In 11.8 NVIDIA's table has 520.06 for Windows, and 516.31 before.
        assert drivers == sorted(drivers) and len(drivers) > 25

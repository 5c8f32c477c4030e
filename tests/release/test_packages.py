"""The wheel and the sdist: made twice they are the same bytes, and what is installed from them needs neither git, nor a
network, nor the clone."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.environments import Environment, stop_connections
from packaging.requirements import Requirement
from ptxspec.cli.main import main

pytestmark = pytest.mark.exhaustive
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LIB = f"{PROJECT['name']}-{PROJECT['version']}"
DATE = {"SOURCE_DATE_EPOCH": "1700000000"}
# What is said in a place without a specification of its own is what the clone says.
COMMANDS = [
    "query add.bf16 --target sm_80",
    "query max.NaN.f64 --format json",
    "list --opcode mad",
    "list --target sm_90 --type bf16x2 --format json",
    "show fma.rn.f32",
    "eval add.rn.f16 2048 1",
    "eval cvt.rn.satfinite.e4m3x2.f32 449 nan --format json",
    "compare max.NaN.f32 max.f32",
    "lint some.ptx --target sm_75",
    "lint some.md --format json",
    "explain fma.f32",
    "diff --ptx 8.5..8.8",
    "targets H100",
    "versions",
    "vectors max.NaN.f16 --limit 3",
    "completion fish",
]


def ended_well(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    environment = os.environ | DATE | environment
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def built(kind: str, source: Path, to: Path, **environment: str) -> Path:
    """A wheel or an sdist of what lies in a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to)]
    ended_well(command, source, environment)
    (found,) = to.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return found


@pytest.fixture(scope="module", autouse=True)
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A guard that stops a build where it asks the network."""
    guard = tmp_path_factory.mktemp("guard")
    stop_connections(guard)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(guard), *filter(None, [os.environ.get("PYTHONPATH")])]))
        asking = "import urllib.request; urllib.request.urlopen('http://localhost:9')"
        asked = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=False)
        assert asked.returncode == 1 and "RuntimeError: a connection" in asked.stderr
        yield


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel, what it asks for, and nothing else; out of reach of the clone."""
    environment = Environment(tmp_path_factory.mktemp("environment"))
    environment.copy_dependencies(*(Requirement(d).name for d in PROJECT["dependencies"]))
    done = environment.pip("install", "--no-index", wheel)
    assert done.returncode == 0, done.stderr
    environment.shut_in(away_from=ROOT)
    return environment


def test_an_sdist_makes_the_same_wheel_and_sdist_without_git(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    elsewhere = {"TZ": "Asia/Tokyo", "PATH": str(tmp_path), "LC_ALL": "C"}
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    assert built("sdist", tmp_path / LIB, tmp_path / "again", **elsewhere).read_bytes() == sdist.read_bytes()
    pip = [sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation", str(sdist)]
    ended_well(pip, tmp_path, elsewhere)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A folder with nothing but what is judged."""
    (tmp_path / "some.ptx").write_text(".version 7.8\n.target sm_75\nfma.f32 d, a, b, c;\nadd.bf16 d, a, b;\n", "utf-8")
    (tmp_path / "some.md").write_text("```ptx\nmax.NaN.f64 d, a, b;\n```\n", "utf-8")
    return tmp_path


def test_it_answers_as_the_clone_does(
    installed: Environment, empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(empty)
    monkeypatch.setenv("COLUMNS", installed.environment["COLUMNS"])
    for command in COMMANDS:
        words = command.split()
        capsys.readouterr()
        code = main([words[0], "--root", str(ROOT), *words[1:]])
        said = "".join(capsys.readouterr())
        assert said and installed.run("ptxspec", *words, cwd=empty, code=code) == said, command
    assert "ptxspec 0." in installed.run("ptxspec", "--version", cwd=empty)


def test_the_emulator_comes_with_it(installed: Environment, empty: Path) -> None:
    program = (
        "import numpy as np, ptxemu, ptxspec\n"
        "print(ptxemu.execute('max.NaN.f32', np.float32([1.5, np.nan]), np.float32([2, 0])))\n"
        "print(ptxspec.load().query('max.NaN.f32').exists, ptxemu.__file__)"
    )
    result, rest = installed.run("python", "-c", program, cwd=empty).splitlines()
    assert result == "[ 2. nan]" and rest == f"True {installed.packages / 'ptxemu' / '__init__.py'}"


def test_links_of_its_description_work_on_a_package_index(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        description = archive.read(f"{LIB}.dist-info/METADATA").decode().partition("\n\n")[2]
    links = re.findall(r"\]\(([^)#]*)", description)
    assert len(links) == len(re.findall(r"\]\(([^)#]*)", (ROOT / "README.md").read_text("utf-8")))
    assert all(link.startswith("https://") for link in links if link)
    assert any(link.startswith("https://raw.githubusercontent.com/") and link.endswith(".png") for link in links)


def test_the_extension_is_found_beside_it(installed: Environment, tmp_path: Path) -> None:
    """Releases build and test the same for each Python; here it has one opcode."""
    source = ROOT / "generated/native"
    options = ["--no-index", "--no-deps", "--no-build-isolation", "-C", "setup-args=-Dopcodes=add"]
    ended_well([sys.executable, "-m", "pip", "wheel", *options, str(source), "-w", str(tmp_path)], tmp_path, {})
    done = installed.pip("install", "--no-index", "--no-deps", *tmp_path.glob("*.whl"))
    assert done.returncode == 0, done.stderr
    tested = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]["test-command"]
    installed.run(*shlex.split(tested), cwd=tmp_path)
    installed.pip("uninstall", "--yes", "ptxemu-native")
    assert "AssertionError" in installed.run(*shlex.split(tested), cwd=tmp_path, code=1)


def test_it_makes_of_its_specification_what_the_clone_has(installed: Environment, tmp_path: Path) -> None:
    """Its own specification is changed where somebody copies it, and nowhere else."""
    assert "has no spec/ and templates/" in installed.run("ptxspec", "generate", "--root", ".", cwd=tmp_path, code=2)
    assert "is installed and read-only; name a clone" in installed.run("ptxspec", "generate", cwd=tmp_path, code=2)
    for part in ("spec", "templates"):
        shutil.copytree(installed.packages / "ptxspec" / part, tmp_path / part)
    assert "choose one of them with --root . or" in installed.run("ptxspec", "generate", cwd=tmp_path, code=2)
    assert "added" in installed.run("ptxspec", "generate", "--root", ".", cwd=tmp_path)
    assert texts(tmp_path / "generated") == texts(ROOT / "generated")


def texts(folder: Path) -> Mapping[str, bytes]:
    """All files but what Python keeps beside its own."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc")
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}

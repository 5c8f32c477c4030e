"""Sweeps that passed whole, each with the digest of what its result rests on: while that is the same, a sample is
enough. `pytest -m exhaustive --record-passed` writes the list, and `--again` runs all sweeps whole."""

from __future__ import annotations

import ast
import hashlib
import platform
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from ptxspec.files import update_text

from helpers import ROOT

PATH = ROOT / "tests/passed.txt"
_HEAD = "# Sweeps that passed whole. Written by `pytest -m exhaustive --record-passed`; do not edit.\n"


class Passed:
    """The list, for one test. The kind of processor is its architecture alone: a sample is run on each machine."""

    def __init__(self, name: str, config: pytest.Config, path: Path = PATH) -> None:
        self._name, self._path = name, path
        self._records, self._again = (bool(config.getoption(o)) for o in ("--record-passed", "--again"))
        self._digest = ""

    def has(self, files: Iterable[Path]) -> bool:
        """Return whether the test passed whole with these files, this NumPy and this compiler."""
        self._digest = _digest(files)
        return not (self._records or self._again) and (self._name, self._digest) in _read(self._path)

    def whole(self) -> None:
        """Say that it has passed whole."""
        if self._records:
            update_text(self._path, self._with_this)

    def _with_this(self) -> str:
        entries = dict(_read(self._path)) | {self._name: self._digest}
        return _HEAD + "".join(f"{digest} {name}\n" for name, digest in sorted(entries.items()))


def _read(path: Path) -> list[tuple[str, str]]:
    """The tests, each with its digest."""
    if not path.is_file():
        return []
    lines = path.read_text("utf-8").removeprefix(_HEAD).splitlines()
    return [(name, digest) for digest, _, name in (line.partition(" ") for line in lines)]


def _digest(files: Iterable[Path]) -> str:
    version = ""
    if compiler := shutil.which("cc"):
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    about = [np.__version__, platform.python_version(), platform.machine(), version.partition("\n")[0]]
    found = hashlib.sha256("\n".join(about).encode())
    for path in sorted(files):
        found.update(f"\n{path.name}\n".encode())
        found.update(_code(path).encode() if path.suffix == ".py" else path.read_bytes())
    return found.hexdigest()[:20]


def _code(path: Path) -> str:
    """A module without its comments and docstrings, which change no result."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in _documented(tree):
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def _documented(tree: ast.AST) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            yield node

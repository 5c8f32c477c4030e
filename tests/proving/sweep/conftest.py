"""Sweeps of few operands in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers import ROOT
from ptxspec.__main__ import main
from ptxspec.proving.gpu import vectors
from ptxspec.proving.sweep import blocks


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Sweeping = Callable[..., Answer]


@pytest.fixture
def sweep(capsys: pytest.CaptureFixture[str]) -> Sweeping:
    """The command, on the repository's specification."""

    def run(variant: str, against: str, *options: str | Path) -> Answer:
        capsys.readouterr()
        try:
            code = main(["sweep", "--root", str(ROOT), variant, "--against", against, *map(str, options)])
        except SystemExit as e:
            code = int(e.code or 0)
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """65,536 operands are sixteen blocks, and of random ones are few."""
    monkeypatch.setattr(vectors, "BLOCK", 1 << 12)
    monkeypatch.setattr(blocks, "_RANDOM", 1 << 13)
    blocks.sweep_of.cache_clear()
    yield  # type: ignore[misc]
    blocks.sweep_of.cache_clear()

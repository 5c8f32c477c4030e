"""Projects with made-up units, and what is generated from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from helpers.made_up_units import copied_with_units
from helpers.project import Project, again
from ptxspec.emit.generate import generate


@pytest.fixture(scope="session")
def with_units(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A root with made-up units and what is generated from it, fitting's emulator among it: made once."""

    @cache
    def root(*names: str) -> Path:
        made = copied_with_units(tmp_path_factory.mktemp("units") / "project", *names)
        generate(made)
        return made

    return root


@pytest.fixture
def built(with_units: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """A project with two made-up units."""
    return Project(again(with_units("RCP", "LG2"), tmp_path / "project"), capsys)

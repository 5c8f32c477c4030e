"""The projects that strangers write, and a check that reading them leaves everything around as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.hostile import CANARY, snapshot
from helpers.network import forbidden
from helpers.project import Project, copied


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Nothing is fetched, whatever a stranger's file says: a test that asks a network fails."""
    yield from forbidden(monkeypatch)


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder around a stranger's project, in which the command runs. Whatever happens, nothing there has changed
    but the project's generated/, and what would show that code ran is not there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept\n")
    monkeypatch.chdir(outside)
    before = snapshot(tmp_path, ("project",))
    yield tmp_path
    assert snapshot(tmp_path, ("project",)) == before
    assert not list(tmp_path.rglob(CANARY))


@pytest.fixture
def strange(around: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Project]:
    """Makes the project of a stranger with these opcodes."""

    def make(*opcodes: str, own_templates: bool = False) -> Project:
        return Project(copied(around / "project", opcodes or ("neg",), own_templates), capsys)

    return make

"""The cost of a specification twice as large: each opcode under two names against one. The commands on the
specification as it is are measured in test_commands.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from helpers import ROOT, enlarged
from helpers.repository import database
from test_commands import run
from timing import in_turn

MODULE = (sys.executable, "-m", "ptxspec")
# Aimed at, in megabytes; what is left of the 12 is the manual's.
SIZES = {"": 12.0, "cuda": 4.0, "data": 1.5, "python": 3.0}


def test_sizes(around: Callable[..., None]) -> None:
    for folder, at_most in SIZES.items():
        around(f"generated/{folder}", f"{size_of(ROOT / 'generated' / folder) / 1e6:.1f} MB", at_most=f"{at_most:g} MB")


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One with each opcode under two names, and one with it under one, with all of generated/."""
    folder = tmp_path_factory.mktemp("growth")
    two, one = (enlarged.under_names(folder / str(n), n, database().opcodes) for n in (2, 1))
    for root in (two, one):
        run(*MODULE, "generate", "--root", root)
    return two, one


@pytest.mark.parametrize("command", ["validate", "generate --check", "query setp.lt.f32", "list --opcode set"])
def test_growth_is_at_most_linear(command: str, roots: tuple[Path, Path], around: Callable[..., None]) -> None:
    def asked(root: Path) -> Callable[[], None]:
        return lambda: run(*MODULE, *command.split(), "--root", root)

    ours, theirs = in_turn(*map(asked, roots), rounds=3, clock=of_children)
    ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
    # A question is about one opcode.
    limit = "2" if command.startswith(("validate", "generate")) else "1.2"
    around(f"ptxspec {command}: 2 names of each opcode", "", against="1 name", ratio=ratio, ratio_at_most=limit)


def of_children() -> float:
    """The processor's seconds that processes took which have ended: others may have the machine as well."""
    taken = os.times()
    return taken.children_user + taken.children_system


def size_of(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)

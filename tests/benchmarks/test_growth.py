"""The commands on 6,000 variants, of opcodes under several names where there are fewer, and on one opcode of 3,200."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from helpers import enlarged
from test_commands import NOTHING, run
from timing import in_turn

MODULE = (sys.executable, "-m", "ptxspec")
ENLARGED = {
    "6,000 variants": (enlarged.copies, "max.NaN.f32"),
    "an opcode of 3,200 variants": (enlarged.wide, "widen.rz.sat.f16.f32"),
}
# Aimed at for 6,000 variants, in megabytes; what is left of the 12 is the manual's.
SIZES = {"": 12.0, "cuda": 4.0, "data": 1.5, "python": 3.0}


@pytest.fixture(scope="module", params=ENLARGED)
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, str]:
    """What is enlarged, its root with all of generated/, and a variant of it."""
    make, variant = ENLARGED[request.param]
    root = make(tmp_path_factory.mktemp("many") / "root")
    run(*MODULE, "generate", "--root", root)
    return request.param, root, variant


def test_commands(many: tuple[str, Path, str], compare: Callable[..., None]) -> None:
    what, root, variant = many
    opcode = variant.partition(".")[0]
    for command, at_most, ratio_at_most, rounds in (
        (("validate",), "5000 ms", "", 3),
        (("generate", "--check"), "8000 ms", "", 3),
        (("query", variant), "", "6", 11),
        (("list", "--opcode", opcode), "", "6", 11),
    ):

        def asked(command: tuple[str, ...] = command) -> None:
            run(*MODULE, *command, "--root", root)

        compare(
            f"{what}: ptxspec {' '.join(command)}", asked, *NOTHING,
            rounds=rounds, at_most=at_most, ratio_at_most=ratio_at_most,
        )  # fmt: skip


def test_sizes(many: tuple[str, Path, str], around: Callable[..., None]) -> None:
    what, root, _ = many
    for folder, at_most in SIZES.items():
        size = size_of(root / "generated" / folder)
        around(f"{what}: generated/{folder}", f"{size / 1e6:.1f} MB", at_most=f"{at_most:g} MB")


@pytest.mark.parametrize("command", ["validate", "generate"])
def test_growth_is_linear(command: str, tmp_path: Path, around: Callable[..., None]) -> None:
    """Each opcode under three names against one."""
    few, many = (enlarged.copies(tmp_path / str(n), n) for n in (1, 3))
    for root in (few, many):
        run(*MODULE, command, "--root", root)
    ratio = ratio_of(lambda: run(*MODULE, command, "--root", many), lambda: run(*MODULE, command, "--root", few))
    around(f"ptxspec {command}: 3 names of each opcode", "", against="1 name", ratio=ratio, ratio_at_most="3")


def ratio_of(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    return median(a / b for a, b in zip(*in_turn(ours, theirs, rounds=3), strict=True))


def size_of(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)

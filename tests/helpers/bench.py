"""A project with four opcodes, the command line on it, and a stand-in for the GPU."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptxspec.model import Variant
from ptxspec.proving.gpu import vectors

from helpers.project import Project
from helpers.repository import specification
from helpers.standin import StandIn

Array = NDArray[Any]

SPEC = specification()
VARIANTS = [v for i in SPEC.instructions.values() for v in i.variants]
OPCODES = ("add", "ex2", "rsqrt", "testp")
SMALL = functools.partial(vectors.Sizes, random=1 << 10, sample=1 << 7)


def variant(spelling: str, operands: int = 0) -> Variant:
    return next(v for v in VARIANTS if v.spelling == spelling and operands in (0, v.operands))


@dataclass
class Bench:
    """A project with four opcodes, and the command line on it with a stand-in for the GPU."""

    project: Project
    device: StandIn | None
    root: Path

    def run(self, *arguments: str | Path) -> Any:
        return self.project.run("conformance", *arguments)

    def rows(self, *arguments: str | Path) -> dict[str, dict[str, Any]]:
        found = json.loads(self.run(*arguments, "--format", "json").out)
        assert found["schema"] == 1
        return {v["variant"]: v for v in found["variants"]}


def up(steps: int) -> Callable[..., Array]:
    """Moves results of a f32 power that are neither special nor near the end of the range."""

    def move(operands: Any, results: Array) -> Array:
        magnitude = results & np.uint32(0x7FFFFFFF)
        ordinary = (magnitude > 1 << 24) & (magnitude < 0x7F000000)
        ordinary &= operands[0] & np.uint32(0x7FFFFFFF) > 0x3F000000
        return np.where(ordinary, results + np.uint32(steps), results)

    return move


def next_up(_: Any, results: Array) -> Array:
    return results + results.dtype.type(1)


def some_up(_: Any, results: Array) -> Array:
    """Moves every 16th result: it takes long to judge how far each of thousands is off."""
    return results + (np.arange(results.size) % 16 == 0).astype(results.dtype)


def edited(folder: Path, **changes: Any) -> None:
    about = json.loads((folder / "about.json").read_text("utf-8"))
    (folder / "about.json").write_text(json.dumps({**about, **changes}), "utf-8")

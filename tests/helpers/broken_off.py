"""The cases that are broken off, step by step: each command that writes."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from helpers.breaking import Case

NEG = "spec/instructions/neg.yaml"


def _contents(folder: Path) -> Hashable:
    found = (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return tuple(sorted((p.relative_to(folder).as_posix(), hash(p.read_bytes())) for p in found))


# generate


def _project(folder: Path) -> None:
    from helpers.project import copied

    _making(copied(folder, ("neg",)))


def _generated_and_edited(folder: Path) -> None:
    _project(folder)
    child = os.fork()
    if child == 0:
        os._exit(_generate(folder))
    assert os.waitpid(child, 0)[1] == 0
    text = (folder / NEG).read_text("utf-8")
    new = text.replace("summary: Change the sign of a value.", "summary: Change the sign of one value.")
    assert text != new
    (folder / NEG).write_text(new, "utf-8")
    _making.cache_clear()
    _making(folder)


@functools.cache
def _making(root: Path) -> dict[str, str]:
    """Few of the files, so that each step of writing them can be the last. They are made once."""
    from ptxspec.emit.generate import build

    made = build(root)
    modules = ("python/ptxemu/__init__.py", "python/ptxemu/instructions/neg.py")
    return {name: made[name] for name in ("manual/neg.md", "cuda/neg.cu", *modules)}


def _generate(folder: Path) -> int:
    from ptxspec.__main__ import main
    from ptxspec.emit import generate

    made = _making(folder.with_name("old"))
    generate.build = lambda root: made
    return main(["generate", "--root", str(folder)])


# conformance --record


def _to_record(folder: Path) -> None:
    from ptxspec.emit.generate import generate

    from helpers.project import copied

    copied(folder, ("testp",))
    (folder / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    generate(folder)


def _record(folder: Path) -> int:
    from ptxspec.__main__ import main
    from ptxspec.cli import conformance
    from ptxspec.evaluate import emulator
    from ptxspec.proving.gpu import cuda, vectors
    from ptxspec.roots import find

    from helpers.standin import StandIn

    device = StandIn(emulator(find(folder)))
    cuda.CudaDevice = lambda: device  # type: ignore[assignment, misc]
    conformance.vectors.Sizes = functools.partial(vectors.Sizes, random=1 << 6, sample=1 << 6)
    return main(["conformance", "--root", str(folder), "--record", str(folder / "tests/recordings/standin")])


def _recorded(folder: Path) -> Hashable:
    """The recording's results in any order, and what is registered of it; a part of them is none."""
    recording, register = folder / "tests/recordings/standin", folder / "spec/observed/recordings.yaml"
    registered = register.read_text("utf-8") if register.exists() else ""
    about = json.loads((recording / "about.json").read_text("utf-8")) if (recording / "about.json").exists() else {}
    if not about.get("complete"):
        return "no recording", _without_date(registered)
    return frozenset((recording / "results.jsonl").read_bytes().splitlines()), _without_date(registered)


def _without_date(registered: str) -> str:
    return "\n".join(line for line in registered.splitlines() if "date:" not in line)


def _is_complete_and_unregistered(state: Any) -> bool:
    return state[0] != "no recording" and not state[1]


# The cache


CASES = {
    "generate": Case(_generated_and_edited, _generate, lambda folder: _contents(folder / "generated")),
    "generate for the first time": Case(_project, _generate, lambda folder: _contents(folder / "generated")),
    "conformance --record": Case(_to_record, _record, _recorded, _is_complete_and_unregistered),
}

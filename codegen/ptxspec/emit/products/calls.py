"""The model -> generated/data/calls.json: the PTX that nvcc generates for functions of CUDA C++, LLVM for its
intrinsics and instructions, and Triton for its functions, for queries by name; and what MLIR's operations are lowered
to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from ...check.checking import Checked
from ...model import Becomes, CallEvidence, Spec, runs
from ...query.database import SCHEMA
from ..parts import NONE, Parts
from ..text import Files, Templates


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the file."""
    return {"data/calls.json": parts.of("calls", NONE, "", partial(_text, spec))}


def _text(spec: Spec) -> str:
    about = as_data(spec)
    rows = ",\n".join(f"{json.dumps(c)}:{json.dumps(x, separators=(',', ':'))}" for c, x in about.pop("calls").items())
    return f'{json.dumps(about, indent=0)[:-2]},\n"calls": {{\n{rows}\n}}\n}}\n'


def as_data(spec: Spec) -> dict[str, Any]:
    """Return the content of the file. The PTX of a call is listed for runs of targets, by first and last, with the
    number of its instructions. It is empty if it is long or jumps."""
    none = CallEvidence("", (), ())
    found = spec.calls or none
    others = [e for e in (spec.intrinsics, spec.triton) if e is not None]
    every = found.targets or next((e.targets for e in others), ())

    def becomes(some: Iterable[Becomes]) -> list[object]:
        return [[[[r[0], r[-1]] for r in runs(b.targets, every)], b.count, b.ptx] for b in some]

    calls = {}
    for c in (c for e in (found, *others) for c in e.calls):
        calls[c.call] = {"gives": c.gives, "header": c.header, "low": c.low, "becomes": becomes(c.becomes)}
        calls[c.call] |= {"fast": becomes(c.fast)} if c.fast else {}
    return {
        "schema": SCHEMA, "generated": "by ptxspec from spec/observed/; do not edit",
        "compiler": found.compiler, "compilers": {c.header: e.compiler for e in others for c in e.calls},
        "targets": list(every), "lowered": spec.lowered._asdict() if spec.lowered else {}, "calls": calls,
    }  # fmt: skip

"""The model -> generated/data/machine_code.json: the machine code that ptxas generates for variants on each target, for
`show` and other programs. The file is separate because queries are faster without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...check.checking import Checked
from ...model import MachineEvidence, MachineForms, Spec, runs
from ...query.database import SCHEMA
from ..parts import Parts
from ..text import Files, Templates, as_lines

_SOURCE = "spec/observed/machine_code.yaml"


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the file."""
    about = as_data(spec)
    opcodes = ",\n".join(f"{json.dumps(n)}:{as_lines(entries, 1)}" for n, entries in about.pop("opcodes").items())
    return {"data/machine_code.json": f'{json.dumps(about, indent=0)[:-2]},\n"opcodes": {{\n{opcodes}\n}}\n}}\n'}


def as_data(spec: Spec) -> dict[str, Any]:
    """Return the content of the file, without targets if no machine code was recorded."""
    found = spec.machine or MachineEvidence("", "", (), {}, {})
    return {
        "schema": SCHEMA, "generated": f"by ptxspec from {_SOURCE}; do not edit", "assembler": found.assembler,
        "disassembler": found.disassembler, "targets": list(found.targets),
        "opcodes": {
            name: [_entry(e, found.targets) for e in entries]
            for name, entries in found.opcodes.items() if name in spec.instructions
        },
    }  # fmt: skip


def _entry(entry: MachineForms, targets: Sequence[str]) -> dict[str, Any]:
    """Return an entry: notations of variants whose machine code is the same except for modifiers, which become `.*`.
    `beyond` counts the instructions of called functions. A run of targets is written as its first and last."""
    code = []
    for c in entry.codes:
        on = [[run[0], run[-1]] for run in runs(c.targets, targets)]
        code.append({"on": on, "count": c.count, "beyond": c.beyond, "text": c.text})
    return {"operands": entry.operands, "for": entry.forms, "code": code}

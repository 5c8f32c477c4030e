"""The model -> generated/data/machine_code.json: the machine code that ptxas generates for variants on each target, for
`show` and other programs. The file is separate because queries are faster without it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...check.checking import Checked
from ...model import MachineForms, Spec, runs
from ..parts import Parts
from ..registry import product
from ..text import Files, Templates

_SOURCE = "spec/observed/machine_code.yaml"


@product("machine_code")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the file; none if no machine code was recorded."""
    found = spec.machine
    if found is None:
        return {}
    about = {
        "schema": 1, "generated": f"by ptxspec from {_SOURCE}; do not edit", "assembler": found.assembler,
        "disassembler": found.disassembler, "targets": list(found.targets),
    }  # fmt: skip
    opcodes = [
        f"{json.dumps(name)}:[\n" + ",\n".join(_entry(e, found.targets) for e in entries) + "\n]"
        for name, entries in found.opcodes.items()
        if name in spec.instructions
    ]
    head = json.dumps(about, indent=0)[:-2]
    return {"data/machine_code.json": f'{head},\n"opcodes": {{\n' + ",\n".join(opcodes) + "\n}\n}\n"}


def _entry(entry: MachineForms, targets: Sequence[str]) -> str:
    """Return an entry: notations of variants whose machine code is the same except for modifiers, which become `.*`.
    `beyond` counts the instructions of called functions. A run of targets is written as its first and last."""
    code = []
    for c in entry.codes:
        on = [[run[0], run[-1]] for run in runs(c.targets, targets)]
        code.append({"on": on, "count": c.count, "beyond": c.beyond, "text": c.text})
    return json.dumps({"operands": entry.operands, "for": entry.forms, "code": code}, separators=(",", ":"))

"""The model -> generated/data/machine_code.json: what ptxas makes of variants on each target, for `show` and for other
programs. It is a file of its own: queries are quicker without."""

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
    """Return the file; none where no machine code was recorded."""
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
    """Return an entry: variants in notation that become the same but for modifiers, which `.*` stands for. `beyond`
    counts what is called; targets that stand together are the first and the last of them."""
    code = []
    for c in entry.codes:
        on = [[run[0], run[-1]] for run in runs(c.targets, targets)]
        code.append({"on": on, "count": c.count, "beyond": c.beyond, "text": c.text})
    return json.dumps({"operands": entry.operands, "for": entry.forms, "code": code}, separators=(",", ":"))

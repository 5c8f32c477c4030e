"""The specification with every opcode under several names: what it costs to grow."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path
from string import ascii_lowercase

from helpers.project import copied


def under_names(to: Path, count: int, opcodes: Container[str]) -> Path:
    """The repository's specification of these opcodes, each under `count` names: add, addb, addc, ..."""
    copied(to, opcodes)
    for path in sorted((to / "spec/instructions").glob("*.yaml")):
        text, opcode = path.read_text("utf-8"), path.stem
        for letter in ascii_lowercase[1:count]:
            name = opcode + letter
            copy = re.sub(rf"(?<![\w.]){opcode}(?=[.{{])|(?<=^opcode: ){opcode}$", name, text, flags=re.MULTILINE)
            path.with_stem(name).write_text(copy, "utf-8")
    return to

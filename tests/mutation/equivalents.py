"""equivalent.txt: mutants that mean the same as what they replace, under the reason why. A line that begins with `#` is
a reason; the keys of mutants that stand below it have it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("equivalent.txt")


@cache
def equivalents() -> dict[str, str]:
    """Reasons by the keys of mutants."""
    found: dict[str, str] = {}
    reason = ""
    for number, line in enumerate(FILE.read_text("utf-8").splitlines(), 1):
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            assert reason, f"{FILE.name}:{number}: no reason stands above"
            assert line not in found, f"{FILE.name}:{number}: named twice"
            found[line] = reason
    return found

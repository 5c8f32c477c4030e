"""The models of the special function unit -> the emulator's units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...check.checking import Checked
from ...model import Spec
from ..parts import Parts
from ..text import Files, Templates
from ..units import fields


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return generated/python/ptxemu/units.py."""
    models = [m for u in spec.units.values() for m in u.models]
    sources = ["spec/units.yaml", *(f"spec/units/{m.name}.yaml" for m in models)]
    text = templates.render(
        "emulator/units.py.j2", sources,
        formats=sorted({m.format.name for m in models}),
        units=[(m, [(name, _text(value)) for name, value in fields(m).items()]) for m in models],
    )  # fmt: skip
    return {"python/ptxemu/units.py": text}


def _text(value: Any) -> str:
    """Return a field in Python: a table with one row per line, a long text on lines of its own."""
    if isinstance(value, str):
        return f'"""\n{value}"""' if "\n" in value else f'"{value}"'
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "(\n" + "".join(f"        {row},\n" for row in value) + "    )"
    return repr(value)

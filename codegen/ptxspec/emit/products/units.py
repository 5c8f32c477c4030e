"""What is known of the special function unit -> the fields of the emulator's `Unit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...check.checking import Checked
from ...model import Interpolator, Spec, UnitModel
from ...semantics.exact.unit import shifts
from ..registry import product
from ..text import Files, Templates

SPECIAL = ("+zero", "-zero", "+infinity", "-infinity", "nan", "negative")


@product("emulator-units")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """generated/python/ptxemu/units.py."""
    models = [m for u in spec.units.values() for m in u.models]
    sources = ["spec/units.yaml", *(f"spec/units/{m.name}.yaml" for m in models)]
    text = templates.render(
        "emulator/units.py.j2", sources,
        formats=sorted({m.format.name for m in models}),
        units=[(m, [(name, _text(value)) for name, value in fields(m).items()]) for m in models],
    )  # fmt: skip
    return {"python/ptxemu/units.py": text}


def fields(m: UnitModel) -> dict[str, Any]:
    """All but the format, by the names that they have there."""
    a, core = m.argument, m.core
    found: dict[str, Any] = {
        "kind": a.kind, "bits": a.bits, "octaves": a.octaves, "first": a.first, "last": a.last, "odd": a.odd,
        "phase": a.phase, "mirror": a.mirror, "exponent": m.exponent, "point": m.point, "precision": m.precision,
        "special": tuple(m.special.get(s, -1) for s in SPECIAL),
    }  # fmt: skip
    if isinstance(core, Interpolator):
        s = shifts(core, a, m.point)
        found |= {
            "segments": core.segments, "drop": core.drop, "columns": core.columns, "shifts": (s.c0, s.c1, s.c2, s.out),
            "bias": s.bias, "coefficients": core.coefficients,
        }  # fmt: skip
    else:
        found |= {"function": core.function, "width": core.width, "differences": core.text}
    return found


def _text(value: Any) -> str:
    """The field in Python: a table with a row to a line, a long text in lines of its own."""
    if isinstance(value, str):
        return f'"""\n{value}"""' if "\n" in value else f'"{value}"'
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "(\n" + "".join(f"        {row},\n" for row in value) + "    )"
    return repr(value)

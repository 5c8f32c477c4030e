"""A model of a unit as the fields of the emulator's `Unit`, and as a function in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Interpolator, UnitModel
from ..semantics.exact.unit import shifts

SPECIAL = ("+zero", "-zero", "+infinity", "-infinity", "nan", "negative")
_NEGATIVE = ("floor", "negate", "complement")
# The precision of float64, and the most columns of partial products that fit in 32 bits.
_PRECISION, _MOST_COLUMNS = 53, 26
_WORD = (1 << 32) - 1


def fields(m: UnitModel) -> dict[str, Any]:
    """Return all fields but the format, by their names in the emulator's `Unit`."""
    a, core = m.argument, m.core
    found: dict[str, Any] = {
        "kind": a.kind, "bits": a.bits, "octaves": a.octaves, "first": a.first, "last": a.last, "odd": a.odd,
        "phase": a.phase, "mirror": a.mirror, "negative": a.negative,
        "factor": float(a.factor), "kept": a.kept, "exponent": m.exponent, "point": m.point,
        "precision": m.precision, "toward_zero": m.rounding == "roundTowardZero",
        "special": tuple(m.special.get(s, -1) for s in SPECIAL),
    }  # fmt: skip
    if isinstance(core, Interpolator):
        s = shifts(core, a, m.point)
        found |= {
            "own_results": tuple((o.operand, o.result) for o in m.own if o.operand is not None),
            "own_sums": tuple((o.place, int(o.sum * (1 << m.point))) for o in m.own if o.operand is None),
            "segments": core.segments, "drop": core.drop, "columns": core.columns, "unseen": core.unseen,
            "shifts": (s.c0, s.c1, s.c2, s.out), "bias": s.bias, "coefficients": core.coefficients,
        }  # fmt: skip
    else:
        found |= {"function": core.function, "width": core.width, "differences": core.text}
    return found


def has_c(m: UnitModel) -> bool:
    """Return whether templates/native/src/unit.h can compute a model. It computes in binary64, exactly."""
    core = m.core
    if not isinstance(core, Interpolator) or (m.format.width, m.format.precision) != (32, 24):
        return False
    if m.argument.kind == "fixed" and not (m.argument.bits < 24 and m.exponent):
        # Otherwise 32-bit integers contain the argument up to a scale beyond every exponent.
        return False
    s = shifts(core, m.argument, m.point)
    length = 1 << _local(m, core)
    c0, c1, c2 = (max(abs(row[i]) for row in core.coefficients) for i in range(3))
    most = (c0 << s.c0) + abs(s.bias) + (c1 * length << s.c1) + (c2 * (length**2 >> core.drop) << s.c2)
    if m.exponent is None:
        most += 1 << (m.format.exponent_bits + s.point)
    fits = most < 1 << _PRECISION and c0 < 1 << 31 and _narrow(core, 1) + _narrow(core, 2) <= 32
    return fits and (not core.columns or core.drop <= _MOST_COLUMNS)


def _local(m: UnitModel, core: Interpolator) -> int:
    return m.argument.places - (core.segments.bit_length() - 1)


def _narrow(core: Interpolator, i: int) -> int:
    """Return the number of bits of a coefficient as a signed integer."""
    return 1 + max(max(row[i], -1 - row[i]) for row in core.coefficients).bit_length()


def in_c(m: UnitModel) -> str:
    """Return the C of a unit that has C: its tables and its function."""
    core, a, f = m.core, m.argument, fields(m)
    assert isinstance(core, Interpolator)
    s, name = shifts(core, a, m.point), m.identifier
    narrow = _narrow(core, 2)
    words = [(c0 & _WORD) << 32 | (c1 << narrow & _WORD) | c2 & (1 << narrow) - 1 for c0, c1, c2 in core.coefficients]
    turns = f"{float(a.factor).hex()}, {a.kept}, {a.bits}, {a.phase}, {int(a.mirror == 'complement')}, {int(a.odd)}"
    reduced = {
        "significand": f"reduced_by_significand(x, {a.bits}, {a.octaves.bit_length() - 1}, {int(a.odd)})",
        "octaves": f"reduced_by_octaves(x, {a.bits}, {a.first}, {a.last}, {int(a.odd)})",
        "fixed": f"reduced_by_fixed_point(x, {a.bits}, {_NEGATIVE.index(a.negative)})",
        "turns": f"reduced_by_turns(x, {turns})",
    }[a.kind]
    squarer = f"{core.unseen}, {core.drop}, {int(core.columns)}"
    table = f"{name}_words, {narrow}, {s.bias}, 0x1p{s.c0}, 0x1p{s.c1}, 0x1p{s.c2}"
    lines = [
        f"Reduced r = {reduced};",
        f"double total = unit_sum(r.place, {_local(m, core)}, {len(words) - 1}, {squarer}, {table});",
    ]
    lines += [f"total = unit_own(r.place == {place}, {value << s.out}.0, total);" for place, value in f["own_sums"]]
    if m.exponent is None:
        lines.append(f"total += r.scale * {1 << s.point}.0;")
    scale = f"{m.exponent} * r.scale" if m.exponent else "0"
    how = f"{int(f['toward_zero'])}, {int(_is_positive(m))}, {m.point}, {m.precision}"
    lines.append(f"uint32_t result = unit_result(total, {scale}, 0x1p-{s.out}, {how}) ^ r.sign;")
    lines += [f"result = select_32(x == {operand:#010x}u, {own:#010x}u, result);" for operand, own in f["own_results"]]
    if a.kind == "octaves":
        first, last = ((e + m.format.bias) << m.format.fraction_bits for e in (a.first, a.last + 1))
        far = f"select_32(x >> 31, {m.special['-infinity']:#010x}u, {m.special['+infinity']:#010x}u)"
        lines.append(f"result = select_32((x & 0x7fffffffu) < {first:#010x}u, x, result);")
        lines.append(f"result = select_32((x & 0x7fffffffu) >= {last:#010x}u, {far}, result);")
    if "negative" in m.special:
        lines.append(f"result = select_32(x >> 31, {m.special['negative']:#010x}u, result);")
    own = ", ".join(f"{m.special[which]:#010x}u" for which in SPECIAL[:5])
    lines.append(f"return unit_special(x, result, {own});")
    numbers = _numbers([f"UINT64_C({word:#018x})" for word in words])
    text = f"static const uint64_t {name}_words[] = {{\n    {numbers}\n}};"
    return "\n".join([text, f"INLINED uint32_t unit_{name}(uint32_t x) {{", *(f"    {x}" for x in lines), "}"])


def _is_positive(m: UnitModel) -> bool:
    """Return whether all sums are known to be positive."""
    core = m.core
    assert isinstance(core, Interpolator)
    if m.exponent is None or any(o.operand is None and o.sum * (1 << m.point) < 1 for o in m.own):
        return False
    s, length = shifts(core, m.argument, m.point), 1 << _local(m, core)
    square = length**2 >> core.drop
    lowest = min(
        (c0 << s.c0) + (min(c1, 0) * length << s.c1) + (min(c2, 0) * square << s.c2) for c0, c1, c2 in core.coefficients
    )
    return lowest + s.bias >= 1 << s.out


def _numbers(table: Sequence[str]) -> str:
    """Return numbers as text, four per line."""
    lines = (", ".join(table[i : i + 4]) for i in range(0, len(table), 4))
    return ",\n    ".join(lines)

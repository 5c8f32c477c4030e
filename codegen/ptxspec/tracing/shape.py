"""A trace for scripts: its JSON, which README.md documents under eval."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..literals import hex_number, hexadecimal
from ..model import BOOL, FixedPoint, Format, Kind, number_in
from ..semantics.exact.accounts import Account, Class, Extreme, Nothing, Relation, Wrapped
from ..semantics.exact.roundings import Neighbour, Rounding
from .lines import RoundingModifiers, TraceLine


def as_json(line: TraceLine, rules: RoundingModifiers) -> dict[str, Any]:
    return {
        "lane": line.lane,
        "stage": line.stage,
        "name": line.name,
        "line": f"{line.path}:{line.line}",
        "before": value(line.before, line.kind),
        "after": value(line.after, line.kind),
        "effective": line.has_effect,
        "why": [{"line": f"{e.path}:{e.line}", **_account(e.account, rules)} for e in line.why],
    }


def value(bits: int | None, kind: Kind) -> str | bool | None:
    if bits is None:
        return None
    return bool(bits) if kind == BOOL else hexadecimal(bits, kind.width)


def _account(a: Account, rules: RoundingModifiers) -> dict[str, Any]:
    if isinstance(a, Rounding):
        return _rounding(a, rules)
    if isinstance(a, Nothing):
        return {"what": "invalid", "function": a.function, "reason": a.reason, "result": value(a.result, a.kind)}
    if isinstance(a, Relation):
        return {"what": "relation", "operands": [value(v, a.kind) for v in a.values], "holds": a.holds}
    if isinstance(a, Class):
        return {"what": "class", "operand": value(a.bits, a.kind), "is": a.found}
    if isinstance(a, Extreme):
        operands = [value(v, a.kind) for v in a.values]
        return {"what": "choice", "function": a.function, "operands": operands, "result": value(a.result, a.kind)}
    if isinstance(a, Wrapped):
        return {"what": "wrapped", "exact": a.exact, "result": value(a.result, a.kind)}
    found: dict[str, Any] = {
        "what": "unit", "unit": a.model.unit, "targets": list(a.model.within),
        "operand": value(a.operand, a.kind), "result": value(a.result, a.kind),
    }  # fmt: skip
    if a.reading is not None:
        r = a.reading
        found |= {"segment": r.segment, "place": r.place, "scale": r.scale, "coefficients": list(r.coefficients)}
        found["sum"] = hex_number(Fraction(r.polynomial, 1 << a.model.point))
    return found


def _rounding(a: Rounding, rules: RoundingModifiers) -> dict[str, Any]:
    by = rules.modes.get(a.mode) if a.exact.random is None else None
    kind = number_in(a.to)
    found: dict[str, Any] = {
        "what": "rounding", "function": a.function, "format": a.to.name,
        "exact": _exact(a.exact.value, a.exact.negative), "nearness": a.exact.nearness,
        "mode": a.mode if a.exact.random is None else None, "mode_line": by[1] if by else None,
        "below": _neighbour(a.below, a.to), "above": _neighbour(a.above, a.to),
        "place": None if a.place is None else float(a.place), "tie": a.is_tie,
        "chosen": a.choice, "result": value(a.result, kind),
    }  # fmt: skip
    if a.exact.random is not None:
        found["random"] = float(a.exact.random)
    if a.ftz:
        found["ftz_line"] = rules.flush[1] if rules.flush else None
    return found


def _exact(number: Fraction | None, negative: bool) -> str:
    """Return a hexadecimal float with all digits, or a quotient of integers."""
    if number is None:
        return "-inf" if negative else "+inf"
    if number == 0 and negative:
        return "-0x0p+0"
    if number.denominator & (number.denominator - 1):
        return f"{number.numerator}/{number.denominator}"
    return hex_number(number)


def _neighbour(n: Neighbour | None, to: Format | FixedPoint) -> dict[str, Any] | None:
    if n is None:
        return None
    return {"bits": None if n.bits is None else hexadecimal(n.bits, to.width), "value": hex_number(n.value)}

"""The result of a comparison, as text for people and as JSON for scripts."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ...literals import decimal, describe, hexadecimal
from ...model import BOOL, Kind
from .comparing import ComparisonResult
from .differing import MAY, MEASURED, NAMES, WORDS
from .sides import CORRECTLY, Side
from .tallying import Difference

_STREAMS = {
    "grid": "combinations of special operands", "every": "encodings in order",
    "pairs": "pairs in order", "uniform": "of random bits", "near": "of random numbers near each other",
}  # fmt: skip


def as_text(found: ComparisonResult, width: int, more: Sequence[str] = ()) -> Iterator[str]:
    """Yield lines of at most this width, if possible. `more` follows the verdict."""
    for said in (_verdict(found), *more):
        yield from _wrapped(said, width)
    yield ""
    for letter, side in (("A", found.a), ("B", found.b)):
        yield from _wrapped(f"{letter}  {side.name}", width, "   ")
        for fact in side.about:
            yield from _wrapped(f"   {fact}", width, "   ")
    heading: tuple[int, int, str] | None = None
    for row in found.rows:
        if heading != (row.result, row.kind, row.open):
            heading = (row.result, row.kind, row.open)
            yield ""
            yield from _wrapped(_heading(found, heading), width, "  ")
        yield from _row(found, row, width)


def _verdict(found: ComparisonResult) -> str:
    a, b = found.a.name, found.b.name
    whole = next((t.count for t in found.tried if t.whole), 0)
    streams = _listed([f"{t.count:,} {_stream(t.stream)}" for t in found.tried])
    if not found.equal:
        tried = f"all {whole:,} operands" if whole else streams
        inwhat = " only in the bits of NaNs" if found.in_nans_alone else ""
        return f"{a} and {b} differ{inwhat}. Tried: {tried}."
    but = ", except where the result is left open" if found.rows else ""
    # The verdict is limited to the operands that were tried.
    on = f" on all {whole:,} operands" if whole else f" on the operands tried: {streams}"
    said = f"{a} and {b} are equal{on}{but}."
    computed: dict[str, list[str]] = {}
    for s in (found.a, found.b):
        if s.loose and s.name not in computed.setdefault(s.computed, []):
            computed[s.computed].append(s.name)
    ways = [
        f"rounds {names} correctly (hardware may not)" if how == CORRECTLY else f"{how} for {names}"
        for how, names in ((how, " and ".join(names)) for how, names in computed.items())
    ]
    return f"{said} This holds for the emulator, which {' and '.join(ways)}." if ways else said


def _stream(name: str) -> str:
    stream, _, zeros = name.partition("<<")
    return f"{_STREAMS[stream]}, each followed by {zeros} zero bits" if zeros else _STREAMS[stream]


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else parts[0]


def _heading(found: ComparisonResult, heading: tuple[int, int, str]) -> str:
    result, kind, why = heading
    several = f"{found.face.results[result].name}: " if len(found.face.results) > 1 else ""
    words = WORDS[kind]
    rows = [r for r in found.rows if (r.result, r.kind, r.open) == heading]
    if kind in MEASURED and any(r.worst for r in rows):
        one, two, more = (sum(r.steps[i] for r in rows) for i in range(3))
        unit = _unit(found.face.results[result].kind)
        told = [f"{n:,} by {by}" for n, by in ((one, f"1{unit}"), (two, f"2{unit}"), (more, "more")) if n]
        words = f"{words}, at most {max(r.worst for r in rows):,}{unit} apart: {', '.join(told)}"
        return f"{several}{words}; {why}" if why else f"{several}{words}"
    return f"{several}{words}: {why}" if why else f"{several}{words}"


def _unit(kind: Kind) -> str:
    return " ulp" if kind.format is not None else ""


def _row(found: ComparisonResult, row: Difference, width: int) -> Iterator[str]:
    kind = found.face.results[row.result].kind
    e, kinds = row.example, found.face.kinds
    yield f"  {', '.join(row.classes)}   {row.count:,} of {row.tried:,}"
    operands = ", ".join(said(x, k) for x, k in zip(e.operands, kinds, strict=True))
    apart = f", {row.worst:,}{_unit(kind)} apart" if row.worst and row.kind in MEASURED else ""
    whole = f"    of {operands}: A {said(e.a, kind)}, B {said(e.b, kind)}{apart}"
    if len(whole) <= width:
        yield whole
        return
    yield from _wrapped(f"    of {operands}:", width, "       ")
    yield from _wrapped(f"       A {said(e.a, kind)}, B {said(e.b, kind)}{apart}", width, "       ")


def said(bits: int, kind: Kind) -> str:
    """Return a value as a number and as bits."""
    f = kind.format
    if f is None or f.is_nan(bits) or f.is_infinite(bits):
        return describe(bits, kind)
    return f"{decimal(bits, f)} {hexadecimal(bits, kind.width)}"


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def as_json(found: ComparisonResult) -> str:
    sides = {letter: _side(side) for letter, side in (("a", found.a), ("b", found.b))}
    return json.dumps(
        {
            "schema": 1,
            **sides,
            "operands": [{"name": o.name, "type": o.type.name} for o in found.face.sources],
            "equal": found.equal,
            "tried": [{"stream": t.stream, "count": t.count, "whole": t.whole} for t in found.tried],
            "differences": [_json(found, r) for r in found.rows if not r.open],
            "open": [{**_json(found, r), "why": r.open} for r in found.rows if r.open],
        },
        indent=2,
    )


def _side(side: Side) -> dict[str, Any]:
    return {"name": side.name, "about": list(side.about), "loose": side.loose}


def _json(found: ComparisonResult, row: Difference) -> dict[str, Any]:
    o = found.face.results[row.result]
    kinds, e = found.face.kinds, row.example
    distance = {"apart": row.worst} if row.kind in MEASURED and row.kind != MAY else {}
    return {
        "result": o.name,
        "what": NAMES[row.kind],
        "classes": list(row.classes),
        "count": row.count,
        "tried": row.tried,
        **distance,
        "example": {
            "operands": [_bits(x, k) for x, k in zip(e.operands, kinds, strict=True)],
            "a": _bits(e.a, o.kind),
            "b": _bits(e.b, o.kind),
        },
    }


def _bits(x: int, kind: Kind) -> str | bool:
    return bool(x) if kind == BOOL else hexadecimal(x, kind.width)

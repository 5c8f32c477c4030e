"""The answers of `query` about functions of CUDA C++, LLVM's intrinsics and MLIR's operations, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .answers import requirement
from .calls import Became, FunctionCall, compiled, compiler, lowered, variant
from .database import Database
from .lists import broken


def as_text(db: Database, name: str, found: Sequence[FunctionCall], target: str | None) -> str:
    """Return the text of `query` about calls."""
    there = compiled(db, found, target)
    where = f" on {target}" if target else ""
    by, order = compiler(db, found[0]), db.calls["targets"]
    if not there:
        why = f"{by} supports {order[0]} to {order[-1]} only"
        if target in order:
            # Each LLVM has its own intrinsics.
            why = f"{by} does not compile it" + ("; another LLVM may" if by != db.calls["compiler"] else "")
        return f"no: {name}{where}: {why}"
    first, *others = dict.fromkeys(c.name for c in there)
    rest = f" or {others[0]}" if len(others) == 1 else f" and {len(others)} more" if others else ""
    to = f", lowered to {first}{rest}" if lowered(db, name) else ""
    lines = [f"yes: {name}{where}{to}, compiled by {by}"]
    for call in there:
        lines += broken(f"{call.text} returns {call.gives}; declared in {call.header}", "  ", "    ")
        for became in call.becomes:
            lines += _told(db, became, target, "")
        for became in call.fast:
            lines += _told(db, became, target, ", with -use_fast_math")
        if call.low:
            lines.append("    the low 8 bits of %d are the result; an argument of 8 bits is extended to its register")
    return "\n".join(lines)


def _told(db: Database, became: Became, target: str | None, under: str) -> Iterator[str]:
    yield from broken(f"{target or places(db, became.on)}{under}: {number(became)}", "    ", "      ")
    yield from (f"      {line}" for line in lines_of(became.ptx))
    if len(became.statements) == 1 and (v := variant(db, became.statements[0])):
        here = db.on(v, target)
        yield from broken(requirement(db, v.requires), "      requires  ", " " * 16)
        yield f"      claim     {here.claim}"
        if hazard := db.catalog.hazard_text(v, target):
            yield from broken(hazard, "      hazard    ", " " * 16)


def number(became: Became) -> str:
    """Return the number of instructions that a call compiles to, in words."""
    if not became.ptx:
        return f"a software routine of up to {became.size} instructions" if became.size else "no instruction"
    return "one instruction" if became.size == 1 else f"{became.size} instructions"


def lines_of(ptx: str) -> list[str]:
    """Return PTX with one statement per line, in braces if there are several."""
    lines = [f"{s.strip()};" for s in ptx.split(";") if s.strip()]
    return ["{", *(f"  {line}" for line in lines), "}"] if len(lines) > 1 else lines


def places(db: Database, on: Sequence[tuple[str, str]]) -> str:
    """Return ranges of targets in words."""
    last = db.calls["targets"][-1]
    return ", ".join(
        first if first == end else f"from {first} on" if end == last else f"{first} to {end}" for first, end in on
    )


def as_json(db: Database, name: str, found: Sequence[FunctionCall], target: str | None) -> dict[str, Any]:
    """Return the JSON of `query` about calls."""
    there = compiled(db, found, target)
    return {
        "schema": 1,
        "name": name,
        "target": target,
        "exists": True,
        "available": bool(there),
        "compiler": compiler(db, found[0]),
        "calls": [
            {
                "call": c.text,
                "gives": c.gives,
                "header": c.header,
                "low_bits": c.low or None,
                "becomes": [_object(db, b, target) for b in c.becomes],
                "fast_math": [_object(db, b, target) for b in c.fast] or None,
            }
            for c in there
        ],
    }


def _object(db: Database, became: Became, target: str | None) -> Mapping[str, Any]:
    variants = [variant(db, s) for s in became.statements]
    return {
        "on": [list(run) for run in became.on],
        "count": became.size,
        "ptx": became.ptx or None,
        "instructions": [
            {
                "variant": v.spelling,
                "operands": v.operands,
                "claim": db.on(v, target).claim,
                "hazard": db.catalog.hazard_text(v, target),
            }
            if v
            else None
            for v in variants
        ],
    }

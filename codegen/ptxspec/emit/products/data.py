"""The model -> ptxspec.json, which queries and other programs read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...check.checking import Checked
from ...check.claims import basis, recorded
from ...grounds import Grounds
from ...model import (
    Accuracy,
    CornerTable,
    Instruction,
    Note,
    Requirement,
    Rule,
    Selector,
    Spec,
    Tolerated,
    Unit,
    Variant,
)
from ..registry import product
from ..text import Files, Templates

SCHEMA = 3


@product("data")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """generated/data/ptxspec.json."""
    return {"data/ptxspec.json": _lines(as_data(spec))}


def as_data(spec: Spec) -> dict[str, Any]:
    """What ptxspec.json holds."""
    return {
        "schema": SCHEMA,
        "generated": "by ptxspec from spec/; do not edit",
        "sources": dict(spec.sources),
        "ptx": [{"version": v.version, "cuda": v.cuda or None} for v in spec.versions.values()],
        "targets": [
            {"name": t.name, "ptx": t.ptx, "base": t.base or None, "kind": t.kind or None}
            for t in spec.targets.values()
        ],
        "formats": {
            f.name: {
                "width": f.width, "exponent_bits": f.exponent_bits, "fraction_bits": f.fraction_bits,
                "canonical_nan": f"0x{f.canonical_nan:0{f.width // 4}x}",
            }
            for f in spec.formats.values()
        },
        "types": {
            t.name: {
                "format": t.format.name, "lanes": t.lanes, "width": t.width, "nan": t.nan.name,
                "registers": t.registers, "summary": t.summary,
            }
            for t in spec.types.values()
        },
        "nan_rules": {
            r.name: {"summary": r.summary, "rests_on": _grounds(r.rests_on), "unspecified": r.unspecified or None}
            for r in spec.nan_rules.values()
        },
        "units": {u.name: _unit(u) for u in spec.units.values()},
        "modifiers": {
            m.name: {"summary": m.summary, "rests_on": _grounds(m.rests_on)} for m in spec.modifiers.values()
        },
        "assembler": json.loads(json.dumps(asdict(spec.assembler))),
        "opcodes": {i.opcode: _opcode(i) for i in spec.instructions.values()},
        "recordings": [
            {n: getattr(r, n) for n in ("path", "gpu", "target", "driver", "compiler", "date")} for r in spec.recordings
        ],
        "variants": [_variant(spec, i, v) for i in spec.instructions.values() for v in i.variants],
    }  # fmt: skip


def _lines(data: dict[str, Any]) -> str:
    """JSON with one line per entry of the large tables, so that a change is a readable diff."""

    def short(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    parts = []
    for key, value in data.items():
        if isinstance(value, list):
            body = "[\n" + ",\n".join(f"    {short(v)}" for v in value) + "\n  ]"
        elif isinstance(value, dict):
            body = "{\n" + ",\n".join(f"    {short(k)}: {short(v)}" for k, v in value.items()) + "\n  }"
        else:
            body = short(value)
        parts.append(f"  {short(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _requirement(r: Requirement) -> dict[str, Any]:
    found: dict[str, Any] = {"ptx": r.ptx, "until": r.until, "target": r.target}
    if r.within:
        found["within"] = [{"first": w.first, "last": w.last, "ptx": w.ptx, "until": w.until} for w in r.within]
    return found


def _unit(u: Unit) -> dict[str, Any]:
    """What is known of a unit, and on which targets every result of a recording is reproduced."""
    return {
        "summary": u.summary,
        "format": u.format.name,
        "models": [
            {
                "within": "..".join(m.within), "source": f"spec/units/{m.name}.yaml",
                "gpu": m.fitted.gpu, "driver": m.fitted.driver, "results": m.fitted.results,
            }
            for m in u.models
        ],
    }  # fmt: skip


def _variant(spec: Spec, instruction: Instruction, v: Variant) -> dict[str, Any]:
    longer = instruction.stands_for(v)
    return {
        "variant": v.spelling,
        "operands": v.operands,
        "type": v.type.name,
        "requires": _requirement(v.requires),
        "manual": _requirement(v.manual) if v.manual else None,
        "claim": v.claim,
        "rests_on": basis(instruction, v),
        "recorded": {r.path: found for r, found in recorded(spec, v)},
        "means": longer.spelling if longer else None,
        "accuracy": [_accuracy(a) for a in instruction.accuracy if a.selector.matches(v)],
        "nan": None if v.predicate else instruction.nan_rule(v).name,
        **_own_nan(instruction, v),
        "notes": [i for i, n in enumerate(instruction.notes) if n.selector.matches(v)],
    }


def _own_nan(instruction: Instruction, v: Variant) -> dict[str, Any]:
    """What the NaN rule rests on where the instruction says something of its own."""
    rule = instruction.nan_rule(v)
    own = not v.predicate and any(r is rule for _, r in instruction.nan)
    return {"nan_rests_on": _grounds(rule.rests_on)} if own else {}


def _tolerated(t: Tolerated) -> dict[str, Any]:
    names = [sorted(n) for n in t.names]
    return {"text": t.text, "names": names, "operands": t.operands, "note": t.note}


def _grounds(g: Grounds) -> dict[str, Any]:
    return {"kinds": list(g.kinds), "section": g.section or None, "ieee754": g.ieee754 or None, "text": g.text}


def _refused(i: Instruction, v: Variant) -> dict[str, Any]:
    longer = i.stands_for(v)
    return {
        "variant": v.spelling,
        "operands": v.operands,
        "manual": _requirement(v.manual) if v.manual else None,
        "means": longer.spelling if longer else None,
    }


def _rule(r: Rule) -> dict[str, Any]:
    within = "..".join(r.within) if r.within else None
    fields = {
        "for": r.selector.text or None, "within": within, "ptx": r.ptx, "target": r.target, "until": r.until,
        "rests_on": _grounds(r.rests_on),
    }  # fmt: skip
    return {k: v for k, v in fields.items() if v is not None}


def _for(selector: Selector) -> str | None:
    return selector.text or None


def _table(t: CornerTable) -> dict[str, Any]:
    rows = [[*(v.text for v in r.operands), r.result.text] for r in t.rows]
    return {"title": t.title, "rests_on": _grounds(t.rests_on), "for": _for(t.selector), "rows": rows}


def _accuracy(a: Accuracy) -> dict[str, Any]:
    return {"kind": a.kind, "bound": a.bound, "range": a.range or None, "section": a.section}


def _note(n: Note) -> dict[str, Any]:
    return {"for": _for(n.selector), "rests_on": _grounds(n.rests_on), "text": n.text, "open": n.open or None}


def _opcode(i: Instruction) -> dict[str, Any]:
    return {
        "summary": i.summary,
        "description": i.description or None,
        "source": i.path,
        "manual": [{"section": p.section, "anchor": p.anchor} for p in i.pages],
        "syntax": [{"line": s.text, "listed": s.listed} for s in i.syntax],
        "registers": dict(i.registers),
        "requires": [_rule(r) for r in i.rules],
        "assembler": {
            "observed": i.observed or None,
            "requires": [_rule(r) for r in i.assembler_rules],
            "tolerated": [_tolerated(t) for t in i.tolerated],
            "refused": [_refused(i, v) for v in i.refused],
        },
        "semantics": i.semantics.text,
        "hardware": [{"for": _for(p.selector), "units": list(p.units), "semantics": p.code.text} for p in i.hardware],
        "corner_cases": [_table(t) for t in i.corner_tables],
        "accuracy": [{"for": _for(a.selector), **_accuracy(a)} for a in i.accuracy],
        "notes": [_note(n) for n in i.notes],
    }

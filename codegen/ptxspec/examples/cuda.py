"""A variant in CUDA C++: as inline assembly, and as expressions that become it."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Spec, Variant
from ..query.inline import TYPES
from .statement import Statement, statement


@dataclass(frozen=True)
class CudaExpression:
    """An expression of CUDA C++ that becomes a variant, with the headers that it needs; from `target` on, if there is
    one."""

    text: str
    headers: tuple[str, ...]
    target: str = ""


def inline(spec: Spec, v: Variant) -> str:
    """Return inline assembly with variables of the types that it takes; empty where an operand cannot be one."""
    s = statement(spec, v)
    if s is None:
        return ""
    text = s.numbered("%")
    if len(text) > 1:
        text = ["{", *(f"  {line}" for line in text), "}"]
    first, *others = [*(f'"{line}\\n"' for line in text[:-1]), f'"{text[-1]}"']
    outputs = ", ".join(f'"={p.letter}"({p.name})' for p in s.results)
    inputs = ", ".join(f'"{p.letter}"({p.name})' for p in s.sources)
    tail = f": {outputs} : {inputs});"
    written = [f"asm({first}", *others, tail] if others else [f"asm({first} {tail}"]
    return "\n".join([*_declared(s), "\n    ".join(written)])


def _declared(s: Statement) -> list[str]:
    """Return the declarations of variables, those of one type together."""
    names: dict[str, list[str]] = {}
    for p in (*s.results, *s.sources):
        names.setdefault(TYPES[p.letter], []).append(p.name if p.letter != "n" else f"{p.name} = 1")
    return [f"{type} {', '.join(found)};" for type, found in names.items()]


def calls(spec: Spec, v: Variant) -> list[CudaExpression]:
    """Return the calls that become the variant, as the opcode's file and spec/functions.yaml know them."""
    found = [(i.call, i.target) for i in spec.instructions[v.opcode].intrinsics_of.get(v.form, ())]
    for f in spec.functions.becoming.get(v.spelling, ()):
        if v is _shortest(spec, v):
            places = ", ".join(p for s in v.sources for p in s.places)
            # Of names with a point the first part tells them from functions of C.
            found.append((f"{f.name.rpartition('.')[2]}({places})", f.target))
    if not found:
        return []
    headers = dict.fromkeys(o.type.in_languages.header for o in (v.result, *v.sources))
    return [CudaExpression(text, tuple(h for h in headers if h), target) for text, target in dict.fromkeys(found)]


def _shortest(spec: Spec, v: Variant) -> Variant:
    """Return the variant that a spelling alone means: of those that are spelled alike, the one with the fewest
    operands."""
    alike = (w for w in spec.instructions[v.opcode].variants if w.spelling == v.spelling)
    return min(alike, key=lambda w: w.operands)

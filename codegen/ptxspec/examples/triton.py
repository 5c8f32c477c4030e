"""A variant in Triton: elements of tensors are the lanes of its operands."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import BOOL, Operand, Spec, Variant
from .statement import AsmOperand, Statement, statement


@dataclass(frozen=True)
class _Tensor:
    """A tensor: its name, the type of its elements, and the registers that some of them come in."""

    name: str
    element: str
    registers: tuple[AsmOperand, ...]


def triton(spec: Spec, v: Variant) -> str:
    """Return a call of inline_asm_elementwise; empty where elements of tensors are not what the variant takes."""
    s = statement(spec, v)
    if s is None or len(v.result.places) > 1:
        return ""
    operands = (v.result, *v.sources)
    tensors = [t for o in operands if (t := _tensor(o, v.lanes, s))]
    if len(tensors) < len(operands):
        return ""
    result, *sources = tensors
    whole = _with_pairs(s, operands, tensors)
    lines = whole.numbered("$")
    letters = ",".join([f"={p.letter}" for p in result.registers] + [p.letter for t in sources for p in t.registers])
    text = f'"{lines[0]}"' if len(lines) == 1 else '"""{ ' + "\n       ".join(lines) + ' }"""'
    return (
        f"{v.result.name} = tl.inline_asm_elementwise(\n"
        f"    {text},\n"
        f'    "{letters}", [{", ".join(t.name for t in sources)}],\n'
        f"    dtype=tl.{result.element}, is_pure=True, pack={v.lanes})"
    )


def _with_pairs(s: Statement, operands: tuple[Operand, ...], tensors: list[_Tensor]) -> Statement:
    """Return the statement with the tensors' registers: two numbers in one register of 64 bits come in two."""
    before: list[str] = []
    after: list[str] = []
    own: dict[str, str] = {}
    for o, t in zip(operands, tensors, strict=True):
        if len(t.registers) == 1 or o.registers:
            continue
        parts = ", ".join(f"%{p.name}" for p in t.registers)
        name = own[o.name] = f"_{o.name}"
        if o is operands[0]:
            after.append(f"mov.b{o.type.width} {{{parts}}}, {name};")
        else:
            before.append(f"mov.b{o.type.width} {name}, {{{parts}}};")
    declared = [f".reg .b64 {', '.join(own.values())};"] if own else []
    lines = (*declared, *before, *s.renamed(own), *after)
    return Statement(lines, tensors[0].registers, tuple(p for t in tensors[1:] for p in t.registers))


def _tensor(o: Operand, pack: int, s: Statement) -> _Tensor | None:
    """Return a tensor of which each `pack` elements are the lanes of an operand; None where there is no such."""
    places, t = {p.name: p for p in s.places}, o.type
    if t.is_constant:
        return None
    if t.kind == BOOL:
        return _Tensor(o.name, "int32", (places[o.name],)) if pack == 1 else None
    element = t.in_languages.triton or (f"uint{t.lane_width}" if t.lane_width in (8, 16, 32, 64) else "")
    if not element or o.lanes != pack or o.lane_bits:
        return None
    if o.registers:
        # Lane 0 is the first element; of what is narrower than 32 bits several would come in one register.
        return _Tensor(o.name, element, tuple(places[f"{o.name}{n}"] for n in range(pack))) if t.width >= 32 else None
    if t.width == 64 and pack > 1:
        letter = "f" if t.kind.sort == "float" else "r"
        pair = tuple(AsmOperand(f"{o.name}{n}", letter) for n in range(pack))
        return _Tensor(o.name, element, pair) if t.lane_width == 32 else None
    # A single element of eight bits has no register.
    return None if t.width < 16 else _Tensor(o.name, element, (places[o.name],))

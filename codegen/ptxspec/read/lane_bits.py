"""The key `lane_bits` of an instruction file: which bits of an operand's one register each lane reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..basis import Basis
from ..model import Form, LaneBits, Operand, Selector, Variant
from .context import Context
from .positioned import Document, Where


def parse_bits(text: str) -> tuple[int, ...]:
    """Return the places in a register that `23..16 7..0` names, first that of the lane's highest bit."""
    found: list[int] = []
    for part in text.split():
        first, last = map(int, part.split(".."))
        found += range(first, last - 1, -1) if first >= last else range(first, last + 1)
    return tuple(found)


def read_lane_bits(
    doc: Document,
    context: Context,
    entries: Iterable[dict[str, Any]],
    variants: dict[Form, Variant],
    selector: Callable[[Where, dict[str, Any]], Selector],
    basis: Callable[[Where, dict[str, Any]], Basis],
) -> tuple[LaneBits, ...]:
    """Return the entries of the key. The operands of `variants` that they are about are replaced by ones that read
    these bits."""
    found = []
    for i, entry in enumerate(entries):
        where: Where = ("lane_bits", i)
        lanes = sorted(((int(lane), text) for lane, text in entry["lanes"].items()), reverse=True)
        made = LaneBits(selector(where, entry), entry["operand"], tuple(lanes), basis(where, entry))
        found.append(made)
        bits = tuple(parse_bits(text) for _, text in reversed(lanes))
        for form, v in list(variants.items()):
            if not made.selector.matches(v):
                continue
            if problem := _problem(v, made.operand, [lane for lane, _ in reversed(lanes)], bits):
                context.errors.append(doc.error((*where, "lanes"), *problem))
                break
            variants[form] = replace(v, sources=tuple(_reading(o, made.operand, bits) for o in v.sources))
    return tuple(found)


def _reading(o: Operand, name: str, bits: tuple[tuple[int, ...], ...]) -> Operand:
    return replace(o, lane_bits=bits) if o.name == name else o


def _problem(v: Variant, name: str, lanes: list[int], bits: tuple[tuple[int, ...], ...]) -> tuple[str, str] | None:
    """Return what is wrong with an entry for a variant, and what to do."""
    operand = next((o for o in v.sources if o.name == name), None)
    if operand is None:
        return f"{v} has no operand '{name}'", f"its operands are {', '.join(o.name for o in v.sources)}"
    if operand.registers or operand.type.lanes > 1 or operand.type.kind.sort != "bits":
        return f"{v}: '{name}' is no register of bits that all lanes share", "such a one is written as r:b32"
    if lanes != list(range(v.lanes)):
        return f"{v} has the lanes 0 to {v.lanes - 1}", "say of each lane which bits it reads"
    if len({len(b) for b in bits}) > 1:
        return "one lane reads more bits than another", "each lane's operand has one width"
    if max(max(b) for b in bits) >= operand.type.width:
        return f"{v}: '{name}' has {operand.type.width} bits, from 0 on", ""
    return None

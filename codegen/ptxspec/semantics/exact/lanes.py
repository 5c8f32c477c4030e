"""The conversion between registers and the lanes in them, as a variant's operands define it."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Operand


def lanes_of(o: Operand, registers: list[int], lanes: int) -> list[int]:
    """Return each lane's part of an operand, whose bits are in `registers` in the statement's order."""
    if o.lane_bits:
        return o.read(registers[0])
    if o.registers:
        by_name = dict(zip(o.registers, registers, strict=True))
        return [o.type.unpack(by_name[f"{o.name}{i}"])[0] for i in range(lanes)]
    found = o.type.unpack(registers[0])
    return found if len(found) == lanes else found * lanes


def registers_of(o: Operand, lanes: Sequence[int]) -> list[int]:
    """Return the registers of a result, in the statement's order."""
    if o.registers:
        return [o.type.pack([lanes[int(name[len(o.name) :])]]) for name in o.registers]
    return [o.type.pack(list(lanes[: o.type.lanes]))]

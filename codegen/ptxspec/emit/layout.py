"""The place of lanes in a variant's registers, as C that applies a function of one lane to elements of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model import BOOL, Operand, Type, Variant


class Layout(NamedTuple):
    """The arrays of a kernel: their C types, the number of sources among them, and the number of `lanes` side by side
    in an element (1: the statements take elements apart). `statements` process element i, with FUNCTION in place of the
    function's name; `r0` and so on are the arrays."""

    types: tuple[str, ...]
    sources: int
    lanes: int
    statements: str

    @property
    def widths(self) -> tuple[int, ...]:
        """The bytes of an element of each array."""
        return tuple(int(t[4:-2]) // 8 for t in self.types)


def layout(v: Variant, results: int, decides: bool) -> Layout:
    """Return the layout of a variant's kernel with this number of results. `decides`: the function may leave a lane
    undecided."""
    flat = all(o.type.lanes == v.lanes and not (o.registers or o.lane_bits) for o in (*v.results, *v.sources))
    flat = flat and all(_stands_alone(o.type) for o in (*v.results, *v.sources))
    wanted = v.results[:results]
    registers = [(r, o.type) for o in (*v.sources, *wanted) for r in o.places]
    sources = sum(len(o.places) for o in v.sources)
    of_type = c_lane if flat else _c_type
    at = {r: f"r{k}[i]" for k, (r, _) in enumerate(registers[:sources])}
    statements: list[str] = []
    lanes = 1 if flat else v.lanes
    for i in range(lanes):
        given = [at[o.name] if flat else _lane(o, i, at) for o in v.sources]
        if v.second is not None:
            statements.append(f"_Bool q{i};" if v.second.kind == BOOL else f"{c_lane(v.second.type)} q{i};")
            given.append(f"&q{i}")
        given += ["&undecided"] if decides else []
        statements.append(f"{c_lane(v.result.type)} p{i} = FUNCTION(p, {', '.join(given)});")
    made = [_stored(o, [f"{lane}{i}" for i in range(lanes)], flat) for o, lane in zip(wanted, "pq", strict=False)]
    for k, text in enumerate((x for found in made for x in found), sources):
        statements.append(f"r{k}[i] = {text};")
    types = tuple(of_type(t) for _, t in registers)
    return Layout(types, sources, v.lanes if flat else 1, " ".join(statements))


def c_lane(t: Type) -> str:
    """Return the C type of an encoding."""
    return "uint8_t" if t.kind == BOOL else f"uint{t.kind.storage}_t"


def _c_type(t: Type) -> str:
    """Return the C type of a register."""
    return "uint8_t" if t.kind == BOOL else f"uint{t.width}_t"


def _stands_alone(t: Type) -> bool:
    """Return whether a lane's part of the register contains only its encoding."""
    return t.kind == BOOL or t.kind.width == t.lane_width == t.kind.storage


def _order(o: Operand) -> list[int]:
    """Return the lane of each register, if each lane has a register."""
    return [int(r[len(o.name) :]) for r in o.registers]


def _lane(o: Operand, i: int, at: dict[str, str]) -> str:
    """Return C for lane `i` of an operand."""
    if o.lane_bits:
        return _gathered(at[o.places[0]], o.lane_bits[i])
    if o.registers:
        return _encoding(at[o.registers[_order(o).index(i)]], o.type, 0)
    return _encoding(at[o.name], o.type, i if o.type.lanes > 1 else 0)


def _encoding(register: str, t: Type, i: int) -> str:
    if _stands_alone(t) and t.lanes == 1:
        return register
    return f"({c_lane(t)})({register} >> {i * t.lane_width + t.shift} & {(1 << t.kind.width) - 1:#x}u)"


def _gathered(register: str, bits: Sequence[int]) -> str:
    """Return C for these bits of a register, the highest first."""
    if list(bits) == list(range(bits[0], bits[0] - len(bits), -1)):
        return f"({register} >> {bits[-1]} & {(1 << len(bits)) - 1:#x}u)"
    return "(" + " | ".join(f"({register} >> {bit} & 1) << {i}" for i, bit in enumerate(reversed(bits))) + ")"


def _stored(o: Operand, lanes: list[str], flat: bool) -> list[str]:
    """Return C for the registers of a result."""
    if o.registers:
        return [_register(o.type, [lanes[i]]) for i in _order(o)]
    return [lanes[0] if flat else _register(o.type, lanes)]


def _register(t: Type, lanes: list[str]) -> str:
    parts = [f"({_c_type(t)}){x} << {i * t.lane_width + t.shift}" for i, x in enumerate(lanes)]
    return lanes[0] if _stands_alone(t) and t.lanes == 1 else f"({_c_type(t)})({' | '.join(parts)})"

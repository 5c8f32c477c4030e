"""The loops of kernels in C: how the lanes of a signature stand in arrays, for KERNEL of native/kernel.h."""

from __future__ import annotations

from collections.abc import Mapping

from .signature import Operand, Signature, Type


def c_type(t: Type) -> str:
    """Return the C type of a register."""
    return "uint8_t" if t.sort == "bool" else f"uint{8 * t.bits.itemsize}_t"


def c_lane(t: Type) -> str:
    return "uint8_t" if t.sort == "bool" else f"uint{8 * t.lane.itemsize}_t"


def loop(name: str, symbol: str, s: Signature, results: int, decides: bool, eases: bool) -> str:
    """Return lines that make kernels of the function of that name, which fill the registers of this number of results.
    `decides`: it is headed by DECIDING. `eases`: another function of its name is headed by DIRECTLY."""
    of_type = c_lane if s.flat else c_type
    parameters = [f"const {of_type(t)} *{_array(r)}" for r, t in s.registers]
    parameters += [f"{of_type(t)} *{_array(r)}" for r, t in s.places[results - 1]]
    arguments = [_array(r) for r, _ in (*s.registers, *s.places[results - 1])]
    sources = {r: f"{_array(r)}[i]" for r, _ in s.registers}

    def statement(name: str) -> str:
        statements, made = called(name, s, sources, s.flat, decides)
        return " ".join([*statements, *(f"{_array(r)}[i] = {made[r]};" for r, _ in s.places[results - 1])])

    head, done = "DECIDING_" * decides, statement(name)
    singles = [x for (r, t), x in zip(s.registers, sources.values(), strict=True) if of_type(t) == "uint32_t"]
    if eases and singles:
        head, ordinary = "EASED_", " & ".join(f"is_ordinary({x})" for x in singles)
        done = f"{ordinary}, ({statement(f'{name}_directly')}), ({done})"
    kernel = f"{head}KERNEL({name}, {symbol}, ({', '.join(parameters)}), ({', '.join(arguments)}), {done})"
    if decides and s.lanes > 1:
        return kernel  # a ufunc marks elements, not the lanes in them
    widths = [t.bits.itemsize for _, t in (*s.registers, *s.places[results - 1])]
    at = ", ".join(f"(void *)at[{k}]" for k in range(len(widths)))
    counts = f"{len(widths)}, {len(s.registers)}, {s.lanes if s.flat else 1}"
    return f"{kernel}\n{'DECIDING_' * decides}LOOP({name}, {symbol}, {counts}, ({at}), {', '.join(map(str, widths))})"


def called(
    name: str, s: Signature, sources: Mapping[str, str], flat: bool, decides: bool = False, tag: str = ""
) -> tuple[list[str], dict[str, str]]:
    """Return statements that call a function for each lane of registers, whose C is given by their names, and the C of
    the results' registers. `flat`: a register is a lane. Names in the statements end in `tag`."""
    first, *second = s.results
    lanes = 1 if flat else s.lanes
    statements = []
    for i in range(lanes):
        given = [sources[o.name] if flat else _lane(o, i, sources) for o in s.sources]
        if second:
            given.append(f"&q{i}{tag}")
            statements.append(f"{c_lane(second[0].type)} q{i}{tag};".replace("uint8_t", "_Bool"))
        given += ["&undecided"] if decides else []
        statements.append(f"{c_lane(first.type)} p{i}{tag} = {name}({', '.join(given)});")
    made: dict[str, str] = {}
    for o, lane in zip(s.results, "pq", strict=False):
        made |= _stored(o, [f"{lane}{i}{tag}" for i in range(lanes)], flat)
    return statements, made


def _array(register: str) -> str:
    # What a specification calls its operands may be a word of C.
    return f"r_{register}"


def _lane(o: Operand, i: int, sources: Mapping[str, str]) -> str:
    """Return C for lane `i` of an operand."""
    t = o.type
    if o.lane_bits:
        return _gathered(sources[o.name], o.lane_bits[i])
    if o.order:
        return _encoding(sources[o.registers[o.order.index(i)]], t, 0)
    return _encoding(sources[o.name], t, i if t.lanes > 1 else 0)


def _encoding(register: str, t: Type, i: int) -> str:
    if t.stands_alone and t.lanes == 1:
        return register
    return f"({c_lane(t)})({register} >> {i * t.lane_width + t.shift} & {(1 << t.width) - 1:#x}u)"


def _gathered(register: str, bits: tuple[int, ...]) -> str:
    """Return C for these bits of a register, the highest first."""
    if bits == tuple(range(bits[0], bits[0] - len(bits), -1)):
        return f"({register} >> {bits[-1]} & {(1 << len(bits)) - 1:#x}u)"
    return "(" + " | ".join(f"({register} >> {bit} & 1) << {i}" for i, bit in enumerate(reversed(bits))) + ")"


def _stored(o: Operand, lanes: list[str], flat: bool) -> dict[str, str]:
    """Return C for the registers of a result."""
    t = o.type
    if o.order:
        return {r: _register(t, [lanes[i]]) for r, i in zip(o.registers, o.order, strict=True)}
    return {o.name: lanes[0] if flat else _register(t, lanes)}


def _register(t: Type, lanes: list[str]) -> str:
    parts = [f"({c_type(t)}){x} << {i * t.lane_width + t.shift}" for i, x in enumerate(lanes)]
    return lanes[0] if t.stands_alone and t.lanes == 1 else f"({c_type(t)})({' | '.join(parts)})"

"""A function in C: one loop for all of its statements, or as few pieces as there can be.

A statement without C runs on its own between two pieces, and so does one whose C leaves lanes undecided. Where the
processor must round in several directions, a piece is several loops over a part of the arrays that a cache holds."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from . import accelerator, environment
from .compiling import Failure, library, say, source
from .loops import c_type, called
from .signature import Type
from .steps import Alone, Piece, Program, Step

_ANY = "anyDirection"
_ORDINARY = "roundTiesToEven"
# The elements that a piece with several loops computes at a time.
_PART = 1024


class Lane(NamedTuple):
    """A function of one lane in C, as kernel.h heads it."""

    direction: str
    text: str


def compiled(program: Program, prove: Callable[[list[Piece | Alone]], bool]) -> list[Piece | Alone] | None:
    """Return the pieces of a program; None where nothing is gained, or the compiler fails. `prove` says whether they do
    what NumPy does."""
    parts = list(_parts(program.steps))
    types = _types(program)
    try:
        found: list[Piece | Alone] = []
        for i, part in enumerate(parts):
            if isinstance(part, Step):
                found.append(Alone(part, _kernel(part)))
            else:
                found.append(_piece(program, types, part, parts[i + 1 :]))
        if not any(isinstance(x, Piece) or x.native for x in found):
            return None
        if not prove(found):
            raise Failure("the compiled function disagrees with NumPy's and is not used")
        return found
    except Failure as e:
        say(f"{e}; NumPy goes on")
        return None


def _kernel(step: Step) -> accelerator.Native | None:
    return None if step.guard else accelerator.native(step.text, step.opcode, step.function, step.signature)


# Which statements go together


def _parts(steps: Sequence[Step]) -> Iterator[Step | list[Step]]:
    """Yield runs of statements with C, and the statements between them."""
    run: list[Step] = []
    for step in steps:
        if step.function.__name__ in lanes(step.opcode):
            run.append(step)
            continue
        if run:
            yield run
            run = []
        yield step
    if run:
        yield run


@cache
def lanes(opcode: str) -> dict[str, Lane]:
    """Return the functions of an opcode that are C for every lane."""
    found = {}
    for text in source(f"{opcode}.c").decode().split("\nLANE(")[1:]:
        name, _, direction, *_ = (x.strip() for x in text.split(",", 3))
        found[name] = Lane(direction, "LANE(" + text[: text.index("\n}\n") + 2])
    return found


def _lane(step: Step) -> Lane:
    return lanes(step.opcode)[step.function.__name__]


def _loops(steps: Sequence[Step]) -> list[tuple[str, list[Step]]]:
    """Return the statements that one loop does, with the direction in which the processor rounds for it."""
    found: list[tuple[str, list[Step]]] = []
    for step in steps:
        wanted = _lane(step).direction
        if found and _ANY in (wanted, found[-1][0]):
            last, before = found[-1]
            found[-1] = (wanted if last == _ANY else last, [*before, step])
        elif found and found[-1][0] == wanted:
            found[-1][1].append(step)
        else:
            found.append((wanted, [step]))
    return [(_ORDINARY if direction == _ANY else direction, found) for direction, found in found]


def _read_by(parts: Sequence[Step | list[Step]]) -> set[int]:
    return {v for part in parts for step in ([part] if isinstance(part, Step) else part) for v in step.reads}


def _types(program: Program) -> dict[int, Type]:
    """Return the type of each value's register."""
    found = {named.value: named.type for named in program.inputs}
    for step in program.steps:
        places = step.signature.places[-1]
        found |= {v: t for v, (_, t) in zip(step.results, places, strict=False) if v is not None}
    return found


# The C of them


def _piece(program: Program, types: Mapping[int, Type], steps: list[Step], after: list[Step | list[Step]]) -> Piece:
    made = {v for step in steps for v in step.writes}
    wanted = {named.value for named in program.results} | _read_by(after)
    takes = sorted({v for step in steps for v in step.reads} - made - set(program.constants))
    gives = sorted(made & wanted)
    functions = dict.fromkeys(_lane(step).text for step in steps)
    text = "\n".join(
        ['#include "formats.h"', '#include "kernel.h"', *functions, *_text(program, types, steps, takes, gives), ""]
    )
    opcodes = sorted({step.opcode for step in steps})
    statements = f"{len(steps)} statement{'s' * (len(steps) > 1)} ({', '.join(opcodes)})"

    def opened(path: str) -> Callable[..., None]:
        with environment.ordinary():
            found = ctypes.CDLL(path).piece_run
        found.restype = None
        run: Callable[..., None] = found
        return run

    run = library("function", text, [], statements, opened)
    return Piece(run, tuple(takes), tuple((v, types[v]) for v in gives))


def _text(
    program: Program, types: Mapping[int, Type], steps: list[Step], takes: list[int], gives: list[int]
) -> Iterator[str]:
    """Yield the C of the loops, and of what runs them. An array keeps what a later loop reads and what comes out. The
    last loop stores the results, since they may take the place of an operand."""
    loops = _loops(steps)
    kept: dict[int, None] = {}
    calls = []
    for i, (direction, part) in enumerate(loops):
        made = {v for step in part for v in step.writes}
        later = {v for _, others in loops[i + 1 :] for step in others for v in step.reads} | set(gives)
        last = i == len(loops) - 1
        reads = {v for step in part for v in step.reads} - made - set(program.constants)
        reads |= (set(gives) - made) if last else set()
        stored = [v for v in sorted(made & later) if not last or v in gives]
        parameters = [f"const {c_type(types[v])} *a{v}" for v in sorted(reads)]
        lines = [line for j, step in enumerate(part) for line in _statement(program, types, step, made, f"_{i}_{j}")]
        if last:
            parameters += [f"{c_type(types[v])} *r{v}" for v in gives]
            lines += [f"r{v}[i] = {_value(program, types, v, made)};" for v in gives]
        else:
            parameters += [f"{c_type(types[v])} *k{v}" for v in stored]
            lines += [f"k{v}[i] = v{v};" for v in stored]
        yield f"PART(part{i}, ({', '.join(parameters)}),\n    " + "\n    ".join(lines) + ")"
        given = [f"k{v}" if v in kept else f"a{v} + start" for v in sorted(reads)]
        given += [f"r{v} + start" for v in gives] if last else [f"k{v}" for v in stored]
        calls += [f"steer({direction}, &ignored);", f"part{i}_each({', '.join(['size', *given])});"]
        kept |= dict.fromkeys([] if last else stored)
    outer = [f"const {c_type(types[v])} *a{v}" for v in takes] + [f"{c_type(types[v])} *r{v}" for v in gives]
    once = len(loops) == 1
    yield f"EXPORTED void piece_run({', '.join(['size_t n', *outer])}) {{"
    yield "    Kept kept, ignored;"
    yield f"    steer({_ORDINARY}, &kept);"
    yield from (f"    {c_type(types[v])} k{v}[{_PART}];" for v in kept)
    yield "    for (size_t start = 0, size; start < n; start += size) {"
    yield "        size = n - start;" if once else f"        size = n - start < {_PART} ? n - start : {_PART};"
    yield from (f"        {call}" for call in calls)
    yield "    }"
    yield "    restore(&kept);"
    yield "}"


def _statement(program: Program, types: Mapping[int, Type], step: Step, made: set[int], tag: str) -> Iterator[str]:
    s = step.signature
    given = {
        name: ("!" * negated) + _value(program, types, v, made)
        for v, negated, (name, _) in zip(step.sources, step.negated, s.registers, strict=True)
    }
    lines, found = called(step.function.__name__, s, given, flat=False, tag=tag)
    yield from lines
    for k, (v, (name, t)) in enumerate(zip(step.results, s.places[-1], strict=False)):
        if v is None:
            continue
        value = found[name]
        if step.guard is not None:
            guard, is_wanted = step.guard
            condition = ("" if is_wanted else "!") + _value(program, types, guard, made)
            before = step.before[k]
            assert before is not None
            width = 8 if t.sort == "bool" else 8 * t.bits.itemsize
            value = f"select_{width}({condition}, {value}, {_value(program, types, before, made)})"
        yield f"{c_type(t)} v{v} = {value};"


def _value(program: Program, types: Mapping[int, Type], v: int, made: set[int]) -> str:
    if v in program.constants:
        return f"UINT64_C({int(program.constants[v]):#x})"
    return f"v{v}" if v in made else f"a{v}[i]"

"""The check of mutants that change what ptxas folds constants to: ptxas is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from helpers.folding import columns_of
from helpers.machine_code import kernel, machine_code
from oracles import nvidia
from oracles.folding import folded
from ptxspec.check.folding import folding_programs, in_register
from ptxspec.model import Instruction, Spec, Variant
from ptxspec.recipes.operands import specials
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.program import Apply, Const, Program, Term

from mutation.world import World

_TARGET, _PTX = "sm_90", "8.8"
# So many operands are tried of each kind, and of those that show a mutant so many are asked about.
_TRIED, _ASKED = 400, 20


def folding(world: World) -> str:
    for i in world.changed:
        before = world.original.instructions.get(i.opcode)
        if before is None or i.folding == before.folding:
            continue
        old, new = _programs(world.original, before), _programs(world.spec, i)
        for v in i.variants:
            if v.form not in {**old, **new} or not world.original.catalog.takes(v.requires, _TARGET, _PTX):
                continue
            own = Compiler(world.spec).program(i, v, None)
            a, b = old.get(v.form, own), new.get(v.form, own)
            rows = _telling(v, a, b)
            if rows and (said := _contradicted(world, v, b, rows)):
                if before_it := _contradicted(world, v, a, rows):
                    raise AssertionError(f"without the mutant: {before_it}")
                return said
    return ""


def _programs(spec: Spec, i: Instruction) -> dict[object, Program]:
    """Return the assembler's programs for constants, by the forms of variants; the first entry that matches counts."""
    found: dict[object, Program] = {}
    for entry in i.folding:
        for v, program in folding_programs(spec, i, entry).items():
            found.setdefault(v.form, program)
    return found


def _telling(v: Variant, a: Program, b: Program) -> list[tuple[int, ...]]:
    """Operands of which two programs make different results: some from everywhere among those tried."""
    found = [row for row in _tried(v, a, b) if in_register(v, a, row) != in_register(v, b, row)]
    return found[:: max(1, len(found) // _ASKED)][:_ASKED]


def _tried(v: Variant, *programs: Program) -> Iterator[tuple[int, ...]]:
    """Special numbers, ties, any bits, NaNs of any payload, and what stands around the constants of the programs."""
    columns = [[int(x) for x in c] for c in columns_of(v, _TRIED)]
    rows = list(zip(*columns, strict=True))
    yield from rows
    rng = np.random.default_rng(11)
    width, f = v.sources[0].type.width, v.sources[0].type.kind.format
    any_bits = rng.integers(0, 1 << width, (_TRIED, len(v.sources)), dtype=np.uint64).tolist()
    yield from map(tuple, any_bits)
    if f is not None:
        yield from (tuple(x | f.infinity for x in row) for row in any_bits)
    near = sorted({(c + step) % (1 << width) for p in programs for c in _constants(p, width) for step in (-1, 0, 1)})
    others = [*any_bits[:20], *([y] * len(v.sources) for y in specials(v.sources[0].kind))]
    for x in (y ^ sign for y in near for sign in (0, 1 << (width - 1))):
        for place in range(len(v.sources)):
            for row in others if len(v.sources) > 1 else others[:1]:
                yield (*row[:place], x, *row[place + 1 :])


def _constants(program: Program, width: int) -> set[int]:
    terms: list[Term] = [*program.results, *(let.value for let in program.lets)]
    found = set()
    while terms:
        t = terms.pop()
        if isinstance(t, Apply):
            terms += t.arguments
        elif isinstance(t, Const) and t.kind.width == width:
            found.add(t.value)
    return found


def _contradicted(world: World, v: Variant, program: Program, rows: Sequence[tuple[int, ...]]) -> str:
    recorded = world.original.evidence
    assert recorded is not None
    ptxas = nvidia.ptxas(recorded.assembler)
    kernels = [kernel(f"k{n}", world.original, v, row) for n, row in enumerate(rows)]
    with TemporaryDirectory(prefix="folded-") as folder:
        code = machine_code(ptxas, nvidia.nvdisasm(), Path(folder), kernels, _TARGET, _PTX)
    for n, row in enumerate(rows):
        got, said = folded(code[f"k{n}"], v.result.type.width // 8), in_register(v, program, row)
        if got and got != {0: said}:
            return f"ptxas folds {v} of {[*map(hex, row)]} to {got[0]:#x}, not {said:#x}"
    return ""

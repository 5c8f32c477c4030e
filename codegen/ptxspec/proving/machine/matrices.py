"""spec/observed/matrix_code.yaml: ptxas's machine code for every form of mma on every architecture that it assembles
for.

Forms with the same instructions share an entry, even where these differ in the types of elements alone."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...compact import compact
from ...matrices.forms import Form
from ...model import Spec, runs
from ...model.tensor import FormOperand, MatrixCode, MatrixEvidence, named_for_all, written
from ..ptxas.asking import version
from .evidence import disassembler, find_nvdisasm, versions
from .flow import begin, name_of
from .kernels import STEP, Listed, listed

PATH = "spec/observed/matrix_code.yaml"
# Instructions of the kernel itself: those that compute addresses, load operands and store results.
_FRAME = ("EXIT", "NOP", "ATOMG", "LDG", "STG")
# The operands of a kernel without an instruction.
_NOTHING = (FormOperand("d", "b32"), FormOperand("a", "b32"))
# Padding that is never run.
_NEVER = re.compile(r"!U?PT")
# Instructions that multiply matrices, and other computing ones: those on floats, and conversions.
_MATRIX = re.compile("[A-Z]MMA")
_COMPUTES = re.compile(rf"{_MATRIX.pattern}|[FHD](?:ADD|MUL|FMA)2?|F2FP?")
_REGISTER = re.compile(r"\bU?R\d")


def kernel(name: str, spelling: str, operands: Sequence[FormOperand]) -> str:
    """Return a kernel in which each lane loads the registers of a form from its own memory, `STEP` bytes apart, and
    stores those of D behind them. If all lanes loaded the same data, ptxas would omit moves between lanes."""
    types = [o.type for o in operands if o.type for _ in range(o.registers)]
    registers = [(type, f"%{type}_{n}") for n, type in enumerate(types)]
    stored, loaded = registers[: operands[0].registers], registers[operands[0].registers :]
    lines = [f".visible .entry {name}(.param .u64 p) {{", ".reg .u64 %at; ld.param.u64 %at, [p];"]
    # No two lanes get the same address from an atomic operation.
    lines.append("atom.global.exch.b64 %at, [%at], %at;")
    lines += [f".reg .{type} {r};" for type, r in registers]
    lines += [f"ld.volatile.global.{type} {r}, [%at+{i * STEP}];" for i, (type, r) in enumerate(loaded)]
    lines += [f"{spelling} {written(operands, (r for _, r in registers))};"] if spelling else []
    lines += [f"st.volatile.global.{type} [%at+{i * STEP}], {r};" for i, (type, r) in enumerate(stored, len(loaded))]
    return "\n".join([*lines, "ret; }"])


def computed(code: Sequence[Listed]) -> tuple[dict[str, int], int]:
    """Return the count of each computing instruction in a kernel and its subroutines, and the number of other
    instructions."""
    start, found, others = begin(code), Counter[str](), 0
    for n, i in enumerate(code):
        name, operands = name_of(i), i.get("operands", "")
        first = name.partition(".")[0]
        # Parameters are in constant memory; the last jump of a kernel is to itself.
        is_own = "c[0x0]" not in operands and not (first == "BRA" and operands == hex(16 * n))
        if n <= start or first in _FRAME or not is_own or _NEVER.search(i.get("predicate", "")):
            continue
        # Sums and products of constants alone load a constant.
        if _COMPUTES.fullmatch(first) and _REGISTER.search(operands.partition(",")[2]):
            # For elementwise instructions, one modifier distinguishes additions from conversions.
            found[name if _MATRIX.fullmatch(first) else ".".join(name.split(".")[:2])] += 1
        else:
            others += 1
    return dict(found), others


def examine(
    spec: Spec, ptxas: Path, on: Sequence[str], forms: Sequence[Form] | None = None
) -> dict[str, tuple[MatrixCode, ...]]:
    """Return ptxas's machine code for forms on some targets, by their spellings. Raises PtxasError."""
    nvdisasm, pairs = find_nvdisasm(ptxas), versions(spec, ptxas, on)
    every = spec.tensor.forms if forms is None else forms

    def told(target: str) -> dict[str, tuple[dict[str, int], int]]:
        taken = [f for f in every if spec.catalog.takes(f.requires, target, pairs[target])]
        kernels = [kernel(f"k{n}", f.spelling, spec.tensor.operands(f)) for n, f in enumerate(taken)]
        code = listed(ptxas, nvdisasm, [kernel("nothing", "", _NOTHING), *kernels], target, pairs[target])
        # All kernels have the instructions of an empty one.
        _, own = computed(code["nothing"])
        found = {f.spelling: computed(code[f"k{n}"]) for n, f in enumerate(taken)}
        return {spelling: (counts, others - own) for spelling, (counts, others) in found.items()}

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        by_target = dict(zip(on, pool.map(told, on), strict=True))
    return {f.spelling: tuple(_together(f.spelling, by_target)) for f in every}


def _together(spelling: str, by_target: Mapping[str, Mapping[str, tuple[dict[str, int], int]]]) -> Iterator[MatrixCode]:
    """Yield the machine code of a form, with the targets that have the same."""
    found: dict[tuple[tuple[tuple[str, int], ...], int], list[str]] = {}
    for target, told in by_target.items():
        if spelling in told:
            counts, others = told[spelling]
            found.setdefault((tuple(counts.items()), others), []).append(target)
    yield from (MatrixCode(tuple(on), dict(counts), others) for (counts, others), on in found.items())


def evidence(spec: Spec, ptxas: Path, on: Sequence[str]) -> MatrixEvidence:
    """Return ptxas's machine code for all forms on some targets. Raises PtxasError."""
    return MatrixEvidence(f"ptxas {version(ptxas)}", disassembler(ptxas), tuple(on), examine(spec, ptxas, on))


def as_yaml(e: MatrixEvidence, forms: Iterable[Form]) -> str:
    """Return the text of the file."""
    lines = [
        "# yaml-language-server: $schema=../schema/matrix_code.schema.json",
        "# How often each instruction that computes stands in the machine code of a form, and how many others move,",
        "# select, shuffle or jump. `a.b` in a name are the types of the elements of A and of B.",
        "# Written by `ptxspec machine-code --record`; do not edit.",
        f"assembler: {e.assembler}",
        f"disassembler: {e.disassembler}",
        f"targets: [{', '.join(e.targets)}]",
        "forms:",
    ]
    for alike in _alike(e, forms):
        texts = compact((((), tuple(f.spelling.split(".")[1:])) for f in alike), {})
        opcode = alike[0].spelling.partition(".")[0]
        *first, last = (f'"{opcode}{text}"' for text in texts)
        lines += ["  - for: [" + ",\n      ".join([*first, last]) + "]", "    code:"]
        for c in e.codes[alike[0].spelling]:
            on = " ".join(f"{run[0]}..{run[-1]}" if len(run) > 1 else run[0] for run in runs(c.targets, e.targets))
            counts = [f"{_common(name, alike)}: {n}" for name, n in c.instructions.items()]
            counts += [f"others: {c.others}"] if c.others else []
            lines.append(f"      {on}: {{{', '.join(counts)}}}")
    return "\n".join(lines) + "\n"


def _alike(e: MatrixEvidence, forms: Iterable[Form]) -> list[list[Form]]:
    """Return the forms in groups with the same machine code."""
    found: dict[object, list[Form]] = {}
    for f in forms:
        told = tuple(
            (c.targets, tuple((named_for_all(f, name), n) for name, n in c.instructions.items()), c.others)
            for c in e.codes.get(f.spelling, ())
        )
        if told:
            found.setdefault(told, []).append(f)
    return list(found.values())


def _common(name: str, alike: Sequence[Form]) -> str:
    """Return the name of an instruction of the first of some forms, without their types of A and B if these differ."""
    same = len({f.types[1:3] for f in alike}) == 1
    return name if same else named_for_all(alike[0], name)

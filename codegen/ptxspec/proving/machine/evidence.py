"""spec/observed/machine_code.yaml: ptxas's machine code for every variant on every architecture that it assembles for.

Variants with similar machine code share an entry: the same instructions with the same operands, whatever modifiers they
have. `*` replaces modifiers that differ: `FADD.* d, a, b`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...compact import compact
from ...model import MachineCode, MachineEvidence, MachineForms, Spec, Variant, runs
from ..ptxas.asking import Pair, PtxasError, refused, version
from .flow import MachineWork, UnknownFlow, work
from .kernels import asked, kernel, listed

PATH = "spec/observed/machine_code.yaml"
Progress = Callable[[int, int], None]
# The work of each variant, by target.
Works = Mapping[Variant, Mapping[str, MachineWork]]
# The number of kernels that are compiled at once.
_TOGETHER = 1500
# Instructions of the special function unit are shown with their function.
_NAME = re.compile(r"(?:^|(?<=; ))(@\S+ )?(MUFU\.\w+|[\w?]+)(\.\*|(?:\.\w+)*)")
_WIDTH = 120


def find_nvdisasm(ptxas: Path) -> Path:
    """Return the disassembler beside an assembler. Raises PtxasError."""
    found = ptxas.with_name("nvdisasm")
    if not found.is_file():
        raise PtxasError(f"no nvdisasm beside {ptxas}: install the wheel nvidia-cuda-nvdisasm or the CUDA toolkit")
    return found


def targets(spec: Spec) -> list[str]:
    """Return each architecture that ptxas assembles for, as its target that supports most."""
    kinds = {t.base or t.name: t.name for t in spec.targets.values() if t.nvcc and t.kind != "family"}
    return list(kinds.values())


def assembled(spec: Spec, target: str, variants: Iterable[Variant], ptx: str | None = None) -> list[Variant]:
    """Return the variants for which ptxas generates machine code on a target under a PTX version, by default the
    newest. A link of a chain by itself, without a statement that sets or reads the condition code, has no code of its
    own."""
    ptx = ptx or spec.catalog.newest_version
    whole = (v for v in variants if not (v.crash or v.has_implicit))
    return [v for v in whole if spec.catalog.takes(v.requires, target, ptx)]


def versions(spec: Spec, ptxas: Path, on: Iterable[str]) -> dict[str, str]:
    """Return the newest PTX version that this ptxas knows for each target. Raises PtxasError for a target that it does
    not know."""
    found = dict.fromkeys(on, spec.catalog.newest_version)
    older = {t for t, _ in refused(ptxas, list(found.items()))}
    for target in older:
        pairs = [(target, v) for v in spec.versions if spec.catalog.knows(target, v)]
        unknown = refused(ptxas, pairs)
        known = [v for t, v in pairs if (t, v) not in unknown]
        if not known:
            raise PtxasError(f"ptxas {version(ptxas)} does not know {target}; --target names one that it knows")
        found[target] = known[-1]
    return found


def examine(
    spec: Spec, ptxas: Path, variants: Sequence[Variant], on: Sequence[str], progress: Progress | None = None
) -> Works:
    """Return ptxas's machine code for variants on some targets. Raises PtxasError."""
    nvdisasm = find_nvdisasm(ptxas)
    found: dict[Variant, dict[str, MachineWork]] = {v: {} for v in variants}
    known = versions(spec, ptxas, on)
    jobs = [(t, some) for t in on for some in _cut(assembled(spec, t, variants, known[t]))]

    def run(job: tuple[str, Sequence[Variant]]) -> None:
        target, together = job
        for v, w in zip(together, _works(spec, ptxas, nvdisasm, (target, known[target]), together), strict=True):
            found[v][target] = w

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, _ in enumerate(pool.map(run, jobs), 1):
            if progress:
                progress(done, len(jobs))
    # In the order of the targets, whichever ended first.
    return {v: {t: by[t] for t in on if t in by} for v, by in found.items()}


def _cut(variants: Sequence[Variant]) -> Iterator[Sequence[Variant]]:
    for start in range(0, len(variants), _TOGETHER):
        yield variants[start : start + _TOGETHER]


def _works(spec: Spec, ptxas: Path, nvdisasm: Path, pair: Pair, variants: Sequence[Variant]) -> Iterator[MachineWork]:
    kernels = [kernel(f"k{n}", spec, v) for n, v in enumerate(variants)]
    code = listed(ptxas, nvdisasm, kernels, *pair)
    for n, v in enumerate(variants):
        try:
            loaded = [place for s in v.written if not s.type.is_constant for place in s.places]
            yield work(code[f"k{n}"], loaded, [p for r in v.needed for p in r.places])
        except UnknownFlow as e:
            raise PtxasError(f"{v} on {pair[0]}: {e}") from None


def evidence(spec: Spec, ptxas: Path, works: Works) -> MachineEvidence:
    """Return the entries of all opcodes."""
    opcodes = {}
    for opcode, i in spec.instructions.items():
        if own := {v: works[v] for v in i.variants if works.get(v)}:
            opcodes[opcode] = tuple(_entries(spec, own))
    return MachineEvidence(
        assembler=f"ptxas {version(ptxas)}",
        disassembler=disassembler(ptxas),
        targets=tuple(targets(spec)),
        asked={opcode: spec.asked(opcode) for opcode in opcodes},
        opcodes=opcodes,
    )


def disassembler(ptxas: Path) -> str:
    """Return the name and the version of the disassembler beside an assembler. Raises PtxasError."""
    said = asked(Path(), [str(find_nvdisasm(ptxas)), "--version"])
    match = re.search(r"\bV(\d+(?:\.\d+)+)", said)
    return f"nvdisasm {match[1] if match else 'of unknown version'}"


def _entries(spec: Spec, works: Works) -> Iterator[MachineForms]:
    """Yield the entries of one opcode's variants."""
    alike: dict[object, list[Variant]] = {}
    for v, by in works.items():
        key = v.operands, tuple((t, w.count, w.beyond, bare(w.text)) for t, w in by.items())
        alike.setdefault(key, []).append(v)
    for variants in alike.values():
        first, forms = variants[0], compact(((v.modifiers, v.type_names) for v in variants), spec.notation)
        together: dict[tuple[int, int, str], list[str]] = {}
        for target, w in works[first].items():
            text = common([works[v][target].text for v in variants])
            together.setdefault((w.count, w.beyond, text), []).append(target)
        codes = tuple(MachineCode(tuple(on), *told) for told, on in together.items())
        yield MachineForms(tuple(first.opcode + text for text in forms), first.operands, codes)


def bare(text: str) -> str:
    """Return instructions without their modifiers."""
    return _NAME.sub(lambda m: (m[1] or "") + m[2], text)


def common(texts: Sequence[str]) -> str:
    """Return the common form of instructions that differ only in their modifiers, with the modifiers that all have."""
    if len(set(texts)) == 1:
        return texts[0]
    kept = [{m[3] for m in column} for column in zip(*(_NAME.finditer(t) for t in texts), strict=True)]
    shown = iter(more.pop() if len(more) == 1 else ".*" for more in kept)
    return _NAME.sub(lambda m: (m[1] or "") + m[2] + next(shown), texts[0])


def matches(text: str, told: str) -> bool:
    """Return whether instructions match an entry."""
    pairs = list(zip(_NAME.finditer(text), _NAME.finditer(told), strict=False))
    return bare(text) == bare(told) and all(t[3] in (".*", m[3]) for m, t in pairs)


def as_yaml(e: MachineEvidence) -> str:
    """Return the text of the file."""
    lines = [
        "# yaml-language-server: $schema=../schema/machine_code.schema.json",
        "# Written by `ptxspec machine-code --record`; do not edit.",
        f"assembler: {e.assembler}",
        f"disassembler: {e.disassembler}",
        f"targets: [{', '.join(e.targets)}]",
        "asked:",
        *(f'  {opcode}: "{digest}"' for opcode, digest in e.asked.items()),
        "opcodes:",
    ]
    for opcode, entries in e.opcodes.items():
        lines.append(f"  {opcode}:")
        for entry in entries:
            lines += [f"    - operands: {entry.operands}", "      for:"]
            lines += [f'        - "{text}"' for text in entry.forms]
            lines.append("      code:")
            for c in entry.codes:
                beyond = f", beyond: {c.beyond}" if c.beyond else ""
                on = " ".join(f"{run[0]}..{run[-1]}" if len(run) > 1 else run[0] for run in runs(c.targets, e.targets))
                lines.append(f'        - {{count: {c.count}{beyond}, on: {on}, text: "{c.text}"}}')
    return "\n".join(lines) + "\n"

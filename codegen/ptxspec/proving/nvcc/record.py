"""spec/observed/calls.yaml, intrinsics.yaml and triton.yaml: the PTX that nvcc generates for each function of CUDA C++,
LLVM for its intrinsics and instructions, and Triton for its functions, on every target that they compile for."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ...model import Becomes, CallEvidence, CompiledCall, IntrinsicSignature, Spec, runs
from ...query.calls import variant
from ...query.database import Database
from . import llvm, triton
from .body import PtxWork, work
from .compiling import NvccError, compiled, declared
from .headers import CompilableCall

FAST = ("-use_fast_math",)
# The kernels of calls on a target, with options.
Compile = Callable[[Sequence[CompilableCall], str, Sequence[str]], Mapping[CompilableCall, str]]
Progress = Callable[[int, int], None]
# The work of a call, by target.
Works = Mapping[str, PtxWork]


def targets(spec: Spec) -> list[str]:
    """Return the targets that nvcc compiles for, in their order."""
    return [t.name for t in spec.targets.values() if t.nvcc]


def version(nvcc: Path) -> str:
    """Return the version as NVIDIA numbers it: `13.5.37`. Raises NvccError."""
    try:
        said = subprocess.run([str(nvcc), "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NvccError(f"{nvcc} cannot be run: {error}") from None
    if match := re.search(r"\bV(\d+(?:\.\d+)+)", said):
        return match[1]
    raise NvccError(f"{nvcc} is no nvcc: with --version it names no version of CUDA's")


def examine(nvcc: Path, on: Sequence[str], progress: Progress | None = None) -> CallEvidence:
    """Return the PTX that nvcc generates for all functions on some targets. Raises NvccError."""
    name = f"nvcc {version(nvcc)}"
    return _examined(name, declared(nvcc, on[-1]), partial(compiled, nvcc), FAST, on, progress)


def examine_llvm(
    db: Database, signatures: Sequence[IntrinsicSignature], on: Sequence[str], progress: Progress | None = None
) -> CallEvidence:
    """Return the PTX that the LLVM in Triton's wheel generates for its intrinsics and instructions."""
    name = f"the LLVM of Triton {triton.version()}"
    return _examined(name, llvm.calls(signatures), partial(compiled_by_llvm, db), (), on, progress)


def compiled_by_llvm(
    db: Database, asked: Sequence[CompilableCall], target: str, options: Sequence[str] = ()
) -> Mapping[CompilableCall, str]:
    """Return the kernels of calls in PTX, without those with an instruction that the target lacks: LLVM generates
    cvt.rz.relu.f16.f32 for sm_75 too, and the assembler refuses it."""
    there = frozenset(db.available(target))

    def is_there(statement: str) -> bool:
        v = variant(db, statement)
        return v is None or v in there

    found = llvm.compiled(asked, target, options)
    return {c: text for c, text in found.items() if all(is_there(s.strip()) for s in work(c, text).ptx.split(";"))}


def examine_triton(
    signatures: Sequence[IntrinsicSignature], on: Sequence[str], progress: Progress | None = None
) -> CallEvidence:
    """Return the PTX that Triton generates for its functions. From sm_90 on it always compiles for the
    architecture-specific target, and never for a family-specific one."""
    on = [t for t in on if not t.endswith("f")]
    name = f"Triton {triton.version()}"
    return _examined(name, triton.calls(signatures), triton.compiled, (), on, progress)


def _examined(
    name: str,
    asked: Sequence[CompilableCall],
    compile: Compile,
    fast_math: tuple[str, ...],
    on: Sequence[str],
    progress: Progress | None,
) -> CallEvidence:
    every = dict.fromkeys(((), fast_math))
    jobs = [(target, options) for target in on for options in every]

    def run(job: tuple[str, tuple[str, ...]]) -> Mapping[CompilableCall, PtxWork]:
        return {call: work(call, text) for call, text in compile(asked, *job).items()}

    found: dict[tuple[str, tuple[str, ...]], Mapping[CompilableCall, PtxWork]] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, works in zip(jobs, pool.map(run, jobs), strict=True):
            found[job] = works
            if progress:
                progress(len(found), len(jobs))
    calls = []
    for call in asked:
        plain, fast = ({t: w[call] for t in on if call in (w := found[t, options])} for options in ((), fast_math))
        if plain:
            calls.append(_compiled(call, plain, fast))
    # A compiler may lack a target.
    met = {t for c in calls for b in c.becomes for t in b.targets}
    return CallEvidence(name, tuple(t for t in on if t in met), tuple(calls))


def _compiled(call: CompilableCall, plain: Works, fast: Works) -> CompiledCall:
    low = max(w.low for w in plain.values())
    becomes, faster = tuple(_becomes(plain)), tuple(_becomes(fast))
    return CompiledCall(call.written, call.gives, call.header, low, becomes, faster if faster != becomes else ())


def _becomes(works: Works) -> Iterator[Becomes]:
    """Yield the code of a call, with the targets that have the same; for many instructions, the largest number of
    them."""
    together: dict[str, list[str]] = {}
    for target, w in works.items():
        together.setdefault(w.ptx, []).append(target)
    for ptx, on in together.items():
        yield Becomes(tuple(on), max(works[t].count for t in on), ptx)


def as_yaml(e: CallEvidence) -> str:
    """Return the text of the file."""
    lines = [
        "# yaml-language-server: $schema=../schema/calls.schema.json",
        "# Written by `ptxspec calls --record`; do not edit.",
        f"compiler: {e.compiler}",
        f"targets: [{', '.join(e.targets)}]",
        "calls:",
    ]
    # The same code is written once: many calls have the code of another.
    first: dict[tuple[object, object], str] = {}
    for header in dict.fromkeys(c.header for c in e.calls):
        lines.append(f"  {header}:")
        for c in (c for c in e.calls if c.header == header):
            lines += [f'    "{c.call}":', f"      gives: {c.gives}"]
            lines += [f"      low: {c.low}"] if c.low else []
            if (other := first.setdefault((c.becomes, c.fast), c.call)) != c.call:
                lines.append(f'      as: "{other}"')
                continue
            for name, some in (("becomes", c.becomes), ("fast", c.fast)):
                lines += _lines(name, some, e.targets)
    return "\n".join(lines) + "\n"


def _lines(name: str, some: Iterable[Becomes], every: Sequence[str]) -> Iterator[str]:
    found = list(some)
    if found:
        yield f"      {name}:"
    for b in found:
        on = " ".join(f"{run[0]}..{run[-1]}" if len(run) > 1 else run[0] for run in runs(b.targets, every))
        yield f'        {on}: "{b.ptx}"' if b.ptx else f"        {on}: {b.count}"

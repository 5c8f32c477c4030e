"""conformance: compare the emulator with a GPU, or with the recorded results of one."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import sys
from pathlib import Path
from typing import Any

from .. import roots, specification as reading
from ..diagnostics import PtxspecError
from ..evaluate import emulator
from ..literals import hexadecimal
from ..model import Operand, Spec
from ..proving.gpu import cuda, recording, register as registering, registers, run as running, vectors
from ..proving.gpu.recording import CompleteRecording, Recorder
from ..proving.gpu.run import Report, VariantOutcome
from ..query.lists import table
from ..release import release
from ..roots import Root
from . import MISUSE, NO, OK, counted, progress_bar


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run every variant that the GPU supports, and compare the results with the emulator's as the variant's claim "
        "requires. The operands are special values, all 16-bit inputs, 2^24 operands of each random stream, and the "
        "operands that determine the special function unit. Running on a GPU requires its driver, cuda-bindings and "
        "NVRTC (pip install 'ptxspec[cuda]'); --replay requires neither. Exit 0: all variants agree; 1: some disagree; "
        "2: something could not run."
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--record", type=Path, metavar="DIR", help="record the results in DIR; the same DIR continues a stopped run"
    )
    source.add_argument(
        "--replay",
        type=Path,
        metavar="DIR",
        help="read the results from DIR instead of running on a GPU, and update spec/observed/recordings.yaml",
    )
    parser.add_argument(
        "--exhaustive", action="store_true", help="also run variants with one f32 operand on all 2^32 inputs"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = roots.find_source(options.root)
    if options.replay:
        # Refuse what is no recording before the specification is read, which takes seconds.
        recording.about_of(options.replay)
    spec, emu = reading.read(root.path), emulator(root)
    if options.replay:
        if options.exhaustive:
            raise PtxspecError("--exhaustive requires a GPU and cannot be used with --replay")
        with progress_bar("reading") as progress:
            recorded = recording.read(options.replay, spec, progress=progress)
        with progress_bar("replaying") as progress:
            report = running.replay(recorded, spec, emu, sweeps=True, progress=progress)
        _register(root, spec, recorded, report)
    else:
        report = _run(root, spec, emu, options.record, options.exhaustive)
    print(_as_json(report) if options.format == "json" else "\n".join(_as_text(report)))
    return MISUSE if report.failed else NO if report.disagrees else OK


def _run(root: Root, spec: Spec, emu: Any, folder: Path | None, exhaustive: bool) -> Report:
    device, sizes, kernels = cuda.CudaDevice(), vectors.Sizes(exhaustive=exhaustive), root.generated / "cuda"
    with contextlib.ExitStack() as stack:
        recorder = None
        if folder:
            date = datetime.datetime.now(datetime.UTC).date().isoformat()
            sources = (kernels, Path(emu.__file__).parent)
            about = recording.provenance(device.about, spec, _program(), date, sizes, *sources)
            recorder = stack.enter_context(Recorder(folder, spec, about))
        progress = stack.enter_context(progress_bar(f"on {device.about.gpu}"))
        report = running.run(device, spec, emu, kernels, sizes, recorder, progress)
        # If nothing could run, there is nothing to record, and an earlier finding stays.
        ran = any(r.found.count and not r.failed for r in report.rows)
        if recorder and ran:
            recorder.finish({str(r.variant): r.why for r in report.rows if r.failed})
    if folder and ran:
        _register(root, spec, recording.read(folder, spec), report)
    return report


def _register(root: Root, spec: Spec, recorded: CompleteRecording, report: Report) -> None:
    if not root.packaged and registering.register(root.path, spec, recorded, report):
        print(f"written: {root.path / recording.REGISTER}; run `ptxspec generate`", file=sys.stderr)


def _program() -> str:
    return f"ptxspec {release()}".rstrip()


def _verdict(row: VariantOutcome) -> str:
    if row.skipped or row.failed:
        return "skipped" if row.skipped else "failed"
    return {None: "shown", True: "agrees", False: "disagrees"}[row.agrees]


def _as_text(report: Report) -> list[str]:
    """Return a row for each variant, a line for each example, and the summary."""
    rows: list[tuple[str, ...]] = [
        ("variant", "operands", "claim", "results", "unequal", "NaN", "outside", "worst", "")
    ]
    for r in report.rows:
        f = r.found
        worst = f"{f.worst:.3g} of the bound" if f.worst else ""
        blocks = f" in {counted(f.blocks, 'block')}" if f.blocks else ""
        counts = [str(n) if f.count else "" for n in (f.count, f.unequal, f.nan, f.outside)]
        counts[1] += blocks
        verdict = f"{_verdict(r)}: {r.why}" if r.why else _verdict(r)
        rows.append((r.variant.spelling, str(r.variant.operands), r.claim, *counts, worst, verdict))
    lines = table(rows)
    cases = [f"  {r.variant}: {_case(r)}" for r in report.rows if r.found.case and not r.failed]
    lines += ["", "the worst result of each variant, or the first that differs:", *cases] if cases else []
    errors = [f"  {r.variant}: {r.exceeds}" for r in report.rows if r.exceeds and not r.skipped and not r.failed]
    lines += ["", "bounds in NVIDIA's manual that these results exceed:", *errors] if errors else []
    verdicts = [_verdict(r) for r in report.rows]
    words = {"agrees": "agree", "disagrees": "disagree", "shown": "shown", "failed": "failed", "skipped": "skipped"}
    summary = ", ".join(f"{verdicts.count(verdict)} {word}" for verdict, word in words.items())
    return [*lines, "", f"{report.ran_on}, {_program()}: {summary}"]


def _case(row: VariantOutcome) -> str:
    """Return the text of a variant's example. Bounds are compared lane by lane, everything else as a whole."""
    c, v = row.found.case, row.variant
    assert c is not None
    if v.claim == "bounded":
        operands = ", ".join(hexadecimal(x, s.kind.width) for x, s in zip(c.operands, v.sources, strict=True))
        got, want = (hexadecimal(x, v.result.kind.width) for x in (*c.got, *c.want))
    else:
        operands = ", ".join(_registers(c.operands, v.sources))
        got, want = ("|".join(_registers(x, v.results)) for x in (c.got, c.want))
    return f"{operands} gives {got}, the emulator {want}"


def _registers(bits: tuple[int, ...], operands: tuple[Operand, ...]) -> list[str]:
    return [registers.text(x, t) for x, (_, t) in zip(bits, registers.places(operands), strict=True)]


def _as_json(report: Report) -> str:
    body = ",\n".join(
        "  " + json.dumps({
            "variant": r.variant.spelling, "operands": r.variant.operands, "claim": r.claim,
            "verdict": _verdict(r), "why": r.why or None, "exceeds": r.exceeds or None, "found": r.found.as_json(),
        })
        for r in report.rows
    )  # fmt: skip
    about = {"schema": 1, "ran_on": report.ran_on, "target": report.target, "program": _program()}
    head = json.dumps(about)[1:-1]
    return f'{{{head}, "variants": [\n{body}\n]}}'

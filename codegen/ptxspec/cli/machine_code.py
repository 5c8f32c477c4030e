"""machine-code: what ptxas makes of variants, and whether it is what spec/observed/ has of all of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from .. import roots
from ..diagnostics import PtxspecError
from ..files import replace_text
from ..machine import evidence
from ..machine.evidence import Works
from ..machine.flow import Work
from ..model import Spec
from ..ptxas.asking import PtxasError, find_ptxas, version
from ..query import verdicts
from . import NO, OK, TARGET, counted, database, progress_bar, target_named


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Assembles kernels of one instruction, and tells the machine instructions that do its work: `a` is an operand, "
        "`a+1` the second register of a pair, `d` the result, `t1` what lies between. Without a variant it holds "
        f"{evidence.PATH} against ptxas, for all variants; that takes two minutes."
    )
    parser.add_argument("name", nargs="?", metavar="VARIANT", help="a spelling, as in fma.rn.ftz.f32, or an opcode")
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument(
        "--ptxas", type=Path, metavar="PATH", help="this ptxas, with nvdisasm beside it; else that of the wheel or PATH"
    )
    parser.add_argument("--record", action="store_true", help=f"write {evidence.PATH}, of all variants")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from ..read import link as reading

    if options.record and (options.name or options.target):
        raise PtxspecError("--record is about all variants on all targets: leave VARIANT and --target away")
    for option in ("target", "operands") if not options.name else ():
        if getattr(options, option) is not None:
            raise PtxspecError(f"--{option} is about one variant or opcode: name it")
    root = (roots.find_own if options.record else roots.find_source)(options.root)
    spelling = _spelling(options) if "." in (options.name or "") else None
    read = reading.read_all(root.path, spelling)
    # What is wrong with the specification is told with all of it.
    spec = reading.read(root.path) if read.diagnostics or read.spec is None else read.spec
    if options.name and not spelling and options.name not in spec.instructions:
        _spelling(options)  # says what is wrong with it
    every = (v for i in spec.instructions.values() for v in i.variants if options.operands in (None, v.operands))
    variants = [v for v in every if options.name in (None, v.opcode) or v.spelling == spelling]
    on = [_target(spec, target_named(options))] if options.target else evidence.targets(spec)
    ptxas = find_ptxas(options.ptxas)
    if ptxas is None:
        where = f"no file {options.ptxas}" if options.ptxas else "no ptxas found"
        raise PtxspecError(f"{where}; install the wheels nvidia-cuda-nvcc and nvidia-cuda-nvdisasm, or the toolkit")
    try:
        with progress_bar("assembling") as progress:
            works = evidence.examine(spec, ptxas, variants, on, progress)
        if not options.name:
            return _hold(spec, ptxas, works, root.path, on, options)
    except PtxasError as e:
        raise PtxspecError(f"{ptxas}: {e}") from None
    told = {v: by for v, by in works.items() if by}
    if options.format == "json":
        said = {"schema": 1, "assembler": f"ptxas {version(ptxas)}", "variants": list(_objects(told))}
        print(json.dumps(said, indent=2))
    elif told:
        print("\n".join(_lines(told)))
    else:
        print(f"no machine code of {options.name} for {' or '.join(on)}: `ptxspec query` says why")
    return OK if told else NO


def _spelling(options: argparse.Namespace) -> str:
    """The one that is named, in the manual's order. Raises PtxspecError where there is no such variant."""
    return verdicts.variant(database(options), options.name, options.operands).spelling


def _target(spec: Spec, name: str | None) -> str:
    """One that ptxas assembles for."""
    if name is None or not spec.targets[name].nvcc:
        some = ", ".join(evidence.targets(spec))
        raise PtxspecError(f"ptxas only reads PTX for {name}, and assembles for others: {some}")
    return name


def _hold(spec: Spec, ptxas: Path, works: Works, root: Path, on: Sequence[str], options: argparse.Namespace) -> int:
    """The evidence against what ptxas makes now; or in its place."""
    found, path = evidence.evidence(spec, ptxas, works), root / evidence.PATH
    entries = sum(map(len, found.opcodes.values()))
    variants = sum(map(bool, works.values()))
    told = f"{found.assembler}: {variants} variants on {counted(len(on), 'target')}, {entries} ways"
    about = {"schema": 1, "assembler": found.assembler, "variants": variants, "targets": on, "ways": entries}
    if options.record:
        replace_text(path, evidence.as_yaml(found))
        different: list[str] | None = None
        about["written"] = str(path)
        told = f"{told}\nwritten: {path}"
    else:
        if spec.machine is None:
            raise PtxspecError(f"no {evidence.PATH} to hold against ptxas: write it with --record")
        now, then = found.opcodes, spec.machine.opcodes
        different = about["different"] = [o for o in {**now, **then} if now.get(o) != then.get(o)]
        told = f"{told}: {'all as recorded' if not different else 'not as recorded: ' + ', '.join(different)}"
    print(json.dumps(about, indent=2) if options.format == "json" else told)
    return NO if different else OK


def _lines(works: Works) -> Iterator[str]:
    for v, by in works.items():
        yield str(v)
        alike: dict[Work, list[str]] = {}
        for target, w in by.items():
            alike.setdefault(w, []).append(target)
        for w, on in alike.items():
            more = f" and {w.beyond} in subroutines" if w.beyond else ""
            yield f"  {counted(w.count, 'instruction')}{more} on {', '.join(on)}"
            yield from (f"    {line}" for line in w.text.split("; ") if line)


def _objects(works: Works) -> Iterator[dict[str, object]]:
    for v, by in works.items():
        code = {t: {"count": w.count, "beyond": w.beyond, "text": w.text} for t, w in by.items()}
        yield {"variant": v.spelling, "operands": v.operands, "code": code}

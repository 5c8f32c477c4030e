"""machine-code: show the machine code of variants and of forms of mma, or check what spec/observed/ has of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import tensor
from ..diagnostics import PtxspecError
from ..files import replace_text
from ..query import machine_code, verdicts
from ..query.database import Database, Variant
from ..query.machine_code import Code
from . import NO, OK, TARGET, counted, database, held, progress_bar

if TYPE_CHECKING:
    from ..model import Spec
    from ..model.tensor import MatrixEvidence
    from ..proving.machine.evidence import Works

_PATH, _MATRICES = "spec/observed/machine_code.yaml", "spec/observed/matrix_code.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show the recorded machine instructions that ptxas generates for a variant. `a` is an operand, `a+1` the "
        "second register of a pair, `d` the result, `t1` a temporary register, and `.*` stands for modifiers that "
        "depend on the variant's. For a form of mma, show how often each computing instruction occurs, and the number "
        f"of other instructions. Without a variant, check that {_PATH} and {_MATRICES} agree with ptxas for all "
        "variants and forms. That takes three minutes and requires ptxas and nvdisasm (pip install nvidia-cuda-nvcc "
        "nvidia-cuda-nvdisasm, or the CUDA toolkit). Exit 0: there is machine code, or both files agree; 1: not."
    )
    parser.add_argument("name", nargs="?", metavar="VARIANT", help="a variant, such as fma.rn.ftz.f32, or an opcode")
    parser.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument(
        "--ptxas",
        type=Path,
        metavar="PATH",
        help="the ptxas to use, with nvdisasm beside it; by default that of the wheel, then that on PATH",
    )
    parser.add_argument("--record", action="store_true", help="write both files instead of checking them")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.record and (options.name or options.target):
        raise PtxspecError("--record writes all variants on all targets; it cannot be used with VARIANT or --target")
    for option in ("target", "operands") if not options.name else ():
        if getattr(options, option) is not None:
            raise PtxspecError(f"--{option} requires a VARIANT")
    if not options.name:
        return _hold(options)
    if options.ptxas:
        raise PtxspecError("--ptxas checks all variants; it cannot be used with VARIANT")
    return _tell(options)


# One variant, from the data


def _tell(options: argparse.Namespace) -> int:
    db = database(options)
    if cores := tensor.named(db, options.name):
        return _tell_form(options, db, cores)
    file = db.machine_code
    if not file["targets"]:
        raise PtxspecError(f"no machine code is recorded for this specification: there is no {_PATH}")
    if options.name in db.opcodes:
        variants: Sequence[Variant] = db.opcodes[options.name].variants
    else:
        first = verdicts.variant(db, options.name, options.operands)
        variants = db.opcodes[first.opcode].spelled(first.modifiers, first.types)
    target = None if options.target is None else db.target(options.target)
    at = None if target is None else _recorded_as(db, target, file["targets"])
    told = {}
    for v in variants:
        by = machine_code.by_target(db, v) if options.operands in (None, v.operands) else {}
        if target is not None and at is not None:
            by = {target: by[at]} if at in by and db.takes(v, target, None) else {}
        if by:
            told[v] = by
    if options.format == "json":
        said = {"schema": 1, "assembler": file["assembler"], "variants": list(_objects(told))}
        print(json.dumps(said, indent=2))
    elif told:
        print("\n".join(_lines(told)))
    else:
        on = target or " or ".join(file["targets"])
        print(f"there is no machine code of {options.name} for {on}; `ptxspec query` says why")
    return OK if told else NO


def _tell_form(options: argparse.Namespace, db: Database, cores: tensor.Cores) -> int:
    """Print the machine code of a form."""
    if options.operands is not None:
        raise PtxspecError(f"--operands applies to variants only; {options.name} is a form of a matrix instruction")
    target = None if options.target is None else db.target(options.target)
    found = tensor.query(db, cores, options.name, target, None)
    if found.form is None:
        raise PtxspecError(found.verdict.help)
    if options.format == "json":
        said = found.as_json(db)
        print(json.dumps({name: said[name] for name in ("schema", "assembler", "form", "machine")}, indent=2))
    elif found.machine:
        print(found.form)
        for c in found.machine:
            print(f"  {c.text} on {', '.join(c.targets)}")
    else:
        print(f"there is no machine code of {found.form}{f' for {target}' if target else ''}; `ptxspec query` says why")
    return OK if found.machine else NO


def _recorded_as(db: Database, target: str, recorded: Sequence[str]) -> str:
    """Return the recorded target of the same architecture. All kinds of an architecture have the same machine code."""
    base = db.targets[target].base or target
    for name in recorded:
        if base in (name, db.targets[name].base):
            return name
    raise PtxspecError(
        f"ptxas generates no machine code for {target}; machine code is recorded for {', '.join(recorded)}"
    )


def _lines(told: Mapping[Variant, Mapping[str, Code]]) -> Iterator[str]:
    for v, by in told.items():
        yield str(v)
        alike: dict[tuple[int, int, str], list[str]] = {}
        for target, c in by.items():
            alike.setdefault((c["count"], c["beyond"], c["text"]), []).append(target)
        for (count, beyond, text), on in alike.items():
            more = f" and {beyond} in subroutines" if beyond else ""
            yield f"  {counted(count, 'instruction')}{more} on {', '.join(on)}"
            yield from (f"    {line}" for line in text.split("; ") if line)
    if any(".*" in c["text"] for by in told.values() for c in by.values()):
        yield ".* stands for modifiers that depend on the variant"


def _objects(told: Mapping[Variant, Mapping[str, Code]]) -> Iterator[dict[str, object]]:
    for v, by in told.items():
        code = {t: {name: c[name] for name in ("count", "beyond", "text")} for t, c in by.items()}
        yield {"variant": v.spelling, "operands": v.operands, "code": code}


# All of them, by ptxas


def _hold(options: argparse.Namespace) -> int:
    """Compare the recorded machine code with what ptxas generates now, or replace it."""
    from ..proving.machine import evidence, matrices
    from ..proving.ptxas.asking import PtxasError, find_ptxas

    root, spec = held.described(options)
    help = "install it with `pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm`, or install the CUDA toolkit"
    ptxas = held.tool("ptxas", find_ptxas, options.ptxas, help)
    try:
        with progress_bar("assembling") as progress:
            variants, on = [v for i in spec.instructions.values() for v in i.variants], evidence.targets(spec)
            works = evidence.examine(spec, ptxas, variants, on, progress)
        return _held(spec, ptxas, works, matrices.evidence(spec, ptxas, on), root.path, options)
    except PtxasError as e:
        raise PtxspecError(f"{ptxas}: {e}") from None


def _held(spec: Spec, ptxas: Path, works: Works, forms: MatrixEvidence, root: Path, options: argparse.Namespace) -> int:
    from ..proving.machine import evidence, matrices

    found, path, on = evidence.evidence(spec, ptxas, works), root / evidence.PATH, forms.targets
    entries = sum(map(len, found.opcodes.values()))
    variants, count = sum(map(bool, works.values())), sum(map(bool, forms.codes.values()))
    told = f"{found.assembler}: {variants} variants on {counted(len(on), 'target')}, {entries} ways"
    if count:
        told += f"; {count} forms"
    about = {"schema": 1, "assembler": found.assembler, "variants": variants, "forms": count, "targets": on,
             "ways": entries}  # fmt: skip
    if options.record:
        replace_text(path, evidence.as_yaml(found))
        about["written"], told = str(path), f"{told}\nwritten: {path}"
        if count:
            replace_text(root / matrices.PATH, matrices.as_yaml(forms, spec.tensor.forms))
            told += f"\nwritten: {root / matrices.PATH}"
        different: list[str] | None = None
    else:
        if spec.machine is None:
            raise held.unrecorded(evidence.PATH, "ptxas")
        now, then = found.opcodes, spec.machine.opcodes
        different = [o for o in {**now, **then} if now.get(o) != then.get(o)]
        known = spec.tensor.machine.codes if spec.tensor.machine else {}
        others = (f for f in {**forms.codes, **known} if forms.codes.get(f, ()) != known.get(f, ()))
        different += dict.fromkeys(f.partition(".")[0] for f in others)
        about["different"] = different
        told = held.compared(told, different)
    print(json.dumps(about, indent=2) if options.format == "json" else told)
    return NO if different else OK

"""list: list the variants that are available on a target or in a PTX version."""

from __future__ import annotations

import argparse
import sys

from ..query import lists
from ..query.database import Database
from ..query.variant import Variant
from ..query.verdicts import named
from ..query.where import where
from . import NO, OK, TARGET, counted, database, keeping_everything


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "variant",
        nargs="?",
        metavar="OPCODE|VARIANT",
        help="list only the variants of an opcode, or of a spelling, which may have the placeholders of NVIDIA's "
        "manual, as in setp.cmp.f32",
    )
    parser.add_argument("--target", metavar="T", help=TARGET)
    parser.add_argument("--ptx", metavar="V", help="a PTX version, such as 8.6")
    parser.add_argument("--type", metavar="TYPE", help="a type, such as bf16x2")
    parser.add_argument("--opcode", metavar="OPCODE")
    parser.add_argument(
        "--where",
        metavar="CONDITION",
        help="list only variants that satisfy this condition. A test is target, type, result, opcode, modifier, "
        "operands, claim or hazard, followed by = and a value; tests can be combined with and, or, not and parentheses",
    )
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.set_defaults(run=run)


@keeping_everything()
def run(options: argparse.Namespace) -> int:
    db = database(options)
    target = db.target(options.target) if options.target is not None else None
    found = [db.on(v, target) for v in _asked(db, options, target)]
    render = {
        "table": lists.variants_as_table,
        "json": lists.variants_as_json,
        "csv": lists.variants_as_csv,
    }[options.format]
    print(render(db, found, target))
    if options.format == "table":
        if target is not None:
            note = _on_relatives(db, options, target, len(found)) or ("" if found else _on_others(db, options))
        else:
            note = _on_no_target(db, options) if options.ptx is None else ""
        print(note, end="\n" if note else "")
    if not found:
        from ..catalog import explaining  # most answers need no explanation

        pair = explaining.pair(db, target, options.ptx)
        if pair is not None:
            print(f"ptxspec: {pair.message}", file=sys.stderr)
    return OK if found else NO


def _asked(db: Database, options: argparse.Namespace, target: str | None) -> list[Variant]:
    """Return the variants that the options ask for on a target."""
    return _satisfying(db, options, db.available(target, options.ptx, options.type, _opcode(db, options)))


def _opcode(db: Database, options: argparse.Namespace) -> str | None:
    """Return the only opcode that is asked about, or None."""
    opcode: str | None = options.opcode
    return named(db, options.variant)[0].opcode if opcode is None and options.variant is not None else opcode


def _satisfying(db: Database, options: argparse.Namespace, variants: list[Variant]) -> list[Variant]:
    """Return the variants that have the name and satisfy the condition of --where."""
    if options.variant is not None:
        own = frozenset(named(db, options.variant))
        variants = [v for v in variants if v in own]
    return variants if options.where is None else list(filter(where(db, options.where, options.ptx), variants))


def _on_relatives(db: Database, options: argparse.Namespace, target: str, count: int) -> str:
    """Return the note that architecture- and family-specific targets of the same GPUs support more."""
    relatives = [t.name for t in db.targets.values() if t.base == target and db.catalog.knows(t.name, options.ptx)]
    more = {t: len(_asked(db, options, t)) - count for t in relatives}
    said = " and ".join(f"{t} supports {n:,} more" for t, n in more.items() if n)
    return f"on the same GPUs, {said}" if said else ""


def _on_others(db: Database, options: argparse.Namespace) -> str:
    """Return the note that other targets support some."""
    some = next((t for t in db.targets if db.catalog.knows(t, options.ptx) and _asked(db, options, t)), "")
    return f"{some} is the first target that has some" if some else ""


def _on_no_target(db: Database, options: argparse.Namespace) -> str:
    """Return the note that the list lacks variants on which the assembler crashes."""
    opcode = _opcode(db, options)
    opcodes = db.opcodes.values() if opcode is None else [db.opcodes[opcode]]
    type_ = options.type and options.type.lstrip(".")
    crashing = [v for o in opcodes for v in o.variants if v.crash and (type_ is None or type_ in v.types)]
    left_out = _satisfying(db, options, crashing)
    if not left_out:
        return ""
    return f"{counted(len(left_out), 'variant')} not listed: on no target, because the assembler crashes"

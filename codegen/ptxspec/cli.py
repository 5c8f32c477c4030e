"""The command line: a thin face over the package's functions."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .diagnostics import PtxspecError, SpecError

if TYPE_CHECKING:
    from .database import Database

# Modules are imported where a command needs them: most commands need few.

OK, NO, MISUSE = 0, 1, 2
# argparse would take -inf and -0x1p3 for options.
_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan|0x)", re.IGNORECASE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0 for yes, 1 for no (errors found, stale), 2 for misuse or unreadable input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a character gets its escape, as on stderr, and not a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = [" " + a if _NEGATIVE.match(a) else a for a in arguments]
    try:
        options = _parser().parse_args(arguments)
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except SpecError as e:
        print(e, file=sys.stderr)
        print(_count(len(e.diagnostics), "error"), file=sys.stderr)
        return NO
    except PtxspecError as e:
        print(f"ptxspec: {e}", file=sys.stderr)
        return MISUSE
    except BrokenPipeError:
        # The reader has seen enough; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK
    except KeyboardInterrupt:
        return 130


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


class _Parser(argparse.ArgumentParser):
    """argparse, with the nearest name for a command that does not exist."""

    def error(self, message: str) -> Any:
        match = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if match:
            from .diagnostics import suggest

            choices = [c.strip(" '") for c in match[2].split(",")]
            message = (
                f"unknown {'command' if 'command' in message else 'value'} '{match[1]}'; {suggest(match[1], choices)}"
            )
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(MISUSE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="ptxspec", description="PTX floating-point instructions: the database and what is made from it"
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    commands = parser.add_subparsers(metavar="command", required=True, parser_class=_Parser)
    root = _Parser(add_help=False)
    root.add_argument("--root", type=Path, metavar="DIR", help="the folder that holds spec/ and templates/")

    p = commands.add_parser("generate", parents=[root], help="write generated/ from spec/")
    p.add_argument("--check", action="store_true", help="write nothing; exit 1 with a diff where generated/ is stale")
    p.set_defaults(run=_generate)

    p = commands.add_parser("validate", parents=[root], help="check the specification and report all errors")
    p.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="report on these files and folders only")
    p.set_defaults(run=_validate)

    p = commands.add_parser("list", parents=[root], help="the variants that a target or a PTX version has")
    p.add_argument("--target", metavar="T", help="sm_90; compute_90 and 9.0 are understood")
    p.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    p.add_argument("--type", metavar="TYPE", help="a type, as in bf16x2")
    p.add_argument("--opcode", metavar="OPCODE")
    p.add_argument("--format", choices=("table", "json", "csv"), default="table")
    p.set_defaults(run=_list)

    p = commands.add_parser(
        "query", parents=[root], help="what a variant needs, or why it does not exist; exit 0 yes, 1 no"
    )
    p.add_argument("variant", metavar="VARIANT")
    p.add_argument("--operands", type=int, metavar="N", help="the number of source operands")
    p.add_argument("--target", metavar="T", help="sm_90; compute_90 and 9.0 are understood")
    p.add_argument("--ptx", metavar="V", help="a PTX version, as in 8.6")
    p.add_argument("--format", choices=("text", "json"), default="text")
    p.set_defaults(run=_query)

    p = commands.add_parser("diff", parents=[root], help="what a PTX version or a target brought")
    between = p.add_mutually_exclusive_group(required=True)
    between.add_argument("--ptx", metavar="OLD..NEW", help="two PTX versions, as in 8.5..8.8")
    between.add_argument("--target", metavar="OLD..NEW", help="two targets, as in sm_90..sm_100")
    p.add_argument("--format", choices=("text", "json"), default="text")
    p.set_defaults(run=_diff)

    p = commands.add_parser(
        "show", parents=[root], help="the manual's page of an opcode, or what is known of a variant"
    )
    p.add_argument("name", metavar="OPCODE|VARIANT")
    p.add_argument("--operands", type=int, metavar="N", help="the variant with this many source operands")
    p.set_defaults(run=_show)

    p = commands.add_parser("verify", parents=[root], help="prove every requirement against a real ptxas")
    p.add_argument(
        "--ptxas", type=Path, metavar="PATH", help="this ptxas; else the one of the wheel, else the one on PATH"
    )
    p.add_argument("--record", action="store_true", help="write what was proven to spec/evidence.yaml")
    p.set_defaults(run=_verify)

    p = commands.add_parser("eval", parents=[root], help="run a variant on operands")
    p.add_argument("variant", metavar="VARIANT")
    p.add_argument(
        "operands",
        nargs="*",
        metavar="OPERAND",
        help="1.5, -0.0, inf, nan, 0x1.8p-3 or bits 0x3fc00000; lanes as low,high",
    )
    p.add_argument("--target", metavar="T", help="behave as this target does, where it is known to differ")
    p.add_argument("--trace", action="store_true", help="show each step with its line of the specification")
    p.add_argument("--format", choices=("text", "json"), default="text")
    p.set_defaults(run=_eval)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that takes longer than a query."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"ptxspec {version('ptxspec')}")
        parser.exit()


def _generate(options: argparse.Namespace) -> int:
    from . import generate, roots

    root = roots.find(options.root)
    if root.packaged:
        raise PtxspecError(
            "the installed package is not written to; name a folder with spec/ and templates/ by --root DIR"
        )
    if options.check:
        files = generate.build(root.path)
        changes = generate.compare(root.path, files)
        if not changes:
            print(f"generated/ is up to date: {_count(changes.total, 'file')}")
            return OK
        for line in generate.diff(root.path, files, changes):
            sys.stdout.write(line if line.endswith("\n") else line + "\n")
        print(f"generated/ is stale: {_summary(changes)}; run `ptxspec generate`", file=sys.stderr)
        return NO
    changes = generate.generate(root.path)
    if not changes:
        print(f"generated/ was up to date: {_count(changes.total, 'file')}")
        return OK
    for sign, names in (("+", changes.added), ("~", changes.changed), ("-", changes.removed)):
        for name in names:
            print(f"  {sign} {name}")
    print(f"generated/: {_summary(changes)}, {_count(changes.total, 'file')} in all")
    return OK


def _summary(changes: Any) -> str:
    return f"{len(changes.added)} added, {len(changes.changed)} changed, {len(changes.removed)} removed"


def _validate(options: argparse.Namespace) -> int:
    from . import checking, reading, roots

    root = roots.find(options.root)
    read = reading.read_all(root.path)
    errors = list(read.diagnostics)
    if read.spec is not None:
        errors += checking.check(read.spec)[1]
    wanted = [p.resolve() for p in options.paths]
    for p in options.paths:
        if not p.exists():
            raise PtxspecError(f"{p}: no such file or folder")
    if wanted:
        errors = [e for e in errors if any((root.path / e.path).resolve().is_relative_to(p) for p in wanted)]
    if errors:
        raise SpecError(errors)
    variants = sum(len(i.variants) for i in read.spec.instructions.values()) if read.spec else 0
    opcodes = len(read.spec.instructions) if read.spec else 0
    print(f"{_count(read.files, 'file')}: {_count(opcodes, 'opcode')}, {_count(variants, 'variant')}, no errors")
    return OK


def _database(options: argparse.Namespace) -> Database:
    from . import database, roots

    return database.read(roots.find(options.root).generated / "data" / "ptxspec.json")


def _list(options: argparse.Namespace) -> int:
    from . import answers

    found = _database(options).available(options.target, options.ptx, options.type, options.opcode)
    render = {
        "table": answers.variants_as_table,
        "json": answers.variants_as_json,
        "csv": answers.variants_as_csv,
    }[options.format]
    print(render(found))
    return OK if found else NO


def _query(options: argparse.Namespace) -> int:
    from . import answers

    db = _database(options)
    verdict = db.query(options.variant, options.operands, options.target, options.ptx)
    if options.format == "json":
        print(json.dumps(verdict.as_json(), indent=2))
    else:
        target = db.target(options.target) if options.target else None
        print(answers.verdict_as_text(db, verdict, target, options.ptx))
    return OK if verdict.available else NO


def _diff(options: argparse.Namespace) -> int:
    from . import answers

    db = _database(options)
    old, separator, new = (options.ptx or options.target).partition("..")
    if not separator or not old or not new:
        raise PtxspecError("a range is written OLD..NEW, as in 8.5..8.8 or sm_90..sm_100")
    if options.ptx:
        gained, lost = db.diff_ptx(old, new)
        old, new = f"PTX {old}", f"PTX {new}"
    else:
        gained, lost = db.diff_target(old, new)
    render = answers.difference_as_json if options.format == "json" else answers.difference_as_text
    print(render(old, new, gained, lost))
    return OK


def _show(options: argparse.Namespace) -> int:
    from . import roots, show

    text = show.page(roots.find(options.root), options.name, options.operands)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text, end="" if text.endswith("\n") else "\n")
    return OK


def _verify(options: argparse.Namespace) -> int:
    from . import reading, roots, verify
    from .ptxas import PtxasError, find_ptxas

    root = roots.find(options.root)
    if options.record and root.packaged:
        raise PtxspecError("the installed package is not written to; name a folder with spec/ by --root DIR")
    spec = reading.read(root.path)
    ptxas = find_ptxas(options.ptxas)
    if ptxas is None:
        where = f"no file {options.ptxas}" if options.ptxas else "no ptxas found"
        raise PtxspecError(
            f"{where}; install the wheel nvidia-cuda-nvcc or the CUDA toolkit, or say where with --ptxas PATH"
        )
    try:
        with _progress("judging") as progress:
            result = verify.verify(spec, ptxas, progress)
    except (PtxasError, OSError, UnicodeDecodeError) as e:
        raise PtxspecError(f"{ptxas}: {e}") from None
    for d in result.disagreements:
        print(d)
    print(
        f"{result.assembler}: {result.variants} variants on {result.pairs} pairs of a target and a PTX version, "
        f"{result.spellings} spellings legal or not: {_count(len(result.disagreements), 'unexplained difference')}"
    )
    if result.disagreements:
        return NO
    if options.record:
        path = root.path / "spec" / "evidence.yaml"
        path.write_text(verify.as_yaml(spec, result), "utf-8", newline="\n")
        print(f"written: {path}")
    return OK


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _eval(options: argparse.Namespace) -> int:
    from . import evaluate as e
    from . import roots

    found = e.evaluate(roots.find(options.root), options.variant, options.operands, options.target, options.trace)
    if options.format == "json":
        print(json.dumps(_as_json(found), indent=2))
        return OK
    v, digits = found.variant, found.variant.type.width // 4
    print(f"{v}{' on ' + found.target if found.target else ''}, {v.claim}")
    for name, bits in zip("abc", found.operands, strict=False):
        print(f"  {name}  {_lanes(v, bits)}")
    for t in found.trace:
        lane = f"lane {t.lane}  " if v.type.lanes > 1 else ""
        print(f"\n  {lane}{t.stage}  {t.path}:{t.line}  {t.text}")
        if t.before is not None:
            print(f"    before  {t.name} = {e.describe_value(t.before, t.kind)}")
        print(f"    after   {t.name} = {e.describe_value(t.after, t.kind)}")
    if found.trace:
        print()
    if v.predicate:
        print(f"  p  {str(bool(found.result)).lower()}")
    else:
        print(f"  d  {_lanes(v, found.result)}{f'  0x{found.result:0{digits}x}' if v.type.lanes > 1 else ''}")
    return OK


def _lanes(variant: Any, bits: int) -> str:
    from .literals import describe

    width, format = variant.type.format.width, variant.type.format
    lanes = [bits >> (i * width) & ((1 << width) - 1) for i in range(variant.type.lanes)]
    return ", ".join(describe(x, format) for x in lanes)


def _as_json(found: Any) -> dict[str, Any]:
    v = found.variant
    digits = v.type.width // 4

    def value(bits: int | None, kind: Any) -> str | bool | None:
        if bits is None:
            return None
        return bool(bits) if kind.sort == "bool" else f"0x{bits:0{kind.width // 4}x}"

    return {
        "schema": 1,
        "variant": v.spelling,
        "operands": [f"0x{o:0{digits}x}" for o in found.operands],
        "result": bool(found.result) if v.predicate else f"0x{found.result:0{digits}x}",
        "claim": v.claim,
        "trace": [
            {
                "lane": t.lane, "stage": t.stage, "name": t.name, "line": f"{t.path}:{t.line}",
                "before": value(t.before, t.kind), "after": value(t.after, t.kind),
            }
            for t in found.trace
        ],
    }  # fmt: skip

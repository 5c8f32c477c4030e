"""validate: check the specification and report all errors."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from .. import roots, specification
from ..diagnostics import PtxspecError, SpecError
from ..read.link import SHARED
from ..roots import Root
from . import OK, counted, keeping_everything, waiting


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="report only on these files and folders; all are checked"
    )
    parser.set_defaults(run=run)


@keeping_everything()
def run(options: argparse.Namespace) -> int:
    root = roots.find_own(options.root)
    for path in options.paths:
        if not path.exists():
            raise PtxspecError(f"{path}: there is no such file or folder")
    with waiting("reading and checking spec/"):
        read = specification.load(root.path)
    errors = list(read.diagnostics)
    files = set(read.files)
    if options.paths:
        named = {*read.files, *(e.path for e in errors)}
        files = {name for path in options.paths for name in _named(root, path, named)}
        # Errors in a file that all others depend on are reported always.
        errors = [e for e in errors if e.path in files or e.path in SHARED]
    if errors or read.spec is None:
        raise SpecError(errors)
    instructions = [i for i in read.spec.instructions.values() if i.path in files]
    variants = sum(len(i.variants) for i in instructions)
    opcodes = counted(len(instructions), "opcode")
    nowhere = sum(bool(v.crash) for i in instructions for v in i.variants)
    more = f"; {counted(nowhere, 'variant')} on no target, because the assembler crashes" if nowhere else ""
    print(f"{counted(len(files), 'file')}: {opcodes}, {counted(variants, 'variant')}, no errors{more}")
    return OK


def _named(root: Root, path: Path, names: Iterable[str]) -> list[str]:
    """Return the file of the specification that a path names, or the files in the folder that it names."""
    asked = path.resolve()
    found = [name for name in names if (root.path / name).resolve().is_relative_to(asked)]
    if not found or asked in root.path.parents:
        raise PtxspecError(
            f"{path} is not part of the specification in {root.path}; choose another specification with --root DIR"
        )
    return found

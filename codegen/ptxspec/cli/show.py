"""show: show the manual in the terminal."""

from __future__ import annotations

import argparse

from .. import roots, tensor, terminal
from ..query import show
from . import OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="OPCODE|VARIANT|FUNCTION")
    parser.add_argument("--operands", type=int, metavar="N", help="show the variant with this many source operands")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    root = roots.find(options.root)
    db, manual = database(options), root.generated / "manual"
    if cores := tensor.named(db, options.name):
        text = tensor.page(db, cores, manual / "tensor-cores.md", options.name)
    else:
        text = show.page(db, manual, options.name, options.operands).rstrip("\n")
    if columns := terminal.lines_width():
        from .markdown import print_markdown  # imports rich, which piped output does not need

        print_markdown(text, columns)
    else:
        print(text)
    return OK

"""show: the manual in the terminal."""

from __future__ import annotations

import argparse

from .. import roots, terminal
from ..query import show
from . import OK


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="OPCODE|VARIANT|FUNCTION")
    parser.add_argument("--operands", type=int, metavar="N", help="the variant with this many source operands")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    text = show.page(roots.find(options.root), options.name, options.operands).rstrip("\n")
    if columns := terminal.lines_width():
        from .markdown import print_markdown  # with rich, which what is piped does without

        print_markdown(text, columns)
    else:
        print(text)
    return OK

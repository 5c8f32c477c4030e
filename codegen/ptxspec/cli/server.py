"""server: a language server, for editors."""

from __future__ import annotations

import argparse
import os
import sys

from .. import roots, terminal
from ..diagnostics import PtxspecError
from . import OK, database


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "A language server on standard input and output, which an editor starts. It says what `ptxspec lint` says, by "
        "the configuration of the repository, while a file is written, and knows what instructions do, how a spelling "
        "may go on, and what mends what is wrong. `ptxspec manual editors` says how editors are told of it."
    )
    # Editors give it to every server.
    parser.add_argument("--stdio", action="store_true", help="on standard input and output, as it is anyway")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        from ..server.serving import Server
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise PtxspecError("a language server needs pygls: pip install 'ptxspec[server]'") from None
    # It closes what it writes to, and standard output is not its own.
    with os.fdopen(os.dup(terminal.as_it_is(sys.stdout).fileno()), "wb") as to:
        Server(database(options), roots.find(options.root)).run(sys.stdin.buffer, to)
    return OK

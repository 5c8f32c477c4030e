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
        "Start a language server on standard input and output. Editors start it; you rarely run it yourself. While you "
        "edit, it reports what `ptxspec lint` would report, with the repository's configuration. It also describes "
        "instructions, completes spellings and offers fixes. `ptxspec manual editors` shows how to set up an editor. "
        "The command requires pygls (pip install 'ptxspec[server]')."
    )
    # Editors pass it to every server.
    parser.add_argument("--stdio", action="store_true", help="communicate over standard input and output, the default")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        from ..server.serving import Server
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise PtxspecError(
            "the language server requires pygls; install it with `pip install 'ptxspec[server]'`"
        ) from None
    # The server closes the stream that it writes to; standard output must stay open.
    with os.fdopen(os.dup(terminal.as_it_is(sys.stdout).fileno()), "wb") as to:
        Server(database(options), roots.find(options.root)).run(sys.stdin.buffer, to)
    return OK

"""completion: print the script that completes words in bash, zsh and fish."""

from __future__ import annotations

import argparse

from ..diagnostics import PtxspecError
from . import OK

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print a script with which a shell completes commands, options, variants, opcodes, targets and PTX versions. "
        "For bash and zsh, add the line of the example to ~/.bashrc, or to ~/.zshrc after compinit. For fish, save the "
        "output in ~/.config/fish/completions/ptxspec.fish."
    )
    parser.add_argument("shell", choices=SHELLS, help="your shell")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise PtxspecError("completion requires argcomplete; install it with `pip install argcomplete`") from None
    print(shellcode(["ptxspec"], shell=options.shell).strip("\n"))
    return OK

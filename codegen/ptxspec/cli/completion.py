"""completion: words completed at the Tab key, in bash, zsh and fish."""

from __future__ import annotations

import argparse

from ..diagnostics import PtxspecError
from . import OK

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Prints what makes a shell complete commands, options, variants, opcodes, targets and PTX versions. In bash "
        "and zsh write the line of the example into ~/.bashrc, or into ~/.zshrc behind compinit; in fish write what is "
        "printed to ~/.config/fish/completions/ptxspec.fish."
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete words")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        raise PtxspecError("completion needs the package argcomplete: pip install argcomplete") from None
    print(shellcode(["ptxspec"], shell=options.shell).strip("\n"))
    return OK

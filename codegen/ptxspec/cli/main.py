"""The command line: a thin face over the package's functions."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from .. import terminal
from ..catalog.likeness import nearest
from ..diagnostics import PtxspecError, SpecError, unknown, visible
from ..release import release
from . import MISUSE, NO, OK, READER_LEFT, counted
from .help import Formatter, complete, overview

# Each command is a module beside this one, which is imported when the command is given: a query must start quickly.
COMMANDS = {
    "generate": "write generated/ from spec/",
    "validate": "check the specification and report all errors",
    "list": "the variants that a target or a PTX version has",
    "query": "what a variant needs, or why it does not exist; exit 0 yes, 1 no",
    "show": "the manual's page of an opcode, or what is known of a variant",
    "manual": "open the manual in a browser, or serve it",
    "eval": "run a variant on operands",
    "compare": "where two variants, pieces of PTX or functions of C, CUDA or NumPy differ",
    "sweep": "hold a variant against another, a recording or MPFR on all operands, on all cores",
    "lint": "judge PTX, and the PTX in CUDA, C++, Python, Rust, Julia and more, as ptxas would",
    "server": "judge while a file is written: a language server, which editors start",
    "explain": "say what mends the complaints of ptxas, compilers, linkers, the driver, Triton and others",
    "diff": "what a PTX version or a target brought",
    "targets": "the targets, with what their GPUs are called and the CUDA releases that have them",
    "versions": "the PTX versions, with the CUDA releases and drivers that read them",
    "verify": "prove every requirement against a real ptxas",
    "machine-code": "what ptxas makes of a variant on each target: one instruction or several",
    "calls": "what nvcc makes of functions of CUDA C++ and LLVM's intrinsics, held against it again",
    "conformance": "hold the emulator against a GPU, and record what it returns",
    "vectors": "operands with results, of a recorded GPU or of the emulator",
    "completion": "make a shell complete commands, variants, opcodes and targets at the Tab key",
}
# Commands that errors in spec/ are the answer of.
_ABOUT_THE_SPECIFICATION = ("generate", "validate")
# argparse would take -inf and -0x1p3 for options.
_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan|0x)", re.IGNORECASE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns its exit code, of those in this package."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a character gets its escape, as on stderr, and not a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    with terminal.escaping():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        # A shell asks what may stand at its cursor.
        from .completers import answer

        answer(parser_of, _Once)
    arguments = readable(arguments)
    try:
        if arguments[:1] == ["build"]:
            raise PtxspecError(
                "nothing is built here any more: `pip install ./generated/native` builds the kernels in C"
            )
        options = parser_of(arguments).parse_args(arguments)
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except SpecError as e:
        error = terminal.painted("error:", "red", "bold", stream=sys.stderr)
        for d in e.diagnostics:
            print(str(d).replace("error:", error, 1), file=sys.stderr)
        print(counted(len(e.diagnostics), "error"), file=sys.stderr)
        # For other commands 1 is an answer, and there is none.
        return NO if _command(arguments) in _ABOUT_THE_SPECIFICATION else MISUSE
    except PtxspecError as e:
        print(f"{terminal.painted('ptxspec:', 'red', 'bold', stream=sys.stderr)} {e}", file=sys.stderr)
        return MISUSE
    except BrokenPipeError:
        # The reader has seen enough; Python would complain once more at exit.
        _drop(terminal.as_it_is(sys.stdout))
        return READER_LEFT
    except OSError as e:
        # A missing file without a name is the working folder, whose name was asked for.
        nameless = "the working folder" if isinstance(e, FileNotFoundError) else "the output"
        print(f"ptxspec: {visible(str(e.filename or nameless))}: {e.strerror or e}", file=sys.stderr)
        # What is left in the buffer could not be written either, and Python would try at exit.
        _drop(terminal.as_it_is(sys.stdout))
        return MISUSE


def _drop(stream: TextIO) -> None:
    """Discard whatever is left to write to a stream."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Parser(argparse.ArgumentParser):
    """argparse, with the nearest name for what does not exist, told by the command that was given it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=Formatter, **settings)
        self.register("action", None, _Once)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # argparse would hand what a command does not know to its parser of all commands.
        found, left = super().parse_known_args(args, namespace)
        options = [a.partition("=")[0] for a in left if a.startswith("-")]
        if options:
            self.error(_unknown_option(options[0], self._actions))
        several = next((a for a in self._actions if a.nargs in ("*", "+")), None)
        if left and several is not None:
            # argparse takes them in one row only, and these stand behind an option.
            more = [self._get_value(several, a) for a in left]
            setattr(found, several.dest, [*getattr(found, several.dest), *more])
            left = []
        if left:
            self.error(f"unexpected argument '{left[0]}'")
        return found, left

    def error(self, message: str) -> Any:
        match = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if match:
            choices = [c.strip(" '") for c in match[2].split(",")]
            message = unknown("command" if "command" in message else "value", match[1], choices)
        if match := re.search(r"argument (--\S+): ignored explicit argument '(.*)'", message):
            message = _unknown_option(f"{match[1]}={match[2]}", self._actions)
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {visible(message)}", file=sys.stderr)
        raise SystemExit(MISUSE)


def _unknown_option(name: str, actions: Iterable[argparse.Action]) -> str:
    """Return the error for an option that there is not. Dashes, which all have, make none alike."""
    known = {o.lstrip("-"): o for a in actions for o in a.option_strings if o.startswith("--")}
    near = nearest(name.lstrip("-"), known)
    return f"unknown option '{visible(name)}'" + (f"; did you mean '{known[near[0]]}'?" if near else "")


class _Once(argparse.Action):
    """Stores a value. argparse would take the last of several without a word."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        given = vars(namespace).setdefault("given", set())
        if self.dest in given:
            parser.error(f"{option_string} is given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def readable(arguments: Sequence[str]) -> list[str]:
    """Arguments as argparse understands them: negative numbers are no options, and `help` is one."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    return [" " + a if _NEGATIVE.match(a) else a for a in arguments]


def parser_of(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for a command line: of the command given, or of all where there is no such command."""
    parser = _Parser(
        prog="ptxspec",
        description="PTX floating-point instructions: the database and what is made from it",
        epilog="Exit codes: 0 yes or done; 1 the answer is no, or errors were found; 2 misuse, an unknown name where a "
        "known one is needed, or something that cannot run.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    root = "the folder with spec/ and templates/; else the package's own, never the working folder's"
    parser.add_argument("--root", type=Path, metavar="DIR", help=root)
    complete(parser, "")
    parser.set_defaults(run=_overview)
    # Without `prog`, argparse would format a usage to find it.
    commands = parser.add_subparsers(metavar="command", parser_class=_Parser, prog=parser.prog)
    given = _command(arguments)
    for name in [given] if given in COMMANDS else COMMANDS:
        p = commands.add_parser(name, help=COMMANDS[name], description=COMMANDS[name])
        # Without a default: that would take the place of what stands before the command.
        p.add_argument("--root", type=Path, metavar="DIR", default=argparse.SUPPRESS, help=root)
        if name == given:
            importlib.import_module(f".{name.replace('-', '_')}", __package__).configure(p)
            complete(p, name)
    return parser


def _overview(options: argparse.Namespace) -> int:
    """Print an overview of the commands, where none is given."""
    print("\n".join(overview(COMMANDS, terminal.width(most=100))))
    return OK


def _command(arguments: Sequence[str]) -> str:
    """The first argument that is no option, nor the value of one."""
    for i, a in enumerate(arguments):
        if not a.startswith("-") and (i == 0 or arguments[i - 1] != "--root"):
            return a
    return ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"ptxspec {release() or '(of no known version: it is not installed)'}")
        parser.exit()

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
from .help import ABOUT, Formatter, complete, overview

# Each command is a module beside this one, which is imported when the command is given: a query must start quickly.
COMMANDS = {
    "generate": "generate the emulator, the kernels, the manual and the data from the specification",
    "validate": "check the specification and report all errors",
    "list": "list the variants that are available on a target or in a PTX version",
    "query": "say where a variant is available, or why it does not exist",
    "show": "show an opcode's page of the manual, or everything that is known about a variant",
    "manual": "open the manual in a browser, serve it, or print it",
    "eval": "evaluate a variant on operands, and show how the result is computed",
    "compare": "compare two variants, pieces of PTX, or functions of C, CUDA or NumPy",
    "sweep": "compare a variant with another one, a recording or MPFR on millions of operands, or on all",
    "lint": "check PTX files, and the PTX in CUDA, C++, Python, Rust, Julia and more, without ptxas",
    "server": "start the language server, which checks PTX in your editor",
    "explain": "explain errors of ptxas, nvcc, the driver, Triton and others, and say how to fix them",
    "diff": "show the variants that a PTX version or a target added or removed",
    "targets": "list the targets, with the names of their GPUs and the CUDA releases that support them",
    "versions": "list the PTX versions, with the CUDA releases and drivers that support them",
    "verify": "check every requirement in the specification against ptxas",
    "machine-code": "show the machine instructions that ptxas generates for a variant on each target",
    "calls": "check the recorded PTX of CUDA C++, LLVM and Triton functions against compilers",
    "conformance": "compare the emulator with a GPU, and record the GPU's results",
    "vectors": "print operands with their results, from a recorded GPU or from the emulator",
    "completion": "print a script that completes commands, variants, opcodes and targets in your shell",
}
# The commands whose answer is the list of errors in spec/.
_ABOUT_THE_SPECIFICATION = ("generate", "validate")
# argparse would read -inf and -0x1p3 as options.
_NEGATIVE = re.compile(r"-(\d|\.\d|inf|nan|0x)", re.IGNORECASE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Return its exit code, one of those that this package names."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal cannot show is escaped, as on stderr, instead of raising an error.
        sys.stdout.reconfigure(errors="backslashreplace")
    with terminal.escaping():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    if "_ARGCOMPLETE" in os.environ:
        # A shell asks which words can stand at its cursor.
        from .completers import answer

        answer(parser_of, _Once)
    arguments = readable(arguments)
    try:
        if arguments[:1] == ["build"]:
            raise PtxspecError(
                "the command `build` was removed; `pip install ./generated/native` builds the kernels in C"
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
        # For other commands, exit code 1 is an answer, and here there is none.
        return NO if _command(arguments) in _ABOUT_THE_SPECIFICATION else MISUSE
    except PtxspecError as e:
        print(f"{terminal.painted('ptxspec:', 'red', 'bold', stream=sys.stderr)} {e}", file=sys.stderr)
        return MISUSE
    except BrokenPipeError:
        # The reader has stopped reading; Python would print another error at exit.
        _drop(terminal.as_it_is(sys.stdout))
        return READER_LEFT
    except OSError as e:
        # A missing file without a name is the working folder: Python asked for its name.
        nameless = "the working folder" if isinstance(e, FileNotFoundError) else "the output"
        print(f"ptxspec: {visible(str(e.filename or nameless))}: {e.strerror or e}", file=sys.stderr)
        # The rest of the buffer could not be written either, and Python would try to at exit.
        _drop(terminal.as_it_is(sys.stdout))
        return MISUSE


def _drop(stream: TextIO) -> None:
    """Discard whatever is left to write to a stream."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# What people write without the option before it.
_TARGET, _VERSION = re.compile(r"(?:sm|compute)_\d+[af]?"), re.compile(r"\d+\.\d")


class _Parser(argparse.ArgumentParser):
    """An argparse parser that suggests the nearest name for an unknown one, and names the command in its errors."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=Formatter, **settings)
        self.register("action", None, _Once)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # argparse would pass a command's unknown arguments on to the parser of all commands.
        found, left = super().parse_known_args(args, namespace)
        options = [a.partition("=")[0] for a in left if a.startswith("-")]
        if options:
            self.error(_unknown_option(options[0], self._actions))
        several = next((a for a in self._actions if a.nargs in ("*", "+")), None)
        if left and several is not None:
            # argparse accepts such arguments in one sequence only, and these follow an option.
            more = [self._get_value(several, a) for a in left]
            setattr(found, several.dest, [*getattr(found, several.dest), *more])
            left = []
        if left:
            named = "--target" if _TARGET.fullmatch(left[0]) else "--ptx" if _VERSION.fullmatch(left[0]) else ""
            help = (
                f"; did you mean '{named} {left[0]}'?" if any(named in a.option_strings for a in self._actions) else ""
            )
            self.error(f"unexpected argument '{left[0]}'{help}")
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
    """Return the error for an unknown option. The dashes do not count when the nearest option is sought."""
    known = {o.lstrip("-"): o for a in actions for o in a.option_strings if o.startswith("--")}
    near = nearest(name.lstrip("-"), known)
    return f"unknown option '{visible(name)}'" + (f"; did you mean '{known[near[0]]}'?" if near else "")


class _Once(argparse.Action):
    """Store a value. argparse would silently keep the last of several."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        given = vars(namespace).setdefault("given", set())
        if self.dest in given:
            parser.error(f"{option_string} was given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def readable(arguments: Sequence[str]) -> list[str]:
    """Return arguments as argparse understands them: a negative number is not an option, and `help` becomes --help."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    return [" " + a if _NEGATIVE.match(a) else a for a in arguments]


def parser_of(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of a command line: that of the given command, or of all commands if there is no such
    command."""
    parser = _Parser(
        prog="ptxspec",
        description=ABOUT,
        epilog="Exit codes: 0: the answer is yes, or the work is done; 1: the answer is no, or errors were found; 2: "
        "the command line is wrong, a name is unknown, or something could not be read or run.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version")
    root = "the folder that contains spec/ and templates/; by default that of the installed package"
    parser.add_argument("--root", type=Path, metavar="DIR", help=root)
    complete(parser, "")
    parser.set_defaults(run=_overview)
    # Without `prog`, argparse would format a usage text to find it.
    commands = parser.add_subparsers(metavar="command", parser_class=_Parser, prog=parser.prog)
    given = _command(arguments)
    for name in [given] if given in COMMANDS else COMMANDS:
        p = commands.add_parser(name, help=COMMANDS[name], description=COMMANDS[name])
        # A default would replace the value given before the command.
        p.add_argument("--root", type=Path, metavar="DIR", default=argparse.SUPPRESS, help=root)
        if name == given:
            importlib.import_module(f".{name.replace('-', '_')}", __package__).configure(p)
            complete(p, name)
    return parser


def _overview(options: argparse.Namespace) -> int:
    """Print an overview of the commands. This is what `ptxspec` without a command does."""
    print("\n".join(overview(COMMANDS, terminal.width(most=100))))
    return OK


def _command(arguments: Sequence[str]) -> str:
    """Return the first argument that is neither an option nor the value of one."""
    for i, a in enumerate(arguments):
        if not a.startswith("-") and (i == 0 or arguments[i - 1] != "--root"):
            return a
    return ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"ptxspec {release() or '(unknown version: not installed)'}")
        parser.exit()

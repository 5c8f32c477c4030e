"""The commands. Each is a module of its name: `configure` adds its arguments, and `run` does the work and returns the
exit code."""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
from collections.abc import Callable, Iterator

from .. import roots, terminal
from ..files import BoundedStream, standard_input
from ..query.database import Database

# Exit codes. A reader that leaves early has not seen the verdict: the code is then 128 + SIGPIPE, as in shells.
OK, NO, MISUSE, READER_LEFT = 0, 1, 2, 141

# The help of --target.
TARGET = "a target such as sm_90; compute_90, 9.0, H100, hopper and native (this machine's GPU) are accepted too"


def database(options: argparse.Namespace) -> Database:
    """Return the database of the root that a command works on."""
    return Database.read(roots.find(options.root).data)


def target_named(options: argparse.Namespace) -> str | None:
    """Return the value of --target as ptxas spells it. Raises PtxspecError."""
    return None if options.target is None else database(options).target(options.target)


def lines_given() -> Iterator[tuple[int, str]]:
    """Yield the lines of standard input that are not empty, with their numbers. A comment starts with # and is left
    out."""
    text = BoundedStream(standard_input(), "<stdin>").read().decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        if said := line.partition("#")[0].strip():
            yield number, said


def positive(text: str) -> int:
    """Return a positive number that an option was given."""
    if not text.strip().isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text.strip()}' is not a positive whole number")
    return int(text)


def counted(n: int, what: str) -> str:
    """Return a number with its noun, in the plural where it is not 1."""
    return f"{n:,} {what}{'s' * (n != 1)}"


@contextlib.contextmanager
def keeping_everything() -> Iterator[None]:
    """Turn garbage collection off, for a command that keeps everything that it reads and makes until it ends. The
    collector would take a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # Everything counts as old from here on, so that the collector does not search it at once.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a message on a terminal while something takes more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    from rich.console import Console

    status = Console(file=terminal.as_it_is(sys.stderr)).status(what)
    timer = Timer(1, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on a terminal, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=terminal.as_it_is(sys.stderr)), transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)

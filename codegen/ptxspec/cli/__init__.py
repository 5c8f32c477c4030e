"""The commands, grouped by what they need: each `configure_NAME` adds a command's arguments and says what runs it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

# Exit codes. A reader that leaves early has not seen the verdict: that is 128 + SIGPIPE, as shells say it.
OK, NO, MISUSE, READER_LEFT = 0, 1, 2, 141


def counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)

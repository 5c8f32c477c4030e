"""ptxas as the judge of what may be written where. It needs no GPU: nothing is assembled, only parsed and checked."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

Pair = tuple[str, str]

# The registers of all files, by types that every PTX version has, and their names.
REGISTERS = {"b8": "%y", "b16": "%h", "b32": "%r", "b64": "%b", "f32": "%f", "f64": "%d", "pred": "%p"}

# An instruction that is wrong in every PTX version, placed last. Its message proves that ptxas checked all lines. Since
# the file never passes, ptxas neither assembles nor compares its -arch with the file's target: one command checks all
# targets.
CANARY = "exit.canary;"

HEADER = (
    ".version {ptx}\n.target {target}\n.entry judge {{\n"
    + " ".join(f".reg .{type} {name}<16>;" for type, name in REGISTERS.items())
    + "\n"
)
FOOTER = "\n}\n"
FIRST_LINE = HEADER.count("\n") + 1

MESSAGE = re.compile(r"^ptxas (?:.*, line (?P<line>\d+); )?(?P<severity>error|fatal)\s*: (?P<text>.*)$", re.MULTILINE)

_PLACE = re.compile(rb"[/\\](\d+\.ptx, line \d+); error")
# Seconds after which ptxas counts as hung, with many statements and when asked for its version; and how many bytes of
# the version are read.
LIMIT = 600
_SOON, _SAID = 30, 1 << 16
_CRASH = "ptxas itself crashed"
_END = b"ptxas fatal   : Ptx assembly aborted due to errors"

# Braces are only allowed around vectors.
STATEMENT = re.compile(r"(?:[^{};\n]|\{[^{};\n]*\})+;")
# Several statements, with registers of their own.
BLOCK = re.compile(rf"\{{(?: {STATEMENT.pattern})+ \}}")


class PtxasError(RuntimeError):
    """An error for a ptxas that could not be run, or whose output is not understood."""


class UnsupportedTarget(ValueError):
    """An error for a target, a PTX version or a pair of them that this ptxas refuses; no instruction was checked."""


def find_ptxas(explicit: Path | None = None) -> Path | None:
    """Return the path of the given ptxas, else of the one in the wheel beside the running Python, else of the one on
    PATH."""
    if explicit is not None:
        # A name without a folder would be searched for on PATH.
        return explicit.absolute() if explicit.is_file() else None
    if (candidate := next(_in_wheels(), None)) is not None:
        return candidate
    found = shutil.which("ptxas")
    return Path(found) if found else None


def _in_wheels() -> Iterator[Path]:
    """Yield the wheels' programs. Many wheels share the namespace `nvidia`; from CUDA 13 on the folder is named after
    the release."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for folder in ("cu[0-9]*", "cuda_nvcc"):
            yield from sorted(Path(place).glob(f"{folder}/bin/ptxas*"), reverse=True)


def version(ptxas: Path) -> str:
    """Return the version as NVIDIA numbers it: `13.5.37`. Raises PtxasError for a program that prints none."""
    output = _beginning([str(ptxas), "--version"])
    if match := re.search(r"\bV(\d+(?:\.\d+)+)", output):
        return match[1]
    first = output.strip().partition("\n")[0][:100]
    raise PtxasError(
        f"no ptxas: with --version it names no version of CUDA's{f', but says {first!r}' if first else ''}"
    )


def _beginning(command: list[str]) -> str:
    """Return the beginning of a program's output. A program other than ptxas may print anything, run without end, or
    start others."""
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        ) as started:  # fmt: skip
            timer = threading.Timer(_SOON, _end, [started])
            timer.start()
            try:
                assert started.stdout
                return started.stdout.read(_SAID).decode("utf-8", "replace")
            finally:
                timer.cancel()
                _end(started)
    except OSError as error:
        raise PtxasError(f"cannot be run: {error.strerror or error}") from None


def _end(started: subprocess.Popen[bytes]) -> None:
    """End a program and all programs that it started, where the system keeps track of these."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            started.kill()
        else:
            os.killpg(started.pid, signal.SIGKILL)


class Sheet:
    """Statements or blocks to be checked together, each on a line of its own. Checking on many targets is quick once a
    sheet is written."""

    def __init__(self, statements: Sequence[str]) -> None:
        self.count = len(statements)
        self.text = "\n".join([*statements, CANARY])
        # Anything but one statement would change how the lines after it are read. Without vectors this check is quick.
        counts = {self.text.count("\n"), self.text.count(";\n"), self.text.count(";") - 1}
        if counts != {self.count} or "{" in self.text or "}" in self.text:
            for s in statements:
                if not (STATEMENT.fullmatch(s) or BLOCK.fullmatch(s)):
                    raise ValueError(f"not one instruction on one line, ended by a semicolon, nor a block: {s!r}")

    @property
    def statements(self) -> list[str]:
        return self.text.split("\n")[:-1]


def judge(ptxas: Path, statements: Sequence[str], target: str, ptx: str) -> list[list[str]]:
    """Return the errors of each statement for that target and PTX version; an empty list means that it is accepted.
    Raises UnsupportedTarget where ptxas refuses the target, the PTX version, or the pair."""
    found: list[list[str]] = []
    while True:
        rest = statements[len(found) :]
        verdicts, fatal = _judge_once(ptxas, rest, target, ptx)
        if fatal is None:
            return found + verdicts
        # Statements after a fatal message only look accepted. If the message has no line, bisection finds the culprit.
        culprit = next((index for index, messages in enumerate(verdicts) if fatal in messages), None)
        if culprit is None and len(rest) == 1:
            return [*found, [*verdicts[0], fatal]]
        if culprit is None:
            middle = len(rest) // 2
            return found + judge(ptxas, rest[:middle], target, ptx) + judge(ptxas, rest[middle:], target, ptx)
        found += verdicts[: culprit + 1]


def refused(ptxas: Path, pairs: Sequence[Pair]) -> dict[Pair, str]:
    """Return the pairs that this ptxas does not know, because it is of another CUDA release, with its message for
    each."""
    said, _ = _output(ptxas, Sheet([]), pairs)
    places = set(_PLACE.findall(said))
    found: dict[Pair, str] = {}
    # Targets and versions that it knows in no pair.
    unknown: dict[str, str] = {}
    for i, pair in enumerate(pairs):
        lines = [line for line in range(1, FIRST_LINE + 1) if b"%d.ptx, line %d" % (i, line) in places]
        if lines == [FIRST_LINE]:
            continue
        text = next((unknown[name] for name in pair if name in unknown), None)
        try:
            # An unknown one confuses messages about others beside it: each is checked by itself.
            if text is None:
                judge(ptxas, [], *pair)
        except UnsupportedTarget as e:
            text = str(e)
            if match := re.match(r"Unsupported \.(version|target) ", text):
                unknown[pair[match[1] == "version"]] = text
        if text is not None:
            found[pair] = text
    return found


def unexpected(
    ptxas: Path, sheet: Sheet, accepted: Mapping[Pair, Collection[int]]
) -> Iterator[tuple[Pair, int, list[str]]]:
    """Yield the statements of a sheet with an unexpected verdict: the pair, the index of the statement, and the
    messages. There are no messages if a statement is accepted that is not among that pair's `accepted` ones.

    As `judge`, but one command checks all pairs, and messages are only parsed where something is unexpected."""
    output, _ = _output(ptxas, sheet, list(accepted))
    found = set(_PLACE.findall(output))
    canaries = {b"%d.ptx, line %d" % (i, FIRST_LINE + sheet.count) for i in range(len(accepted))}
    # The lines before the first statement must not be wrong either.
    fine = (
        b"%d.ptx, line %d" % (i, line)
        for i, places in enumerate(accepted.values())
        for line in (*range(FIRST_LINE), *(FIRST_LINE + place for place in places))
    )
    wrong = sum(sheet.count - len(places) for places in accepted.values())
    complete = canaries <= found and b"fatal" not in output.replace(_END, b"")
    if complete and len(found) == wrong + len(canaries) and found.isdisjoint(fine):
        return
    for pair, places in accepted.items():
        for place, messages in enumerate(judge(ptxas, sheet.statements, *pair)):
            if (place in places) == bool(messages):
                yield pair, place, messages


def _judge_once(ptxas: Path, statements: Sequence[str], target: str, ptx: str) -> tuple[list[list[str]], str | None]:
    """Return the messages for each statement, and the fatal one if ptxas stopped before the end."""
    said, crashed = _output(ptxas, Sheet(statements), [(target, ptx)])
    output = said.decode("utf-8", "replace")
    verdicts: list[list[str]] = [[] for _ in (*statements, CANARY)]
    fatal = None
    index = None
    for message in MESSAGE.finditer(output):
        text = message["text"]
        index = int(message["line"]) - FIRST_LINE if message["line"] else None
        if index is not None and index < 0:
            raise UnsupportedTarget(text)
        if index is not None and index < len(verdicts):
            verdicts[index].append(text)
        if fatal is None and message["severity"] == "fatal":
            fatal = text
    canary = verdicts.pop()
    if canary:
        return verdicts, None
    if crashed and fatal is None and statements:
        # Statements after the last message were not checked.
        fatal = _CRASH
        if index is not None:
            verdicts[index].append(fatal)
    if fatal is None or not statements:
        raise PtxasError(f"ptxas judged not every statement for {target} and PTX {ptx}:\n{output}")
    return verdicts, fatal


def _output(ptxas: Path, sheet: Sheet, pairs: Sequence[Pair]) -> tuple[bytes, bool]:
    """Return the output for a sheet on one pair after another, and whether ptxas crashed. One command checks all pairs,
    since starting it takes longer than checking a thousand statements. Output goes to a file: each message is written
    alone, and through a pipe each would wake this process."""
    with tempfile.TemporaryDirectory() as directory:
        sources = [Path(directory, f"{i}.ptx") for i in range(len(pairs))]
        for source, (target, ptx) in zip(sources, pairs, strict=True):
            source.write_text(HEADER.format(ptx=ptx, target=target) + sheet.text + FOOTER, encoding="utf-8")
        said = Path(directory, "said")
        with said.open("wb") as stream:
            done = _run([str(ptxas), *map(str, sources), "-o", str(Path(directory, "never-written"))], stream)
        return said.read_bytes(), not 0 <= done.returncode < 256


def _run(command: list[str], output: BinaryIO) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        raise PtxasError(f"no answer after {LIMIT} seconds; asked for {len(command) - 3} files of PTX") from None
    except OSError as error:
        raise PtxasError(f"cannot be run: {error.strerror or error}") from None

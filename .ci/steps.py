"""The steps of CI, and what came of them: each runs whatever became of those before it, so that one run tells all that
is wrong. What a step printed is shown where it failed, or was ended: by its limit, or with the whole run. Exit code 1
where any was."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Everything is installed from .ci/requirements.txt, build tools too, and the README's two commands find it there: what
# is released tomorrow fails no change of today. .ci/constraints.txt has the same versions for everybody else, and
# `python .ci/dependencies.py renew` renews both.
LOCKED = "pip install --quiet --require-hashes -r .ci/requirements.txt"
# pip takes the opposite of what this is called.
FROM_LOCK = "export PIP_NO_INDEX=1 PIP_NO_BUILD_ISOLATION=0; "
# A wheel larger than all else, into a folder of its own and without what it depends on. Where it is not to be had, the
# tests say so and are skipped.
TRITON = (
    'folder=$(mktemp -d); pip install --quiet --no-deps --target "$folder" triton==3.9.0; '
    'TRITON_INTERPRET=1 PYTHONPATH="$folder" pytest -n 0 tests/interpreted; code=$?; rm -rf "$folder"; exit $code'
)
STEPS = {
    "locked dependencies": LOCKED,
    "README: generate": FROM_LOCK + "pip install --quiet -c .ci/constraints.txt -e . && ptxspec generate",
    "generated/ as it is committed": "git diff --exit-code --stat -- generated && "
    'test -z "$(git status --porcelain -- generated)"',
    "README: pytest": FROM_LOCK + "pip install --quiet -c .ci/constraints.txt -e '.[test]' && pytest",
    "ruff check": "ruff check .",
    "ruff format": "ruff format --check .",
    "mypy": "mypy",
    "imports go one way": "lint-imports --no-cache",
    "Triton's interpreter": TRITON,
    "sweeps": "pytest -m exhaustive",
}
# Minutes after which a step is ended: several times what the others take, and one that hangs leaves time for these.
LIMITS = {"sweeps": 79.0, "Triton's interpreter": 5.0}
LIMIT = 20.0
# Seconds in which a step that is ended may tell what there is: pytest waits for the tests that its processes are in.
GRACE = 90.0
SLOWEST = 10
SHOWN = 30_000  # characters of what a failed step printed


@dataclass
class Step:
    """What came of one: its wall time in seconds, the memory of its largest process in bytes, and its tests. `ended`:
    by whom, where it did not come to its own end."""

    name: str
    code: int
    seconds: float
    memory: int
    ended: str = ""
    tests: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    durations: list[tuple[float, str]] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{self.tests[kind]:,} {kind}" for kind in ("passed", "failed", "skipped") if self.tests)
        verdict = "ended" if self.ended else "ok" if self.ok else f"exit {self.code}"
        line = f"{verdict:8}{_clock(self.seconds):>7} {self.memory / 1e9:6.2f} GB  {self.name}"
        return ": ".join(filter(None, [line, self.ended, counts]))

    @property
    def ok(self) -> bool:
        return not self.code and not self.ended


def run(name: str, command: str, folder: Path, asked: Sequence[int], minutes: float = LIMIT) -> Step:
    """One step, in a process group of its own, which ends as soon as this process is asked to end, or at its limit."""
    log, report = folder / "log", folder / "tests.xml"
    report.unlink(missing_ok=True)
    options = f"-o junit_family=xunit1 {shlex.quote(f'--junitxml={report}')}"
    environment = os.environ | {"PYTEST_ADDOPTS": options}
    start = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["bash", "-c", command], stdout=out, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        found, ended = _waited(process.pid, 60 * minutes, asked), ""
        if found is None:
            ended = f"by {signal.Signals(asked[0]).name}" if asked else f"by its limit of {minutes:g} minutes"
            found = _ended(process.pid)
    status, usage = found
    code = os.waitstatus_to_exitcode(status)
    step = Step(name, code, time.monotonic() - start, usage.ru_maxrss * 1024, ended)
    with contextlib.suppress(FileNotFoundError, ET.ParseError):
        _read(report, step)
    if not step.ok:
        text = log.read_text("utf-8", "replace")
        print(text if len(text) <= SHOWN else f"[...]\n{text[-SHOWN:]}")
    return step


def _waited(pid: int, seconds: float, asked: Sequence[int] = ()) -> tuple[int, Any] | None:
    """The status and the usage of a process; None where it is not done by then, or this one is asked to end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not asked:
        done, *found = os.wait4(pid, os.WNOHANG)
        if done:
            return found[0], found[1]
        time.sleep(0.05)
    return None


def _ended(pid: int) -> tuple[int, Any]:
    """End a process with its group: as a terminal interrupts them, so that pytest writes its report, then by force."""
    os.killpg(pid, signal.SIGINT)
    found = _waited(pid, GRACE)
    with contextlib.suppress(ProcessLookupError):  # nothing is left
        os.killpg(pid, signal.SIGKILL)
    return found or os.wait4(pid, 0)[1:]


def _read(report: Path, step: Step) -> None:
    """What pytest says of its tests."""
    for case in ET.parse(report).iter("testcase"):
        if case.get("name") is None:
            continue  # the one that was interrupted
        kinds = {child.tag for child in case}
        kind = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        test = f"{case.get('file') or case.get('classname')}::{case.get('name')}"
        step.tests[kind] += 1
        step.durations.append((float(case.get("time", 0)), test))
        if kind == "failed":
            step.failed.append(test)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def summary(steps: list[Step], left: list[str]) -> str:
    """Every step with its time, memory and tests; the slowest tests, and those that failed."""
    lines = ["", "Summary: exit code, minutes, memory of the largest process, step"]
    lines += [f"  {step}" for step in steps] + [f"  not begun                {name}" for name in left]
    failing = sum(not step.ok for step in steps) + len(left)
    verdict, total = f"{failing} failed" if failing else "ok", _clock(sum(step.seconds for step in steps))
    lines.append(f"  {verdict:8}{total:>7}            all {len(steps) + len(left)} steps")
    slowest = sorted((each for step in steps for each in step.durations), reverse=True)[:SLOWEST]
    if slowest:
        lines += ["", "Slowest tests, in seconds:", *(f"  {seconds:7.1f}  {test}" for seconds, test in slowest)]
    failed = [test for step in steps for test in step.failed]
    if failed:
        lines += ["", "Failed tests:", *(f"  {test}" for test in failed)]
    return "\n".join(lines)


def main() -> int:
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: asked.append(number))
    steps: list[Step] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, command in STEPS.items():
            if asked:
                break
            print(f"{name} ...", flush=True)
            steps.append(run(name, command, Path(folder), asked, LIMITS.get(name, LIMIT)))
            # Without the dependencies nothing else could run.
            if command == LOCKED and not steps[-1].ok:
                break
    left = list(STEPS)[len(steps) :]
    print(summary(steps, left), flush=True)
    return 1 if left or not all(step.ok for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main())

"""The steps of CI, and what came of them: each runs whatever became of those before it, so that one run tells all that
is wrong. What a step printed is shown where it failed. Exit code 1 where any did."""

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
from dataclasses import dataclass, field
from pathlib import Path

# Everything is installed from .ci/requirements.txt, build tools too, and the README's two commands find it there: what
# is released tomorrow fails no change of today. `pip install uv` and, in one line, `uv pip compile --upgrade
# --universal --generate-hashes --python-version 3.11 --extra test pyproject.toml -o .ci/requirements.txt` renew it.
LOCKED = "pip install --quiet --require-hashes -r .ci/requirements.txt"
# pip takes the opposite of what this is called.
FROM_LOCK = "export PIP_NO_INDEX=1 PIP_NO_BUILD_ISOLATION=0; "
STEPS = {
    "locked dependencies": LOCKED,
    "README: generate": FROM_LOCK + "pip install --quiet -e . && ptxspec generate",
    "generated/ as it is committed": "git diff --exit-code --stat -- generated && "
    'test -z "$(git status --porcelain -- generated)"',
    "README: pytest": FROM_LOCK + "pip install --quiet -e '.[test]' && pytest",
    "ruff check": "ruff check .",
    "ruff format": "ruff format --check .",
    "mypy": "mypy",
    "sweeps": "pytest -m exhaustive",
}
SLOWEST = 10
SHOWN = 30_000  # characters of what a failed step printed


@dataclass
class Step:
    """What came of one: its wall time in seconds, the memory of its largest process in bytes, and its tests."""

    name: str
    code: int
    seconds: float
    memory: int
    tests: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    durations: list[tuple[float, str]] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{self.tests[kind]:,} {kind}" for kind in ("passed", "failed", "skipped") if self.tests)
        verdict = "ok" if not self.code else f"exit {self.code}"
        line = f"{verdict:8}{_clock(self.seconds):>7} {self.memory / 1e9:6.2f} GB  {self.name}"
        return f"{line}: {counts}" if counts else line


def run(name: str, command: str, folder: Path) -> Step:
    """One step, in a process group of its own, which ends with this process."""
    log, report = folder / "log", folder / "tests.xml"
    report.unlink(missing_ok=True)
    options = f"-o junit_family=xunit1 {shlex.quote(f'--junitxml={report}')}"
    environment = os.environ | {"PYTEST_ADDOPTS": options}
    start = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["bash", "-c", command], stdout=out, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    code = os.waitstatus_to_exitcode(status)
    step = Step(name, code, time.monotonic() - start, usage.ru_maxrss * 1024)
    with contextlib.suppress(FileNotFoundError, ET.ParseError):
        _read(report, step)
    if code:
        text = log.read_text("utf-8", "replace")
        print(text if len(text) <= SHOWN else f"[...]\n{text[-SHOWN:]}")
    return step


def _read(report: Path, step: Step) -> None:
    """What pytest says of its tests."""
    for case in ET.parse(report).iter("testcase"):
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
    lines += [f"  {step}" for step in steps] + [f"  not finished             {name}" for name in left]
    failing = sum(1 for step in steps if step.code) + len(left)
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
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    steps: list[Step] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, command in STEPS.items():
                print(f"{name} ...", flush=True)
                steps.append(run(name, command, Path(folder)))
                # Without the dependencies nothing else could run.
                if command == LOCKED and steps[-1].code:
                    break
        except KeyboardInterrupt:
            pass
    left = list(STEPS)[len(steps) :]
    print(summary(steps, left), flush=True)
    return 1 if left or any(step.code for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main())

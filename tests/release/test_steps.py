""".ci/steps.py: every step runs, and what came of all stands at the end."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from helpers import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="CI is on Linux")
STEPS = ROOT / ".ci/steps.py"
# What pytest writes where PYTEST_ADDOPTS says, in a line of the shell.
TESTS = """echo '<testsuites><testsuite>\
<testcase file="tests/test_a.py" name="test_one[3]" time="12.5"><failure message="no"/></testcase>\
<testcase file="tests/test_a.py" name="test_two" time="0.25"/>\
<testcase file="tests/test_b.py" name="test_three" time="0"><skipped/></testcase>\
<testcase file="tests/test_b.py" name="test_four" time="1"><error message="in teardown"/></testcase>\
<testcase time="0"/>\
</testsuite></testsuites>' > "${PYTEST_ADDOPTS##*--junitxml=}"; """


@pytest.fixture
def steps() -> ModuleType:
    found = importlib.util.spec_from_file_location("steps", STEPS)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules["steps"] = module
    found.loader.exec_module(module)
    # No test waits for a machine that is busy.
    module.GRACE = 100.0
    return module


def ran(steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **commands: str) -> str:
    """Run these steps, and return what is printed, which ends with the exit code."""
    monkeypatch.setattr(steps, "STEPS", commands)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        code = steps.main()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return f"{capsys.readouterr().out}exit {code}"


def test_a_failed_step_stops_no_other(
    steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = {"first": "echo in vain", "second": f"{TESTS} echo 'what is wrong'; exit 3", "third": "true"}
    out = ran(steps, capsys, monkeypatch, **commands)
    before, _, after = out.partition("\nSummary: ")
    assert "what is wrong" in before and "in vain" not in out
    rows = [line.split() for line in after.splitlines()[1:5]]
    assert [(r[0], r[-1]) for r in rows] == [("ok", "first"), ("exit", "skipped"), ("ok", "third"), ("1", "steps")]
    assert "second: 1 passed, 2 failed, 1 skipped" in after
    slowest, failed = after.partition("Slowest tests, in seconds:\n")[2].split("\n\nFailed tests:\n")
    assert slowest.splitlines()[:2] == [
        "     12.5  tests/test_a.py::test_one[3]",
        "      1.0  tests/test_b.py::test_four",
    ]
    assert failed == "  tests/test_a.py::test_one[3]\n  tests/test_b.py::test_four\nexit 1"


def test_all_is_well(steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = ran(steps, capsys, monkeypatch, only="exec head -c 60000000 /dev/zero | tail -c 50000000 > /dev/null")
    line = out.partition("step\n")[2].splitlines()[0].split()
    assert line[0] == "ok" and float(line[2]) >= 0.04 and out.endswith("all 1 steps\nexit 0")


def test_without_what_is_installed_nothing_else_is_tried(
    steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOCKED", "false")
    out = ran(steps, capsys, monkeypatch, locked="false", tests="echo run > ran")
    assert "not begun                tests\n  2 failed" in out and out.endswith("exit 1")


# Until it is interrupted, as pytest is; then it reports.
HANGS = f"trap {shlex.quote(TESTS + 'echo reported; exit 0')} INT; echo begun; "


def test_a_run_that_is_ended_says_what_there_is(
    steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second step has its own process end the run."""
    out = ran(steps, capsys, monkeypatch, first="false", second=f"{HANGS}kill -TERM $PPID; sleep 100", third="true")
    before, _, after = out.partition("\nSummary: ")
    assert "begun\nreported\n" in before and "third" not in before
    assert "  first\n" in after and "second: by SIGTERM: 1 passed, 2 failed, 1 skipped\n" in after
    assert "not begun                third\n  3 failed" in after and "tests/test_a.py::test_one[3]" in after
    assert out.endswith("exit 1")


def test_a_step_has_a_limit_and_the_next_one_runs(
    steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Hours pass as soon as it is seen that the step has begun."""
    assert {*steps.LIMITS} <= {*steps.STEPS}
    begun = tmp_path / "begun"
    passed = [0]

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        passed[:] = [9999 * begun.exists()]

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed[0], sleep=sleep)
    monkeypatch.setattr(steps, "time", clock)
    monkeypatch.setattr(steps, "LIMITS", {"hangs": 90.0})
    out = ran(steps, capsys, monkeypatch, hangs=f"{HANGS}touch {shlex.quote(str(begun))}; sleep 100", after="true")
    before, _, after = out.partition("\nSummary: ")
    assert "begun\nreported\n" in before
    assert "hangs: by its limit of 90 minutes: 1 passed, 2 failed, 1 skipped\n" in after
    assert [line.split()[0] for line in after.splitlines()[1:4]] == ["ended", "ok", "1"] and out.endswith("exit 1")


def test_a_step_that_does_not_let_itself_be_interrupted_is_killed(
    steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LIMIT", 0.0)
    monkeypatch.setattr(steps, "GRACE", 0.0)
    out = ran(steps, capsys, monkeypatch, deaf="trap '' INT; sleep 100")
    assert "deaf: by its limit of 0 minutes\n" in out and out.endswith("exit 1")


def test_what_ends_ci_ends_its_steps_and_waits_for_them(tmp_path: Path) -> None:
    """.ci/run, with stand-ins for all that it calls: the environment that it makes is gone behind it."""
    commands, rest = tmp_path / "bin", tmp_path / "rest"
    for folder in (commands, rest, tmp_path / ".ci"):
        folder.mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    steps = "trap 'echo told; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"
    for name in ("python3", "chromium", "node", "zsh", "fish"):
        (commands / name).write_text(f'#!/bin/bash\n[ "$1" = -m ] && exit\n{steps}\n', "utf-8")
        (commands / name).chmod(0o755)
    path = os.pathsep.join([str(commands), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "TMPDIR": str(rest)}
    done = subprocess.run(
        [tmp_path / ".ci/run"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "told\n", "") and not list(rest.iterdir())


def test_what_is_tried_is_installed_from_the_lock(steps: ModuleType) -> None:
    first, *others = steps.STEPS.values()
    assert first == steps.LOCKED and "--require-hashes" in first
    assert "--no-deps" in steps.TRITON and "triton==" in steps.TRITON
    assert all(c.startswith(steps.FROM_LOCK) for c in others if "pip" in c and c != steps.TRITON)
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["markers"]
    assert "pytest -m exhaustive" in others and any(m.startswith("exhaustive:") for m in markers)

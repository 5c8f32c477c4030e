""".ci/steps.py: every step runs, and what came of all stands at the end."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
import tomllib
from types import ModuleType

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
</testsuite></testsuites>' > "${PYTEST_ADDOPTS##*--junitxml=}"; """


@pytest.fixture
def steps() -> ModuleType:
    found = importlib.util.spec_from_file_location("steps", STEPS)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules["steps"] = module
    found.loader.exec_module(module)
    return module


def ran(steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **commands: str) -> str:
    """What is printed of these steps; it ends with the exit code."""
    monkeypatch.setattr(steps, "STEPS", commands)
    before = signal.getsignal(signal.SIGTERM)
    try:
        code = steps.main()
    finally:
        signal.signal(signal.SIGTERM, before)
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
    assert line[0] == "ok" and 0.04 <= float(line[2]) < 0.1 and out.endswith("all 1 steps\nexit 0")


def test_without_what_is_installed_nothing_else_is_tried(
    steps: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LOCKED", "false")
    out = ran(steps, capsys, monkeypatch, locked="false", tests="echo run > ran")
    assert "not finished             tests\n  2 failed" in out and out.endswith("exit 1")


def test_a_run_that_is_ended_says_what_there_is() -> None:
    """The second step has its own process end the run."""
    program = (
        f"import runpy; found = runpy.run_path({str(STEPS)!r})\n"
        "steps = {'first': 'false', 'second': 'kill -TERM $PPID; sleep 100', 'third': 'true'}\n"
        "found['STEPS'].clear(); found['STEPS'].update(steps)\n"
        "raise SystemExit(found['main']())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    after = done.stdout.partition("Summary: ")[2]
    assert done.returncode == 1 and "  first\n" in after and "not finished             second\n" in after
    assert "third" in after


def test_what_is_tried_is_installed_from_the_lock(steps: ModuleType) -> None:
    first, *others = steps.STEPS.values()
    assert first == steps.LOCKED and "--require-hashes" in first
    assert all(command.startswith(steps.FROM_LOCK) for command in others if "pip" in command)
    markers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["markers"]
    assert "pytest -m exhaustive" in others and any(m.startswith("exhaustive:") for m in markers)

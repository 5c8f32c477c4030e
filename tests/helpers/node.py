"""The manual's scripts in Node: programs that run once, and the evaluator in a process that answers many questions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ptxspec.model import Variant

SCRIPT = Path(__file__).with_name("evaluator.js")
# What .ci/run sets, so that nothing is left out there.
REQUIRED = os.environ.get("PTXSPEC_BROWSER") == "required"


@cache
def node() -> str | None:
    """The program, where there is one that knows what browsers have known since 2020."""
    found = shutil.which("node")
    if found is None:
        return None
    test = subprocess.run(
        [found, "-e", "let x = null; x ??= 1n; Object.hasOwn({}, x)"], capture_output=True, timeout=60
    )
    return found if test.returncode == 0 else None


def needed() -> str:
    """Node; without it the test is left out, or fails where it must run."""
    found = node()
    if found is None:
        reason = "Node (of version 16.9 or newer) is not there to run the manual's JavaScript"
        if REQUIRED:
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def printed(program: str, given: object, *arguments: str) -> Any:
    """The JSON that a program prints that reads the JSON given."""
    done = subprocess.run(
        [needed(), "-e", program, *arguments],
        input=json.dumps(given), capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    return json.loads(done.stdout)


class Evaluator:
    """Asks the evaluator of a manual."""

    def __init__(self, manual: Path) -> None:
        self._process = subprocess.Popen(
            [needed(), str(SCRIPT), str(manual)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, ask: str, **about: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"ask": ask, **about}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"Node ended at {ask} of {about}"[:500]
        return json.loads(line)

    def close(self) -> None:
        self._process.communicate()


def named(v: Variant) -> dict[str, Any]:
    """A variant, as the evaluator is asked about it."""
    return {"opcode": v.opcode, "spelling": v.spelling, "operands": v.operands}

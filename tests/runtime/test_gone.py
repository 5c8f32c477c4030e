"""Tests of names that are gone: each compiled kernels when it was called, and says what takes its place."""

from __future__ import annotations

import os
import subprocess
import sys

import ptxemu
import pytest
from helpers.project import Project

COMMAND = "pip install ./generated/native"


def test_warm_names_the_command_that_builds_kernels() -> None:
    with pytest.raises(AttributeError, match=COMMAND):
        _ = ptxemu.warm


@pytest.mark.exhaustive
def test_the_switch_is_no_longer_asked() -> None:
    for value in ("0", "1", ""):
        done = subprocess.run(
            [sys.executable, "-c", "import ptxemu"],
            env={**os.environ, "PTXEMU_ACCELERATOR": value}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stderr.count("\n") == 1 and COMMAND in done.stderr and not done.stdout


def test_build_names_the_command(project: Project) -> None:
    for arguments in (("build",), ("build", "--native", "libraries", "add")):
        done = project.run(*arguments)
        assert done.code == 2 and COMMAND in done.err

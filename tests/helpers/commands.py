"""The command line on the repository itself, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ptxspec.__main__ import main

from helpers import ROOT

# A command and its arguments: the exit code, and what is printed to either stream.
Run = Callable[..., tuple[int, str, str]]


def runner(capture: pytest.CaptureFixture[str]) -> Run:
    def run(command: str, *arguments: str | Path) -> tuple[int, str, str]:
        capture.readouterr()
        try:
            code = main([command, "--root", str(ROOT), *map(str, arguments)])
        except SystemExit as e:
            code = int(e.code or 0)
        out, err = capture.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run

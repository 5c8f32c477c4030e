"""Measurements as tables of text, for the terminal and for spec/observed/speed.yaml."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

COMMAND = "pytest tests/benchmarks --record"
# What is said of a family's kernels, with NumPy only and with the accelerator.
FIGURES = ("slowest", "ns", "x add", "median", "x own", "x SoftFloat", "specials")


@dataclass
class Table:
    """Rows of cells under columns; an empty cell says that there is nothing to measure, or that nothing is asked."""

    title: str
    note: str
    columns: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)

    def lines(self) -> list[str]:
        """As text of a fixed width."""
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        return [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in (self.columns, *self.rows)
        ]


def machine(peers: dict[str, str]) -> dict[str, str]:
    """Return what the figures depend on. `peers` maps each peer's name in the table to the version of its package."""
    versions = {peer.split()[0]: version for peer, version in peers.items()}
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": _system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}",
        "numpy": np.__version__,
        "compiler": _compiler(),
        "peers": ", ".join(f"{name} {version}" for name, version in versions.items()) or "none",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{named[0]}, {platform.machine()}" if named else platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def _compiler() -> str:
    try:
        command = [os.environ.get("CC", "cc"), "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "none"


def as_yaml(tables: Sequence[Table], on: dict[str, str]) -> str:
    """The file that the manual's page is made from."""

    def text(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [
        "# yaml-language-server: $schema=../schema/speed.schema.json",
        f"# Written by `{COMMAND}`; do not edit.",
        f"command: {text(COMMAND)}",
        f"date: {text(date.today().isoformat())}",
        "machine:",
        *(f"  {key}: {text(value)}" for key, value in on.items()),
        "tables:",
    ]
    for t in tables:
        lines += [f"  - title: {text(t.title)}", f"    note: {text(t.note)}"]
        lines += [f"    columns: [{', '.join(map(text, t.columns))}]", "    rows:"]
        lines += [f"      - [{', '.join(map(text, row))}]" for row in t.rows]
    return "\n".join(lines) + "\n"

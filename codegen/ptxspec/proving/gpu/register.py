"""spec/observed/recordings.yaml: the recordings, and the emulator's agreement with each.

`measured` claims rest on it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ...files import update_text
from ...model import RegisteredRecording, Spec
from ...read.link import read_registered
from . import recording
from .recording import REGISTER
from .run import Report


def register(root: Path, spec: Spec, recorded: recording.CompleteRecording, report: Report) -> bool:
    """Write a report's results for a complete recording, without variants of which a part failed. Return False, and
    write nothing, for a recording outside of the root's tests/recordings."""
    folder = recorded.path.resolve()
    if folder.parent != (root / "tests" / "recordings").resolve():
        return False
    path = folder.relative_to(root.resolve()).as_posix()
    p = recorded.provenance
    found: dict[str, set[tuple[str, int]]] = {"equal": set(), "inside": set(), "unequal": set()}
    for row in report.rows:
        if row.found.count and str(row.variant) not in p["failed"]:
            inside = row.variant.claim == "bounded" and not row.found.outside
            standing = "equal" if row.found.equal else "inside" if inside else "unequal"
            found[standing].add((row.variant.spelling, row.variant.operands))
    entry = RegisteredRecording(
        path, p["gpu"], p["target"], p["driver"], p["compiler"], p["date"],
        *(frozenset(found[s]) for s in ("equal", "inside", "unequal")),
    )  # fmt: skip

    def with_entry() -> str:
        others = [r for r in read_registered(root, spec) if r.path != path]
        return _as_yaml(sorted([*others, entry], key=lambda r: r.path))

    with recording.writing(root / REGISTER):
        update_text(root / REGISTER, with_entry)
    return True


def _as_yaml(recordings: Iterable[RegisteredRecording]) -> str:
    lines = [
        "# yaml-language-server: $schema=../schema/recordings.schema.json",
        "# Written by `ptxspec conformance`; do not edit.",
        "recordings:",
    ]
    for r in recordings:
        lines.append(f"  - path: {json.dumps(r.path)}")
        for name in ("gpu", "target", "driver", "compiler", "date"):
            # Any JSON text is also a YAML text.
            lines.append(f"    {name}: {json.dumps(getattr(r, name))}")
        for name in ("equal", "inside", "unequal"):
            entries = [f"      - {{variant: {s}, operands: {n}}}" for s, n in sorted(getattr(r, name))]
            lines += [f"    {name}:", *entries] if entries else [f"    {name}: []"]
    return "\n".join(lines) + "\n"

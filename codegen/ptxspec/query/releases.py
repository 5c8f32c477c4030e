"""The answers of `targets` and `versions`, as tables and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from .. import terminal
from ..catalog import PtxVersion, Target, names
from .database import Database
from .lists import broken, table


def targets_as_table(db: Database, found: Sequence[str], whole: bool) -> str:
    """Return a table with a line for each target; `whole`: with all of its products."""
    rows = [("target", "capability", "architecture", "PTX", "CUDA", "dropped in", "GPUs")]
    for t in (db.targets[name] for name in found):
        sold = "" if t.base and not whole else names.sold_as(db, t.name, whole)
        rows.append((t.name, t.capability, t.architecture, t.ptx, t.cuda, t.gone, sold))
    notes = [
        "PTX, CUDA: the first versions that support the target; dropped in: the first CUDA release that no longer does"
    ]
    if any(db.targets[name].base for name in found):
        notes.append(
            "code for an architecture-specific target (sm_90a) runs only on GPUs of that capability, and code for a "
            "family-specific target (sm_100f) on GPUs of its family, which --format json lists"
        )
    return "\n".join([*table(rows, terminal.lines_width()), "", *(line for n in notes for line in broken(n))])


def targets_as_json(db: Database, found: Sequence[str]) -> str:
    rows = [_target(db, db.targets[name]) for name in found]
    return _json("targets", rows, _references(db, (s for row in rows for s in (p["source"] for p in row["products"]))))


def _target(db: Database, t: Target) -> dict[str, Any]:
    family = [f.name for f in db.catalog.family(t.name)] if t.kind == "family" else []
    return {
        "target": t.name,
        "kind": t.kind or None,
        "base": t.base or None,
        "runs_on": family or None,
        "capability": t.capability,
        "architecture": t.architecture or None,
        "ptx": t.ptx,
        "cuda": t.cuda or None,
        "gone": t.gone or None,
        "products": [{"name": p.name, "source": p.source} for p in names.products(db, t.name)],
    }


def versions_as_table(db: Database) -> str:
    rows = [("PTX", "CUDA", "driver", "on Windows")]
    rows += [(v.version, v.cuda, v.linux, v.windows) for v in db.versions.values()]
    notes = ["driver: the oldest driver that supports the PTX version, according to NVIDIA's release notes"]
    notes += [
        f"PTX {v.version}: NVIDIA's manual names CUDA {v.listed}, which was never released; {v.cuda} was the first"
        for v in db.versions.values()
        if v.listed
    ]
    return "\n".join([*table(rows), "", *(line for n in notes for line in broken(n))])


def versions_as_json(db: Database) -> str:
    rows = [_version(v) for v in db.versions.values()]
    return _json("versions", rows, _references(db, (v.source for v in db.versions.values() if v.source)))


def _version(v: PtxVersion) -> dict[str, Any]:
    return {
        "ptx": v.version,
        "cuda": v.cuda or None,
        "listed": v.listed or None,
        "driver": {"linux": v.linux or None, "windows": v.windows or None},
        "source": v.source or None,
    }


def _references(db: Database, used: Iterable[str]) -> dict[str, Any]:
    """Return the titles and addresses of the sources that rows name."""
    return {name: db.data["references"][name] for name in dict.fromkeys(used)}


def _json(what: str, rows: Sequence[dict[str, Any]], references: dict[str, Any]) -> str:
    body = ",\n".join("  " + json.dumps(row) for row in rows)
    more = f',\n"references": {json.dumps(references, indent=2)}' if references else ""
    return f'{{"schema": 1, "{what}": [\n{body}\n]{more}}}'

"""The judgements of ptxas and lint on the lines of a text."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ptxspec import Database
from ptxspec.proving.ptxas.asking import CANARY, MESSAGE
from ptxspec.ptx.complaints import ERROR
from ptxspec.query.database import Variant

HEADER = ".version {ptx}\n.target {target}\n.entry k(.param .u64 pp, .param .f32 pf) {{\n{declarations}\n"
NEWEST = ("sm_121a", "9.5")


def lines_refused(ptxas: Path, path: Path, text: str) -> set[int]:
    """The lines of which ptxas complains. The canary proves that it went to the end."""
    path.write_text(text)
    said = subprocess.run([str(ptxas), str(path), "-o", str(path.with_suffix(".o"))], capture_output=True, text=True)
    return {int(m["line"]) for m in MESSAGE.finditer(said.stderr) if m["line"]}


def is_refused(ptxas: Path, path: Path, text: str) -> bool:
    """Return whether ptxas refuses a module for sm_120a, be it without naming the line."""
    path.write_text(text)
    command = [str(ptxas), "-arch=sm_120a", str(path), "-o", str(path.with_suffix(".o"))]
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def lines_in_error(db: Database, text: str, language: str = "ptx") -> set[int]:
    return {f.line for f in db.lint(text, language=language) if f.severity == ERROR}


def disagreements(
    db: Database, ptxas: Path, path: Path, declarations: str, statements: list[str], pair: tuple[str, str] = NEWEST
) -> list[str]:
    target, ptx = pair
    header = HEADER.format(target=target, ptx=ptx, declarations=declarations)
    first = header.count("\n") + 1
    text = header + "\n".join(statements) + f"\n{CANARY}\n}}\n"
    refused = lines_refused(ptxas, path, text)
    last = first + len(statements)
    assert last in refused and min(refused) >= first, "not every statement was judged"
    wrong = lines_in_error(db, text) ^ (refused - {last})
    return [f"{statements[i - first]} is {'refused' if i in refused else 'taken'} by ptxas" for i in sorted(wrong)]


def typical(db: Database, pair: tuple[str, str]) -> list[Variant]:
    """Of each opcode, type and number of operands one variant. Vectors are judged by tests/lint/test_signatures.py."""
    found: dict[tuple[str, str, int], Variant] = {}
    for v in db.available(*pair):
        if any(s.braced for s in v.sources):
            continue
        found.setdefault((v.opcode, v.types[-1], v.operands), v)
    return list(found.values())

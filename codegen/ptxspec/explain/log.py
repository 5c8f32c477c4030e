"""A log of a PTX assembler, explained: the change that fixes each complaint, the reason, and alternatives."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..catalog import Requirement
from ..diagnostics import PtxspecError
from ..lint.findings import Finding
from ..lint.linter import Linter
from ..lint.reading import read
from ..ptx.complaints import ERROR
from ..query.database import Database, Variant
from . import forms, tools
from .hardware import on_gpu
from .meanings import NOT_OURS, Meaning, floors, together
from .messages import Message, ReportedLine, driver_error, message, plain
from .rows import first, rows
from .surroundings import Surroundings, surroundings

# A name that is not declared, and what ptxas says besides about an instruction with one.
_CAUSE = re.compile(r"^Unknown symbol '")
_CONSEQUENCE = re.compile(
    r"^(?:Arguments mismatch for|Illegal operand type to) instruction|^Predicate expression expected"
    r"|^Illegal argument to unary minus|^Call to '[^']*' requires call prototype"
)
_SHOWN = 4
_LONGEST = 4096


class Complaint(NamedTuple):
    """A message, with the errors that lint finds at its place where the file could be read, and its places."""

    tool: str
    text: str
    found: tuple[Finding, ...]
    places: tuple[ReportedLine, ...]


class Explanation(NamedTuple):
    """Complaints that one change fixes."""

    complaints: tuple[Complaint, ...]
    meaning: Meaning

    @property
    def is_known(self) -> bool:
        return self.meaning.known

    def as_json(self) -> dict[str, Any]:
        return {
            "change": self.meaning.change,
            "why": list(self.meaning.why),
            "others": list(self.meaning.others),
            "messages": [
                {"tool": c.tool or None, "text": c.text, "places": [p._asdict() for p in c.places]}
                for c in self.complaints
            ],
        }


def messages(db: Database, log: Iterable[str], direct: bool = False) -> list[Complaint]:
    """Return the distinct messages of a log, in its order. `direct`: every line is a message, whatever it looks
    like."""
    log = [plain(line[:_LONGEST]).rstrip() for line in log]
    # Most kinds of messages are not in a log: these are ruled out once for all lines.
    text = "\n".join(log)
    here = [row for row in rows(db) if row.pattern.search(text)]
    numbered = [row for row in rows(db) if row.number and row.number in text]
    bare = forms.any_in(text)
    sources: dict[str, dict[int, list[Finding]]] = {}
    grouped: dict[tuple[str, str, str], tuple[tuple[Finding, ...], dict[ReportedLine, None]]] = {}
    for line in log:
        m = message(here, line) or driver_error(numbered, line)
        if m is None and line.strip() and (direct or (bare and forms.is_one(line))):
            m = Message("", line.strip())
        if m is None:
            continue
        found: tuple[Finding, ...] = ()
        # ptxas reads nothing behind a missing header; what lint finds there is not about that.
        if m.place and m.tool == "ptxas" and not forms.is_of_header(m.text):
            if m.place.file not in sources:
                sources[m.place.file] = _findings(db, Path(m.place.file))
            found = tuple(sources[m.place.file].get(m.place.line, ()))
        said = "\n".join(f.message for f in found)
        places = grouped.setdefault((m.tool, m.text, said), (found, {}))[1]
        if m.place:
            places[m.place] = None
    every = [Complaint(tool, text, found, tuple(places)) for (tool, text, _), (found, places) in grouped.items()]
    # Messages that only say that something failed are left out where others say what, and so are warnings.
    known = {c: row[0] for c in every if (row := first(db, c.text))}
    warnings = [c for c in every if c in known and known[c].warns]
    failures = [c for c in every if c not in warnings]
    return [c for c in failures if c not in known or not known[c].alone] or failures[:1] + warnings


def _findings(db: Database, path: Path) -> dict[int, list[Finding]]:
    """Return the errors that lint finds in a file, by line. Compilers delete the files that they pass to ptxas, and a
    log may name something that is not a regular file, without an end."""
    by_line: dict[int, list[Finding]] = {}
    if not os.path.isfile(path):
        return by_line
    try:
        for f in Linter(db).lint(read(path), str(path)):
            if f.severity == ERROR:
                by_line.setdefault(f.line, []).append(f)
    except PtxspecError:
        return {}
    return by_line


def explanations(db: Database, log: Iterable[str], direct: bool = False) -> list[Explanation]:
    """Return the fixes for the messages of a log; messages about one instruction, and those with the same fix, are
    merged."""
    log = list(log)
    around = surroundings(db, log)
    told: list[Meaning] = []
    by_place: dict[tuple[ReportedLine, ...], list[tuple[Complaint, Meaning]]] = {}
    for c in messages(db, log, direct):
        by_place.setdefault(c.places, []).append((c, _meaning(db, c, around, told)))
    merged: dict[str, Explanation] = {}
    for group in by_place.values():
        for complaints, meaning in _of_one_instruction(db, group):
            e = Explanation(complaints, on_gpu(db, meaning, around))
            before = merged.get(e.meaning.change)
            if before is not None:
                why = dict.fromkeys((*before.meaning.why, *e.meaning.why))
                others = dict.fromkeys((*before.meaning.others, *e.meaning.others))
                both = before.meaning._replace(why=tuple(why), others=tuple(others))
                e = Explanation((*before.complaints, *e.complaints), both)
            merged[e.meaning.change] = e
    return list(merged.values())


def _of_one_instruction(
    db: Database, group: list[tuple[Complaint, Meaning]]
) -> Iterator[tuple[tuple[Complaint, ...], Meaning]]:
    """Yield the complaints about one instruction and their meanings; the targets and PTX versions that they require
    become one change, and what follows from a name that is not declared is shown with that."""
    causes = [(c, m) for c, m in group if _CAUSE.search(c.text)]
    if causes:
        follow = tuple(c for c, _ in group if _CONSEQUENCE.search(c.text))
        (first, m), *others = causes
        yield (first, *follow), m
        for c, m in others:
            yield (c,), m
        group = [(c, m) for c, m in group if c not in follow and not _CAUSE.search(c.text)]
    asking = [(c, m) for c, m in group if m.target or m.ptx]
    if len(asking) > 1:
        yield tuple(c for c, _ in asking), together(db, (m for _, m in asking))
    if sure := next((m for _, m in group if m.few and not m.guess), None):
        group = [(c, sure._replace(why=m.why) if m.guess else m) for c, m in group]
    for c, m in group:
        if len(asking) < 2 or not (m.target or m.ptx):
            yield (c,), m


def _meaning(db: Database, c: Complaint, around: Surroundings, told: list[Meaning]) -> Meaning:
    by_itself = _by_itself(db, c, around)
    found = _of_findings(db, c.found) if c.found else None
    if found is None:
        return by_itself or NOT_OURS
    if found in told:
        # ptxas may complain twice about one instruction; lint's findings need not be about the second.
        return by_itself or found
    told.append(found)
    return found


def _by_itself(db: Database, c: Complaint, around: Surroundings) -> Meaning | None:
    return tools.meaning(db, c.text, c.tool, around) or forms.meaning(db, c.text)


def _of_findings(db: Database, found: Iterable[Finding]) -> Meaning:
    """Return the meaning of lint's findings on an instruction; if it only lacks a target or a PTX version, that is the
    change."""
    found = list(found)
    why = [w for f in found for w in (f.message, f.help) if w]
    needs = list(dict.fromkeys(f.requires for f in found if f.requires is not None))
    why += [_needs(db, r) for r in needs]
    plain = [r for r in needs if not r.on]
    lacking = {f.code for f in found}
    if plain and lacking <= {"target-too-old", "ptx-too-old", "target-unknown"}:
        change = together(db, (_floor(db, r, lacking) for r in plain))._replace(lacking=tuple(_variants(db, found)))
    else:
        first = next((f.help for f in found if f.help), found[0].message)
        change = Meaning(first)
        why = [w for w in why if w != first]
    return change._replace(why=tuple(dict.fromkeys(why)))


def _variants(db: Database, found: Iterable[Finding]) -> Iterator[Variant]:
    """Yield the variants in findings."""
    for f in found:
        opcode, *names = (f.variant or "").split(".")
        if (v := db.find(opcode, names, None)) is not None:
            yield v


def _floor(db: Database, r: Requirement, lacking: set[str]) -> Meaning:
    target = r.target if "target-too-old" in lacking else ""
    return floors(db, target, db.catalog.window(r, target or None)[0])


def _needs(db: Database, r: Requirement) -> str:
    if r.on:
        text = f"it requires {db.catalog.on_text(r)}"
    else:
        first = db.versions[db.catalog.window(r, r.target)[0]]
        text = f"it requires .target {r.target} or newer and .version {first} or newer"
    return text + (f", {r.until} at the latest" if r.until else "")


def as_text(explained: Iterable[Explanation], whole: bool = False) -> Iterator[str]:
    """Yield the text: the change of each explanation, the messages with their places, the reasons, and with `whole` the
    alternatives."""
    for e in explained:
        yield e.meaning.change
        for c in e.complaints:
            yield f"    {c.tool + ': ' if c.tool else ''}{c.text}"
            if c.places:
                yield f"        at {_places(c.places)}"
        for line in e.meaning.why:
            yield f"  - {line}"
        for line in e.meaning.others if whole else ():
            yield f"  or {line}"
        if e.meaning.others and not whole:
            yield "  (--all shows other ways)"
        yield ""


def _places(places: tuple[ReportedLine, ...]) -> str:
    shown = ", ".join(f"{file}:{line}" for file, line in places[:_SHOWN])
    return shown + (f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else "")

"""Statistics: the numbers of files and instructions judged, and of findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..ptx.complaints import ERROR, NOTE, WARNING
from .rendering import severities


class InstructionCounts:
    """The number of instructions checked, by opcode, and of those that the database does not know: other instructions
    of its opcodes and, if `everything` is counted, all others. `headers` counts the .version and .target directives."""

    def __init__(self, everything: bool = False) -> None:
        self.everything = everything
        self.judged: Counter[str] = Counter()
        self.outside: Counter[str] = Counter()
        self.headers = 0


class Account:
    """The account of what was checked in some files."""

    def __init__(self, everything: bool = False) -> None:
        self.tally = InstructionCounts(everything)
        self.files = 0  # with instructions of the database
        self.others = 0  # without any
        self.errors = False  # whether a finding makes the exit code 1
        self.severities: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.ignored = 0
        self.excluded = 0  # findings in code that is not compiled
        self.known = 0  # findings of a baseline, or in lines that have not changed
        self.asked: Counter[str] = Counter()  # findings under conditions that are not understood, by condition
        # What files were checked for: whether they stated that themselves, target and PTX version.
        self.judged_for: set[tuple[bool, str | None, str | None]] = set()

    def add(self, other: Account) -> None:
        self.tally.judged.update(other.tally.judged)
        self.tally.outside.update(other.tally.outside)
        self.files += other.files
        self.others += other.others
        self.errors |= other.errors
        self.severities.update(other.severities)
        self.codes.update(other.codes)
        self.ignored += other.ignored
        self.excluded += other.excluded
        self.known += other.known
        self.asked.update(other.asked)
        self.judged_for |= other.judged_for

    @property
    def instructions(self) -> int:
        return self.tally.judged.total()

    def found(self) -> str:
        """Return the findings in numbers: "1 error, 2 warnings, 3 ignored, 4 in code that is not compiled, 5 in the
        baseline"."""
        ignored = f"{self.ignored:,} ignored" if self.ignored else ""
        excluded = f"{self.excluded:,} in code that is not compiled" if self.excluded else ""
        known = f"{self.known:,} in the baseline" if self.known else ""
        return ", ".join(filter(None, (severities(self.severities), ignored, excluded, known)))

    def judged(self, newest: str) -> str:
        """Return what was checked: "2,445 instructions in 293 files, no target given: checked for PTX 9.5 and any
        target"."""
        what = f"{_counted(self.instructions, 'instruction')} in {_counted(self.files, 'file')}"
        if self.others and self.files:
            what += f" ({self.others:,} more {'file has' if self.others == 1 else 'files have'} none)"
        elif self.others:
            what = f"no instructions in {_counted(self.others, 'file')}"
        own = "its own" if self.files == 1 else "their own"
        # Files without a target come first: they get a sentence of their own.
        judged_for = sorted(self.judged_for, key=lambda some: (some[1:] != (None, None), str(some)))
        how = dict.fromkeys(_judged_for(*some, newest, own) for some in judged_for)
        rest = [f"or {text.removeprefix('checked ')}" for text in list(how)[1:]]
        return ", ".join([what, *list(how)[:1], *rest])

    def table(self) -> Iterator[str]:
        """Yield a line for each opcode, and one for each code with findings."""
        tally = self.tally
        names = sorted({*tally.judged, *tally.outside}, key=lambda n: (-tally.judged[n], -tally.outside[n], n))
        rows = [(n, tally.judged[n], tally.outside[n]) for n in names]
        rows.append(("all", self.instructions, tally.outside.total()))
        yield from _columns(("opcode", "checked", "outside the database"), rows)
        if self.codes:
            yield ""
            yield from _columns(("code", "found"), sorted(self.codes.items(), key=lambda c: (-c[1], c[0])))

    def guards(self) -> Iterator[str]:
        """Yield a line for each condition that was not understood, the one with the most findings first."""
        if not self.asked:
            yield "no finding is under a condition that was not understood"
            return
        yield "findings  condition"
        for condition, n in sorted(self.asked.items(), key=lambda c: (-c[1], c[0])):
            yield f"{n:8,}  {' '.join(condition.split())}"

    def as_json(self) -> dict[str, Any]:
        tally = self.tally
        names = sorted({*tally.judged, *tally.outside})
        return {
            "schema": 1,
            "files": self.files,
            "files_without": self.others,
            "instructions": self.instructions,
            "outside": tally.outside.total(),
            "opcodes": {n: {"judged": tally.judged[n], "outside": tally.outside[n]} for n in names},
            "severities": {s: self.severities[s] for s in (ERROR, WARNING, NOTE)},
            "codes": dict(sorted(self.codes.items())),
            "ignored": self.ignored,
            "not_compiled": self.excluded,
            "known": self.known,
        }


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _judged_for(module: bool, target: str | None, ptx: str | None, newest: str, own: str) -> str:
    if target is None and ptx is None:
        if module:
            return f"checked for {own} .version and .target"
        return f"no target given: checked for PTX {newest} and any target"
    otherwise = (f"{own} .target", f"{own} .version") if module else ("any target", f"PTX {newest}")
    return f"checked for {target or otherwise[0]} and {f'PTX {ptx}' if ptx else otherwise[1]}"


def _columns(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Iterator[str]:
    texts = [head, *(tuple(f"{c:,}" if isinstance(c, int) else str(c) for c in row) for row in rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    for row in texts:
        first, *others = row
        cells = [f"{first:{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(others, widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()

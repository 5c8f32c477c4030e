"""Lists of variants as text, JSON and CSV, and tables on a terminal. Like the database, this module requires the
standard library only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from .. import terminal
from ..catalog import Requirement
from .database import Database, Variant
from .verdicts import here_as_json


def variants_as_json(db: Database, variants: Iterable[Variant], target: str | None = None) -> str:
    """Return the JSON of `list`. Here and below, all variants are available on the target, if one is named."""
    rows = [
        {
            "variant": v.spelling,
            "operands": v.operands,
            "types": {"result": v.result, "operands": [s.type for s in v.sources for _ in range(s.registers)]},
            "requires": v.requires.as_json(),
            "here": here_as_json(db, db.catalog.here(v.requires, target)) if target else None,
            "manual": v.manual.as_json() if v.manual else None,
            "claim": v.claim,
            "basis": v.basis,
            "hazard": db.catalog.hazard_text(v),
        }
        for v in variants
    ]
    body = ",\n".join("  " + json.dumps(r) for r in rows)
    return f'{{"schema": 4, "variants": [\n{body}\n]}}'


def variants_as_csv(db: Database, variants: Iterable[Variant], target: str | None = None) -> str:
    """Return the CSV of `list`: a header and one line for each variant; no field contains a comma. `hazard` is yes if
    there is one, which queries and JSON describe. `here` is the first PTX version on the named target, and `cuda` its
    CUDA release."""
    lines = ["variant,operands,target,ptx,until,claim,within,on,hazard,here,cuda"]
    for v in variants:
        r = v.requires
        within, on = "; ".join(limits(db, r)), " ".join(f"{target}:{ptx}" for target, ptx in r.on)
        hazard = "yes" if v.hazards else ""
        here = db.catalog.here(r, target).ptx if target else ""
        cuda = db.versions[here].cuda if here else ""
        needs = (r.target, r.ptx, r.until or "", v.claim, within, on, hazard, here, cuda)
        lines.append(",".join((v.spelling, str(v.operands), *needs)))
    return "\n".join(lines)


def variants_as_table(db: Database, variants: Sequence[Variant], target: str | None = None) -> str:
    """Return the table of `list`, narrow enough for a terminal of 80 columns."""
    rows = [("variant", "operands", *(("PTX", "CUDA") if target else ("target", "PTX")), "claim")]
    needs = {r: _needs(db, r, target) for r in {v.requires for v in variants}}
    rows += [(v.spelling, str(v.operands), *needs[v.requires], _claim(v)) for v in variants]
    lines = table(rows, terminal.lines_width())
    n = len(variants)
    few = ["", *broken(FEW)] * (not target and any(v.requires.on for v in variants))
    few += ["", *broken(HAZARD)] * any(v.hazards for v in variants)
    return "\n".join([*lines, *few, "", f"{n:,} variant{'s' * (n != 1)}"]) if n else "no variants"


# A column narrower than this is printed below the line instead, with this indent.
_LEAST, _INDENT = 16, 4
FEW = "* the first of the few targets that support it; `query` and `show` list them all"
HAZARD = "hazard: the machine code does not do what the spelling says; `query` says more"


def _claim(v: Variant) -> str:
    return f"{v.claim}, hazard" if v.hazards else v.claim


def oldest(r: Requirement) -> str:
    """Return the first target that supports a variant, with a mark if newer ones may not."""
    return f"{r.target}{'*' * bool(r.on)}"


def _needs(db: Database, r: Requirement, target: str | None) -> tuple[str, str]:
    """Return the target and the PTX versions that are required; on a named target, the versions and the CUDA release of
    the first."""
    here = db.catalog.here(r, target) if target else r
    versions = "; ".join([f"{here.ptx}-{here.until}" if here.until else here.ptx, *limits(db, here)])
    return (versions, db.versions[here.ptx].cuda) if target else (oldest(r), versions)


def table(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Return rows as lines with aligned columns. If a line is wider than the terminal, its last column continues below,
    or is moved there as a whole if there is no room beside the others."""
    line = "  ".join(f"%-{max(map(len, column))}s" for column in zip(*rows, strict=True))
    lines = [(line % tuple(r)).rstrip() for r in rows]
    if width is None or max(map(len, lines), default=0) <= width:
        return lines
    import textwrap

    before = sum(max(map(len, column)) + 2 for column in zip(*(r[:-1] for r in rows), strict=True))
    behind = width - before >= _LEAST
    indent = " " * (before if behind else _INDENT)
    found = []
    for text in lines:
        last = textwrap.wrap(text[before:], width - len(indent), break_on_hyphens=False)
        first = "".join(last[:1]) if behind else ""
        found += [(text[:before] + first).rstrip(), *(indent + more for more in last[behind:])]
    return found


def broken(text: str, first: str = "", others: str = "") -> list[str]:
    """Return a text as one line, or as several if the terminal is narrower."""
    width = terminal.lines_width()
    return [first + text] if width is None or len(first + text) <= width else wrapped(text, first, others, width)


def wrapped(text: str, first: str, others: str, width: int | None = None) -> list[str]:
    import textwrap  # most answers need no wrapping

    width = width or terminal.lines_width(most=80) or 80
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def limits(db: Database, r: Requirement) -> list[str]:
    return [limit.text(db.catalog.newest_target) for limit in r.within]

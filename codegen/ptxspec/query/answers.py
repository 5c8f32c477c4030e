"""Answers of the database as text, JSON and CSV. Like the database it needs the standard library only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .. import terminal
from ..catalog import Requirement
from .alike import place
from .database import Database, Variant
from .instead import Offer
from .verdicts import Verdict


def variants_as_json(db: Database, variants: Iterable[Variant]) -> str:
    """The JSON of `list`."""
    rows = [
        {
            "variant": v.spelling,
            "operands": v.operands,
            "types": {"result": v.result, "operands": [s.type for s in v.sources for _ in range(s.registers)]},
            "requires": v.requires.as_json(),
            "manual": v.manual.as_json() if v.manual else None,
            "claim": v.claim,
            "rests_on": v.rests_on,
            "hazard": db.hazard(v),
        }
        for v in variants
    ]
    body = ",\n".join("  " + json.dumps(r) for r in rows)
    return f'{{"schema": 3, "variants": [\n{body}\n]}}'


def variants_as_csv(db: Database, variants: Iterable[Variant]) -> str:
    """The CSV of `list`: a header and one line for each variant; no field holds a comma. `hazard` is yes where there is
    one, which queries and JSON describe."""
    lines = ["variant,operands,target,ptx,until,claim,within,on,hazard"]
    for v in variants:
        r = v.requires
        within, on = "; ".join(_limits(db, r)), " ".join(f"{target}:{ptx}" for target, ptx in r.on)
        hazard = "yes" if v.hazards else ""
        lines.append(f"{v.spelling},{v.operands},{r.target},{r.ptx},{r.until or ''},{v.claim},{within},{on},{hazard}")
    return "\n".join(lines)


def variants_as_table(db: Database, variants: Sequence[Variant]) -> str:
    """The table of `list`, narrow enough for a terminal of 80 columns."""
    rows = [("variant", "operands", "target", "PTX", "claim")]
    needs = {r: (oldest(r), _versions(db, r)) for r in {v.requires for v in variants}}
    rows += [(v.spelling, str(v.operands), *needs[v.requires], _claim(v)) for v in variants]
    lines = table(rows, terminal.lines_width())
    n = len(variants)
    few = ["", *broken(FEW)] * any(v.requires.on for v in variants)
    few += ["", *broken(HAZARD)] * any(v.hazards for v in variants)
    return "\n".join([*lines, *few, "", f"{n} variant{'s' * (n != 1)}"]) if n else "no variant"


# A column narrower than this is none: what it holds stands below, so far from the left.
_LEAST, _INDENT = 16, 4
FEW = "* the first of few targets that have it: query and show name them all"
HAZARD = "hazard: the machine code does something else than the spelling; query says what"


def _claim(v: Variant) -> str:
    return f"{v.claim}, hazard" if v.hazards else v.claim


def oldest(r: Requirement) -> str:
    """The first target that has it; marked where newer ones need not."""
    return f"{r.target}{'*' * bool(r.on)}"


def _versions(db: Database, r: Requirement) -> str:
    return "; ".join([f"{r.ptx}-{r.until}" if r.until else r.ptx, *_limits(db, r)])


def table(rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Rows as lines with aligned columns. Of lines that are wider than a terminal the last column goes on below; all of
    it stands there where there is no room for it behind the others."""
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


class Told(NamedTuple):
    """A verdict in words, part by part: yes, "yes, but" or no; why not; what is known of the variant; how to mend it.
    `recipe` is the first that works or that there is, `none` why there is none, each with what stands above it, and
    `alike` what is spelled alike, with what it needs."""

    head: str
    reasons: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    recipe: tuple[str, Offer] | None
    none: tuple[str, str] | None
    alike: tuple[str, tuple[tuple[str, str], ...]] | None


def told(db: Database, verdict: Verdict, target: str | None, ptx: str | None) -> Told:
    """What `query` says."""
    asked = place(target, ptx)
    name = verdict.variant or repr(verdict.variant)
    if verdict.operands is not None:
        name += f" ({verdict.operands} operand{'s' * (verdict.operands != 1)})"
    if not verdict.exists:
        head = f"no: {name} {'is not in this database' if verdict.outside else 'does not exist'}"
    elif verdict.available and verdict.hazard:
        head = f"yes, but: {name}{' on ' + asked if asked else ''} is a hazard"
    elif verdict.available and verdict.requires and verdict.requires.until and not asked:
        head = f"yes, until PTX {verdict.requires.until}: {name}"
    elif verdict.available:
        head = f"yes: {name}{' on ' + asked if asked else ''}"
    else:
        head = f"no: {name} is not available{' on ' + asked if asked else ''}"
    facts = []
    if verdict.requires:
        facts.append(("needs", requirement(db, verdict.requires)))
        if verdict.manual is None:
            facts.append(("manual", "does not list it"))
        elif verdict.manual != verdict.requires:
            facts.append(("manual", requirement(db, verdict.manual)))
        facts += [("means", verdict.means)] if verdict.means else []
        facts.append(("claim", str(verdict.claim)))
        facts += [("hazard", verdict.hazard)] if verdict.hazard else []
        facts += [("loose", text) for text in (verdict.loose if verdict.available else ())]
    # A recipe stands below as it is written, and so does why there is none; not what is easily taken for the same.
    is_below = (verdict.instead and not verdict.not_the_same) or verdict.no_recipe.casefold().startswith(
        verdict.help.casefold()
    )
    if verdict.help and not is_below:
        facts.append(("help", verdict.help))
    working = [o for o in verdict.instead if o.works]
    offer = next(iter(working or verdict.instead), None)
    none = None
    if verdict.no_recipe and not working:
        none = "no recipe" + (f" on {asked}" if asked and verdict.instead else "") + ":", verdict.no_recipe
    alike = None
    if verdict.nearest:
        rows = tuple((str(v), requirement(db, v.requires)) for v in verdict.nearest)
        alike = "spelled alike" + (f", on {asked}" if asked else "") + ":", rows
    reasons = tuple(r.message for r in verdict.reasons)
    return Told(head, reasons, tuple(facts), (_recipe_head(db, offer, asked), offer) if offer else None, none, alike)


def verdict_as_text(db: Database, verdict: Verdict, target: str | None, ptx: str | None) -> str:
    """The text of `query`."""
    found = told(db, verdict, target, ptx)
    lines = [*broken(found.head, "", "  "), *(line for reason in found.reasons for line in broken(reason, "  ", "  "))]
    for name, fact in found.facts:
        lines += _paragraph(name, fact) if name in ("hazard", "loose") else _named(name, fact)
    if found.recipe:
        lines += _recipe_lines(*found.recipe)
    if found.none:
        title, why = found.none
        lines += [title, *_wrapped(why, "  ", "  ")]
    if found.alike:
        title, rows = found.alike
        lines += [title, *table([(f"  {v}", needs) for v, needs in rows], terminal.lines_width())]
    return "\n".join(lines)


def recipe(db: Database, offer: Offer, asked: str) -> list[str]:
    """A recipe with the targets and versions that take it, ready to paste as PTX and as inline assembly."""
    return _recipe_lines(_recipe_head(db, offer, asked), offer)


def _recipe_head(db: Database, offer: Offer, asked: str) -> str:
    here = "on" if offer.works else "not on"
    where = f", {here} {asked}" if asked else ""
    return f"instead{where} ({db.catalog.text(offer.requires)} or newer; {offer.difference}):"


def _recipe_lines(head: str, offer: Offer) -> list[str]:
    lines = [head, *(f"  {line}" for line in offer.ptx.split("\n"))]
    if offer.cuda:
        lines += ["in CUDA:", *(f"  {line}" for line in offer.cuda.split("\n"))]
    return lines


def _named(name: str, text: str) -> list[str]:
    """A fact in one line, but on a terminal that is narrower."""
    return broken(text, f"  {name:6}  ", " " * 10)


def broken(text: str, first: str = "", others: str = "") -> list[str]:
    """A line, which a terminal that is narrower shows as several."""
    width = terminal.lines_width()
    return [first + text] if width is None or len(first + text) <= width else _wrapped(text, first, others, width)


def _paragraph(name: str, text: str) -> list[str]:
    """Sentences in lines of a terminal."""
    return _wrapped(text, f"  {name:6}  ", " " * 10)


def _wrapped(text: str, first: str, others: str, width: int | None = None) -> list[str]:
    import textwrap  # only needed where there are some

    width = width or terminal.lines_width(most=80) or 80
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def requirement(db: Database, r: Requirement) -> str:
    """A requirement for people, with the CUDA release that brought the PTX version."""
    if r.on:
        text = db.catalog.on_text(r)
    else:
        cuda = db.versions[r.ptx].cuda
        text = f"{r.target} or newer, PTX {r.ptx} or newer{f' (CUDA {cuda})' if cuda else ''}"
    text += f", until PTX {r.until}" if r.until else ""
    return "; ".join([text, *_limits(db, r)])


def _limits(db: Database, r: Requirement) -> list[str]:
    return [limit.text(db.catalog.newest_target) for limit in r.within]

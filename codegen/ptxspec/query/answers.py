"""The answers of `query` as text. Like the database, this module requires the standard library only."""

from __future__ import annotations

from typing import NamedTuple

from .. import terminal
from ..catalog import Requirement
from ..catalog.explaining import RECIPE, place
from ..catalog.known import Recipe
from ..diagnostics import visible
from .database import Database
from .families import Family
from .lists import broken, limits, table, wrapped
from .verdicts import Verdict, variant

# The width of the labels of facts.
_LABEL = 8


class Told(NamedTuple):
    """The parts of a verdict in words. `head` is yes, "yes, but" or no; `reasons` explain a no; `facts` are about the
    variant, and the last one may be help. `recipe` is the first that works, or else the first; `none` is the reason why
    there is none; both have headings. `alike` are the variants that are spelled alike, with their requirements."""

    head: str
    reasons: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    recipe: tuple[str, Recipe] | None
    none: tuple[str, str] | None
    alike: tuple[str, tuple[tuple[str, str], ...]] | None


def told(db: Database, verdict: Verdict, target: str | None, ptx: str | None, driver: bool = False) -> Told:
    """Return the answer to a query. `driver`: also name the oldest driver."""
    asked = place(target, ptx)
    here = verdict.here and verdict.here.target
    name = visible(verdict.variant) or repr(verdict.variant)
    relatives: list[str] = []
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
        relatives = _relatives(db, verdict, target, ptx)
        if relatives:
            supports = "support" if len(relatives) > 1 else "supports"
            head += f"; {' and '.join(relatives)}, for the same GPUs, {supports} it"
    facts = []
    if verdict.family:
        return _family(db, verdict, verdict.family, asked)
    if verdict.exists and verdict.requires:
        facts += [("here", f"{requirement(db, verdict.here, here)} on {here}")] if verdict.here else []
        facts.append(("requires", requirement(db, verdict.requires)))
        facts += (
            [("driver", _driver(db, verdict.here or verdict.requires))]
            if driver and (verdict.here or not target)
            else []
        )
        if verdict.manual is None:
            facts.append(("manual", "NVIDIA's manual does not list it"))
        elif verdict.manual != verdict.requires:
            facts.append(("manual", f"NVIDIA's manual says {requirement(db, verdict.manual)}"))
        if verdict.register:
            facts += [("read", verdict.register.reads), ("holds", verdict.register.summary)]
            return Told(head, tuple(r.message for r in verdict.reasons), tuple(facts), None, None, None)
        facts += [("means", verdict.means)] if verdict.means else []
        why = f": {verdict.basis}" if verdict.claim == "unjudged" else ""
        elsewhere = next((o.elsewhere for o in verdict.instead if o.elsewhere), "")
        facts.append(("claim", f"{verdict.claim}{elsewhere}{why}"))
        facts += [("hazard", verdict.hazard)] if verdict.hazard else []
        facts += [("loose", text) for text in (verdict.loose if verdict.available else ())]
    # The recipe, or the reason why there is none, is printed below; the variants that are not the same are not.
    is_below = (
        verdict.instead and RECIPE in verdict.help and not verdict.not_the_same
    ) or verdict.no_recipe.casefold().startswith(verdict.help.casefold())
    if verdict.help and not is_below:
        facts.append(("help", verdict.help))
    if verdict.requires:
        for name in relatives:
            facts.append(("compile", f"-arch={name}: {requirement(db, verdict.requires, name)}"))
    working = [o for o in verdict.instead if o.works]
    offer = next(iter(working or verdict.instead), None)
    none = None
    if verdict.no_recipe and not working:
        none = "no recipe" + (f" on {asked}" if asked and verdict.instead else "") + ":", verdict.no_recipe
    alike = None
    if verdict.nearest:
        rows = tuple((str(v), requirement(db, v.requires, target)) for v in verdict.nearest)
        alike = "spelled alike" + (f", on {asked}" if asked else "") + ":", rows
    reasons = tuple(r.message for r in verdict.reasons)
    return Told(
        head, reasons, tuple(facts), (_recipe_head(db, offer, asked, target), offer) if offer else None, none, alike
    )


def _family(db: Database, verdict: Verdict, whole: Family, asked: str) -> Told:
    """Return the answer about a spelling with placeholders."""
    here = [v for v in whole.variants if db.takes(v, *verdict.asked)]
    count = f"{len(here)} of {len(whole.variants)}" if len(here) < len(whole.variants) else f"{len(here)}"
    answer, where = "yes" if here else "no", f" on {asked}" if asked else ""
    head = f"{answer}: {visible(verdict.variant)} stands for {count} variant{'s' * (len(whole.variants) != 1)}{where}"
    facts = [(name, "one of " + ", ".join(f".{m}" for m in members)) for name, members in whole.groups.items()]
    needs = whole.needs()
    for r, some in needs.items():
        of = f": {', '.join(v.spelling for v in some)}" if len(needs) > 1 else ""
        facts.append(("requires", requirement(db, r) + of))
    hazards = ((v.spelling, db.catalog.hazard_text(v, *verdict.asked)) for v in here)
    facts += [("hazard", f"{spelling}: {hazard}") for spelling, hazard in hazards if hazard]
    return Told(head, (), tuple(facts), None, None, None)


def verdict_as_text(db: Database, verdict: Verdict, target: str | None, ptx: str | None, driver: bool = False) -> str:
    """Return the text of `query`."""
    found = told(db, verdict, target, ptx, driver)
    lines = [*broken(found.head, "", "  "), *(line for reason in found.reasons for line in broken(reason, "  ", "  "))]
    for name, fact in found.facts:
        lines += _paragraph(name, fact) if name in ("claim", "hazard", "loose", "holds") else _named(name, fact)
    if found.recipe:
        lines += _recipe_lines(*found.recipe)
    if found.none:
        title, why = found.none
        lines += [title, *wrapped(why, "  ", "  ")]
    if found.alike:
        title, rows = found.alike
        lines += [title, *table([(f"  {v}", needs) for v, needs in rows], terminal.lines_width())]
    return "\n".join(lines)


def recipe(db: Database, offer: Recipe, asked: str) -> list[str]:
    """Return the lines of a recipe with its requirement, as PTX and as inline assembly."""
    return _recipe_lines(_recipe_head(db, offer, asked, None), offer)


def _recipe_head(db: Database, offer: Recipe, asked: str, target: str | None) -> str:
    where = f", {'on' if offer.works else 'not on'} {asked}" if asked else ""
    needs = db.catalog.text(offer.requires)
    if target == offer.requires.target:
        cuda = db.versions[offer.requires.ptx].cuda
        needs = f"PTX {offer.requires.ptx}{f' and CUDA {cuda}' if cuda else ''}"
    return f"instead{where} ({needs} or newer; {offer.difference}):"


def _recipe_lines(head: str, offer: Recipe) -> list[str]:
    lines = [*broken(head, "", "  "), *(f"  {line}" for line in offer.ptx.split("\n"))]
    if offer.cuda:
        lines += ["in CUDA:", *(f"  {line}" for line in (offer.function or offer.cuda).split("\n"))]
    return lines


def _named(name: str, text: str) -> list[str]:
    """Return a fact in one line, or in several on a narrower terminal."""
    return broken(text, f"  {name:{_LABEL}}  ", " " * (_LABEL + 4))


def _paragraph(name: str, text: str) -> list[str]:
    """Return sentences in lines of the terminal's width."""
    return wrapped(text, f"  {name:{_LABEL}}  ", " " * (_LABEL + 4))


def _relatives(db: Database, verdict: Verdict, target: str | None, ptx: str | None) -> list[str]:
    """Return the architecture- and family-specific targets of the same GPUs on which a variant may be used."""
    if target is None or verdict.requires is None or verdict.register or verdict.family:
        return []
    v = variant(db, verdict.variant, verdict.operands)
    siblings = () if v.crash else db.catalog.siblings(v.requires, target, ptx)
    return [t for t in siblings if db.catalog.is_safe(v, t, ptx)]


def _driver(db: Database, r: Requirement) -> str:
    """Return the oldest driver that compiles the PTX of a requirement itself."""
    version = db.versions[db.catalog.first_version(r)]
    if not version.linux:
        return f"the oldest driver that supports PTX {version.version} is not known"
    return f"{version.linux} or newer{f', on Windows {version.windows}' if version.windows else ''}"


def requirement(db: Database, r: Requirement, target: str | None = None) -> str:
    """Return a requirement in words, with the CUDA release that introduced the PTX version. With a target that meets
    it, return what the variant requires on that target."""
    if target is not None:
        r = db.catalog.here(r, target)
        cuda = db.versions[r.ptx].cuda
        return f"PTX {r.ptx} or newer{f' (CUDA {cuda})' if cuda else ''}" + (
            f", until PTX {r.until}" if r.until else ""
        )
    if r.on:
        text = db.catalog.on_text(r)
    else:
        cuda = db.versions[r.ptx].cuda
        text = f"{r.target} or newer, PTX {r.ptx} or newer{f' (CUDA {cuda})' if cuda else ''}"
    text += f", until PTX {r.until}" if r.until else ""
    return "; ".join([text, *limits(db, r)])

"""Recipes: what to write where a variant is missing, or why there is none, as the database has it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..catalog import Requirement, requirement_of
from .database import Database, Variant

# The beginning of a recipe in a line.
RECIPE = "instead: "
# The most statements in a message of one line.
_SHORT = 4
# The beginning of a message about more statements.
_MANY = "the"


class Offer(NamedTuple):
    """A recipe for a variant. `ptx` has %d, %a, %b and %c for its operands; `cuda` is that as inline assembly, empty
    where operands are predicates; `differs` is what may differ from the variant, "NaN bits", "within bound" or all
    but "as on sm_20 and newer", or empty; it `works` on the target and the PTX version that were asked about."""

    ptx: str
    cuda: str
    requires: Requirement
    differs: str
    works: bool

    @property
    def statements(self) -> int:
        return sum(line.endswith(";") and ".reg" not in line for line in self.ptx.split("\n"))

    @property
    def difference(self) -> str:
        """The difference in words."""
        words = {
            "": "bit for bit",
            "NaN bits": "but for the bits of a NaN",
            "within bound": "within the variant's bound",
        }
        return words.get(self.differs, f"bit for bit {self.differs}")

    @property
    def elsewhere(self) -> str:
        """The words to add to the variant's claim, where it does something else than the recipe on older targets."""
        since = self.differs.removeprefix("as ")
        return f"; without a target, and on older ones, other bits than {since}" if since != self.differs else ""

    @property
    def line(self) -> str:
        """The recipe in one line."""
        return " ".join(self.ptx.split())


def offers(db: Database, v: Variant, target: str | None, ptx: str | None) -> tuple[Offer, ...]:
    """The recipes for a variant, those first that work there."""
    data = db.opcodes[v.opcode].data
    found = data.get("instead", {}).get(f"{v.spelling} {v.operands}", ())
    every = []
    for text, cuda, place, differs in found:
        requires = requirement_of(data["requirements"][place])
        works = db.catalog.takes(requires, target, ptx) and db.catalog.knows(target, ptx)
        every.append(Offer(text, cuda, requires, differs, works))
    return tuple(sorted(every, key=lambda o: not o.works))


def why_none(db: Database, v: Variant) -> str:
    """Return why there is no recipe, or none that works everywhere."""
    reasons = db.opcodes[v.opcode].data.get("none", ())
    return " ".join(reasons[i][0] for i in db.known_of(v).get("none", ()))


def as_part(sentence: str) -> str:
    """A sentence as part of another: in lower case, but for a name such as PTX."""
    first = sentence.partition(" ")[0]
    return sentence if first[1:].lower() != first[1:] else sentence[:1].lower() + sentence[1:]


def as_json(db: Database, offer: Offer) -> dict[str, Any]:
    return {
        "ptx": offer.ptx,
        "cuda": offer.cuda or None,
        "from": floor(db, offer.requires),
        "differs": None if offer.elsewhere else offer.differs or None,
        **({"as_on": offer.differs} if offer.elsewhere else {}),
    }


def floor(db: Database, r: Requirement) -> dict[str, str]:
    """The first target and the first PTX version that take all of a recipe."""
    return {"target": r.target, "ptx": db.catalog.first_version(r)}


def told(db: Database, v: Variant, target: str | None, ptx: str | None) -> str:
    """Return advice in a line: a recipe that works there, else why there is none, else from where on one works."""
    best = next(iter(offers(db, v, target, ptx)), None)
    reason = why_none(db, v)
    if best is None or (not best.works and reason):
        return as_part(reason.rstrip("."))
    asked = "".join([f" --target {target}" if target else "", f" --ptx {ptx}" if ptx else ""])
    shown = f"{_MANY} {best.statements} statements of `ptxspec query {v.spelling}{asked}`"
    if best.statements <= _SHORT:
        shown = best.line
    differs = f", {best.difference}" if best.differs else ""
    start = RECIPE if best.works else f"from {db.catalog.text(best.requires).replace(', ', ' and ')} on, instead: "
    return f"{start}{shown}{differs}"


def is_block(line: str) -> bool:
    """Return whether a line told of a variant advises to write a block. A recipe of many statements has registers of
    its own, and is one."""
    return line.startswith((f"{RECIPE}{{", f"{RECIPE}{_MANY} "))

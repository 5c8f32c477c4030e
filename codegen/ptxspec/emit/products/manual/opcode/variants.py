"""The variants of an instruction: those with the same facts share a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....model import NanRule, Variant
from ..forms import statement
from .about import About
from .accuracy import claimed
from .recipes import anchors


@dataclass(frozen=True)
class Facts:
    """The facts on a card, which all of its variants share. `claims` are those on some targets, `claim` is that on all
    others; `nan` is None if no result is a NaN."""

    operands: int
    statement: str
    claim: str
    claims: Sequence[tuple[str, Sequence[str]]]
    requires: str
    manual: str
    stands_for: str
    hazard: str
    crash: str
    nan: NanRule | None


@dataclass(frozen=True)
class Help:
    """A link to a recipe with its requirements, or to the reason why there is none. It applies to some variants of a
    card, or to all if `forms` is empty. `besides`: these variants also have recipes."""

    id: str
    requires: str
    besides: bool
    forms: Sequence[str]


@dataclass(frozen=True)
class Card:
    """Variants with the same facts. `first` is the spelling of one of them, `id` the anchor of the card, and `recipes`
    are those for some of them. `counted`: variants with other numbers of operands have the same spelling."""

    id: str
    first: str
    facts: Facts
    forms: Sequence[str]
    variants: int
    counted: bool
    recipes: Sequence[Help]


@dataclass(frozen=True)
class Variants:
    """The section. `refused` are variants that NVIDIA's manual lists and the assembler rejects; `differs`: some have
    other requirements in NVIDIA's manual."""

    cards: Sequence[Card]
    refused: Sequence[Card]
    differs: bool

    @property
    def by_needs(self) -> list[tuple[str, list[Card]]]:
        """The cards by their requirements, for a page with many cards."""
        found: dict[str, list[Card]] = {}
        for c in self.cards:
            found.setdefault((c.facts.crash and "Not available") or c.facts.requires, []).append(c)
        return list(found.items())

    @property
    def ambiguous(self) -> bool:
        """Return whether variants with different numbers of operands share a spelling."""
        return any(c.id != c.first for c in (*self.cards, *self.refused))


def section(about: About) -> Variants:
    i = about.instruction
    named: set[str] = set()
    cards, refused = (_cards(about, vs, named) for vs in (i.variants, i.refused))
    return Variants(cards, refused, any(v.manual != v.requires for v in i.variants))


def _cards(about: About, variants: Sequence[Variant], named: set[str]) -> list[Card]:
    """Return the cards. `named` are the ids in use. The id of the variant with the fewest operands, which comes first,
    is its spelling; the ids of the others end in their number of operands."""
    found: dict[object, list[Variant]] = {}
    recipes = anchors(about)
    # Other cards link to these variants, also without scripts, so the card of each has its name.
    linked = {about.instruction.stands_for(v) for v in variants if v.means}
    for v in variants:
        # The facts depend on all of these.
        rule = about.instruction.nan_rule(v)
        said = (v.requires, v.manual, v.claim, v.hazards, v.crash, v.means, rule and rule.name, v.operands)
        key = (said, statement(v), claimed(about.spec, v), about.instruction.stands_for(v) if v.means else None)
        found.setdefault(key, []).append(v)
    cards = []
    for alike in found.values():
        first = next((v for v in alike if v in linked), alike[0])
        facts = _facts(about, first)
        id = first.spelling if first.spelling not in named else f"{first.spelling}-{first.operands}"
        named.add(id)
        forms = about.write.whole(alike)
        counted = any(about.write.operands(v) is not None for v in alike)
        cards.append(Card(id, first.spelling, facts, forms, len(alike), counted, _recipes(about, alike, recipes)))
    return cards


def _recipes(
    about: About, alike: Sequence[Variant], recipes: Mapping[Variant, Sequence[tuple[str, str]]]
) -> list[Help]:
    helped: dict[tuple[str, str, bool], list[Variant]] = {}
    for v in alike:
        own = recipes.get(v, ())
        for id, requires in own:
            helped.setdefault((id, requires, any(needs for _, needs in own)), []).append(v)
    every = len(alike)
    # The reason why there is no recipe comes last.
    ordered = sorted(helped.items(), key=lambda item: not item[0][1])
    return [Help(*told, about.write.whole(vs) if len(vs) < every else ()) for told, vs in ordered]


def _facts(about: About, v: Variant) -> Facts:
    spec, i = about.spec, about.instruction
    longer = i.stands_for(v)
    manual = "not listed" if v.manual is None else spec.catalog.text(v.manual)
    requires = spec.catalog.text(v.requires)
    hazard = spec.catalog.hazard_text(v)
    return Facts(
        operands=v.operands,
        statement=statement(v),
        claim=v.claim,
        claims=claimed(spec, v),
        requires=requires,
        manual="" if manual == requires else manual,
        stands_for=longer.spelling if longer else "",
        hazard=hazard or "",
        crash=v.crash,
        nan=i.nan_rule(v),
    )

"""The facts about operands that a syntax line states besides the spelling, as in `c:f32` or `[carry]`, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....model import Type
from .....read.notation import Spellings, SyntaxOperand


@dataclass(frozen=True)
class Fact:
    """A fact about an operand: the start of a sentence about one operand and about several, the name of a `type` or
    nothing, and the rest of the sentence. `{}` is replaced by the operands. A `general` fact is about the
    instruction."""

    one: str
    several: str
    type: str = ""
    rest: str = ""
    general: bool = False


@dataclass(frozen=True)
class Remark:
    """A sentence about operands: `text`, the name of a `type` or nothing, and the rest."""

    text: str
    type: str
    rest: str

    @property
    def whole(self) -> str:
        return f"{self.text}{' .' * bool(self.type)}{self.type}{self.rest}"


# The facts of a line, by operand name.
Facts = Mapping[str, Fact]


def facts(line: Spellings, types: Mapping[str, Type]) -> Facts:
    """Return the facts that a line states."""
    found: dict[str, Fact] = {}
    for place in _places(line):
        fact = _fact(place, types, sets=place is line.second)
        if fact:
            found.update(dict.fromkeys(place.registers or (place.name,), fact))
    return found


def _fact(place: SyntaxOperand, types: Mapping[str, Type], *, sets: bool) -> Fact | None:
    if place.implicit:
        told = f"The instruction also {'sets' if sets else 'reads'} the condition code"
        return Fact(told, told, general=True)
    if place.holds:
        return Fact("{} holds", "{} hold", place.holds)
    if not place.type:
        return None
    named = types.get(place.type)
    if named is None:
        return Fact(f"{{}} has the type of {place.type}", f"{{}} have the type of {place.type}")
    if named.is_constant:
        return Fact(f"{{}} is {named.summary}", f"{{}} are {named.summary}")
    return Fact("{} has type", "{} have type", place.type, "; a ! before it negates it" if place.negatable else "")


def shared(lines: Sequence[Spellings], types: Mapping[str, Type]) -> Facts:
    """Return the facts that apply to an operand in all lines that have it, and those about the instruction that apply
    to all lines."""
    every = [(line, facts(line, types)) for line in lines]
    names = dict.fromkeys(name for _, stated in every for name in stated)
    found: dict[str, Fact] = {}
    for name in names:
        told = {stated.get(name) for line, stated in every if name in _names(line)}
        if len(told) == 1 and (fact := told.pop()) and not (fact.general and any(name not in s for _, s in every)):
            found[name] = fact
    return found


def _names(line: Spellings) -> set[str]:
    return {name for p in _places(line) for name in (p.registers or (p.name,))}


def _places(line: Spellings) -> list[SyntaxOperand]:
    return [line.result, *filter(None, [line.second]), *line.sources]


def remarks(facts: Facts) -> list[Remark]:
    """Return facts as sentences, one for all operands that share a fact."""
    found: dict[Fact, list[str]] = {}
    for name, fact in facts.items():
        found.setdefault(fact, []).append(name)
    return [_remark(names, fact) for fact, names in found.items()]


def _remark(names: Sequence[str], fact: Fact) -> Remark:
    text = fact.several if len(names) > 1 else fact.one
    return Remark(text.format(" and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))), fact.type, fact.rest)

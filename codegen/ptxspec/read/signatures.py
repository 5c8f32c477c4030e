"""Syntax lines -> variants: each spelling with the types of its result and its sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model import BOOL, Form, Operand, SyntaxLine, Type, Variant
from .context import Context
from .notation import NotationError, Spellings, SyntaxOperand, parse_line
from .positioned import Document, Where


class _Unfit(Exception):
    """The error for a spelling to which its line gives no signature."""

    def __init__(self, message: str, help: str = "", place: SyntaxOperand | None = None) -> None:
        super().__init__(message)
        self.message, self.help, self.place = message, help, place


@dataclass
class SyntaxReader:
    """The reader of the syntax lines of one opcode; `variants` are those found so far. Sources with names in `copied`
    are passed on bit for bit."""

    doc: Document
    context: Context
    opcode: str
    variants: dict[Form, Variant]
    copied: frozenset[str] = frozenset()

    def read(self, where: Where, lines: list[str], listed: bool) -> list[SyntaxLine]:
        found = []
        for i, line in enumerate(lines):
            at = (*where, i)
            spellings = self.spellings(at, line)
            if spellings is None:
                continue
            forms = []
            for names in spellings.names:
                try:
                    variant = self.variant(spellings, names, listed)
                except _Unfit as e:
                    self.context.errors.append(
                        self.doc.error_at(at, e.place.start, e.place.length, e.message, e.help)
                        if e.place
                        else self.doc.error(at, e.message, e.help)
                    )
                    break
                forms.append(variant.form)
                self.variants[variant.form] = variant
            found.append(SyntaxLine(" ".join(line.split()), listed, frozenset(forms)))
        return found

    def spellings(self, where: Where, line: str) -> Spellings | None:
        """Return the spellings of a line; None if a name in it is unknown."""
        try:
            found = parse_line(line, self.opcode, self.context.groups)
        except NotationError as e:
            self.context.errors.append(self.doc.error_at(where, e.start, e.length, str(e), e.help))
            return None
        if not self.context.all_known(self.doc, where, line, found.names):
            return None
        places = [p for p in (found.result, found.second, *found.sources) if p]
        return found if all(self.states_known(where, p, places) for p in places) else None

    def states_known(self, where: Where, place: SyntaxOperand, places: Iterable[SyntaxOperand]) -> bool:
        """Return whether the type that an operand states is a type, or the name of an operand that states none."""
        if place.holds:
            return self.context.known(self.doc, where, place.holds, self.context.types, "type")
        others = [p.name for p in places if not p.type]
        if not place.type or place.type in self.context.types or place.type in others:
            return True
        known = [*self.context.types, *others]
        return self.context.known(self.doc, where, place.type, known, "type or operand")

    def variant(self, spellings: Spellings, names: tuple[str, ...], listed: bool) -> Variant:
        """Return the variant of one spelling of a line. Raises _Unfit."""
        modifiers, types = self.context.split(names)
        shown = ".".join((self.opcode, *names))
        if not types:
            raise _Unfit(f"'{shown}' has no type", "the manual writes the types at the end")
        if names[-len(types) :] != types:
            raise _Unfit(f"'{shown}' must end with its types", "the manual writes the types at the end")
        if len(set(modifiers)) < len(modifiers):
            raise _Unfit(f"'{shown}' has a modifier twice")
        if sum(self.context.modifiers[m].mode is not None for m in modifiers) > 1:
            raise _Unfit(f"'{shown}' has two rounding directions", "write `.{one,other}` where one of several is meant")
        typed = self.typed(spellings, [self.context.types[t] for t in types], shown)
        result, second = operand(spellings.result, typed), None
        if spellings.second:
            stated = spellings.second.type
            second = operand(spellings.second, {"q": self.context.types[stated] if stated else typed["p"]})
        made = Variant(
            opcode=self.opcode,
            modifiers=modifiers,
            types=tuple(self.context.types[t] for t in types),
            result=result,
            second=second,
            sources=tuple(operand(p, typed, p.name in self.copied) for p in spellings.sources),
            listed=listed,
        )
        _check_lanes(made, spellings, shown)
        if made.form in self.variants:
            raise _Unfit(f"{made} is produced twice", "another syntax line has it, or this one")
        return made

    def typed(self, spellings: Spellings, spelled: list[Type], shown: str) -> dict[str, Type]:
        """Return the type of each operand by its name. Those that state none get the types that the spelling ends in,
        in order; the last one repeats."""
        places = (spellings.result, *spellings.sources)
        found: dict[str, Type] = {}
        waiting = [p for p in places if not p.type and not (p.name == "p" and p is spellings.result)]
        if len(spelled) > max(1, len(waiting)):
            message = f"'{shown}' ends in {len(spelled)} types, for {len(waiting)} operands that state none"
            raise _Unfit(message, "an operand's own type stands behind it, as in c:f32")
        for i, place in enumerate(waiting):
            found[place.name] = spelled[min(i, len(spelled) - 1)]
            if place.holds:
                found[place.name] = self.held(place, found[place.name], shown)
        for place in places:
            if place.type:
                found[place.name] = found.get(place.type) or self.context.types[place.type]
            elif place.name not in found:
                found[place.name] = self.predicate(place)
        return found

    def types_of(self, spellings: Spellings, names: tuple[str, ...]) -> dict[str, Type] | None:
        """Return the type of each operand by its name; None if the spelling has too many types."""
        try:
            return self.typed(spellings, [self.context.types[t] for t in self.context.split(names)[1]], "")
        except _Unfit:
            return None

    def held(self, place: SyntaxOperand, spelled: Type, shown: str) -> Type:
        """Return the type of an operand for which a spelling gives only the size, or what is packed into it."""
        found = self.context.types[place.holds]
        if found.width % spelled.width:
            sizes = f".{found.name} has {found.width} bits, .{spelled.name} has {spelled.width}"
            raise _Unfit(f"'{shown}': {sizes}", "write a type of the same size, or a multiple", place)
        return found

    def predicate(self, place: SyntaxOperand) -> Type:
        found = next((t for t in self.context.types.values() if t.kind == BOOL), None)
        if found is None:
            raise _Unfit("no type of types.yaml is a predicate", "add one, as in pred: {predicate: true, ...}", place)
        return found


def operand(place: SyntaxOperand, typed: dict[str, Type], copied: bool = False) -> Operand:
    return Operand(
        name=place.name,
        type=typed[place.name],
        registers=place.registers,
        braced=place.braced,
        negatable=place.negatable,
        copied=copied,
        implicit=place.implicit,
    )


def _check_lanes(v: Variant, spellings: Spellings, shown: str) -> None:
    """Check that operands have as many lanes as the result, or one that all lanes share."""
    for o, place in zip((v.result, *v.sources), (spellings.result, *spellings.sources), strict=True):
        if o.registers and o.type.lanes > 1:
            help = f"write {o.name}, or a type of one lane"
            raise _Unfit(
                f"'{shown}': {o.name} has registers for lanes of .{o.type.name}, which has its own", help, place
            )
        if o.negatable and o.kind != BOOL:
            raise _Unfit(f"'{shown}': {o.name} is no predicate, and only these are negated", "", place)
        if o.name == "p" and o.kind != BOOL:
            raise _Unfit(f"'{shown}': the result p is a predicate", f"write d for a result of .{o.type.name}", place)
        if o.lanes not in (1, v.lanes) or (o is v.result and o.lanes != v.lanes):
            lanes = f"{o.lanes} lane{'s' * (o.lanes != 1)}"
            help = "p0|p1 is a predicate for each of two lanes, a1, a0 are two lanes in registers of their own"
            raise _Unfit(f"'{shown}': {o.name} has {lanes}, other operands have {v.lanes}", help, place)

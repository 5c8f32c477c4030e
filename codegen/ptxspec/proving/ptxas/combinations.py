"""Statements to check with ptxas beside the variants: an opcode's names, and names that it does not have, combined in
ways that mostly mean nothing.

Whatever ptxas accepts must be found, but there are too many combinations of all names: conversions alone have 2,000
pairs of types and 3,000 sets of modifiers. For an opcode that has many, `asked` yields

- all combinations of its own names: every sequence of its types and every number of operands that goes with it (if
  these are not too many, every number), with every set of its modifiers, at most one of each group;
- one mistake: a variant with any one modifier more, or one modifier or one type exchanged for any other one, or the
  modifiers of any variant with a wrong number of operands, a second result or a `!` too many;
- some variants with a type too many or too few, others for each type;
- two mistakes, in turn: each wrong shape with each foreign modifier, alone and beside the modifiers of one variant, of
  another one each time; each sequence of exchanged types with some of the foreign modifiers, with others each time.

The rest has two mistakes or more, each of which was refused alone, in all surroundings that are legal but for it.
ptxas's messages show that it checks mistakes one by one: it looks up each name, then the types with the number of
operands, then whether each modifier goes with these. A sweep checks a large sample of the rest (`sample`).
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...model import BOOL, Spec, Variant
from .statements import Signature, StatementWriter, alike, nearest, signature

Names = tuple[str, ...]
# The number of foreign modifiers checked with each sequence of exchanged types; the next one gets others.
_IN_TURN = 8
# Up to this many combinations of an opcode, with its own types or with exchanged ones, are checked completely.
_WHOLE = 100_000


class StatementShape(NamedTuple):
    """A statement without its modifiers: the types that it ends in, the number of source registers, whether it has a
    second result and `!` before predicates, and its operands as text."""

    types: Names
    operands: int
    second: bool
    inverted: bool
    written: str

    @property
    def how(self) -> str:
        return " and p|q" * self.second + " and !" * self.inverted


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of modifiers, each in the order of the spelling."""

    names: Sequence[Names]

    @cached_property
    def places(self) -> Mapping[frozenset[str], int]:
        return {frozenset(names): i for i, names in enumerate(self.names)}

    @cached_property
    def spelled(self) -> list[str]:
        return ["".join(f".{n}" for n in names) for names in self.names]


class ShapeCombinations(NamedTuple):
    """A shape with each of some sets of modifiers."""

    shape: StatementShape
    sets: Sets


class Combinations:
    """The combinations of one opcode.

    Left out are modifiers that the assembler is known to ignore where they do not belong, or to crash on, forms of
    other instructions with the same name, types without known registers, and tolerated spellings."""

    def __init__(self, spec: Spec, opcode: str) -> None:
        instruction = spec.instructions[opcode]
        self.opcode = opcode
        self._spec = spec
        self._writer = StatementWriter(spec.assembler.registers)
        self._elsewhere = instruction.elsewhere
        self._signatures = {v: signature(v) for v in instruction.variants}
        self._known = list(dict.fromkeys(self._signatures.values()))
        self._having: dict[tuple[Names, int], list[Variant]] = defaultdict(list)
        for v in instruction.variants:
            self._having[v.type_names, v.operands].append(v)
        self._tolerated: dict[tuple[Names, int], list[frozenset[str]]] = defaultdict(list)
        for t in instruction.tolerated:
            for names, types, operands in t.forms:
                self._tolerated[types, operands].append(names)
        own = {m for v in instruction.variants for m in v.modifiers}
        ignored = {name for names in (*spec.assembler.ignored, set(spec.assembler.crashing) - own) for name in names}
        rounding = [m.name for m in spec.modifiers.values() if m.mode]
        self._groups = [[m for m in g if m in own] for g in _united([*spec.groups.values(), rounding])]
        self._groups += [[m] for m in spec.modifiers if m in own.difference(*self._groups)]
        foreign = [m for m in spec.modifiers.values() if m.name not in own | ignored]
        self._single: list[Names] = [(m,) for m in spec.modifiers if m not in ignored]
        self._foreign: list[Names] = [(m.name,) for m in foreign]
        pairs = itertools.product((m for m in foreign if m.mode), (m for m in foreign if not m.mode))
        self._foreign_sets: list[Names] = [(), *self._foreign, *((a.name, b.name) for a, b in pairs)]
        self._made: dict[tuple[tuple[Names, ...], tuple[Names, ...]], Sets] = {}
        self._own_types = {types for types, _ in self._having}
        self._similar: dict[tuple[int, int], Signature] = {}
        self._left: dict[tuple[Sets, Sets], Sets] = {}
        # The sets of all variants, and the empty one.
        self._usual = Sets(list(dict.fromkeys([(), *(v.modifiers for v in instruction.variants)])))

    @cached_property
    def own(self) -> Sets:
        """Every set of the opcode's modifiers with at most one of each group and at most one rounding direction."""
        choices = [[(), *((m,) for m in g)] for g in self._groups]
        return Sets([self._ordered(itertools.chain(*chosen)) for chosen in itertools.product(*choices)])

    @cached_property
    def types(self) -> list[Names]:
        """The sequences of types that its spellings end in."""
        return list(dict.fromkeys(types for types, _ in self._having))

    @cached_property
    def exchanged(self) -> list[Names]:
        """The sequences of types with one type exchanged for another one, as far as they are known to be wrong."""
        every = self._every_type
        return self._wrong((*f[:i], t, *f[i + 1 :]) for f in self.types for i in range(len(f)) for t in every)

    def too_many(self, types: Names) -> list[Names]:
        """Return a sequence of types with one more, or one less, as far as these are known to be wrong."""
        longer = [f for t in self._every_type for f in ((t, *types), (*types, t))]
        return self._wrong(f for f in (*longer, types[1:], types[:-1]) if f)

    def _wrong(self, sequences: Iterable[Names]) -> list[Names]:
        if self._elsewhere is None:
            return []
        others = {*self.types, *self._elsewhere}
        return [f for f in dict.fromkeys(sequences) if f not in others]

    @cached_property
    def _every_type(self) -> list[str]:
        known = self._spec.assembler.registers
        return [t.name for t in self._spec.types.values() if t.kind != BOOL and not t.is_constant and t.name in known]

    def asked(self) -> Iterator[ShapeCombinations]:
        """Yield what to check: the right types, and those with one exchanged, with all sets of modifiers, foreign ones
        too. Each is checked completely if it is not too large, else its single mistakes and some others in turn."""
        foreign, usual = itertools.cycle(self._foreign), itertools.cycle(self._usual.names)
        legal = {(len(types), operands) for types, operands in self._having}
        every = self._with(self.own.names, self._foreign_sets)

        shapes = list(self._shapes(self.types))
        whole = len(shapes) * len(every.names) <= _WHOLE
        own = len(shapes) * len(self.own.names) <= _WHOLE
        for shape in shapes:
            variants = self._having.get((shape.types, shape.operands), ())
            first = every if whole else self.own if variants or own else self._usual
            yield ShapeCombinations(shape, first)
            plain = not (shape.second or shape.inverted)
            if variants and plain:
                beside = tuple(dict.fromkeys(_and_one_less(v.modifiers for v in variants)))
                yield ShapeCombinations(shape, self._but(first, self._with(beside, self._single)))
            elif not whole:
                yield ShapeCombinations(shape, self._but(first, self._with(((), next(usual)), self._foreign)))

        shapes = list(self._shapes(self.exchanged))
        whole = len(shapes) * len(every.names) <= _WHOLE
        own = len(shapes) * len(self.own.names) <= _WHOLE
        for shape in shapes:
            if whole:
                yield ShapeCombinations(shape, every)
                continue
            likely = (len(shape.types), shape.operands) in legal and not (shape.second or shape.inverted)
            few = self._usual if likely else _distinct((), next(usual), next(usual))
            yield ShapeCombinations(shape, self.own if own else few)
            some = list(itertools.islice(foreign, min(_IN_TURN, len(self._foreign))))
            yield ShapeCombinations(shape, self._with(((), next(usual)), some))

        for variants in self._having.values():
            modifiers = itertools.cycle(v.modifiers for v in variants)
            shape = own_shapes(self._writer, variants[0])[0]
            for types in self.too_many(shape.types):
                yield ShapeCombinations(shape._replace(types=types), _distinct((), next(modifiers), next(modifiers)))

    def sample(self, count: int, seed: int) -> Iterator[ShapeCombinations]:
        """Yield `count` combinations, drawn at random from all."""
        r = random.Random(seed)
        shapes = [*self._shapes(self.types), *self._shapes(self.exchanged)]
        for _ in range(count):
            names = self._ordered((*r.choice(self.own.names), *r.choice(self._foreign_sets)))
            yield ShapeCombinations(r.choice(shapes), Sets([names]))

    def statements(self, block: ShapeCombinations) -> tuple[list[str], dict[int, Variant]]:
        """Return the statements of a block, and the variants among them by their places. Left out are tolerated
        statements, and a variant with other operands than its own."""
        shape, sets = block
        tail = f".{'.'.join(shape.types)} {shape.written};"
        found = [f"{self.opcode}{spelled}{tail}" for spelled in sets.spelled]
        legal: dict[int, Variant] = {}
        left_out = {sets.places.get(names) for names in self._tolerated.get((shape.types, shape.operands), ())}
        for v in self._having.get((shape.types, shape.operands), ()):
            place = sets.places.get(frozenset(v.modifiers))
            if place is None:
                continue
            # In the order of NVIDIA's manual: some modifiers are refused in another.
            found[place] = f"{v.spelling} {shape.written};"
            if _has(v, shape):
                legal[place] = v
                if self._written(v, shape) != shape.written:
                    left_out.add(place)
        kept = [i for i in range(len(found)) if i not in left_out]
        return [found[i] for i in kept], {new: legal[i] for new, i in enumerate(kept) if i in legal}

    def _shapes(self, sequences: Iterable[Names]) -> Iterator[StatementShape]:
        """Yield each sequence of types with each number of operands, with operands as in the variants that have these,
        else as in the most similar one; also with p|q where a variant has that, and with negated predicates."""
        most = max(4, *(s.operands for s in self._known))
        two = [False, True] if any(s.second or s.result_registers > 1 for s in self._known) else [False]
        for types, operands in itertools.product(sequences, range(1, most + 1)):
            own = [self._signatures[v] for v in self._having.get((types, operands), ())]
            found = {}
            for s in dict.fromkeys(own or [self._alike(types, operands)]):
                either = [False, True] if self._writer.reads_predicates(s) else [False]
                for second, inverted in itertools.product(two, either):
                    written = ", ".join(self._writer.operands(s, second, inverted))
                    found[written] = StatementShape(types, operands, second, inverted, written)
            yield from found.values()

    def _alike(self, types: Names, operands: int) -> Signature:
        """Return the most similar signature; if none has these types, their number decides."""
        if types in self._own_types:
            return alike(self._known, types, operands)
        key = (len(types), operands)
        similar = self._similar.get(key)
        if similar is None:
            similar = self._similar[key] = nearest(self._known, types, operands)
        return alike([similar], types, operands)

    def _written(self, v: Variant, shape: StatementShape) -> str:
        return ", ".join(self._writer.operands(self._signatures[v], shape.second, shape.inverted))

    def _with(self, beside: Iterable[Names], foreign: Sequence[Names]) -> Sets:
        key = (tuple(beside), tuple(foreign))
        found = self._made.get(key)
        if found is None:
            together = [(*names, *more) for names in key[0] for more in foreign if not set(more).intersection(names)]
            found = self._made[key] = _distinct(*map(self._ordered, together))
        return found

    def _but(self, asked: Sets, more: Sets) -> Sets:
        """Return the sets without those that were checked already."""
        key = (asked, more)
        found = self._left.get(key)
        if found is None:
            left = [names for names in more.names if frozenset(names) not in asked.places]
            found = self._left[key] = Sets(left)
        return found

    def _ordered(self, names: Iterable[str]) -> Names:
        """Return modifiers in their order: some are accepted only in front."""
        return tuple(sorted(names, key=lambda m: m not in self._spec.assembler.leading))


def _and_one_less(sets: Iterable[Names]) -> Iterator[Names]:
    for names in sets:
        yield names
        for i in range(len(names)):
            yield (*names[:i], *names[i + 1 :])


def _distinct(*names: Names) -> Sets:
    return Sets(list({frozenset(n): n for n in names}.values()))


def own_shapes(writer: StatementWriter, v: Variant) -> list[StatementShape]:
    """Return the shapes of a variant as it is, with its second result, and with its predicates negated."""
    both = len(v.needed) > 1
    plain, more = (both, False), [(True, False)] * (_has_two(v) and not both)
    more += [(both, True)] * any(s.negatable for s in v.sources)
    return [
        StatementShape(v.type_names, v.operands, *how, ", ".join(writer.operands(signature(v), *how)))
        for how in (plain, *more)
    ]


def _has_two(v: Variant) -> bool:
    return v.pair is not None or len(v.result.places) > 1


def _has(v: Variant, shape: StatementShape) -> bool:
    """Return whether a variant has the second result and the negated predicates of a shape."""
    fits = _has_two(v) if shape.second else len(v.needed) == 1
    return fits and (not shape.inverted or any(s.negatable for s in v.sources))


def _united(groups: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the groups, with those that share a name united: a rounding direction counts as one, whichever line of
    syntax has it."""
    found: list[tuple[str, ...]] = []
    for g in groups:
        apart = [other for other in found if set(other).isdisjoint(g)]
        shared = [m for other in found if other not in apart for m in other]
        found = [*apart, tuple(dict.fromkeys([*shared, *g]))]
    return found

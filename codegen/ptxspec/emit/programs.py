"""Checked programs as data for an interpreter in another language.

Parts that programs have in common are stored once and referred to by their place. A program is the places of its
results and of its assignments, an assignment refers to its term, and a term to the terms in it. The reader,
templates/manual/evaluator/programs.js, documents each kind of entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model import INSTRUCTIONS, FixedPoint, Format, Interpolator, Kind, Type, UnitModel
from ..semantics.program import Apply, Const, Let, Program, Term, Var
from .units import SPECIAL, fields

# The place of a program that is too large to store.
TOO_LARGE = -1
# A file and a line.
Place = tuple[str, int]


class Table:
    """Values that are stored once, and the place of each."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}
        self.values: list[Any] = []

    def place(self, key: Any, value: Any = None) -> int:
        """Return the place of a value. A value that cannot be a key itself comes with one."""
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(key if value is None else value)
        return self._places[key]


def _place(path: str, line: int) -> Place:
    """Return a line's file and number. The number is 0 in files that opcodes share, where an added line would change
    the data of all opcodes."""
    return path, line if path.startswith(INSTRUCTIONS) else 0


class Programs:
    """Programs, with the formats and types that they use. `lines` are those of the files that contain semantics, by
    path."""

    def __init__(self, lines: Mapping[str, Sequence[str]]) -> None:
        self.lines = lines
        self.formats: dict[str, Format | FixedPoint] = {}
        self.types: dict[str, Type] = {}
        self.operations, self.terms, self.lets, self.programs = Table(), Table(), Table(), Table()
        self.stages, self.places, self.units = Table(), Table(), Table()
        self.origins: dict[int, str] = {}
        # Terms and programs by their identity. Equal ones are mostly one object, and comparing them takes long.
        self._of_terms: dict[tuple[int, Place | None], int] = {}
        self._of_programs: dict[int, int] = {}
        self._returned: Mapping[Term, Place] = {}

    def data(self) -> dict[str, Any]:
        return {
            "formats": {f.name: _format(f) for f in self.formats.values()},
            "types": {t.name: [self.kind(t.kind), t.lanes, t.lane_width, t.shift] for t in self.types.values()},
            "units": self.units.values,
            "stages": self.stages.values,
            "places": self.places.values,
            "operations": self.operations.values,
            "terms": [term for term, _ in self.terms.values],
            "origins": self.origins,
            "lets": self.lets.values,
            "programs": self.programs.values,
        }

    def type(self, t: Type) -> str:
        self.types.setdefault(t.name, t)
        self.kind(t.kind)
        return t.name

    def kind(self, k: Kind) -> str:
        """Return the name of a format, the width of bits, or "bool"."""
        declared = k.format or k.fixed
        if declared is not None:
            return self.format(declared)
        return str(k.width) if k.sort == "bits" else k.sort

    def format(self, f: Format | FixedPoint) -> str:
        self.formats.setdefault(f.name, f)
        return f.name

    def program(self, p: Program) -> int:
        """Return the place of a program, or `TOO_LARGE` if it uses a table of differences, which is too large for a
        page."""
        if id(p) not in self._of_programs:
            terms = (*p.results, *(let.value for let in p.lets))
            fits = all(isinstance(m.core, Interpolator) for t in terms for m in _models(t))
            self._returned = p.origins
            places = (*map(self.term, p.results), *map(self.let, p.lets)) if fits else ()
            self._of_programs[id(p)] = self.programs.place(places) if fits else TOO_LARGE
        return self._of_programs[id(p)]

    def let(self, let: Let) -> int:
        text = self.lines[let.path][let.mark.line - 1].strip()
        place = self.places.place((*_place(let.path, let.mark.line), text))
        guard = tuple(self.term(t) if outcome else -1 - self.term(t) for t, outcome in let.guard)
        stem, _, number = let.name.rpartition("_")
        usual = stem if stem and number.isdigit() else let.name
        label = (let.label,) if let.label != usual else ()
        term, stage = self.term(let.value), self.stages.place(let.stage)
        return self.lets.place((let.name, term, stage, place, *((guard,) if guard or label else ()), *label))

    def term(self, t: Term) -> int:
        origin = self._returned.get(t) if self._returned else None
        key = id(t), origin
        if key not in self._of_terms:
            place = self._of_terms[key] = self.terms.place((self._coded(t), origin))
            if origin:
                self.origins[place] = ":".join(map(str, filter(None, _place(*origin))))
        return self._of_terms[key]

    def _coded(self, t: Term) -> tuple[Any, ...]:
        kind = self.kind(t.kind)
        if isinstance(t, Const):
            return kind, hex(t.value)
        if isinstance(t, Var):
            return kind, t.name
        return kind, self._operation(t), *map(self.term, t.arguments)

    def _operation(self, t: Apply) -> int:
        unit = None if t.model is None else self.units.place(t.model, self.unit(t.model))
        format = t.format and self.format(t.format)
        said = [t.function, format, t.mode or None, int(t.ftz) or None, t.count or None, unit]
        while said[-1] is None:
            said.pop()
        return self.operations.place(tuple(said))

    def unit(self, m: UnitModel) -> dict[str, Any]:
        """Return the data of an interpolator. Integers that may be too long for JSON's numbers are text."""
        found, factor = fields(m), m.argument.factor
        return {
            **found,
            "name": m.unit,
            "within": m.within,
            "format": self.format(m.format),
            "factor": [str(factor.numerator), str(factor.denominator)],
            "bias": str(found["bias"]),
            "special": {name: hex(m.special[name]) for name in SPECIAL if name in m.special},
        }


def _models(t: Term) -> Iterator[UnitModel]:
    if isinstance(t, Apply):
        if t.model is not None:
            yield t.model
        for a in t.arguments:
            yield from _models(a)


def _format(f: Format | FixedPoint) -> dict[str, Any]:
    if isinstance(f, FixedPoint):
        return {"width": f.width, "signed": f.signed, "point": f.point}
    return {
        "exponent_bits": f.exponent_bits, "fraction_bits": f.fraction_bits, "bias": f.bias, "nans": str(f.nans),
        "canonical_nan": hex(f.canonical_nan), "overflow": f.overflow, "signed": f.signed, "zero": f.has_zero,
        "subnormals": f.has_subnormals, "infinity": f.has_infinity, "ieee": f.is_ieee,
    }  # fmt: skip

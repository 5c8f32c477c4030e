"""Checked programs -> the manual's evaluator: JavaScript that is the same for all pages, and one file of data for each
opcode, which holds its formats, types, variants and programs.

The arithmetic is written by people, in templates/manual/evaluator; data says what is computed. Whatever several
programs have in common stands once, and they refer to it by its place: a program is the places of its results and of
its assignments, an assignment that of its term, a term those of the terms in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...catalog import Requirement
from ...check.checking import Checked
from ...compact import compact, named_in
from ...model import Code, FixedPoint, Format, Interpolator, Kind, Operand, Spec, Type, UnitModel, Variant
from ...semantics.program import Apply, Const, Let, Program, Term, Var
from ..registry import product
from ..text import Files, Templates, plain
from ..units import SPECIAL, fields

# In the order in which they are run: each adds to what the ones before it define.
_SCRIPTS = (
    "formats", "rounding", "elementary", "units", "operations", "programs", "literals", "roundings", "accounts", "telling",
    "specials", "variants", "evaluator",
)  # fmt: skip
_FOLDER = "manual/evaluator"


@product("evaluator")
def emit(spec: Spec, checked: Sequence[Checked], templates: Templates) -> Files:
    """manual/evaluator.js, and manual/<opcode>.programs.js."""
    files = {"manual/evaluator.js": script(templates.root)}
    lines = _lines(spec)
    for c in checked:
        data = _text(_Opcode(spec, c, lines).data())
        opcode = c.instruction.opcode
        files[f"manual/{opcode}.programs.js"] = templates.render(
            "manual/programs.js.j2", [c.instruction.path, "spec/types.yaml", "spec/modifiers.yaml"],
            comment="// {}", data=data,
        )  # fmt: skip
    return files


def script(root: Path) -> str:
    """The scripts that all pages share, as one."""
    folder = f"templates/{_FOLDER}"
    return "".join(plain(root / folder / f"{name}.js", f"{folder}/{name}.js") for name in _SCRIPTS)


def _text(data: Mapping[str, Any]) -> str:
    """An object of JavaScript; what has many entries has a line for each, so that a change is a readable diff."""

    def short(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def long(value: Any) -> str:
        if isinstance(value, dict) and value:
            return "{\n" + ",\n".join(f"{short(k)}: {short(v)}" for k, v in value.items()) + "\n}"
        has_entries = isinstance(value, list) and value and not isinstance(value[0], str)
        return "[\n" + ",\n".join(map(short, value)) + "\n]" if has_entries else short(value)

    return "{\n" + ",\n".join(f"{key}: {long(value)}" for key, value in data.items()) + "\n}"


def _lines(spec: Spec) -> Mapping[str, Sequence[str]]:
    """The lines of the files that semantics stands in, by their paths."""
    codes: list[Code | None] = [i.semantics for i in spec.instructions.values()]
    codes += [r.code for r in spec.nan_rules.values()]
    codes += [c for m in spec.modifiers.values() for c in (m.raw, m.operand, m.result, m.override)]
    return {c.path: c.lines for c in codes if c is not None}


# A file and a line.
Place = tuple[str, int]


class _Table:
    """Values that are stored once, and the place of each."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}
        self.values: list[Any] = []

    def place(self, key: Any, value: Any = None) -> int:
        """The place of a value; where it cannot be a key, it comes with one."""
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(key if value is None else value)
        return self._places[key]


class _Opcode:
    """One opcode's data."""

    def __init__(self, spec: Spec, checked: Checked, lines: Mapping[str, Sequence[str]]) -> None:
        self.spec, self.checked, self.lines = spec, checked, lines
        self.formats: dict[str, Format | FixedPoint] = {}
        self.types: dict[str, Type] = {}
        self.operations, self.terms, self.lets, self.programs = _Table(), _Table(), _Table(), _Table()
        self.stages, self.places, self.units, self.signatures = _Table(), _Table(), _Table(), _Table()
        self._masks: dict[Requirement, str] = {}
        self.targets = {name: i for i, name in enumerate(spec.targets)}
        # Terms and programs by their identity: equal ones are mostly one object, and to compare them takes long.
        self._of_terms: dict[tuple[int, Place | None], int] = {}
        self._origins: Mapping[Term, Place] = {}
        self.origins: dict[int, str] = {}
        self._of_programs: dict[int, int] = {}

    def data(self) -> dict[str, Any]:
        families = self.families()
        texts = [text for f in families for text in f["texts"]]
        return {
            "opcode": self.checked.instruction.opcode,
            "targets": list(self.targets),
            "groups": {name: list(members) for name, members in named_in(texts, self.spec.notation).items()},
            "formats": {f.name: _format(f) for f in self.formats.values()},
            "types": {
                t.name: [self.kind(t.kind), t.lanes, t.lane_width, t.shift] for t in self.types.values()
            },
            "units": self.units.values,
            "stages": self.stages.values,
            "places": self.places.values,
            "modifiers": self.modifiers(),
            "operations": self.operations.values,
            "terms": [term for term, _ in self.terms.values],
            "origins": self.origins,
            "lets": self.lets.values,
            "programs": self.programs.values,
            "signatures": self.signatures.values,
            "families": families,
        }  # fmt: skip

    # Variants

    def families(self) -> list[dict[str, Any]]:
        """Variants of which the same is known but for their programs, which stand in the order of their spellings."""
        found: dict[str, tuple[dict[str, Any], list[Variant]]] = {}
        for v in self.checked.instruction.variants:
            about = self.about(v)
            found.setdefault(json.dumps(about), (about, []))[1].append(v)
        return [self.family(about, variants) for about, variants in found.values()]

    def about(self, v: Variant) -> dict[str, Any]:
        catalog, own = self.spec.catalog, {*v.modifiers, *v.means}
        claims, hazards = dict[str, list[str]](), dict[str, list[str]]()
        for t in self.spec.targets if v.claim != "exact" and self._is_known_of_targets(v) else ():
            if (claim := self.spec.claim(v, t)) != v.claim:
                claims.setdefault(claim, []).append(t)
        for t in self.spec.targets if v.hazards else ():
            if text := catalog.hazard_text(v, t):
                hazards.setdefault(text, []).append(t)
        if v.requires not in self._masks:
            self._masks[v.requires] = self.mask(t for t in self.spec.targets if catalog.takes(v.requires, t))
        about = {
            "signature": self.signature(v),
            "claim": v.claim,
            "targets": self._masks[v.requires],
            "claims": [[self.mask(on), claim] for claim, on in claims.items()],
            "hazard": catalog.hazard_text(v) if v.hazards else None,
            "hazards": [[self.mask(on), text] for text, on in hazards.items()],
            "means": v.means,
            "implied": [[self.mask(on), m] for m, on in self.implied(v) if m not in own],
        }
        return {name: said for name, said in about.items() if said not in (None, [], ())}

    def implied(self, v: Variant) -> Iterable[tuple[str, list[str]]]:
        """Modifiers with the targets on which it behaves as though it had them."""
        for i in self.spec.implied:
            if i.is_about(v):
                yield i.modifier, [t for t in self.targets if self.spec.is_within(t, i.within)]

    def modifiers(self) -> dict[str, tuple[str | None, bool, str]]:
        """The direction in which a modifier makes operations round, whether it flushes, and the place of both, of those
        that variants have, mean or behave as though they had."""
        names = {n for v in self.checked.instruction.variants for n in (*v.modifiers, *v.means)}
        names.update(i.modifier for i in self.spec.implied)
        return {n: (m.mode, m.ftz, m.round_place) for n, m in self.spec.modifiers.items() if n in names}

    def _is_known_of_targets(self, v: Variant) -> bool:
        return bool(self.spec.recordings or self.checked.instruction.hardware_paths(v))

    def mask(self, targets: Iterable[str]) -> str:
        """Some targets as the bits of an integer, the first as the lowest."""
        return hex(sum(1 << self.targets[t] for t in targets))

    def family(self, about: dict[str, Any], variants: Sequence[Variant]) -> dict[str, Any]:
        # The order of the characters, which JavaScript has, too.
        variants = sorted(variants, key=lambda v: v.spelling)
        words = ((v.modifiers, v.type_names) for v in variants)
        found = {"texts": compact(words, self.spec.notation), **about, "programs": []}
        on: dict[str, list[int | None]] = {}
        for i, v in enumerate(variants):
            programs = self.checked.programs[v]
            found["programs"].append(self.program(programs[None]))
            alike: dict[int, list[str]] = {}
            for target, program in programs.items():
                if target is not None:
                    alike.setdefault(self.program(program), []).append(target)
            for place, targets in alike.items():
                on.setdefault(self.mask(targets), [None] * len(variants))[i] = place
        return {**found, **({"on": [[mask, places] for mask, places in on.items()]} if on else {})}

    def signature(self, v: Variant) -> int:
        value = {
            "lanes": v.lanes,
            "results": [self.operand(o) for o in v.results],
            "sources": [self.operand(o) for o in v.sources],
        }
        return self.signatures.place(json.dumps(value), value)

    def operand(self, o: Operand) -> dict[str, Any]:
        self.types.setdefault(o.type.name, o.type)
        more = {"registers": o.registers, "braced": o.braced, "negatable": o.negatable, "lane_bits": o.lane_bits}
        return {"name": o.name, "type": o.type.name, **{name: x for name, x in more.items() if x}}

    # Programs

    def program(self, p: Program) -> int:
        if id(p) not in self._of_programs:
            known = all(m is None or isinstance(m.core, Interpolator) for m in _models(p))
            # A table of differences is too large for a page.
            self._origins = p.origins
            places = [*map(self.term, p.results), *map(self.let, p.lets)] if known else []
            self._of_programs[id(p)] = self.programs.place(tuple(places)) if known else -1
        return self._of_programs[id(p)]

    def let(self, let: Let) -> int:
        line = let.mark.line
        place = self.places.place((let.path, line, self.lines[let.path][line - 1].strip()))
        guard = tuple(self.term(t) if outcome else -1 - self.term(t) for t, outcome in let.guard)
        stem, _, number = let.name.rpartition("_")
        usual = stem if stem and number.isdigit() else let.name
        label = (let.label,) if let.label != usual else ()
        term, stage = self.term(let.value), self.stages.place(let.stage)
        return self.lets.place((let.name, term, stage, place, *((guard,) if guard or label else ()), *label))

    def term(self, t: Term) -> int:
        origin = self._origins.get(t) if self._origins else None
        key = id(t), origin
        if key not in self._of_terms:
            place = self._of_terms[key] = self.terms.place((self.coded(t), origin))
            if origin:
                self.origins[place] = f"{origin[0]}:{origin[1]}"
        return self._of_terms[key]

    def coded(self, t: Term) -> tuple[Any, ...]:
        kind = self.kind(t.kind)
        if isinstance(t, Const):
            return kind, hex(t.value)
        if isinstance(t, Var):
            return kind, t.name
        return kind, self.operation(t), *map(self.term, t.arguments)

    def operation(self, t: Apply) -> int:
        if t.format is not None:
            self.formats.setdefault(t.format.name, t.format)
        unit = None if t.model is None else self.units.place(t.model, self.unit(t.model))
        said = [t.function, t.format and t.format.name, t.mode or None, int(t.ftz) or None, t.count or None, unit]
        while said[-1] is None:
            said.pop()
        return self.operations.place(tuple(said))

    def kind(self, k: Kind) -> str:
        """The name of a format, the width of bits, or "bool"."""
        declared = k.format or k.fixed
        if declared is not None:
            self.formats.setdefault(declared.name, declared)
            return declared.name
        return str(k.width) if k.sort == "bits" else k.sort

    def unit(self, m: UnitModel) -> dict[str, Any]:
        self.formats.setdefault(m.format.name, m.format)
        a = m.argument
        return {
            **fields(m),
            "name": m.unit,
            "within": m.within,
            "format": m.format.name,
            "factor": [str(a.factor.numerator), str(a.factor.denominator)],
            "bias": str(fields(m)["bias"]),
            "special": {name: hex(m.special[name]) for name in SPECIAL if name in m.special},
        }


def _models(p: Program) -> Iterable[UnitModel | None]:
    def of(t: Term) -> Iterable[UnitModel | None]:
        if isinstance(t, Apply):
            yield t.model
            for a in t.arguments:
                yield from of(a)

    return (m for let in p.lets for m in of(let.value))


def _format(f: Format | FixedPoint) -> dict[str, Any]:
    if isinstance(f, FixedPoint):
        return {"width": f.width, "signed": f.signed, "point": f.point}
    return {
        "exponent_bits": f.exponent_bits, "fraction_bits": f.fraction_bits, "bias": f.bias, "nans": str(f.nans),
        "canonical_nan": hex(f.canonical_nan), "overflow": f.overflow, "signed": f.signed, "zero": f.has_zero,
        "subnormals": f.has_subnormals, "infinity": f.has_infinity, "ieee": f.is_ieee,
    }  # fmt: skip

"""The model -> the JSON that queries and other programs read: one file for what all opcodes share, one for each opcode.

Data that many variants have in common is stored once and referred to by its place. A variant is its modifiers and
types, the places of its signature and of its class, and the digest of what it computes. All facts about the variants of
a class are the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from ...basis import Basis
from ...check.checking import Checked
from ...check.claims import followed, recorded
from ...check.relations import relation
from ...matrices.forms import Form
from ...model import (
    BOOL,
    CornerRow,
    CornerTable,
    FixedPoint,
    Format,
    HazardRule,
    Instead,
    Instruction,
    LaneBits,
    Naming,
    Note,
    Operand,
    OperandRule,
    PublishedResults,
    Rule,
    Spec,
    Tolerated,
    Type,
    Unit,
    Variant,
)
from ...model.tensor import TensorCores, named_for_all
from ...query.database import SCHEMA, Data
from ...recipes.inline import asm_operands
from ..assembler import assembler
from ..parts import NONE, Parts
from ..text import Files, Templates, as_lines
from . import calls, machine_code

_STAMP = "by ptxspec from spec/; do not edit"


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the files of generated/data."""
    files = {"data/ptxspec.json": _lines(_shared(spec))}
    files |= parts.of("data", NONE, "", partial(_of_no_opcode, spec))
    for i in spec.instructions.values():
        about = parts.of("data", i.opcode, "", partial(_opcode, spec, i))
        files[f"data/opcodes/{i.opcode}.json"] = about
    return files


def _of_no_opcode(spec: Spec) -> Files:
    return {"data/outside.json": _lines(_outside(spec)), "data/tensor.json": _lines(_tensor(spec))}


def _opcode(spec: Spec, instruction: Instruction) -> str:
    return _lines(_Opcode(spec, instruction).data())


def as_data(spec: Spec) -> Data:
    """Return the content of the files."""
    opcodes = {i.opcode: _Opcode(spec, i).data() for i in spec.instructions.values()}
    others = {"outside": _outside, "tensor": _tensor, "calls": calls.as_data, "machine_code": machine_code.as_data}
    return Data(_shared(spec), opcodes, lambda name: others[name](spec))


def _outside(spec: Spec) -> dict[str, Any]:
    forms = {
        o.opcode: [
            o.section,
            o.summary,
            _given(**o.operands._asdict()),
            *([f.pattern, f.requires.as_json()] for f in o.forms),
        ]
        for o in spec.outside.opcodes.values()
    }
    return {"schema": SCHEMA, "generated": _STAMP, "opcodes": forms}


def _tensor(spec: Spec) -> dict[str, Any]:
    """Return the data of mma. A form is its spelling, the registers of D, A, B and C, the place of its requirement,
    whether the manual lists it, whether it computes anything, and the place of its machine code in `ways`, where `a.b`
    are the types of the elements of A and of B."""
    cores = spec.tensor
    needs = list(dict.fromkeys(f.requires for f in cores.forms))
    ways: dict[str, int] = {}
    codes = [_matrix_code(cores, f) for f in cores.forms]
    numbers = [ways.setdefault(json.dumps(code), len(ways)) if code else None for code in codes]
    return {
        "schema": SCHEMA,
        "generated": _STAMP,
        "observed": cores.observed,
        "elements": {name: e.bits for name, e in cores.elements.items()},
        "packed": {kind: {name: e.bits for name, e in types.items()} for kind, types in cores.packed.items()},
        "taken": [_given(**t._asdict()) for t in cores.taken],
        "ordered": cores.ordered,
        "repeatable": cores.repeatable,
        "requirements": [r.as_json() for r in needs],
        "forms": [
            [f.spelling, *f.registers, needs.index(f.requires), f.listed, f.computes, n]
            for f, n in zip(cores.forms, numbers, strict=True)
        ],
        "machine": {
            "assembler": cores.machine.assembler if cores.machine else None,
            "targets": cores.machine.targets if cores.machine else [],
            "ways": [*map(json.loads, ways)],
        },
        "rows": [
            {n: dict(x) if n == "zero" else x for n, x in r._asdict().items() if x != r._field_defaults.get(n)}
            for r in cores.rows
        ],
        "recorded": [s._asdict() for s in cores.recorded],
        "layouts": [
            {
                "shapes": list(x.shapes),
                "inputs": list(x.inputs),
                "product": x.product or None,
                "places": {name: [place.row, place.column] for name, place in x.places.items()},
            }
            for x in cores.layouts
        ],
        "metadata": [asdict(g) for g in cores.metadata],
        "scales": {matrix: asdict(g) for matrix, g in cores.scales.items()},
        "groups": _by_text(cores.groups),
        "choices": {**cores.choices._asdict(), "bytes": _by_text(cores.choices.bytes)},
        "unsigned": cores.unsigned,
    }


def _by_text(x: Mapping[int, Any]) -> dict[str, Any]:
    """Return a mapping with text as keys, as JSON requires."""
    return {str(key): value for key, value in x.items()}


def _matrix_code(cores: TensorCores, f: Form) -> list[list[Any]]:
    """Return the machine code of a form: the places of targets, the number of each instruction that computes, and the
    number of other instructions."""
    if cores.machine is None:
        return []
    return [
        [[*map(cores.machine.targets.index, c.targets)],
         {named_for_all(f, name): n for name, n in c.instructions.items()}, c.others]
        for c in cores.machine.codes.get(f.spelling, ())
    ]  # fmt: skip


def _shared(spec: Spec) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "generated": _STAMP,
        "sources": dict(spec.sources),
        "ptx": [
            {
                "version": v.version, "cuda": v.cuda or None,
                **_given(listed=v.listed, linux=v.linux, windows=v.windows, source=v.source),
            }
            for v in spec.versions.values()
        ],
        "targets": [
            {
                "name": t.name, "ptx": t.ptx, "base": t.base or None, "kind": t.kind or None,
                "family": t.family or None, "nvcc": t.nvcc,
                **_given(cuda=t.cuda, gone=t.gone, architecture=t.architecture),
            }
            for t in spec.targets.values()
        ],
        **naming(spec.naming),
        "references": {name: {"title": title, "url": url} for name, (title, url) in spec.naming.sources.items()},
        "formats": {f.name: _format(f) for f in spec.formats.values()},
        "types": {
            t.name: {
                "kind": str(t.kind), "sort": _sort(t), "lanes": t.lanes, "width": t.width,
                "format": t.kind.format.name if t.kind.format else None,
                "nan": t.nan.name if t.nan else None, "registers": t.registers, "summary": t.summary,
            }
            for t in spec.types.values()
        },
        "nan_rules": {
            r.name: {"summary": r.summary, "basis": _basis(r.basis), "unspecified": r.unspecified or None}
            for r in spec.nan_rules.values()
        },
        "units": {u.name: _unit(u) for u in spec.units.values()},
        "modifiers": {
            m.name: {"summary": m.summary, "basis": _basis(m.basis)} for m in spec.modifiers.values()
        },
        "groups": {name: list(members) for name, members in spec.notation.items()},
        "assembler": json.loads(json.dumps(asdict(spec.assembler))),
        "special_registers": [
            [r.text, list(r.bits), r.fields, r.summary, r.requires.as_json(),
             *([r.manual.as_json()] if r.manual != r.requires else [])]
            for r in spec.special_registers
        ],
        "recordings": [
            {n: getattr(r, n) for n in ("path", "gpu", "target", "driver", "compiler", "date")} for r in spec.recordings
        ],
        "published": {
            p.name: {
                **{n: getattr(p, n) for n in ("author", "source", "commit", "licence", "judged", "evidence")},
                "reports": {r.results: {"variant": r.variant, "targets": _reported(spec, r)} for r in p.reports},
            }
            for p in spec.published.values()
        },
        "followed": {
            f"{v.spelling} {v.operands}": [list(f) for f in found]
            for i in spec.instructions.values()
            for v in i.variants
            if (found := followed(spec, v))
        },
        "messages": list(spec.messages),
        "opcodes": {i.opcode: {"summary": i.summary} for i in spec.instructions.values()},
        "matrices": sorted({f.spelling.partition(".")[0] for f in spec.tensor.forms}),
    }  # fmt: skip


def _format(f: Format | FixedPoint) -> dict[str, Any]:
    if isinstance(f, FixedPoint):
        return {"width": f.width, "signed": f.signed, "point": f.point}
    digits = -(-f.width // 4)
    return {
        "width": f.width, "exponent_bits": f.exponent_bits, "fraction_bits": f.fraction_bits, "bias": f.bias,
        "signed": f.signed, "zero": f.has_zero, "subnormals": f.has_subnormals, "infinity": f.has_infinity,
        "nans": f.nans, "canonical_nan": f"0x{f.canonical_nan:0{digits}x}", "overflow": f.overflow,
        "container": f.container, "shift": f.shift,
    }  # fmt: skip


class _Table:
    """Values that are stored once; everything else refers to their places."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self.values: list[Any] = []

    def place(self, value: Any) -> int:
        """Return the place of a JSON value."""
        key = json.dumps(value)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


def _lines(data: Mapping[str, Any]) -> str:
    """Return JSON with one line per entry of the large tables, so that the diff of a change is readable."""
    return as_lines(data) + "\n"


def _reported(spec: Spec, r: PublishedResults) -> list[str]:
    """Return the targets on which the claim is `reported`."""
    instruction = spec.instructions.get(r.variant.partition(".")[0])
    here = [v for v in instruction.variants if v.spelling == r.variant] if instruction else []
    return [t for t in r.targets if any(spec.claim(v, t) == "reported" for v in here)]


def _unit(u: Unit) -> dict[str, Any]:
    """Return the data of a unit: its models, and the recording that each reproduces."""
    return {
        "summary": u.summary,
        "format": u.format.name,
        "models": [
            {
                "within": "..".join(m.within), "source": f"spec/units/{m.name}.yaml",
                "gpu": m.fitted.gpu, "driver": m.fitted.driver, "reported": m.fitted.reported or None,
                "results": m.fitted.results,
            }
            for m in u.models
        ],
    }  # fmt: skip


def _basis(g: Basis) -> list[Any]:
    """Return the fields in order, without empty ones at the end."""
    return [list(g.kinds), *([g.section, g.ieee754] if g.ieee754 else [g.section] if g.section else [])]


def _without(row: CornerRow) -> list[str]:
    return [f"without {''.join(f'.{name}' for name in row.without)}"] if row.without else []


def naming(n: Naming) -> dict[str, Any]:
    """Return the names of GPUs, and the rules by which names are read."""
    return {
        "products": [list(p) for p in n.products],
        "naming": {
            "architectures": {name: list(others) for name, others in n.architectures.items()},
            "brands": [*n.brands], "series": [*n.series], "editions": [*n.editions],
            "foreign": dict(n.foreign),
        },
    }  # fmt: skip


def _given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not empty."""
    return {k: v for k, v in fields.items() if v not in (None, "", False, [], {})}


class _Opcode:
    """One opcode's file. `bases` are those of its entries, `claims` each claim with its judges. The file has its own
    tables for everything that it refers to, so that an edit of one opcode changes no other file."""

    def __init__(self, spec: Spec, instruction: Instruction) -> None:
        self.spec, self.instruction = spec, instruction
        self.bases, self.claims, self.signatures, self.classes = _Table(), _Table(), _Table(), _Table()
        self.requirements, self.recipes = _Table(), _Table()
        self.none = [r for r in instruction.recipes if r.none]
        self.missing = [(v, spec.missing[v]) for entry in instruction.missing for v in entry.variants]

    def data(self) -> dict[str, Any]:
        i = self.instruction
        return {
            "schema": SCHEMA,
            "generated": _STAMP,
            "opcode": i.opcode,
            "description": i.description or None,
            "source": i.path,
            "manual": [{"section": p.section, "anchor": p.anchor} for p in i.pages],
            "syntax": [s.text for s in i.syntax if s.listed],
            **({} if i.unpacks is None else {"unpacks": self.basis(i.unpacks)}),
            "registers": dict(i.registers),
            "requires": [self.rule(r) for r in i.rules],
            "assembler": {
                **assembler(self.spec, i),
                "syntax": [s.text for s in i.syntax if not s.listed],
                "requires": [self.rule(r) for r in i.assembler_rules],
                **_given(vectors_elsewhere=i.vectors_elsewhere),
                "operands": [_operands(r) for r in i.operand_rules],
                "tolerated": [_tolerated(t) for t in i.tolerated],
            },
            "semantics": i.semantics.text,
            "hardware": [
                _given(
                    **{"for": p.selector.text},
                    within="..".join(p.within or ()),
                    units=list(p.units),
                    semantics=p.code.text,
                )
                for p in i.hardware
            ],
            **_given(lane_bits=[self.lane_bits(b) for b in i.lane_bits]),
            "corner_cases": [self.table(t) for t in i.corner_tables],
            "accuracy": [
                _given(
                    **{"for": a.selector.text},
                    kind=a.kind,
                    bound=a.bound,
                    range=a.range,
                    section=a.section,
                    exceeded=a.exceeded.ranges if a.exceeded else "",
                )
                for a in i.accuracy
            ],
            "notes": [self.note(n) for n in i.notes],
            **_given(
                none=[[r.none, r.selector.text, self.basis(r.basis)] for r in self.none],
            ),
            "hazards": [self.hazard(h) for h in i.hazards],
            **_given(folding=[[f.selector.text, f.text, [list(map(hex, row)) for row in f.shown]] for f in i.folding]),
            "crashes": [_given(**{"for": c.selector.text}, text=c.text) for c in i.crashes],
            **_given(compared=[[c.selector.text, relation(self.spec.functions, c)] for c in i.compared]),
            # The values before this fill the tables after it.
            "variants": [self.variant(v) for v in i.variants],
            "signatures": self.signatures.values,
            "classes": self.classes.values,
            "requirements": self.requirements.values,
            "claims": self.claims.values,
            "bases": self.bases.values,
            **_given(
                missing={v.spelling: [self.recipe(v, x) for x in every] for v, every in self.missing},
                recipes=self.recipes.values,
            ),
        }

    def basis(self, g: Basis) -> int:
        return self.bases.place(_basis(g))

    def rule(self, r: Rule) -> dict[str, Any]:
        return _given(
            **{"for": r.selector.text},
            within="..".join(r.within) if r.within else None,
            ptx=r.ptx,
            target=r.target,
            until=r.until,
            on=dict(r.entries),
        ) | {"basis": self.basis(r.basis)}

    def table(self, t: CornerTable) -> list[Any]:
        """Return a table of corner cases. A row is its cells, separated by spaces."""
        rows = [
            " ".join([*(v.text for v in r.operands), "|".join(v.text for v in r.results), *_without(r)]) for r in t.rows
        ]
        return [t.title, t.selector.text, self.basis(t.basis), *rows]

    def lane_bits(self, b: LaneBits) -> dict[str, Any]:
        """Return the bits of the register that each lane reads, as "23..16 7..0": the lane's highest bits first."""
        lanes = {str(lane): bits for lane, bits in b.lanes}
        return {"for": b.selector.text, "operand": b.operand, "lanes": lanes, "basis": self.basis(b.basis)}

    def note(self, n: Note) -> list[Any]:
        more = _given(open=n.open, loose=n.loose)
        return [n.text, n.selector.text, self.basis(n.basis), *([more] if more else [])]

    def recipe(self, v: Variant, x: Instead) -> int:
        """Return the place of a recipe. Many variants share its text, its operands in CUDA, its requirement, and its
        possible differences."""
        requires = self.requirements.place(x.requires.as_json())
        return self.recipes.place([x.template(v), asm_operands(v, x), requires, x.promise])

    def hazard(self, h: HazardRule) -> dict[str, Any]:
        return _given(**{"for": h.selector.text}) | h.hazard.as_json() | {"basis": self.basis(h.basis)}

    def variant(self, v: Variant) -> list[Any]:
        names = v.spelling.partition(".")[2]
        return [names, self.signatures.place(_signature(v)), self.classes.place(self.known(v)), v.program]

    def _manual(self, v: Variant) -> int | None:
        return self.requirements.place(v.manual.as_json()) if v.manual else None

    def known(self, v: Variant) -> list[Any]:
        """Return the data of a variant that all variants of its class share."""
        i, rule = self.instruction, self.instruction.nan_rule(v)
        own = any(r is rule for _, r in i.nan)
        rest = _given(
            instead=[self.recipe(v, x) for x in self.spec.instead.get(v, ())],
            since=next((x.recipe.since for x in self.spec.instead.get(v, ()) if x.recipe), ""),
            recorded={r.path: found for r, found in recorded(self.spec, v)},
            means=list(v.means),
            accuracy=[n for n, a in enumerate(i.accuracy) if a.selector.matches(v)],
            notes=[n for n, note in enumerate(i.notes) if note.selector.matches(v)],
            none=[n for n, r in enumerate(self.none) if r.selector.matches(v)],
            hazards=[n for n, hazard in enumerate(i.hazards) if hazard.selector.matches(v)],
            folding=[n for n, f in enumerate(i.folding) if f.selector.matches(v)],
            crashes=[n for n, crash in enumerate(i.crashes) if crash.selector.matches(v)],
            compared=[n for n, c in enumerate(i.compared) if c.selector.matches(v)],
            operands=[n for n, rule in enumerate(i.operand_rules) if rule.selector.matches(v)],
        ) | {
            # The requirement in the manual, if it differs.
            **({} if v.manual == v.requires else {"manual": self._manual(v)}),
            # The basis of the NaN rule, if the instruction states one of its own.
            **({"nan_basis": self.basis(rule.basis)} if rule and own else {}),
        }
        requires, claim = self.requirements.place(v.requires.as_json()), self.claims.place([v.claim, *v.judges])
        return [rule.name if rule else None, requires, claim, *([rest] if rest else [])]


def _signature(v: Variant) -> list[Any]:
    """Return a signature: the types that a spelling ends in, the type of its result, and its sources. If the result's
    lanes have registers of their own, as in p0|p1, these are counted. A source that is one plain register is its type;
    any other also has the number of its registers, whether they are in braces, and whether it may be negated."""
    more = _given(result_registers=len(v.result.registers), second=v.pair.type.name if v.pair else None)
    return [".".join(v.type_names), v.result.type.name, [_source(s) for s in v.written], *([more] if more else [])]


def _source(s: Operand) -> str | list[Any]:
    plain = len(s.places) == 1 and not s.braced and not s.negatable
    return s.type.name if plain else [s.type.name, len(s.places), s.braced, s.negatable]


def _sort(t: Type) -> str:
    return "predicate" if t.kind == BOOL else t.kind.sort


def _operands(r: OperandRule) -> dict[str, Any]:
    """Return the data of an operand rule. A type with an empty list has no operands of the kind."""
    registers, constants = ({t: list(taken) for t, taken in said.items()} for said in (r.registers, r.constants))
    return _given(**{"for": r.selector.text}, registers=registers, constants=constants)


def _tolerated(t: Tolerated) -> dict[str, Any]:
    names = [sorted((*modifiers, *types)) for modifiers, types, _ in t.forms]
    return {"text": t.text, "names": names, "operands": t.forms[0][2], "note": t.note, **_given(crash=t.crash)}

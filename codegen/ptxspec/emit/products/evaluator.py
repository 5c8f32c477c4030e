"""Checked programs -> the manual's evaluator: JavaScript that all pages share, and one file of data for each opcode,
with its formats, types, variants and programs.

The arithmetic is written by hand in templates/manual/evaluator; the data defines what is computed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...catalog import Requirement
from ...check.checking import Checked
from ...compact import compact, named_in
from ...model import Code, Operand, Spec, Variant
from ..parts import Parts
from ..programs import Programs
from ..text import Files, Templates, plain

# In the order in which they run: each uses definitions of earlier ones.
_SCRIPTS = (
    "formats", "rounding", "elementary", "units", "operations", "programs", "literals", "roundings", "accounts",
    "telling", "specials", "variants", "evaluator",
)  # fmt: skip
_FOLDER = "templates/manual/evaluator"


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return manual/evaluator.js, and manual/<opcode>.programs.js."""
    files = {"manual/evaluator.js": script(templates.root)}
    lines = semantics_lines(spec)
    for c in checked:
        opcode = c.instruction.opcode
        files[f"manual/{opcode}.programs.js"] = parts.of(
            "evaluator", opcode, "manual", partial(_of, spec, c, lines, templates)
        )
    return files


def _of(spec: Spec, checked: Checked, lines: Mapping[str, Sequence[str]], templates: Templates) -> str:
    return templates.render(
        "manual/programs.js.j2", [checked.instruction.path, "spec/types.yaml", "spec/modifiers.yaml"],
        comment="// {}", data=_text(_Opcode(spec, checked, lines).data()),
    )  # fmt: skip


def script(root: Path) -> str:
    """Return the scripts that all pages share, as one script."""
    return "".join(plain(root / _FOLDER / f"{name}.js", f"{_FOLDER}/{name}.js") for name in _SCRIPTS)


def semantics_lines(spec: Spec) -> Mapping[str, Sequence[str]]:
    """Return the lines of the files that contain semantics, by path."""
    codes: list[Code | None] = [i.semantics for i in spec.instructions.values()]
    codes += [r.code for r in spec.nan_rules.values()]
    codes += [c for m in spec.modifiers.values() for c in (m.raw, m.operand, m.result, m.override)]
    return {c.path: c.lines for c in codes if c is not None}


def _text(data: Mapping[str, Any]) -> str:
    """Return an object of JavaScript with one line for each of many entries, so that the diff of a change is
    readable."""

    # `json.dumps` would put each entry on a line of its own.
    short = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

    def long(value: Any) -> str:
        if isinstance(value, dict) and value:
            return "{\n" + ",\n".join(f"{short(k)}: {short(v)}" for k, v in value.items()) + "\n}"
        has_entries = isinstance(value, list) and value and not isinstance(value[0], str)
        return "[\n" + ",\n".join(map(short, value)) + "\n]" if has_entries else short(value)

    return "{\n" + ",\n".join(f"{key}: {long(value)}" for key, value in data.items()) + "\n}"


class _Opcode:
    """The data of one opcode."""

    def __init__(self, spec: Spec, checked: Checked, lines: Mapping[str, Sequence[str]]) -> None:
        self.spec, self.checked, self.programs = spec, checked, Programs(lines)
        self.signatures: list[dict[str, Any]] = []
        self._signatures: dict[tuple[Any, ...], int] = {}
        self.targets = {name: i for i, name in enumerate(spec.targets)}
        self._masks: dict[Requirement, str] = {}
        self._implied = [(i, self.mask(t for t in spec.targets if spec.is_within(t, i.within))) for i in spec.implied]

    def data(self) -> dict[str, Any]:
        families = self.families()
        texts = [text for f in families for text in f["texts"]]
        return {
            "opcode": self.checked.instruction.opcode,
            "targets": list(self.targets),
            "groups": {name: list(members) for name, members in named_in(texts, self.spec.notation).items()},
            "modifiers": self.modifiers(),
            **self.programs.data(),
            "signatures": self.signatures,
            "families": families,
        }

    def families(self) -> list[dict[str, Any]]:
        """Return the families: variants that share everything except their programs. The programs are in the order of
        the spellings."""
        found: dict[str, tuple[dict[str, Any], list[Variant]]] = {}
        for v in self.checked.instruction.variants:
            about = self.about(v)
            found.setdefault(json.dumps(about), (about, []))[1].append(v)
        return [self.family(about, variants) for about, variants in found.values()]

    def about(self, v: Variant) -> dict[str, Any]:
        """Return the data of a variant. Data that depends on targets is in pairs: some targets, and the value on
        them."""
        catalog, own = self.spec.catalog, {*v.modifiers, *v.means}
        hazards = dict[str, list[str]]()
        for t in self.spec.targets if v.hazards else ():
            if text := catalog.hazard_text(v, t):
                hazards.setdefault(text, []).append(t)
        if v.requires not in self._masks:
            self._masks[v.requires] = self.mask(t for t in self.spec.targets if catalog.takes(v.requires, t))
        about = {
            "signature": self.signature(v),
            "claim": v.claim,
            "targets": self._masks[v.requires],
            "claims": [[self.mask(on), claim] for claim, on in self.spec.other_claims(v).items()],
            "hazard": catalog.hazard_text(v) if v.hazards else None,
            "hazards": [[self.mask(on), text] for text, on in hazards.items()],
            "means": v.means,
            "implied": [[on, i.modifier] for i, on in self._implied if i.modifier not in own and i.is_about(v)],
        }
        return {name: said for name, said in about.items() if said not in (None, [], ())}

    def modifiers(self) -> dict[str, tuple[str | None, bool, str]]:
        """Return, for each modifier, the direction in which it makes operations round, whether it flushes, and the file
        that defines this. The modifiers are those that variants have, mean, or behave as if they had."""
        names = {n for v in self.checked.instruction.variants for n in (*v.modifiers, *v.means)}
        names.update(i.modifier for i in self.spec.implied)
        return {
            n: (m.mode, m.ftz, m.round_place.partition(":")[0]) for n, m in self.spec.modifiers.items() if n in names
        }

    def mask(self, targets: Iterable[str]) -> str:
        """Return some targets as bits of an integer, the first as the lowest bit."""
        return hex(sum(1 << self.targets[t] for t in targets))

    def family(self, about: dict[str, Any], variants: Sequence[Variant]) -> dict[str, Any]:
        # The order of characters, as in JavaScript.
        variants = sorted(variants, key=lambda v: v.spelling)
        words = ((v.modifiers, v.type_names) for v in variants)
        programs: list[int] = []
        on: dict[str, list[int | None]] = {}
        for i, v in enumerate(variants):
            alike: dict[int, list[str]] = {}
            for target, program in self.checked.programs[v].items():
                place = self.programs.program(program)
                if target is None:
                    programs.append(place)
                else:
                    alike.setdefault(place, []).append(target)
            for place, targets in alike.items():
                on.setdefault(self.mask(targets), [None] * len(variants))[i] = place
        more = {"on": [[mask, places] for mask, places in on.items()]} if on else {}
        return {"texts": compact(words, self.spec.notation), **about, "programs": programs, **more}

    def signature(self, v: Variant) -> int:
        operands = (*v.results, *v.sources)
        key = (v.lanes, len(v.results), *((o.name, o.type, o.registers, o.negatable, o.lane_bits) for o in operands))
        if key not in self._signatures:
            results, sources = ([self.operand(o) for o in some] for some in (v.results, v.sources))
            self._signatures[key] = len(self.signatures)
            self.signatures.append({"lanes": v.lanes, "results": results, "sources": sources})
        return self._signatures[key]

    def operand(self, o: Operand) -> dict[str, Any]:
        more = {"registers": o.registers, "braced": o.braced, "negatable": o.negatable, "lane_bits": o.lane_bits}
        more |= {"implicit": [o.type.enters, o.type.leaves] if o.implicit else [], "constant": o.type.is_constant}
        return {"name": o.name, "type": self.programs.type(o.type), **{name: x for name, x in more.items() if x}}

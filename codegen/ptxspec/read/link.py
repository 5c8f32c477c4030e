"""Files -> model: every file is read and checked, and all that is wrong with all of them is reported at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..catalog import PtxVersion, Requirement, Target
from ..check.accuracy import parse_range
from ..check.corner_cases import CLASSES, CellError, parse_value
from ..diagnostics import Diagnostic, Mark, SpecError, display_path, nearest, suggest
from ..grounds import VERDICTS, Grounds
from ..model import (
    Accuracy,
    Assembler,
    Code,
    CornerRow,
    CornerTable,
    Entry,
    Evidence,
    Format,
    HardwarePath,
    Implied,
    Instruction,
    Meaning,
    Mixed,
    Modifier,
    NanRule,
    Note,
    Page,
    Pattern,
    Recording,
    Rule,
    Selector,
    Spec,
    Speed,
    SpeedTable,
    SyntaxLine,
    Tolerated,
    Type,
    Variant,
)
from ..semantics.functions import TABLE
from ..semantics.specialise import assigned_in, check_text, fixed_names, names_read
from . import positioned, schema
from .grounds import read_grounds
from .notation import SOURCES, NotationError, expand, parse_line
from .positioned import Document, Where
from .requirements import manual_requirement, observed_requirement
from .units import read_model, read_units

_COMMON = ("types", "modifiers", "targets", "assembler", "units")
_FINDINGS = ("evidence", "recordings", "speed")
# The files that all others need.
SHARED = frozenset(f"spec/{name}.yaml" for name in _COMMON)
# Those that say what was found out about the specification: no result depends on them, and they may be missing.
FINDINGS = frozenset(f"spec/observed/{name}.yaml" for name in _FINDINGS)


@dataclass
class Reading:
    """What could be read: `spec` is None where a file that all others need is wrong. `files` are those looked at, each
    by its name below the root."""

    spec: Spec | None
    diagnostics: list[Diagnostic]
    files: tuple[str, ...]


def read(root: Path) -> Spec:
    """The specification in `root`/spec. Raises SpecError with all that is wrong with its files."""
    reading = read_all(root)
    if reading.diagnostics or reading.spec is None:
        raise SpecError(reading.diagnostics)
    return reading.spec


def read_all(root: Path) -> Reading:
    """Read every file of `root`/spec as far as it can be read."""
    folder = root / "spec"
    errors: list[Diagnostic] = []
    sources: dict[str, str] = {}
    names: list[str] = []

    def document(path: Path, kind: str) -> Document | None:
        names.append(display_path(path, root))
        try:
            doc = positioned.load(path, root)
        except SpecError as e:
            errors.extend(e.diagnostics)
            return None
        sources[doc.name] = hashlib.sha256("\n".join(doc.lines).encode()).hexdigest()
        found = schema.check(doc, folder / "schema", kind)
        errors.extend(found)
        return None if found else doc

    types, modifiers, targets, assembler, units = (document(folder / f"{name}.yaml", name) for name in _COMMON)
    evidence, recordings, speed = (
        document(path, path.stem) if path.exists() else None
        for path in (folder / "observed" / f"{name}.yaml" for name in _FINDINGS)
    )
    present = sorted(p for p in (folder / "instructions").glob("*") if not p.name.startswith("."))
    paths = [p for p in present if p.suffix == ".yaml"]
    for p in present:
        if p not in paths:
            help = f"an instruction file is called OPCODE.yaml: rename it to {p.stem}.yaml, or move it away"
            errors.append(Diagnostic(display_path(p, root), Mark(1, 1), "this file would be ignored", help))
    instructions = [d for p in paths if (d := document(p, "instruction"))]
    if not paths:
        where = display_path(folder / "instructions", root)
        errors.append(Diagnostic(where, Mark(1, 1), "no instruction files here", "add one, as in add.yaml"))
    recorded = sorted(p for p in (folder / "units").glob("*") if not p.name.startswith("."))
    for p in recorded:
        if p.suffix not in (".yaml", ".txt", ".md"):
            help = f"what was recorded of a unit is called NAME.yaml: rename it to {p.stem}.yaml, or move it away"
            errors.append(Diagnostic(display_path(p, root), Mark(1, 1), "this file would be ignored", help))
    recorded = [p for p in recorded if p.suffix == ".yaml"]
    models = [d for p in recorded if (d := document(p, "unit"))]
    files = _Files(errors)
    spec = None
    if types and modifiers and targets and units:
        spec = files.shared(types, modifiers, targets, units, sources)
    if spec is not None:
        spec = files.models(models, spec, sources)
        read_ones = [files.instruction(doc, spec) for doc in instructions]
        spec = replace(
            spec,
            instructions={i.opcode: i for i in read_ones if i is not None},
            evidence=_evidence(evidence),
            speed=_speed(speed, errors),
        )
        if assembler:
            spec = replace(spec, assembler=files.assembler(assembler, spec))
        if recordings:
            spec = replace(spec, recordings=files.recordings(recordings, spec))
        if assembler is None:
            spec = None
    return Reading(spec, sorted(set(errors)), tuple(sorted({*names, *sources})))


def _evidence(doc: Document | None) -> Evidence | None:
    if doc is None:
        return None
    d = doc.data
    ledger = tuple(Entry(e["variant"], int(e["operands"]), e["manual"], e["assembler"]) for e in d.get("ledger") or ())
    return Evidence(d["assembler"], int(d["pairs"]), int(d["variants"]), int(d["spellings"]), ledger)


def _speed(doc: Document | None, errors: list[Diagnostic]) -> Speed | None:
    if doc is None:
        return None
    tables = []
    for i, t in enumerate(doc.data["tables"]):
        for j, row in enumerate(t["rows"]):
            if len(row) != len(t["columns"]):
                message = f"{len(row)} cells under {len(t['columns'])} columns"
                errors.append(doc.error(("tables", i, "rows", j), message, 'an empty cell is written as ""'))
        rows = tuple(map(tuple, t["rows"]))
        tables.append(SpeedTable(_text(t["title"]), _text(t["note"]), tuple(t["columns"]), rows))
    return Speed(doc.data["command"], doc.data["date"], doc.data["machine"], tuple(tables))


def _text(value: Any) -> str:
    return " ".join(str(value).split())


@dataclass
class _Files:
    """Turns valid documents into the model; what does not fit together is added to `errors`."""

    errors: list[Diagnostic]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def known(self, doc: Document, where: Where, name: str, choice: Iterable[str], what: str, prefix: str = "") -> bool:
        choice = list(choice)
        if name in choice:
            return True
        help = suggest(name, choice, prefix)
        self.errors.append(doc.error(where, f"unknown {what} '{prefix}{name}'", help, inside=prefix + name))
        return False

    def grounds(self, doc: Document, where: Where, entry: Mapping[str, Any], default: Grounds | None = None) -> Grounds:
        return read_grounds(doc, where, entry, self.errors, default or Grounds())

    def code(self, doc: Document, where: Where, value: str | None) -> Code | None:
        if value is None:
            return None
        start = doc.blocks.get(where)
        if start is None:
            self.errors.append(
                doc.error(where, "semantics must be one line or a literal block", "write `|` after the key")
            )
            return None
        return Code(value.rstrip("\n"), doc.name, start, doc.lines)

    # The files that all others need

    def shared(
        self,
        types: Document,
        modifiers: Document,
        targets: Document,
        units: Document,
        sources: Mapping[str, str],
    ) -> Spec | None:
        """What these files say; None where they are wrong, as each of their mistakes would be found again in every file
        that rests on them."""
        before = len(self.errors)
        formats = self.formats(types)
        rules = {
            name: NanRule(
                name,
                _text(r["summary"]),
                self.grounds(types, ("nan_rules", name), r),
                _text(r.get("unspecified", "")),
                self.code(types, ("nan_rules", name, "code"), r.get("code")),
            )
            for name, r in types.data["nan_rules"].items()
        }
        typed: dict[str, Type] = {}
        for name, t in types.data["types"].items():
            where = ("types", name)
            known = [
                self.known(types, (*where, "format"), t["format"], formats, "format"),
                self.known(types, (*where, "nan"), t["nan"], rules, "NaN rule"),
            ]
            # Any format and rule will do to read on with: whoever names the type made no mistake.
            format = formats.get(t["format"], next(iter(formats.values())))
            rule = rules.get(t["nan"], next(iter(rules.values())))
            lanes, registers = int(t["lanes"]), _text(t["registers"])
            made = typed[name] = Type(name, format, lanes, rule, t["constraint"], registers, _text(t["summary"]))
            if all(known) and made.width not in (8, 16, 32, 64):
                message = f"{made.width} bits in all; registers have 8, 16, 32 or 64"
                self.errors.append(types.error(where, message, key=True))
        versions = {}
        for i, v in enumerate(targets.data["ptx"]):
            if v["version"] in versions:
                self.errors.append(targets.error(("ptx", i, "version"), f"PTX {v['version']} is listed twice"))
            versions[v["version"]] = PtxVersion(v["version"], i, v.get("cuda", ""))
        table: dict[str, Target] = {}
        for i, t in enumerate(targets.data["targets"]):
            where = ("targets", i)
            if t["name"] in table:
                self.errors.append(targets.error((*where, "name"), f"{t['name']} is listed twice"))
            self.known(targets, (*where, "ptx"), t["ptx"], versions, "PTX version")
            if "base" in t:
                self.known(targets, (*where, "base"), t["base"], table, "target")
            table[t["name"]] = Target(t["name"], i, t["ptx"], t.get("base", ""), t.get("kind", ""))
        mods = {
            name: self.modifier(modifiers, name, m, typed, formats) for name, m in modifiers.data["modifiers"].items()
        }
        groups: dict[str, tuple[str, ...]] = {}
        for name, names in modifiers.data.get("groups", {}).items():
            # A member that is unknown is reported here, and not again wherever the group is used.
            members = [
                n for i, n in enumerate(names) if self.known(modifiers, ("groups", name, i), n, mods, "modifier")
            ]
            if name in mods or name in typed:
                self.errors.append(modifiers.error(("groups", name), f"'{name}' is a modifier or type too", key=True))
            groups[name] = tuple(members)
        self.groups = groups
        spec = Spec(formats, rules, typed, mods, groups, (), table, versions, {}, None, dict(sorted(sources.items())))
        implied = []
        for i, m in enumerate(modifiers.data.get("implied", [])):
            where = ("implied", i)
            self.known(modifiers, (*where, "modifier"), m["modifier"], mods, "modifier")
            within = self.within(modifiers, (*where, "within"), m["within"], spec)
            selector = self.selector(modifiers, (*where, "for"), m["for"], spec, "")
            if within and m["modifier"] in mods:
                implied.append(Implied(m["modifier"], selector, within, m["section"]))
        for name in units.data["units"]:
            self.free(units, ("units", name), name)
        spec = replace(spec, implied=tuple(implied), units=read_units(units, spec, self.errors))
        for rule in rules.values():
            self.stage(rule.code, spec, {"d"})
        for m in mods.values():
            # What has the last word sees what the look at the operands assigned, and d as it has become since.
            seen = assigned_in(m.raw) if m.raw else frozenset()
            self.stage(m.raw, spec, names_read(m.override) - {"d"} if m.override else frozenset())
            self.stage(m.operand, spec, {"x"})
            self.stage(m.result, spec, {"d"})
            self.stage(m.override, spec, {"d"}, seen)
        return spec if len(self.errors) == before else None

    def stage(self, code: Code | None, spec: Spec, used: Set[str], seen: frozenset[str] = frozenset()) -> None:
        """Check code that acts around a body. Of what it assigns only the names `used` have an effect."""
        if code is None:
            return
        wrong = check_text(code, spec, seen)
        if not wrong and assigned_in(code).isdisjoint(used):
            help = f"assign {' or '.join(sorted(used))}" if used else "no `override` reads what it assigns"
            wrong = [code.error(code.start, "this stage assigns nothing that is used", help)]
        self.errors += wrong

    def recordings(self, doc: Document, spec: Spec) -> tuple[Recording, ...]:
        """Variants that are no longer in the specification say nothing, and are left alone."""

        def keys(entries: list[Mapping[str, Any]]) -> frozenset[tuple[str, int]]:
            return frozenset((e["variant"], int(e["operands"])) for e in entries)

        return tuple(
            Recording(
                r["path"], r["gpu"], r["target"], str(r["driver"]), r["compiler"], str(r["date"]),
                keys(r["equal"]), keys(r["inside"]), keys(r["unequal"]),
            )
            for i, r in enumerate(doc.data["recordings"])
            if self.known(doc, ("recordings", i, "target"), r["target"], spec.targets, "target")
        )  # fmt: skip

    def models(self, models: list[Document], spec: Spec, sources: dict[str, str]) -> Spec:
        """The specification with what the files of units/ know of its units."""
        for file in models:
            within = self.within(file, ("within",), file.data["within"], spec)
            model = read_model(file, within, spec, sources, self.errors) if within else None
            if model is None:
                continue
            first, last = (spec.targets[t].order for t in model.within)
            here = [t.name for t in spec.targets.values() if first <= t.order <= last]
            if twice := [t for t in here if spec.model(model.unit, t)]:
                self.errors.append(file.error(("within",), f"another file has {model.unit} of {twice[0]} already"))
                continue
            unit = spec.units[model.unit]
            spec = replace(spec, units={**spec.units, unit.name: replace(unit, models=(*unit.models, model))})
        return replace(spec, sources=dict(sorted(sources.items())))

    def assembler(self, doc: Document, spec: Spec) -> Assembler:
        data = doc.data
        for key, what, known in (
            ("repeatable", "modifier", spec.modifiers),
            ("leading", "modifier", spec.modifiers),
            ("immediates", "type", spec.types),
        ):
            for i, name in enumerate(data[key]):
                self.known(doc, (key, i), name, known, what)
        for i, name in enumerate(data["other_types"]):
            if name in spec.types or name in spec.modifiers:
                self.errors.append(doc.error(("other_types", i), f"'{name}' is a type or modifier of this section"))
        for key in ("other_forms", "empty_types"):
            for opcode, names in data[key].items():
                for i, name in enumerate(names):
                    self.known(doc, (key, opcode, i), name, data["other_types"], "type")
        for name in data["registers"]:
            self.known(doc, ("registers", name), name, [*spec.types, "pred"], "type")
        tables: dict[str, Any] = {
            key: {name: tuple(names) for name, names in data[key].items()}
            for key in ("other_forms", "empty_types", "registers", "constraints")
        }
        names = ("repeatable", "leading", "immediates", "other_types", "target_options", "special_registers")
        lists: dict[str, Any] = {key: tuple(data[key]) for key in names}
        return Assembler(
            observed=_text(data["observed"]),
            ignored=tuple(map(tuple, data["ignored"])),
            mixed=self.mixed(doc, data["mixed"], spec),
            **tables,
            **lists,
        )

    def mixed(self, doc: Document, data: dict[str, Any], spec: Spec) -> Mixed:
        ptx, target = data["requires"]["ptx"], data["requires"]["target"]
        self.known(doc, ("mixed", "requires", "ptx"), ptx, spec.versions, "PTX version")
        self.known(doc, ("mixed", "requires", "target"), target, spec.targets, "target")
        found = []
        for i, line in enumerate(data["syntax"]):
            opcode, at = re.split(r"[.{\s]", line.strip())[0], ("mixed", "syntax", i)
            try:
                spellings = parse_line(line, opcode, self.groups)
            except NotationError as e:
                self.errors.append(doc.error_at(at, e.start, e.length, str(e), e.help))
                continue
            self.expanded(doc, at, line.split()[0][len(opcode) :], spec)
            found += [(".".join((opcode, *names)), spellings.operands) for names in spellings.names]
        return Mixed(tuple(found), ptx, target)

    def formats(self, doc: Document) -> dict[str, Format]:
        formats = {}
        for name, f in doc.data["formats"].items():
            self.free(doc, ("formats", name), name)
            made = Format(name, int(f["exponent_bits"]), int(f["fraction_bits"]), int(f["canonical_nan"], 16))
            formats[name] = made
            if made.width not in (8, 16, 32, 64):
                message = f"{name} has {made.width} bits with its sign; 8, 16, 32 or 64 are possible"
                self.errors.append(doc.error(("formats", name), message, key=True))
            magnitude = made.canonical_nan & ~made.sign_bit
            if magnitude <= made.infinity or made.canonical_nan >> made.width or not magnitude & made.quiet_bit:
                message = f"{f['canonical_nan']} is not a quiet NaN of {name}"
                self.errors.append(doc.error(("formats", name, "canonical_nan"), message))
        return formats

    def free(self, doc: Document, where: Where, name: str) -> None:
        """A name that the language gives a meaning cannot be given another."""
        if name in fixed_names():
            what = "is the name of a function" if name in TABLE else "has a meaning"
            message = f"'{name}' {what} in the semantics language"
            self.errors.append(doc.error(where, message, "choose another name", key=True))

    def modifier(
        self, doc: Document, name: str, m: dict[str, Any], types: Mapping[str, Type], formats: Mapping[str, Format]
    ) -> Modifier:
        where = ("modifiers", name)
        if name in types or name in formats:
            self.errors.append(doc.error(where, f"'{name}' is the name of a type", key=True))
        self.free(doc, where, name)
        round_, approximate = m.get("round", {}), bool(m.get("approximate", False))
        stages = {s: self.code(doc, (*where, s), m.get(s)) for s in ("raw", "operand", "result", "override")}
        summary = _text(m["summary"])
        mode, ftz = round_.get("mode"), bool(round_.get("ftz", False))
        return Modifier(name, summary, self.grounds(doc, where, m), mode, ftz, approximate, **stages)

    # Parts that several files use

    def within(self, doc: Document, where: Where, text: str, spec: Spec) -> tuple[str, str] | None:
        names = list(spec.targets)
        first, last = text.split("..")
        first, last = first or names[0], last or names[-1]
        known = [self.known(doc, where, n, names, "target") for n in (first, last)]
        if not all(known):
            return None
        if spec.targets[first].order > spec.targets[last].order:
            self.errors.append(doc.error(where, f"{first} comes after {last}", "the older target stands first"))
            return None
        return first, last

    def selector(self, doc: Document, where: Where, data: Any, spec: Spec, opcode: str) -> Selector:
        if data is None:
            return Selector("")
        if not isinstance(data, dict):
            return Selector(_selector_text(data), self.patterns(doc, where, data, spec, opcode))
        has, lacks, operands = data.get("has"), data.get("lacks"), data.get("operands")
        patterns = self.patterns(doc, (*where, "has"), has, spec, opcode) if has is not None else Selector("").patterns
        lacking: set[str] = set()
        for p in self.patterns(doc, (*where, "lacks"), lacks, spec, opcode) if lacks is not None else ():
            lacking |= p.names
        parts = [_selector_text(has) if has is not None else "", f"without {lacks}" if lacks is not None else ""]
        parts.append(f"{operands} operand{'s' * (operands != '1')}" if operands else "")
        text = ", ".join(p for p in parts if p)
        return Selector(text, patterns, frozenset(lacking), int(operands) if operands else None)

    def patterns(self, doc: Document, where: Where, data: Any, spec: Spec, opcode: str) -> tuple[Pattern, ...]:
        if isinstance(data, list):
            return tuple(p for i, d in enumerate(data) for p in self.patterns(doc, (*where, i), d, spec, opcode))
        exact = not data.startswith((".", "{"))
        text = data
        if exact:
            if not opcode or not data.startswith(opcode):
                help = f"begin with a dot, or with '{opcode}' for whole spellings" if opcode else "begin with a dot"
                self.errors.append(doc.error(where, f"'{data}' selects nothing", help))
                return ()
            text = data[len(opcode) :]
        found = self.expanded(doc, where, text, spec, len(data) - len(text))
        return tuple(dict.fromkeys(Pattern(frozenset(names), exact) for names in found))

    def expanded(self, doc: Document, where: Where, text: str, spec: Spec, start: int = 0) -> list[tuple[str, ...]]:
        """What a notation stands for, when all its names are known; it begins at `start` in the value of `where`."""
        try:
            found = expand(text, self.groups)
        except NotationError as e:
            self.errors.append(doc.error_at(where, start + e.start, e.length, str(e), e.help))
            return []
        known = {*spec.modifiers, *spec.types}
        names = dict.fromkeys(n for names in found for n in names)
        fine = [
            self.known(
                doc, where, n, sorted({*known, *self.groups}), "modifier or type", "." if f".{n}" in text else ""
            )
            for n in names
            if n not in known
        ]
        return found if not fine else []

    # Instructions

    def instruction(self, doc: Document, spec: Spec) -> Instruction | None:
        return _InstructionFile(self, doc, spec).instruction()


def _selector_text(data: Any) -> str:
    return ", ".join(data) if isinstance(data, list) else str(data)


class _InstructionFile:
    def __init__(self, files: _Files, doc: Document, spec: Spec) -> None:
        self.files, self.doc, self.spec, self.errors = files, doc, spec, files.errors
        self.data: dict[str, Any] = doc.data
        self.opcode = str(self.data["opcode"])
        self.variants: list[Variant] = []
        self.all_variants = True

    def instruction(self) -> Instruction | None:
        doc, data, opcode = self.doc, self.data, self.opcode
        before = len(self.errors)
        if doc.path.stem != opcode:
            help = f"rename the file to {opcode}.yaml, or write opcode: {doc.path.stem}"
            self.errors.append(doc.error(("opcode",), f"the opcode is '{opcode}', the file {doc.path.name}", help))
        assembler = data.get("assembler", {})
        before_syntax = len(self.errors)
        syntax = self.syntax(("syntax",), data["syntax"], listed=True)
        syntax += self.syntax(("assembler", "syntax"), assembler.get("syntax", []), listed=False)
        # Where a syntax line is wrong, variants are missing that other parts of the file may be about.
        self.all_variants = len(self.errors) == before_syntax
        rules = [self.rule(("requires", i), r) for i, r in enumerate(data["requires"])]
        observed = [
            self.rule(("assembler", "requires", i), r, Grounds((VERDICTS,)))
            for i, r in enumerate(assembler.get("requires", []))
        ]
        refused = self.selector(("assembler",), assembler, "refuses") if "refuses" in assembler else None
        means = tuple(self.meaning(("means", i), m) for i, m in enumerate(data.get("means", [])))
        tolerated = tuple(
            self.tolerated(("assembler", "tolerated", i), t) for i, t in enumerate(assembler.get("tolerated", []))
        )
        nan = []
        for i, n in enumerate(data.get("nan", [])):
            selector = self.selector(("nan", i), n)
            if self.files.known(doc, ("nan", i, "rule"), n["rule"], self.spec.nan_rules, "NaN rule"):
                rule = self.spec.nan_rules[n["rule"]]
                nan.append((selector, replace(rule, rests_on=self.grounds(("nan", i), n, rule.rests_on))))
        accuracy = tuple(
            Accuracy(self.selector(("accuracy", i), a), a["kind"], str(a["bound"]), self.range(i, a), a["section"])
            for i, a in enumerate(data.get("accuracy", []))
        )
        notes = tuple(
            Note(
                text=_text(n["text"]),
                rests_on=self.grounds(("notes", i), n),
                selector=self.selector(("notes", i), n),
                open=_text(n.get("open", "")),
                hazard=n.get("hazard", False),
            )
            for i, n in enumerate(data.get("notes", []))
        )
        tables = tuple(self.table(("corner_cases", i), t) for i, t in enumerate(data.get("corner_cases", [])))
        semantics = self.files.code(doc, ("semantics",), data["semantics"])
        if semantics is not None:
            self.errors += check_text(semantics, self.spec)
        paths = [self.hardware(("hardware", i), h) for i, h in enumerate(data.get("hardware", []))]
        registers = data.get("registers", {})
        for name in registers:
            self.files.known(doc, ("registers", name), name, self.spec.types, "type")
        if len(self.errors) > before or semantics is None:
            return None
        completed = [self.complete(v, rules, observed, means, accuracy) for v in self.variants]
        variants = [v for v in completed if not (refused and refused.matches(v))]
        if not variants:
            self.errors.append(doc.error(("assembler", "refuses"), f"the assembler takes no {opcode} at all"))
            return None
        for v in variants:
            self.satisfiable(v)
        return Instruction(
            opcode=opcode,
            path=doc.name,
            summary=_text(data["summary"]),
            description=str(data.get("description", "")).strip(),
            pages=tuple(Page(m["section"], m["anchor"]) for m in data.get("manual", [])),
            syntax=tuple(syntax),
            observed=_text(assembler.get("observed", "")),
            rules=tuple(rules),
            assembler_rules=tuple(observed),
            tolerated=tolerated,
            means=means,
            semantics=semantics,
            hardware=tuple(p for p in paths if p),
            nan=tuple(nan),
            corner_tables=tables,
            accuracy=accuracy,
            notes=notes,
            variants=tuple(variants),
            refused=tuple(replace(v, requires=Requirement("", "")) for v in completed if v not in variants),
            registers={name: _text(text) for name, text in registers.items()},
        )

    def grounds(self, where: Where, entry: Mapping[str, Any], default: Grounds | None = None) -> Grounds:
        return self.files.grounds(self.doc, where, entry, default)

    def range(self, i: int, entry: Mapping[str, Any]) -> str:
        text = _text(entry.get("range", ""))
        try:
            parse_range(text)
        except ValueError as e:
            help = "write [-2pi, 2pi], 2^-9 <= |b| <= 2^9, positive and finite, or positive and finite outside (0.5, 2)"
            self.errors.append(self.doc.error(("accuracy", i, "range"), str(e), help))
        return text

    def hardware(self, where: Where, h: dict[str, Any]) -> HardwarePath | None:
        selector = self.selector(where, h)
        code = self.files.code(self.doc, (*where, "semantics"), h["semantics"])
        if code is None:
            return None
        if wrong := check_text(code, self.spec):
            self.errors += wrong
            return None
        units = names_read(code) & set(self.spec.units)
        if not units:
            at = (*where, "semantics")
            self.errors.append(self.doc.error(at, "this calls no unit", "call one as in unit(EX2, a)", key=True))
        return HardwarePath(selector, code, tuple(sorted(units)))

    def complete(
        self,
        v: Variant,
        rules: list[Rule],
        observed: list[Rule],
        means: tuple[Meaning, ...],
        accuracy: tuple[Accuracy, ...],
    ) -> Variant:
        targets, versions = self.spec.targets, self.spec.versions
        manual = manual_requirement(v, rules, targets, versions)
        meant = tuple(n for m in means if m.selector.matches(v) for n in m.modifiers)
        approximate = any(self.spec.modifiers[n].approximate for n in (*v.modifiers, *meant))
        claim = "unspecified" if approximate or not v.listed else "exact"
        if v.listed and any(a.selector.matches(v) for a in accuracy):
            claim = "bounded"
        requires = observed_requirement(v, manual, observed, targets, versions)
        return replace(v, requires=requires, manual=manual if v.listed else None, claim=claim, means=meant)

    def satisfiable(self, v: Variant) -> None:
        """A variant must exist somewhere: its last PTX version must not come before its first."""
        versions = self.spec.versions
        r = v.requires
        first = self.spec.catalog.first_version(r)
        if r.until is not None and versions[r.until].order < versions[first].order:
            message = f"{v} can never be taken: it needs {r.target} and PTX {r.ptx}, and ends with PTX {r.until}"
            self.errors.append(self.doc.error(("requires",), message, "mend the rules that match it", key=True))

    def tolerated(self, where: Where, t: dict[str, Any]) -> Tolerated:
        at = (*where, "syntax")
        try:
            spellings = parse_line(t["syntax"], self.opcode, self.files.groups)
        except NotationError as e:
            self.errors.append(self.doc.error_at(at, e.start, e.length, str(e), e.help))
            return Tolerated(t["syntax"], (), 0, "")
        self.files.expanded(self.doc, at, t["syntax"].split()[0][len(self.opcode) :], self.spec)
        names = tuple(map(frozenset, spellings.names))
        for v in self.variants:
            if v.names in names and v.operands == spellings.operands:
                self.errors.append(self.doc.error(at, f"{v} is a variant already"))
        return Tolerated(" ".join(t["syntax"].split()), names, spellings.operands, _text(t["note"]))

    def meaning(self, where: Where, m: dict[str, Any]) -> Meaning:
        """Each spelling with the modifiers that it means must be a spelling of this opcode too."""
        at = (*where, "modifiers")
        selector = self.selector(where, m)
        found = self.files.expanded(self.doc, at, m["modifiers"], self.spec)
        names = found[0] if len(found) == 1 and self.spec.modifiers.keys() >= set(found[0]) else ()
        full = {v.names for v in self.variants}
        if found and (not names or any(v.names.union(names) not in full for v in self.variants if selector.matches(v))):
            message = f"'{selector.text}' with {m['modifiers']} is no spelling of {self.opcode}"
            self.errors.append(self.doc.error(at, message, "write modifiers that make it one, as in .approx.ftz"))
        return Meaning(selector, names, m["section"])

    def syntax(self, where: Where, lines: list[str], listed: bool) -> list[SyntaxLine]:
        doc, spec = self.doc, self.spec
        seen = {(v.names, v.operands): v for v in self.variants}
        found = []
        for i, line in enumerate(lines):
            at = (*where, i)
            try:
                spellings = parse_line(line, self.opcode, self.files.groups)
            except NotationError as e:
                self.errors.append(doc.error_at(at, e.start, e.length, str(e), e.help))
                continue
            every = frozenset(map(frozenset, spellings.names))
            found.append(SyntaxLine(" ".join(line.split()), listed, every, spellings.operands))
            notation = line.split()[0][len(self.opcode) :]
            if not self.files.expanded(doc, at, notation, spec):
                continue
            for names in spellings.names:
                *modifiers, last = names or ("",)
                types = [n for n in names if n in spec.types]
                shown = ".".join((self.opcode, *names))
                if types != [last]:
                    message = f"'{shown}' has no type" if not types else f"'{shown}' must end with its only type"
                    self.errors.append(doc.error(at, message, "the manual writes one type, at the end"))
                    break
                if len(set(names)) < len(names):
                    self.errors.append(doc.error(at, f"'{shown}' has a modifier twice"))
                    break
                if sum(spec.modifiers[m].mode is not None for m in modifiers) > 1:
                    help = "write `.{one,other}` where one of several is meant"
                    self.errors.append(doc.error(at, f"'{shown}' has two rounding directions", help))
                    break
                if spellings.predicate and spec.types[last].lanes > 1:
                    help = f"write d for a result of .{last}"
                    self.errors.append(doc.error(at, f"'{shown}': a predicate is the result of one lane", help))
                    break
                variant = Variant(
                    self.opcode, tuple(modifiers), spec.types[last], spellings.operands, spellings.predicate, listed
                )
                key = (variant.names, variant.operands)
                if key in seen:
                    self.errors.append(
                        doc.error(at, f"{variant} is produced twice", "another syntax line has it, or this one")
                    )
                    break
                seen[key] = variant
                self.variants.append(variant)
        return found

    def selector(self, where: Where, data: dict[str, Any], key: str = "for") -> Selector:
        errors = len(self.errors)
        at = (*where, key) if key in data else where
        selector = self.files.selector(self.doc, at, data.get(key), self.spec, self.opcode)
        if self.all_variants and len(self.errors) == errors and not any(selector.matches(v) for v in self.variants):
            message = f"no variant of {self.opcode} matches '{selector.text}'"
            self.errors.append(self.doc.error(at, message, "see the syntax lines for what there is"))
        return selector

    def rule(self, where: Where, r: dict[str, Any], default: Grounds | None = None) -> Rule:
        for axis, choice, what in (
            ("ptx", self.spec.versions, "PTX version"),
            ("until", self.spec.versions, "PTX version"),
            ("target", self.spec.targets, "target"),
        ):
            if axis in r:
                self.files.known(self.doc, (*where, axis), r[axis], choice, what)
        within = self.files.within(self.doc, (*where, "within"), r["within"], self.spec) if "within" in r else None
        if within and "target" in r:
            help = "a range of targets has its own PTX versions; let the range begin with the target"
            self.errors.append(self.doc.error((*where, "target"), "'target' and 'within' do not go together", help))
        selector = self.selector(where, r)
        rests_on = self.grounds(where, r, default)
        return Rule(selector, within, r.get("ptx"), r.get("target"), r.get("until"), rests_on)

    def table(self, where: Where, t: dict[str, Any]) -> CornerTable:
        selector = self.selector(where, t)
        counts = {v.operands for v in self.variants if selector.matches(v)}
        rows = []
        for i, row in enumerate(t["rows"]):
            at = (*where, "rows", i)
            operands = len(row) - 1
            if operands != len(t["rows"][0]) - 1:
                message = "the rows of a table have as many cells as its first one"
                self.errors.append(
                    self.doc.error(at, message, "put rows for another number of operands in a table of their own")
                )
                continue
            if self.all_variants and counts and operands not in counts:
                message = (
                    f"a row of {operands} operand{'s' * (operands != 1)} and a result matches no variant of the table"
                )
                self.errors.append(self.doc.error(at, message, f"operands: {', '.join(map(str, sorted(counts)))}"))
                continue
            cells = list(self.cells(at, row, SOURCES[:operands]))
            if len(cells) == len(row):
                rows.append(CornerRow(tuple(cells[:-1]), cells[-1], self.doc.marks[at]))
        return CornerTable(_text(t["title"]), self.grounds(where, t), selector, tuple(rows))

    def cells(self, where: Where, row: list[Any], operands: tuple[str, ...]) -> Iterator[Any]:
        for i, cell in enumerate(row):
            result = i == len(row) - 1
            try:
                value = parse_value(cell, operands if result else ())
                if value.kind == "bool" and not result:
                    raise CellError("an operand is a number, not a bool")
                yield value
            except CellError as e:
                names = operands if result else ()
                found = nearest(str(cell), (*CLASSES, *names))
                kinds = "a class as -subnormal, a number as 1.5 or 0x1.8p3, bits as 0x7fff"
                help = f"did you mean '{found[0]}'?" if found else ", or ".join((f"write {kinds}", *names))
                self.errors.append(self.doc.error((*where, i), str(e), help))

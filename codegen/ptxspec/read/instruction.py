"""spec/instructions/OPCODE.yaml -> one instruction with its variants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..basis import VERDICTS, Basis
from ..catalog import Requirement
from ..catalog.likeness import suggest
from ..diagnostics import SpecError
from ..model import (
    Accuracy,
    Code,
    Compared,
    Crash,
    Exceeded,
    Form,
    HardwarePath,
    ImpliedModifiers,
    Instruction,
    Missing,
    NanRule,
    Note,
    OperandRule,
    Page,
    Rule,
    Selector,
    Spec,
    Tolerated,
    Trial,
    Variant,
)  # fmt: skip
from ..model.bounds import parse_range
from ..semantics.resolve import Meanings, names_read, resolve
from .context import Context, words
from .corner_tables import read_table
from .folding import read_folding
from .hazards import HazardReader
from .intrinsics import read_intrinsics
from .lane_bits import read_lane_bits
from .positioned import Document, Where
from .recipes import read_recipes
from .requirements import Requirements, expanded, why_nowhere
from .signatures import SyntaxReader


def read_instruction(
    doc: Document, context: Context, spec: Spec, meanings: Meanings, spelling: str | None = None
) -> Instruction | None:
    """Return the instruction of a file; None if something is wrong with it. With a spelling, only the variants spelled
    so get what they require and claim, and only these are checked."""
    return _InstructionFile(doc, context, spec, meanings).instruction(spelling)


class _InstructionFile:
    def __init__(self, doc: Document, context: Context, spec: Spec, meanings: Meanings) -> None:
        self.doc, self.context, self.spec, self.meanings = doc, context, spec, meanings
        self.errors = context.errors
        self.data: dict[str, Any] = doc.data
        self.assembler: dict[str, Any] = self.data.get("assembler", {})
        self.opcode = str(self.data["opcode"])
        self.found: dict[Form, Variant] = {}
        self.syntax = SyntaxReader(doc, context, self.opcode, self.found, frozenset(self.data.get("copied", ())))
        self.all_variants = True

    def instruction(self, spelling: str | None = None) -> Instruction | None:
        doc, data, opcode, context = self.doc, self.data, self.opcode, self.context
        before = len(self.errors)
        if doc.path.stem != opcode:
            help = f"rename the file to {opcode}.yaml, or write opcode: {doc.path.stem}"
            self.errors.append(doc.error(("opcode",), f"the opcode is '{opcode}', the file {doc.path.name}", help))
        before_syntax = len(self.errors)
        syntax = self.syntax.read(("syntax",), data["syntax"], listed=True)
        syntax += self.syntax.read(("assembler", "syntax"), self.assembler.get("syntax", []), listed=False)
        # Where a syntax line is wrong, variants are missing that other parts of the file may be about.
        self.all_variants = len(self.errors) == before_syntax
        for i, name in enumerate(data.get("copied", ()) if self.all_variants else ()):
            context.known(doc, ("copied", i), name, {s.name for v in self.variants for s in v.sources}, "operand")

        def entries(key: str) -> Iterable[tuple[int, dict[str, Any]]]:
            return enumerate(data.get(key, []))

        lane_bits = read_lane_bits(doc, context, data.get("lane_bits", []), self.found, self.selector, self.basis)
        hazards = HazardReader(doc, context, self.spec.catalog, self.found, self.selector, self.basis, self.on)
        rules = [self.rule(("requires", i), r) for i, r in entries("requires")]
        observed = [
            self.rule(("assembler", "requires", i), r, Basis((VERDICTS,)))
            for i, r in enumerate(self.assembler.get("requires", []))
        ]
        refused = self.selector(("assembler",), self.assembler, "refuses") if "refuses" in self.assembler else None
        means = tuple(self.meaning(("means", i), m) for i, m in entries("means"))
        accuracy = tuple(self.accuracy(("accuracy", i), a) for i, a in entries("accuracy"))
        group = str(data.get("group", ""))
        if group and self.spec.group_titles:
            context.known(doc, ("group",), group, self.spec.group_titles, "group")
        made = Instruction(
            opcode=opcode,
            path=doc.name,
            summary=words(data["summary"]),
            group=group,
            description=str(data.get("description", "")).strip(),
            pages=tuple(Page(m["section"], m["anchor"]) for m in data.get("manual", [])),
            syntax=tuple(syntax),
            observed=words(self.assembler.get("observed", "")),
            rules=tuple(rules),
            assembler_rules=tuple(observed),
            tolerated=self.tolerated(),
            elsewhere=self.elsewhere(),
            other_modifiers=tuple(self.assembler.get("other_modifiers", [])),
            empty_types=self.empty_types(),
            operand_rules=tuple(self.operands(i, r) for i, r in enumerate(self.assembler.get("operands", []))),
            means=means,
            semantics=self.code(("semantics",), data["semantics"]) or Code("", doc.name, doc.marks[()], ()),
            hardware=tuple(filter(None, (self.hardware(("hardware", i), h) for i, h in entries("hardware")))),
            nan=tuple(filter(None, (self.nan(("nan", i), n) for i, n in entries("nan")))),
            corner_tables=tuple(
                read_table(
                    doc, self.context, at, t, self.selector(at, t), self.basis(at, t),
                    self.variants if self.all_variants else (),
                )
                for i, t in entries("corner_cases")
                if (at := ("corner_cases", i))
            ),
            accuracy=accuracy,
            notes=tuple(self.note(("notes", i), n) for i, n in entries("notes")),
            variants=(),
            registers=self.registers(),
            vectors_elsewhere=self.assembler.get("vectors_elsewhere", False),
            unpacks=self.unpacks(),
            lane_bits=lane_bits,
            crashes=tuple(
                Crash(self.selector(("assembler", "crashes", i), c), words(c["text"]))
                for i, c in enumerate(self.assembler.get("crashes", []))
            ),
            hazards=hazards.read(data.get("hazards", [])) if self.all_variants else (),
            folding=read_folding(
                doc, self.context, data.get("folding", []), self.spec.nan_rules, self.selector, self.code
            ),
            acts_on=self.acts_on(),
            recipes=read_recipes(doc, self.context, data.get("instead", []), self.selector, self.basis),
            missing=self.missing(),
            compared=tuple(self.compared(("compared", i), c) for i, c in entries("compared")),
            intrinsics=read_intrinsics(doc, self.context, data.get("intrinsics", []), opcode, self.variants)
            if self.all_variants
            else (),
            comparisons=self.comparisons(),
            trial=self.trial(),
        )  # fmt: skip
        if len(self.errors) > before:
            return None
        wanted = {v.form for v in self.variants if spelling is None or v.spelling == spelling}
        required = Requirements(made.rules, made.assembler_rules, self.variants, self.spec.catalog)
        completed = [self.complete(v, made, required) if v.form in wanted else v for v in self.variants]
        variants = [v for v in completed if not (refused and refused.matches(v))]
        for v in variants:
            if v.form in wanted:
                why = why_nowhere(self.spec.catalog, v, made)
                self.errors += [doc.error(("requires",), m, "mend the rules that match it", key=True) for m in why]
        if not variants:
            self.errors.append(doc.error(("assembler", "refuses"), f"the assembler takes no {opcode} at all"))
        kept = set(variants)
        nowhere = tuple(replace(v, requires=Requirement("", "")) for v in completed if v not in kept)
        return replace(made, variants=tuple(variants), refused=nowhere) if len(self.errors) == before else None

    @property
    def variants(self) -> tuple[Variant, ...]:
        return tuple(self.found.values())

    def missing(self) -> tuple[Missing, ...]:
        """The spellings that do not exist, as variants, each with its recipe."""
        entries = self.data.get("missing", [])
        recipes = read_recipes(self.doc, self.context, entries, self.selector, self.basis, "missing")
        found: dict[Form, Variant] = dict(self.found)
        reader = replace(self.syntax, variants=found)
        made = []
        for i, recipe in zip(range(len(entries)), recipes, strict=False):
            before = len(found)
            reader.read(("missing", i, "syntax"), entries[i]["syntax"], listed=False)
            made.append(Missing(recipe, tuple(found.values())[before:]))
        return tuple(made)

    def unpacks(self) -> Basis | None:
        said = self.data.get("unpacks")
        if said is None:
            return None
        packing = any(len(v.sources) == 1 and v.sources[0].braced for v in self.variants)
        if self.all_variants and not packing:
            message, help = "no statement has a vector as its only source", "add one to the syntax, as in d, {a0, a1}"
            self.errors.append(self.doc.error(("unpacks",), message, help, key=True))
        return self.basis(("unpacks",), said)

    def comparisons(self) -> tuple[str, ...]:
        """The groups of modifiers that name a comparison. Each variant has exactly one of their members."""
        names = tuple(self.data.get("comparisons", []))
        groups = self.spec.groups
        known = [self.context.known(self.doc, ("comparisons", i), n, groups, "group") for i, n in enumerate(names)]
        if not all(known):
            return ()
        members = {m for name in names for m in groups[name]}
        wrong = [v for v in self.variants if names and len(members.intersection(v.modifiers)) != 1]
        if self.all_variants and wrong:
            message = f"{wrong[0]} does not have exactly one modifier of {' and '.join(names)}"
            self.errors.append(self.doc.error(("comparisons",), message, "name all groups of comparisons", key=True))
        return names

    def trial(self) -> Trial | None:
        """The variant that the evaluator of the page shows first."""
        said = self.data.get("try")
        if said is None:
            return None
        found = next((v for v in self.variants if v.spelling == said["variant"]), None)
        if found is None and self.all_variants:
            spellings = [v.spelling for v in self.variants]
            self.context.known(self.doc, ("try", "variant"), said["variant"], spellings, "variant")
        texts = {name: str(text) for name, text in said.get("operands", {}).items()}
        if found and texts.keys() != (places := {p for s in found.written for p in s.places}) and texts:
            message = f"the operands of {found.spelling} are {', '.join(sorted(places))}"
            self.errors.append(self.doc.error(("try", "operands"), message, "give each of them a value", key=True))
        return Trial(said["variant"], texts)

    # Parts that stand in several places

    def basis(self, where: Where, entry: Mapping[str, Any], default: Basis | None = None) -> Basis:
        return self.context.basis(self.doc, where, entry, default)

    def selector(self, where: Where, data: dict[str, Any], key: str = "for") -> Selector:
        errors = len(self.errors)
        at = (*where, key) if key in data else where
        selector = self.context.selector(self.doc, at, data.get(key), self.opcode)
        if self.all_variants and len(self.errors) == errors and not any(map(selector.matches, self.variants)):
            message = f"no variant of {self.opcode} matches '{selector.text}'"
            self.errors.append(self.doc.error(at, message, "see the syntax lines for what there is"))
        return selector

    def code(self, where: Where, text: str, units: bool = False) -> Code | None:
        """Return a piece of semantics; None if it is wrong for every variant."""
        code = self.context.code(self.doc, where, text)
        if code is None:
            return None
        try:
            resolve(code, self.meanings, {s.name for v in self.variants for s in v.sources}, units)
        except SpecError as e:
            self.errors += e.diagnostics
            return None
        return code

    # Requirements and the assembler

    def rule(self, where: Where, r: dict[str, Any], default: Basis | None = None) -> Rule:
        for axis, choice, what in (
            ("ptx", self.spec.versions, "PTX version"),
            ("until", self.spec.versions, "PTX version"),
            ("target", self.spec.targets, "target"),
        ):
            if axis in r:
                self.context.known(self.doc, (*where, axis), r[axis], choice, what)
        within = self.context.within(self.doc, (*where, "within"), r["within"]) if "within" in r else None
        if within and "target" in r:
            help = "a range of targets has its own PTX versions; let the range begin with the target"
            self.errors.append(self.doc.error((*where, "target"), "'target' and 'within' do not go together", help))
        on = self.on(where, r)
        return Rule(
            selector=self.selector(where, r),
            within=within,
            ptx=r.get("ptx"),
            target=r.get("target"),
            until=r.get("until"),
            basis=self.basis(where, r, default),
            on=expanded(on, self.spec.catalog),
            entries=on,
        )

    def on(self, where: Where, r: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return the valid entries of a rule's `on`, each a target and its first PTX version."""
        doc, targets, versions = self.doc, self.spec.targets, self.spec.versions
        found: list[tuple[str, str]] = []
        for key in ("ptx", "target", "within"):
            if "on" in r and key in r:
                help = "'on' has a PTX version for each target that it names"
                self.errors.append(doc.error((*where, key), f"'{key}' and 'on' do not go together", help))
        for name, ptx in r.get("on", {}).items():
            at = (*where, "on", name)
            base = name.rstrip("af")
            if name not in targets and base in targets:
                kinds = " or ".join(t.name for t in targets.values() if base in (t.name, t.base))
                sort = "family" if name.endswith("f") else "architecture"
                message = f"there is no {name}: {base} has no {sort}-specific target"
                self.errors.append(doc.error(at, message, f"write {kinds}", key=True))
            elif name not in targets:
                self.errors.append(doc.error(at, f"unknown target '{name}'", suggest(name, targets), key=True))
            elif self.context.known(doc, at, ptx, versions, "PTX version"):
                if versions[ptx].order < versions[targets[name].ptx].order:
                    message = f"PTX {ptx} does not know {name}"
                    self.errors.append(doc.error(at, message, f"it came with PTX {targets[name].ptx}"))
                found.append((name, ptx))
        return tuple(found)

    def tolerated(self) -> tuple[Tolerated, ...]:
        found = []
        for i, t in enumerate(self.assembler.get("tolerated", [])):
            at = ("assembler", "tolerated", i, "syntax")
            spellings = self.syntax.spellings(at, t["syntax"])
            if spellings is None:
                continue
            count = sum(len(p.registers) or 1 for p in spellings.sources)
            split = map(self.context.split, spellings.names)
            forms = tuple((frozenset(modifiers), types, count) for modifiers, types in split)
            for names, form in zip(spellings.names, forms, strict=True):
                v = self.found.get(form)
                # A variant of the same form may have operands of other types.
                if v and self.syntax.types_of(spellings, names) == {s.name: s.type for s in (v.result, *v.sources)}:
                    self.errors.append(self.doc.error(at, f"{v} is a variant already"))
            found.append(Tolerated(" ".join(t["syntax"].split()), forms, words(t["note"]), t.get("crash", False)))
        return tuple(found)

    def elsewhere(self) -> tuple[tuple[str, ...], ...] | None:
        """The forms that other instructions of this name have, each as its types; None if the file does not say."""
        if "elsewhere" not in self.assembler:
            return None
        found = []
        for i, text in enumerate(self.assembler["elsewhere"]):
            names = tuple(text.split(".")[1:])
            # Modifiers that only other instructions have stand before the types.
            own = [k for k, n in enumerate(names) if n in self.spec.types or n in self.spec.assembler.other_types]
            types = names[own[0] :] if own else names
            self.other_types(("assembler", "elsewhere", i), types)
            if any(names == v.type_names for v in self.variants):
                at = ("assembler", "elsewhere", i)
                self.errors.append(self.doc.error(at, f"{self.opcode}{text} is described in this file"))
            found.append(names)
        return tuple(found)

    def empty_types(self) -> tuple[str, ...]:
        names = tuple(self.assembler.get("empty_types", []))
        self.other_types(("assembler", "empty_types"), names)
        return names

    def operands(self, place: int, rule: dict[str, Any]) -> OperandRule:
        at = ("assembler", "operands", place)
        tables: dict[str, dict[str, tuple[str, ...]]] = {}
        for key in ("registers", "constants"):
            for name in (table := rule.get(key, {})):
                self.context.known(self.doc, (*at, key, name), name, self.spec.types, "type")
            tables[key] = {name: tuple(found) for name, found in table.items()}
        return OperandRule(selector=self.selector(at, rule), **tables)

    def other_types(self, where: Where, names: tuple[str, ...]) -> None:
        for name in names:
            self.context.known(self.doc, where, name, (*self.spec.types, *self.spec.assembler.other_types), "type")

    def registers(self) -> dict[str, str]:
        found = self.data.get("registers", {})
        for name in found:
            self.context.known(self.doc, ("registers", name), name, self.spec.types, "type")
        return {name: words(text) for name, text in found.items()}

    # What variants do

    def acts_on(self) -> dict[str, tuple[str, ...]]:
        """Return the formats that each modifier acts on, where these are not all."""
        found = self.data.get("acts_on", {})
        for modifier, formats in found.items():
            self.context.known(self.doc, ("acts_on", modifier), modifier, self.spec.modifiers, "modifier")
            for i, name in enumerate(formats):
                self.context.known(self.doc, ("acts_on", modifier, i), name, self.spec.formats, "format")
        return {modifier: tuple(formats) for modifier, formats in found.items()}

    def meaning(self, where: Where, m: dict[str, Any]) -> ImpliedModifiers:
        """Read the modifiers that spellings mean. Each spelling with them must also be a spelling of this opcode."""
        at = (*where, "modifiers")
        selector = self.selector(where, m)
        found = self.context.expanded(self.doc, at, m["modifiers"])
        names = found[0] if len(found) == 1 and self.spec.modifiers.keys() >= set(found[0]) else ()
        short = [v.form for v in self.variants if selector.matches(v)]
        longer = {(modifiers.union(names), types, operands) for modifiers, types, operands in short}
        if found and (not names or not longer <= self.found.keys()):
            message = f"'{selector.text}' with {m['modifiers']} is no spelling of {self.opcode}"
            self.errors.append(self.doc.error(at, message, "write modifiers that make it one, as in .approx.ftz"))
        return ImpliedModifiers(selector, names, m["section"])

    def nan(self, where: Where, n: dict[str, Any]) -> tuple[Selector, NanRule] | None:
        selector = self.selector(where, n)
        if not self.context.known(self.doc, (*where, "rule"), n["rule"], self.spec.nan_rules, "NaN rule"):
            return None
        rule = self.spec.nan_rules[n["rule"]]
        return selector, replace(rule, basis=self.basis(where, n, rule.basis))

    def accuracy(self, where: Where, a: dict[str, Any]) -> Accuracy:
        text = words(a.get("range", ""))
        try:
            parse_range(text)
        except ValueError as e:
            help = "write [-2pi, 2pi], 2^-9 <= |b| <= 2^9, positive and finite, or positive and finite outside (0.5, 2)"
            self.errors.append(self.doc.error((*where, "range"), str(e), help))
        exceeded, found = None, a.get("exceeded")
        if found:
            at = (*where, "exceeded", "within")
            within = [self.context.within(self.doc, (*at, k), text) for k, text in enumerate(found["within"])]
            exceeded = Exceeded(
                tuple(w for w in within if w), tuple(int(x, 16) for x in found["operands"]), int(found["result"], 16),
                str(found["error"]), found["basis"],
            )  # fmt: skip
        return Accuracy(self.selector(where, a), a["kind"], str(a["bound"]), text, a["section"], exceeded)

    def compared(self, where: Where, c: dict[str, Any]) -> Compared:
        for i, name in enumerate(c["with"]):
            if not name.startswith("numpy."):
                self.context.known(self.doc, (*where, "with", i), name, self.spec.functions.names, "function")
        return Compared(self.selector(where, c), tuple(c["with"]), tuple(map(words, c.get("differs", ()))))

    def note(self, where: Where, n: dict[str, Any]) -> Note:
        return Note(
            text=words(n["text"]),
            basis=self.basis(where, n),
            selector=self.selector(where, n),
            open=words(n.get("open", "")),
            loose=n.get("loose", False),
        )

    def hardware(self, where: Where, h: dict[str, Any]) -> HardwarePath | None:
        selector = self.selector(where, h)
        code = self.code((*where, "semantics"), h["semantics"], units=True)
        if code is None:
            return None
        within = self.context.within(self.doc, (*where, "within"), h["within"]) if "within" in h else None
        units = names_read(code) & set(self.spec.units)
        if not units:
            at = (*where, "semantics")
            self.errors.append(self.doc.error(at, "this calls no unit", "call one as in unit(EX2, a)", key=True))
        return HardwarePath(selector, code, tuple(sorted(units)), within)

    # Variants

    def complete(self, v: Variant, made: Instruction, required: Requirements) -> Variant:
        """Return a variant with what it requires and what it claims."""
        manual, observed = required.of(v)
        means = tuple(n for m in made.means if m.selector.matches(v) for n in m.modifiers)
        if v.listed and any(a.selector.matches(v) for a in made.accuracy):
            claim = "bounded"
        elif not v.listed or any(self.spec.modifiers[n].approximate for n in (*v.modifiers, *means)):
            claim = "unspecified"
        else:
            # This holds until it is known who judged its program.
            claim = "unjudged"
        return replace(
            v,
            requires=observed,
            manual=manual if v.listed else None,
            claim=claim,
            means=means,
            hazards=tuple(h.hazard for h in made.hazards if h.selector.matches(v)),
            crash=" ".join(c.text for c in made.crashes if c.selector.matches(v)),
        )

"""The whole specification."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..basis import Basis
from ..catalog import Catalog, Product, PtxVersion, Target
from ..catalog.outside import Outside
from ..catalog.special import SpecialRegister
from .code import Code
from .formats import FixedPoint, Format, NanRule, Type
from .functions import Functions
from .instruction import Accuracy, HardwarePath, Instruction
from .observed import (
    CallEvidence,
    Evidence,
    Inferred,
    IntrinsicSignature,
    Judgement,
    Lowered,
    MachineEvidence,
    ManualDifference,
    PublishedModel,
    RegisteredRecording,
    Speed,
)
from .peers import PeerComparison
from .recipes import Instead
from .requirements import Selector
from .tensor import TensorCores
from .units import Unit, UnitModel
from .variant import Variant


@dataclass(frozen=True)
class Modifier:
    """A modifier. `raw`, `operand`, `result` and `override` are the stages around the body, in the order in which they
    run. `round_place`, a file and a line, is where `mode` and `ftz` are written. `changed_operands` and
    `changed_results` are the sorts of floats that the modifier changes."""

    name: str
    summary: str
    basis: Basis
    mode: str | None
    ftz: bool
    approximate: bool
    raw: Code | None
    operand: Code | None
    result: Code | None
    override: Code | None
    round_place: str = ""
    changed_operands: tuple[str, ...] = ()
    changed_results: tuple[str, ...] = ()


@dataclass(frozen=True)
class Implied:
    """Variants that behave as though they had a modifier, on some targets."""

    modifier: str
    selector: Selector
    within: tuple[str, str]
    section: str

    def is_about(self, variant: Variant) -> bool:
        """Return whether the modifier is implied for a variant. It is not for one that only copies floats."""
        return variant.computes and self.selector.matches(variant)


@dataclass(frozen=True)
class Assembler:
    """The assembler's rules for names and operands of every instruction; spec/assembler.yaml explains each field."""

    observed: str = ""
    repeatable: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    leading_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignored: tuple[tuple[str, ...], ...] = ()
    crashing: tuple[str, ...] = ()
    constants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named_integers: tuple[str, ...] = ()
    other_types: tuple[str, ...] = ()
    target_options: tuple[str, ...] = ()
    registers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Naming:
    """The names of GPUs: products, other names of architectures, the words that may be left out of a name or added to
    it (`editions` are patterns), patterns for the GPUs of `foreign` makers, and the titles and addresses of sources."""

    products: tuple[Product, ...] = ()
    architectures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    brands: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    foreign: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Topic:
    """A title or a question that people look for, the address of the manual's page about it, and other words for it."""

    title: str
    page: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beyond:
    """The PTX instructions outside the specification, by their opcodes. `statements` prove that the forms exist; they
    are by the opcode and the form's pattern."""

    opcodes: Mapping[str, Outside] = field(default_factory=dict)
    statements: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Spec:
    """The whole specification. Mappings keep the order of the files; instructions are in order of their opcode.
    `groups` are groups of modifiers, which semantics may name; those of types are for notation alone. `instead` is what
    to write where a variant is missing, the best first, and `missing` the same for spellings that PTX does not have;
    `judgements` are by opcode. `group_titles` are the titles of the groups in which instructions are listed.
    `questions` and `topics` are links of the manual's first page and its search."""

    formats: Mapping[str, Format | FixedPoint]
    nan_rules: Mapping[str, NanRule]
    types: Mapping[str, Type]
    modifiers: Mapping[str, Modifier]
    groups: Mapping[str, tuple[str, ...]]
    type_groups: Mapping[str, tuple[str, ...]]
    implied: tuple[Implied, ...]
    targets: Mapping[str, Target]
    versions: Mapping[str, PtxVersion]
    instructions: Mapping[str, Instruction]
    evidence: Evidence | None
    sources: Mapping[str, str]
    assembler: Assembler = Assembler()
    special_registers: tuple[SpecialRegister, ...] = ()
    speed: Speed | None = None
    peers: PeerComparison | None = None
    machine: MachineEvidence | None = None
    calls: CallEvidence | None = None
    signatures: tuple[IntrinsicSignature, ...] = ()
    intrinsics: CallEvidence | None = None
    triton: CallEvidence | None = None
    lowered: Lowered | None = None
    recordings: tuple[RegisteredRecording, ...] = ()
    judgements: Mapping[str, tuple[Judgement, ...]] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    tensor: TensorCores = field(default_factory=TensorCores)
    naming: Naming = Naming()
    published: Mapping[str, PublishedModel] = field(default_factory=dict)
    functions: Functions = field(default_factory=Functions)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group_titles: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[Topic, ...] = ()
    topics: tuple[Topic, ...] = ()
    messages: tuple[Mapping[str, Any], ...] = ()
    outside: Beyond = field(default_factory=Beyond)
    instead: Mapping[Variant, tuple[Instead, ...]] = field(default_factory=dict)
    missing: Mapping[Variant, tuple[Instead, ...]] = field(default_factory=dict)

    @cached_property
    def notation(self) -> Mapping[str, tuple[str, ...]]:
        """The groups of modifiers and of types, which notations may name."""
        return {**self.groups, **self.type_groups}

    def claim(self, variant: Variant, target: str | None) -> str:
        """Return the variant's claim on a target, for the path that is followed there. A claim that is not `exact` is
        `measured` where all recordings of that target that have the variant are equal in every bit, `reported` where a
        published model is, and `unspecified` where a path exceeds the bound in NVIDIA's manual."""
        gpu = self.catalog.plain(target)
        found = {r.finding(variant) for r in self.recordings if r.target == gpu} - {None}
        if variant.claim == "exact":
            return variant.claim
        if found == {"equal"}:
            return "measured"
        if not found and self.reporter(variant, target):
            return "reported"
        return "unspecified" if self.follows(variant, target) and self.exceeded(variant, target) else variant.claim

    def follows(self, variant: Variant, target: str | None) -> bool:
        """Return whether the emulator follows the machine code on a target instead of the semantics."""
        paths = self.instructions[variant.opcode].hardware_paths(variant) if target is not None else ()
        return target is not None and self.known_path(paths, target) is not None

    def exceeded(self, variant: Variant, target: str | None) -> Accuracy | None:
        """Return the bound in NVIDIA's manual that a target's hardware is known to exceed for a variant, or None."""
        gpu = self.catalog.plain(target) or target
        for a in self.instructions[variant.opcode].accuracy if gpu else ():
            ranges = a.exceeded.within if a.exceeded and a.selector.matches(variant) else ()
            if gpu and any(self.is_within(gpu, w) for w in ranges):
                return a
        return None

    @cached_property
    def _reported(self) -> frozenset[str]:
        """The spellings for which published models have results."""
        return frozenset(r.variant for p in self.published.values() for r in p.reports)

    def may_follow(self, variant: Variant) -> bool:
        """Return whether more than the semantics is known of a variant on some target."""
        return variant.spelling in self._reported or bool(self.instructions[variant.opcode].hardware_paths(variant))

    def reporter(self, variant: Variant, target: str | None) -> PublishedModel | None:
        """Return the published model whose results of a variant the emulator has in full, on a target that the model's
        author compared; or None."""
        if target is None:
            return None
        paths = self.instructions[variant.opcode].hardware_paths(variant)
        known = not paths or self.known_path(paths, target)
        for p in self.published.values() if known else ():
            if p.report(variant.spelling, target):
                return p
        return None

    def other_claims(self, variant: Variant) -> dict[str, tuple[str, ...]]:
        """Return the claims other than its own that a variant has on some of its targets, each with these targets:
        there a recording or a published model says something other than what is promised everywhere."""
        known = self.recordings or self.may_follow(variant)
        found: dict[str, list[str]] = {}
        for target in self.targets if known and variant.claim != "exact" else ():
            claim = self.claim(variant, target)
            if claim != variant.claim and self.catalog.takes(variant.requires, target):
                found.setdefault(claim, []).append(target)
        return {claim: tuple(targets) for claim, targets in found.items()}

    def inferred_on(self, variant: Variant) -> tuple[str, ...]:
        """The targets on which the emulator follows a published model, though its author did not compare the variant
        there."""
        paths, found = self.instructions[variant.opcode].hardware_paths(variant), []
        for target in self.targets if paths else ():
            path = self.known_path(paths, target) if self.catalog.takes(variant.requires, target) else None
            models = [self.model(u, target) for u in path.units] if path else []
            if any(m and m.fitted.reported for m in models) and self.claim(variant, target) != "reported":
                found.append(target)
        return tuple(found)

    def registers(self, instruction: Instruction, variant: Variant, type: str) -> tuple[str, ...]:
        """Return the types of registers that the assembler accepts for an operand of a type; empty if unknown."""
        own = (r.registers for r in instruction.operand_rules if r.selector.matches(variant))
        return next((found[type] for found in own if type in found), self.assembler.registers.get(type, ()))

    def constants(self, instruction: Instruction, variant: Variant, type: str) -> tuple[str, ...] | None:
        """Return the sorts of constants that it accepts for a source operand of a type: "integer", "single", "double"
        and "address"; None if unknown."""
        own = (r.constants for r in instruction.operand_rules if r.selector.matches(variant))
        return next((found[type] for found in own if type in found), self.assembler.constants.get(type))

    def model(self, unit: str, target: str) -> UnitModel | None:
        """Return the model of a unit on a target, which may be an inferred one; None if there is none."""
        models = self.units[unit].models
        found = next((m for m in models if self.is_within(target, m.within)), None)
        if found is None and (inferred := self.inferred(unit, target)):
            return next((m for m in reversed(models) if m.fitted.reported == inferred[0].name), None)
        return found

    def inferred(self, unit: str, target: str) -> tuple[PublishedModel, Inferred] | None:
        """Return the published model that a unit is inferred to follow on a target beyond its own, and the evidence; or
        None."""
        every = ((p, i) for p in self.published.values() for i in p.inferred)
        return next(((p, i) for p, i in every if i.unit == unit and target in i.targets), None)

    def path(self, paths: Sequence[HardwarePath], target: str) -> HardwarePath | None:
        """Return the first of the paths that is for a target, or None."""
        return next((p for p in paths if p.within is None or self.is_within(target, p.within)), None)

    def known_path(self, paths: Sequence[HardwarePath], target: str) -> HardwarePath | None:
        """Return the machine code that is followed on a target; None if a unit in it is not known there."""
        path = self.path(paths, target)
        return path if path and all(self.model(u, target) for u in path.units) else None

    def is_within(self, target: str, range: tuple[str, str]) -> bool:
        """Return whether a target is in a range."""
        first, last = range
        targets = self.targets
        return targets[first].order <= targets[target].order <= targets[last].order

    @cached_property
    def catalog(self) -> Catalog:
        """The catalogue, which decides what requirements mean for targets and versions."""
        return Catalog(self.targets.values(), self.versions.values())

    def has_kernel(self, v: Variant) -> bool:
        """Return whether a kernel can be compiled for a variant: it is current, and the assembler does not crash on
        it."""
        return self.catalog.is_current(v.requires) and not v.crash

    def asked(self, opcode: str) -> str:
        """Return a digest of what an assembler is asked about an opcode: its variants, their operands and what they
        need. Observations of an opcode are kept with it; if the digest has changed, they are about another state."""
        lines = []
        for v in self.instructions[opcode].variants:
            operands = [f"{o.type.name} {' '.join(o.places)}" for o in (*v.results, *v.sources)]
            lines.append("; ".join([v.spelling, *operands, self.catalog.text(v.requires), v.crash]))
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:10]

    @property
    def newest(self) -> str:
        """The newest target."""
        return self.catalog.newest_target

    @property
    def differences(self) -> tuple[ManualDifference, ...]:
        """The variants about which NVIDIA's manual and the assembler differ, with what each says."""
        return tuple(
            ManualDifference(
                v.spelling,
                v.operands,
                self.catalog.text(v.manual) if v.manual else "does not list it",
                "refuses it" if v in i.refused else self.catalog.text(v.requires),
            )
            for i in self.instructions.values()
            for v in i.differing
        )

    def effective_modifiers(self, variant: Variant, target: str | None) -> frozenset[str]:
        """Return the variant's modifiers, those that it means and those that the target implies."""
        names = {*variant.modifiers, *variant.means}
        if target is not None:
            names.update(i.modifier for i in self.implied if self.is_within(target, i.within) and i.is_about(variant))
        return frozenset(names)

    def implied_targets(self, variant: Variant) -> tuple[str, ...]:
        """Return the targets that imply a modifier that the variant does not have."""
        own = {*variant.modifiers, *variant.means}
        here = [i for i in self.implied if i.modifier not in own and i.is_about(variant)]
        return tuple(t for t in self.targets if any(self.is_within(t, i.within) for i in here)) if here else ()

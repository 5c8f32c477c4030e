"""Semantics -> programs: each variant's stages, in the order in which they act, as one straight line.

Overrides read the raw operands, modifiers change the operands, the body computes, the NaN rule and then the modifiers
change the result, and the overrides have the last word. Stages act on floats and skip operands and results of other
kinds.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

from ..diagnostics import SpecError, TooLargeError
from ..model import (
    ROUNDINGS,
    Code,
    HardwarePath,
    Instruction,
    Modifier,
    NanRule,
    Operand,
    Spec,
    UnitModel,
    Variant,
)
from . import tree
from .fold import Folder
from .program import OPERATION, Const, Program, Term, Var, live
from .resolve import Meanings, names_read, resolve
from .values import Scope, Static, Typed

# Limits for all programs of an opcode. The instruction with the most variants needs a fifth of them.
_MAX_STEPS, _MAX_VALUES = 50_000, 1_000_000
_STAGES = ("raw", "operand", "result", "override")


class Compiler:
    """A compiler of the semantics of a specification's variants. Code is resolved once, and variants that mean the same
    share their programs."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.meanings = Meanings(spec.formats, spec.types, spec.modifiers, spec.groups, spec.targets, spec.units)
        self._resolved: dict[tuple[Code, frozenset[str]], tree.Program] = {}
        self._compiled: dict[object, Program] = {}
        self._same: dict[tuple[str, Program], Program] = {}
        self._names: dict[object, frozenset[str]] = {}
        self._statics: dict[frozenset[str], dict[str, Static]] = {}
        self._variants: dict[tuple[Variant, frozenset[str]], tuple[frozenset[str], frozenset[str], int]] = {}
        self._parts: dict[object, int] = {}
        self._spent: dict[str, tuple[int, int]] = {}

    def programs(self, instruction: Instruction, variant: Variant) -> dict[str | None, Program]:
        """Return the variant's program without a target (key None), and those on targets that have the variant and
        where the program differs. Raises SpecError if the semantics is wrong."""
        default = self.program(instruction, variant, None)
        found: dict[str | None, Program] = {None: default}
        by_target = "target" in self._about(instruction, variant, frozenset())[0]
        implied = self.spec.implied_targets(variant)
        stated = instruction.hardware_paths(variant)
        for target in self.spec.targets if by_target or stated else implied:
            path = self.spec.known_path(stated, target)
            if not by_target and path is None and target not in implied:
                continue
            if not self.spec.catalog.takes(variant.requires, target):
                continue
            program = self.program(instruction, variant, target, path)
            if program is not default:
                found[target] = program
        return found

    def program(
        self, instruction: Instruction, variant: Variant, target: str | None, path: HardwarePath | None = None
    ) -> Program:
        """Return one lane's program for a variant on a target; None means current targets, as documented. A `path`
        replaces the semantics with its code, and uses the units whose models are known on the target. Equal programs of
        an opcode are one object; those of different opcodes are not, because they name lines of different files.

        Raises SpecError with all errors in the semantics of this variant."""
        effective = self.spec.effective_modifiers(variant, target)
        implied = effective.difference(variant.modifiers, variant.means)
        mentioned, seen, variants_part = self._about(instruction, variant, implied)
        models = {u: self.spec.model(u, target) if target else None for u in path.units} if path else {}
        # Everything that a program depends on.
        key = (
            variants_part,
            effective & seen,
            self._place(target, mentioned) if "target" in mentioned else None,
            (path.code, tuple(models.values())) if path else None,
        )
        found = self._compiled.get(key)
        if found is None:
            made = _Compilation(self, instruction, variant, target, effective, implied, path, models).program()
            found = self._compiled[key] = self._same.setdefault((instruction.opcode, made), made)
        return found

    def spend(self, instruction: Instruction, steps: int, values: int) -> None:
        """Count the steps and values of an instruction's programs. Raises TooLargeError."""
        before = self._spent.get(instruction.opcode, (0, 0))
        now = self._spent[instruction.opcode] = (before[0] + steps, before[1] + values)
        for number, most, what in zip(now, (_MAX_STEPS, _MAX_VALUES), ("steps", "values"), strict=True):
            if number > most:
                code = instruction.semantics
                raise TooLargeError([code.error(code.start, f"more than {most} {what} in the variants of an opcode")])

    def resolved(self, code: Code, variables: Iterable[str], units: bool = False) -> tree.Program:
        key = (code, frozenset(variables))
        if key not in self._resolved:
            self._resolved[key] = resolve(code, self.meanings, key[1], units)
        return self._resolved[key]

    def _place(self, target: str | None, mentioned: frozenset[str]) -> tuple[int, ...] | None:
        """Return how a target compares with the targets that the code names. The code sees nothing else of it."""
        if target is None:
            return None
        order, targets = self.spec.targets[target].order, self.spec.targets
        named = [targets[t].order for t in sorted(mentioned & targets.keys())]
        return tuple((order > other) - (order < other) for other in named)

    def names(self, effective: frozenset[str]) -> dict[str, Static]:
        """Return the names that mean the same in every variant with these modifiers."""
        found = self._statics.get(effective)
        if found is None:
            groups = {
                group: Static("member", next((m for m in members if m in effective), None))
                for group, members in self.spec.groups.items()
            }
            modifiers = {name: Static("bool", name in effective) for name in self.spec.modifiers}
            found = self._statics[effective] = {**self.statics, **modifiers, **groups}
        return found

    @cached_property
    def statics(self) -> dict[str, Static]:
        """The names that mean the same in every variant."""
        spec = self.spec
        return {
            **{name: Static("target", t) for name, t in spec.targets.items()},
            **{name: Static("type", name) for name in (*spec.formats, *spec.types)},
            **{name: Static("rounding", name) for name in ROUNDINGS},
            **{name: Static("unit", name) for name in spec.units},
        }

    @cached_property
    def _acting(self) -> frozenset[str]:
        """The modifiers that have an effect of their own."""
        return frozenset(m.name for m in self.spec.modifiers.values() if m.mode or m.ftz or any(_codes(m)))

    def _about(
        self, instruction: Instruction, variant: Variant, implied: frozenset[str]
    ) -> tuple[frozenset[str], frozenset[str], int]:
        """Return the static names that decide what the variant's code becomes; these names and the modifiers that act;
        and a number for everything else that its programs depend on, given the modifiers that a target implies."""
        if (variant, implied) not in self._variants:
            rule = instruction.nan_rule(variant, implied)
            mentioned = self._mentioned(instruction, variant, rule)
            part = (
                instruction.opcode,
                rule,
                tuple((o.name, o.kind) for o in (*variant.results, *variant.sources)),
                variant.type_names if not mentioned.isdisjoint(("type", "sourceType")) else None,
            )
            number = self._parts.setdefault(part, len(self._parts))
            self._variants[variant, implied] = (mentioned, mentioned | self._acting, number)
        return self._variants[variant, implied]

    def _mentioned(self, instruction: Instruction, variant: Variant, rule: NanRule | None) -> frozenset[str]:
        """Return the static names that decide what the variant's code becomes, including the members of groups."""
        paths = instruction.hardware_paths(variant)
        key = (instruction.opcode, tuple(p.code for p in paths), rule and rule.code)
        if key not in self._names:
            codes = [instruction.semantics, *(p.code for p in paths), rule.code if rule else None]
            codes += [code for m in self.spec.modifiers.values() for code in _codes(m)]
            names = frozenset[str]().union(*(names_read(c) for c in codes if c is not None))
            members = (members for group, members in self.spec.groups.items() if group in names)
            self._names[key] = names.union(*members)
        return self._names[key]


def _codes(m: Modifier) -> list[Code]:
    return [code for stage in _STAGES if (code := getattr(m, stage)) is not None]


class _Compilation:
    """The compilation of one program."""

    def __init__(
        self,
        compiler: Compiler,
        instruction: Instruction,
        variant: Variant,
        target: str | None,
        effective: frozenset[str],
        implied: frozenset[str],
        path: HardwarePath | None,
        models: dict[str, UnitModel | None],
    ) -> None:
        self.compiler, self.instruction, self.variant = compiler, instruction, variant
        self.path = path
        self.implied = implied
        spec = compiler.spec
        self.modifiers = [m for m in spec.modifiers.values() if m.name in effective]
        mode = next((m.mode for m in self.modifiers if m.mode), ROUNDINGS[0])
        self.statics: dict[str, Static | Typed] = {
            **compiler.names(effective),
            "operands": Static("number", Fraction(len(variant.sources))),
            "type": Static("type", variant.type_names[0]),
            "sourceType": Static("type", variant.type_names[-1]),
            "rounding": Static("rounding", mode),
            "target": Static("target", spec.targets[target] if target else None),
            "quietNaN": _constant(variant, "NaN"),
            "infinity": _constant(variant, "infinity"),
        }
        self.folder = Folder(
            meanings=compiler.meanings,
            variant=variant,
            statics=self.statics,
            mode=mode,
            ftz=frozenset(f for m in self.modifiers if m.ftz for f in self.acted_on(m)),
            models=models,
            others=instruction.operand_names,
        )

    def acted_on(self, m: Modifier) -> Iterable[str]:
        """Return the formats that a modifier acts on."""
        return self.instruction.acts_on.get(m.name, self.compiler.spec.formats)

    def run(self, stage: str, code: Code, scope: Scope, labels: dict[str, str] | None = None) -> Scope:
        # Code is resolved for all variants of the instruction: a branch for other variants may read their operands.
        variables = self.instruction.operand_names.union(scope)
        program = self.compiler.resolved(code, variables, units=self.path is not None)
        return self.folder.run(stage, program, scope, labels)

    def program(self) -> Program:
        try:
            return self._folded()
        finally:
            self.compiler.spend(self.instruction, len(self.folder.lets), self.folder.values)

    def _folded(self) -> Program:
        variant, folder = self.variant, self.folder
        inputs = tuple(Var(s.kind, s.name) for s in variant.sources)
        folder.used.update(i.name for i in inputs)
        operands = {i.name: Typed(i) for i in inputs}
        overrides: dict[str, Scope] = {}
        for m in self.modifiers:
            if m.raw:
                overrides[m.name] = self.run(f".{m.name} operands", m.raw, dict(operands))
        for m in self.modifiers:
            for i, source in zip(inputs, variant.sources, strict=True):
                acted_on = i.kind.format is not None and i.kind.format.name in self.acted_on(m)
                if m.operand and acted_on and not source.copied:
                    scope = self.run(f".{m.name} {i.name}", m.operand, {"x": operands[i.name]}, {"x": i.name})
                    operands[i.name] = folder.assigned(scope, m.operand, "x", i.kind)
        code = self.path.code if self.path else self.instruction.semantics
        scope = self.run(OPERATION, code, dict(operands))
        results = [self.finished(r, scope, code, operands, overrides) for r in variant.results]
        if folder.errors:
            raise SpecError(folder.errors)
        return Program(inputs, live(folder.lets, results), tuple(results), folder.origins)

    def finished(
        self, r: Operand, scope: Scope, code: Code, operands: dict[str, Typed], overrides: dict[str, Scope]
    ) -> Term:
        """Return the term of a result after all stages behind the body."""
        folder = self.folder
        result = folder.assigned(scope, code, r.name, r.kind)
        if r.kind.sort != "float":
            return result.term
        rule = self.instruction.nan_rule(self.variant, self.implied)
        after: list[tuple[str, Code | None, Scope]] = [("NaN", rule.code if rule else None, {**operands})]
        acting = [m for m in self.modifiers if r.kind.format and r.kind.format.name in self.acted_on(m)]
        after += [(f".{m.name}", m.result, {}) for m in acting]
        after += [(f".{m.name}", m.override, overrides.get(m.name, {})) for m in self.modifiers]
        for stage, stage_code, seen in after:
            if stage_code:
                left = self.run(stage, stage_code, {**seen, "d": result})
                result = folder.assigned(left, stage_code, "d", r.kind)
        return result.term


def _constant(variant: Variant, what: str) -> Static | Typed:
    """Return the NaN or the infinity of the variant's format, or a static value with the message that it has none."""
    f = variant.home.format
    if f is not None and what == "NaN" and f.nans:
        return Typed(Const(variant.home, f.canonical_nan))
    if f is not None and what == "infinity" and f.has_infinity:
        return Typed(Const(variant.home, f.infinity))
    return Static("missing", f"{f.name if f else variant.home} has no {what}")

"""Semantics -> programs: each variant's stages, run in the order in which they act, as one straight line.

Overrides look at the raw operands, modifiers change the operands, the body computes, the NaN rule and then the
modifiers change the result, the overrides have the last word. Stages act on floats; an operand or a result of another
kind passes them by.
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

# Limits for all programs of an opcode. The instruction with the most variants needs a fifth of that.
_MAX_STEPS, _MAX_VALUES = 50_000, 1_000_000
_STAGES = ("raw", "operand", "result", "override")


class Compiler:
    """Compiles the semantics of a specification's variants. Code is resolved once, and variants that mean the same
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
        """The variant's program without a target (key None) and on each target that has it and where it differs from
        that. Raises SpecError when the semantics is wrong."""
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
        """One lane's program for a variant on a target; None stands for current targets, as documented. With a `path`,
        that code takes the place of the semantics, with the units as far as they are known on the target. Equal
        programs of an opcode are one object; another opcode's name the lines of another file.

        Raises SpecError with everything that is wrong with the semantics of this variant."""
        effective = self.spec.effective_modifiers(variant, target)
        implied = effective.difference(variant.modifiers, variant.means)
        mentioned, seen, variants_part = self._about(instruction, variant, implied)
        models = {u: self.spec.model(u, target) if target else None for u in path.units} if path else {}
        # All that a program depends on.
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
        """Count what the programs of an instruction make. Raises TooLargeError."""
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
        """Return where a target stands among those that the code compares it with: nothing else of it is seen."""
        if target is None:
            return None
        order, targets = self.spec.targets[target].order, self.spec.targets
        named = [targets[t].order for t in sorted(mentioned & targets.keys())]
        return tuple((order > other) - (order < other) for other in named)

    def names(self, effective: frozenset[str]) -> dict[str, Static]:
        """The names that mean the same in every variant with these modifiers."""
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
        """The modifiers that do something by themselves."""
        return frozenset(m.name for m in self.spec.modifiers.values() if m.mode or m.ftz or any(_codes(m)))

    def _about(
        self, instruction: Instruction, variant: Variant, implied: frozenset[str]
    ) -> tuple[frozenset[str], frozenset[str], int]:
        """The static names that decide what the variant's code becomes, those and the modifiers that act, and a number
        for all else of it that its programs depend on, where a target implies modifiers."""
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
        """The static names that decide what the variant's code becomes, with the members of groups among them."""
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
    """Compiles one program."""

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
        """The formats that a modifier acts on."""
        return self.instruction.acts_on.get(m.name, self.compiler.spec.formats)

    def run(self, stage: str, code: Code, scope: Scope, labels: dict[str, str] | None = None) -> Scope:
        # Code is resolved for all variants of the instruction: a branch that others take may read their operands.
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
        """Return what the stages behind the body make of a result."""
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
    """The NaN or the infinity of the variant's format; where that has none, a static value that says so."""
    f = variant.home.format
    if f is not None and what == "NaN" and f.nans:
        return Typed(Const(variant.home, f.canonical_nan))
    if f is not None and what == "infinity" and f.has_infinity:
        return Typed(Const(variant.home, f.infinity))
    return Static("missing", f"{f.name if f else variant.home} has no {what}")

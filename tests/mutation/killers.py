"""The project's checks, the cheapest first. Each says what is wrong with a specification, or nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from helpers import recipes, repository
from helpers.machine_code import assembled, kernel
from oracles import ideal_unit, nvidia
from ptxspec.catalog import Requirement
from ptxspec.check.functions import check_functions
from ptxspec.diagnostics import PtxspecError
from ptxspec.model import WITHIN_BOUND, Instead, Spec, Variant
from ptxspec.proving.ptxas.asking import judge
from ptxspec.proving.ptxas.combinations import own_shapes
from ptxspec.proving.ptxas.statements import StatementWriter
from ptxspec.recipes import proof
from ptxspec.semantics.compile import Compiler

from mutation import chosen, constants, results
from mutation.world import World

Killer = Callable[[World], str]
# So many statements are judged by ptxas of a mutant; each of them shows it.
_ASKED = 3


def validate(world: World) -> str:
    return str(world.errors[0]) if world.errors else ""


def figures(world: World) -> str:
    """The manual's figures, noted apart."""
    told = _of_tests("spec.test_manual_figures", world.spec)
    return told


def noted(world: World) -> str:
    """Return what is wrong with facts noted from sources, which neither an assembler nor arithmetic shows."""
    return _of_tests("spec.test_noted_twice", world.spec)


def evidence(world: World) -> str:
    """Return a departure from what verify recorded: which variants the manual describes otherwise, and how many
    variants there are."""
    recorded, spec = repository.specification().evidence, world.spec
    assert recorded is not None
    count = sum(len(i.variants) for i in spec.instructions.values())
    if count != recorded.variants:
        return f"{count} variants, where ptxas judged {recorded.variants}"
    if spec.differences != recorded.differences:
        lines = [e for e in spec.differences if e not in recorded.differences] or [
            e for e in recorded.differences if e not in spec.differences
        ]
        return f"the assembler differs otherwise: {lines[:1]}"
    return ""


def semantics(world: World) -> str:
    """validate, and the judges of results, opcode by opcode."""
    known = repository.checked()
    for instruction in world.computing:
        checked, errors = world.check(instruction)
        if errors:
            return f"validate: {errors[0]}"
        before = known.get(instruction.opcode)
        forms = {v.form: p for v, p in before.programs.items()} if before else {}
        if wrong := results.differing(world.spec, checked.programs, forms):
            return f"results: {wrong}"
        if before and len(checked.programs) != len(before.programs) and not checked.programs:
            return "no variant is left"
    return ""


def functions_and_recipes(world: World) -> str:
    errors = check_functions(world.compiler)
    errors = errors or (world.recipes() if world.computing else [])
    return str(errors[0]) if errors else ""


def deeper(world: World) -> str:
    """Recipes that are written otherwise, on many more operands than validate takes."""
    proof._FEW = proof._FEWER = 400
    said = _of_recipes(world.spec, world.original)
    if said and (before := _of_recipes(world.original, world.spec)):
        raise AssertionError(f"without the mutant: {before}")
    return said


def _of_recipes(spec: Spec, other: Spec) -> str:
    """Return what is wrong with the recipes that another specification does not have."""
    written = {r.ptx for every in other.instead.values() for r in every}
    new = {v: tuple(r for r in every if r.ptx not in written) for v, every in spec.instead.items()}
    new = {v: r for v, r in new.items() if r}
    errors = proof.Prover(replace(spec, instead=new), Compiler(spec)).check()
    return str(errors[0]) if errors else _emulated(spec, new)


def _emulated(spec: Spec, instead: Mapping[Variant, Sequence[Instead]]) -> str:
    """Return an error that recipes make on more operands: a wrong result, or one outside of its bound where their
    statements err as far as they may."""
    for v, every in instead.items():
        for r in every:
            errs = r.differs == WITHIN_BOUND and any(c.variant.claim == "bounded" for c in r.calls)
            for operands in (recipes.special_operands(v, 60_000), recipes.random_operands(v, 20_000)):
                wrong = recipes.wrong(v, r, operands, *recipes.run_both(spec, v, r, operands))
                if wrong := wrong or (recipes.outside(spec, v, operands, *recipes.split(r)) if errs else []):
                    return wrong[0]
    return ""


def hardware(world: World) -> str:
    """Paths with ideal units, where paths or bounds are new."""
    spec = ideal_unit.with_ideal_units(world.spec)
    for i in world.computing:
        before = world.original.instructions.get(i.opcode)
        changed = before is None or (i.hardware, i.accuracy) != (before.hardware, before.accuracy)
        for v in i.variants if changed or world.spec.units != world.original.units else ():
            for p in i.hardware_paths(v) if v.lanes == 1 else ():
                if wrong := ideal_unit.outside(spec, i, v, p):
                    return wrong[0]
    return ""


def assembler(world: World) -> str:
    """ptxas, asked about what is said of it otherwise than before."""
    recorded = world.original.evidence
    assert recorded is not None
    ptxas = nvidia.ptxas(recorded.assembler)
    for statement, target, ptx, taken in _questions(world):
        (messages,) = judge(ptxas, [statement], target, ptx)
        if bool(messages) == taken:
            return f"ptxas on {target}, PTX {ptx}: {statement} {messages[:1] or 'is taken'}"
    return ""


def breaking_down(world: World) -> str:
    """ptxas, given variants of which is newly said, or no longer, that it breaks down where it assembles them."""
    recorded, original = world.original.evidence, world.original
    assert recorded is not None
    for i in world.changed:
        old = original.instructions.get(i.opcode)
        crashed = {v.form: bool(v.crash) for v in old.variants} if old else {}
        for v in [v for v in i.variants if bool(v.crash) != crashed.get(v.form, False)][:_ASKED]:
            for target, ptx in [pair for pair in _pairs(original) if original.catalog.takes(v.requires, *pair)][:1]:
                with TemporaryDirectory(prefix="broken-") as folder:
                    kernels = [kernel("k", original, v)]
                    done = assembled(nvidia.ptxas(recorded.assembler), Path(folder), kernels, target, ptx)
                if ("Internal compiler error" in done.stderr) != bool(v.crash):
                    return f"ptxas on {target}, PTX {ptx}: {v} {done.stderr[:80] or 'is assembled'}"
    return ""


def _questions(world: World) -> Iterator[tuple[str, str, str, bool]]:
    """Statements of which the two say otherwise whether they are taken, with what the mutant says."""
    spec, original, asked = world.spec, world.original, 0
    writers = StatementWriter(spec.assembler.registers), StatementWriter(original.assembler.registers)
    for i in world.changed:
        old = original.instructions.get(i.opcode)
        both: list[dict[Any, Requirement | None]] = []
        for one, writer in zip((i, old), writers, strict=True):
            found: dict[Any, Requirement | None] = {}
            for v in (*one.variants, *one.refused) if one else ():
                for statement in _statements(writer, v):
                    found[statement] = None if one and v in one.refused else v.requires
            both.append(found)
        new, before = both
        for statement in {**new, **before}:
            a, b = new.get(statement), before.get(statement)
            if a == b:
                continue
            for target, ptx in _pairs(original):
                one, other = (r is not None and original.catalog.takes(r, target, ptx) for r in (a, b))
                if one != other:
                    yield statement, target, ptx, one
                    asked += 1
                    break
            if asked == _ASKED:
                return


def _pairs(spec: Spec) -> list[tuple[str, str]]:
    """The newest pairs first, which most variants have."""
    return [(t, p) for t in reversed(spec.targets) for p in reversed(spec.versions) if spec.catalog.knows(t, p)]


def _statements(writer: StatementWriter, v: Variant) -> list[str]:
    try:
        return [f"{v.spelling} {shape.written};" for shape in own_shapes(writer, v)]
    except PtxspecError:
        return []


def _of_tests(module: str, spec: Spec) -> str:
    """Return what the tests of a module say of another specification than the repository's. Each mutant has a process
    of its own, so that the module may be changed."""
    tests = importlib.import_module(module)
    if hasattr(tests, "SPEC"):
        tests.SPEC = spec  # type: ignore[attr-defined]
    for name, test in vars(tests).items():
        if not name.startswith("test_"):
            continue
        marks = getattr(test, "pytestmark", ())
        if any(m.name != "parametrize" for m in marks) or len(marks) > 1 or test.__code__.co_argcount != len(marks):
            continue
        for values in marks[0].args[1] if marks else [None]:
            try:
                test(values) if marks else test()
            except AssertionError as e:
                return f"{module}.{name}: {str(e)[:200]}"
    return ""


def other_choice(world: World) -> str:
    """Return the table of our own choices that a mutant changes: such a mutant is no error that a check could see."""
    return chosen.differing(world.spec, world.original)


KILLERS: dict[str, Killer] = {
    "validate": validate,
    "figures": figures,
    "evidence": evidence,
    "semantics": semantics,
    "recipes": functions_and_recipes,
    "hardware": hardware,
    "folding": constants.folding,
    "noted twice": noted,
    "assembler": assembler,
    "breaking down": breaking_down,
    "recipes, on more operands": deeper,
    "another choice": other_choice,
}

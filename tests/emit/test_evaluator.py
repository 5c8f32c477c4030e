"""The manual's evaluator: JavaScript that computes what the emulator and the exact back end do, and tells it alike."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.declared_formats import FORMATS, USUAL
from helpers.node import Evaluator, named
from helpers.repository import checked, every_program, specification
from helpers.sizes import each_size, spread
from helpers.unit_models import models, operands_of
from ptxspec.emit.products.evaluator import semantics_lines
from ptxspec.emit.programs import TOO_LARGE, Programs
from ptxspec.model import BOOL, ROUNDINGS, Differences, Format, Interpolator, UnitModel, Variant, float_in
from ptxspec.proving.gpu import vectors
from ptxspec.proving.gpu.registers import to_registers
from ptxspec.proving.gpu.special import special
from ptxspec.roots import Root
from ptxspec.semantics.exact import elementary, evaluate as exact, unit
from ptxspec.semantics.exact.lanes import lanes_of
from ptxspec.semantics.functions import TABLE
from ptxspec.semantics.program import Apply, Program, Var
from ptxspec.tracing import text
from ptxspec.tracing.lines import RoundingModifiers, SpecificationLines, TraceLine, lines

pytestmark = pytest.mark.inputs("manual", "emulator")

MANUAL = ROOT / "generated/manual"
# Pages have the numbers of lines in the file of their opcode alone.
OWN, SHARED = "spec/instructions/", r"(spec/\w+\.yaml):\d+"
SOURCE = SpecificationLines(Root(ROOT))
Array = np.ndarray[Any, np.dtype[np.uint64]]


def test_it_implements_the_table(evaluator: Evaluator) -> None:
    assert set(evaluator("functions")) == {name for name, f in TABLE.items() if not f.is_static}


@each_size
def test_a_page_knows_the_variants_of_its_opcode(evaluator: Evaluator, whole: bool) -> None:
    spec = specification()
    for c in checked().values() if whole else spread(list(checked().values()), 8):
        found = {(v["spelling"], v["operands"]): v for v in evaluator("variants", opcode=c.instruction.opcode)}
        assert found.keys() == {v.key for v in c.instruction.variants}
        for v in c.instruction.variants:
            told = found[v.key]
            for what, operands in (("sources", v.sources), ("results", v.results)):
                assert [(o["name"], o["type"]) for o in told[what]] == [
                    (p, o.type.name) for o in operands for p in o.places
                ]
            assert told["claim"] == v.claim
            assert told["targets"] == [t for t in spec.targets if spec.catalog.takes(v.requires, t)], v
            assert told["differing"] == [t for t in c.programs[v] if t], v


# Results


def rows_of(v: Variant, most: int, random_ones: int, rng: np.random.Generator) -> list[Array]:
    """A column for each source register: special values in all combinations, or so many of these; then any bits, and
    operands that meet, tie and cancel."""
    s = vectors.signature(v)
    size = prod(map(len, s.values))
    found = [vectors.operands_of(s, "grid", 0, size) if size <= most else some_special(s, most, rng)]
    for stream in ("uniform", "near") if s.near else ("uniform",):
        found.append(vectors.operands_of(s, stream, int(rng.integers(1 << 24)), random_ones))
    return [np.concatenate(columns).astype(np.uint64) for columns in zip(*found, strict=True)]


def some_special(s: vectors.VectorSignature, count: int, rng: np.random.Generator) -> tuple[Array, ...]:
    lanes = [rng.choice(np.array(values, np.uint64), (count, s.lanes)) for values in s.values]
    return tuple(r for (t, own), x in zip(s.sources, lanes, strict=True) for r in to_registers(t, own, x))


def emulated(v: Variant, target: str | None, columns: Sequence[Array]) -> list[Array]:
    types = [s.type for s in v.sources for _ in s.places]
    arrays = [x.astype(bool if t.kind == BOOL else f"u{t.width // 8}") for t, x in zip(types, columns, strict=True)]
    found = ptxemu.compile(v.spelling, v.operands, target)(*arrays, results=len(v.results))
    results = found if isinstance(found, tuple) else (found,)
    return [(x if x.dtype == bool else x.view(f"u{x.dtype.itemsize}")).astype(np.uint64) for x in results]


@each_size
def test_results_are_the_emulators(evaluator: Evaluator, whole: bool) -> None:
    rng = np.random.default_rng(16)
    compared = 0
    for v, target, _ in every_program(None if whole else 120):
        columns = rows_of(v, 150 if whole else 4, 10 if whole else 2, rng)
        packed = [base64.b64encode(x.astype("<u8").tobytes()).decode() for x in columns]
        got = evaluator("results", **named(v), target=target, columns=packed)
        for register, want in zip(got, emulated(v, target, columns), strict=True):
            wrong = np.flatnonzero(np.frombuffer(base64.b64decode(register), "<u8") != want)
            assert not wrong.size, (v, target, [hex(int(x[wrong[0]])) for x in columns])
        compared += len(columns[0])
    assert compared > (500_000 if whole else 700)


# Steps


@each_size
def test_steps_are_those_of_eval_with_all_that_is_told_of_them(evaluator: Evaluator, whole: bool) -> None:
    spec, rng = specification(), np.random.default_rng(61)
    for v, target, program in every_program(None if whole else 60):
        columns = rows_of(v, 1, 1, rng)
        rows = [[hex(x) for x in row] for row in zip(*(c.tolist() for c in columns), strict=True)]
        acting = spec.effective_modifiers(v, target)
        rules = RoundingModifiers.of(m for name, m in spec.modifiers.items() if name in acting)
        for row, found in zip(rows, evaluator("steps", **named(v), target=target, rows=rows), strict=True):
            registers = (int(x, 16) for x in row)
            operands = [lanes_of(s, [next(registers) for _ in s.places], v.lanes) for s in v.sources]
            assert found["claim"] == spec.claim(v, target)
            assert found["hazard"] == spec.catalog.hazard_text(v, target)
            assert found["implied"] == [m for m in spec.modifiers if m in acting and m not in v.modifiers]
            for lane in range(v.lanes):
                _, steps = exact.trace(program, [x[lane] for x in operands])
                wanted = list(lines(SOURCE, lane, program, steps))
                got = [s for s in found["steps"] if s["lane"] == lane]
                assert [as_json(line) for line in wanted] == [{k: s[k] for k in as_json(wanted[0])} for s in got]
                for everything in (False, True):
                    assert without_approximations(told_by_eval(wanted, rules, everything), wanted) == (
                        without_approximations(told_by_evaluator(got, everything), wanted)
                    ), (v, target, row)


def as_json(line: TraceLine) -> dict[str, Any]:
    before = None if line.before is None else hex(line.before)
    return {
        "stage": line.stage, "path": line.path, "line": line.line if OWN in line.path else 0, "text": line.text,
        "label": line.name,
        "before": before, "after": hex(line.after), "hasEffect": line.has_effect,
    }  # fmt: skip


def told_by_eval(found: Sequence[TraceLine], rules: RoundingModifiers, everything: bool) -> list[str]:
    """The lines of `eval --trace` on a terminal of any width, without the last one, which says how many more there
    are."""
    told = [re.sub(SHARED, r"\1", line) for line in text.blocks(found, rules, 100_000, everything, [])]
    more = not everything and any(not line.has_effect for line in found)
    return told[:-2] if more else told


def told_by_evaluator(steps: Sequence[dict[str, Any]], everything: bool) -> list[str]:
    found: list[str] = []
    for s in steps:
        if everything or s["hasEffect"]:
            rows = s["whole" if everything else "told"]
            width = max(len(r["key"]) for r in rows)
            found += ["", f"  {s['stage']}  {s['place']}  {s['text']}"]
            found += [f"    {r['key']:{width}}  {'  '.join(filter(None, (r['place'], r['text'])))}" for r in rows]
    return found


def without_approximations(told: list[str], found: Sequence[TraceLine]) -> list[str]:
    """Elementary functions are approximated as far as their rounding needs: the digits behind that are anybody's."""
    functions = {e.account.function for line in found for e in line.why if hasattr(e.account, "function")}
    if functions.isdisjoint(elementary.FUNCTIONS):
        return told
    return [line for line in told if not (line.startswith("    exact") and "..." in line)]


# Formats and units that no specification has


def applied(evaluator: Evaluator, terms: Sequence[Apply], rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the results of each term on rows of operands, which are its variables in the order of their names."""
    programs = Programs(semantics_lines(specification()))
    places = [programs.term(t) for t in terms]
    data = {**programs.data(), "modifiers": {}, "signatures": [], "families": [], "targets": [], "groups": {}}
    found = evaluator("apply", data=data, terms=places, rows=[[hex(x) for x in row] for row in rows])
    return [[int(x, 16) for x in column] for column in found]


@pytest.mark.parametrize("f", [*FORMATS, *USUAL], ids=lambda f: f.name)
def test_formats_are_what_they_are_declared_to_be(evaluator: Evaluator, f: Format) -> None:
    rng = random.Random(f.name)
    f64 = USUAL[-1]
    x, y, z, wide = (Var(float_in(g), name) for g, name in ((f, "x"), (f, "y"), (f, "z"), (f64, "w")))
    kind = float_in(f)
    terms = [
        Apply(kind, function, tuple(operands), f, mode, ftz)
        for mode in ROUNDINGS
        for ftz in (False, True)
        for function, *operands in (
            ("addition", x, y), ("multiplication", x, y), ("division", x, y), ("fusedMultiplyAdd", x, y, z),
            ("squareRoot", x), ("convert", wide), ("addition", wide, x),
        )
    ]  # fmt: skip
    terms += [Apply(kind, name, (x, y), f) for name in ("maximum", "minimum", "maximumNumber", "minimumNumber")]
    terms += [Apply(BOOL, name, (x,), f) for name in ("isNormal", "isFinite", "isZero", "isSubnormal", "isNaN")]
    terms += [Apply(BOOL, name, (x, y), f) for name in ("compareEqual", "compareLess", "compareGreaterEqual")]
    rows = [
        (*(rng.choice(special(k, 2)) if rng.random() < 0.5 else rng.getrandbits(k.width) for k in (kind,) * 3), w)
        for w in (near(f, rng) for _ in range(25))
    ]
    for t, got in zip(terms, applied(evaluator, terms, rows), strict=True):
        want = [exact.evaluate(t, dict(zip("xyzw", row, strict=True))) for row in rows]
        assert got == want, (t.function, t.mode, t.ftz)


def near(f: Format, rng: random.Random) -> int:
    """A number of f64 around what a format has."""
    exponent = rng.randint(max(1, f.emin - f.precision - 3 + 1023), min(2046, f.emax + 3 + 1023))
    fraction = rng.getrandbits(52) & -1 << rng.randrange(53)
    return rng.getrandbits(1) << 63 | exponent << 52 | fraction & (1 << 52) - 1


@each_size
def test_elementary_functions_round_correctly_in_every_direction(evaluator: Evaluator, whole: bool) -> None:
    rng = random.Random(8)
    for f in USUAL:
        kind = float_in(f)
        x = Var(kind, "x")
        terms = [
            Apply(kind, name, (x,), f, mode, ftz)
            for name in elementary.FUNCTIONS
            for mode, ftz in zip(ROUNDINGS, (False, True, False, True, False), strict=True)
        ]
        count = 60 if whole else 3
        operands = rng.sample(special(kind, 1), min(count, len(special(kind, 1))))
        operands += [rng.getrandbits(f.width) for _ in range(count)]
        # Neither far too large nor far too small for most of the functions.
        operands += [
            rng.getrandbits(f.fraction_bits) | (f.bias + rng.randint(-8, 6)) << f.fraction_bits for _ in range(count)
        ]
        for t, got in zip(terms, applied(evaluator, terms, [[x] for x in operands]), strict=True):
            assert got == [exact.evaluate(t, {"x": x}) for x in operands], (t.function, f.name, t.mode)


INTERPOLATORS = {n: m for n, m in models(specification()).items() if isinstance(m.core, Interpolator)}


@pytest.mark.parametrize("name", INTERPOLATORS)
def test_units_of_every_kind_are_those_of_the_exact_back_end(evaluator: Evaluator, name: str) -> None:
    model: UnitModel = INTERPOLATORS[name]
    kind = float_in(model.format)
    operands = operands_of(model.format)[:: 1 if "sum" in name else 3].tolist()
    (got,) = applied(
        evaluator, [Apply(kind, "unit", (Var(kind, "x"),), model.format, model=model)], [[x] for x in operands]
    )
    assert got == [unit.evaluate(model, x, exact._rounded) for x in operands]


def test_the_scripts_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in MANUAL.glob("*.js")}
    assert sizes.keys() >= {f"{opcode}.programs.js" for opcode in checked()}
    assert max(sizes.values()) < 300_000 and sum(sizes.values()) < 1_500_000


@pytest.mark.exhaustive
def test_what_is_too_large_for_a_page_is_said_to_be(evaluator: Evaluator) -> None:
    kind = float_in(USUAL[0])
    table = next(
        m for m in models(specification()).values() if isinstance(m.core, Differences) and m.format.width == 16
    )
    x = Var(kind, "x")
    programs = Programs(semantics_lines(specification()))
    looked_up = Program((x,), (), (Apply(kind, "unit", (x,), kind.format, model=table),))
    assert programs.program(looked_up) == TOO_LARGE
    places = [programs.program(Program((x,), (), (x,))), TOO_LARGE]
    programs.type(specification().types["f16"])
    operand = {"name": "x", "type": "f16"}
    family = {"texts": [".f16"], "signature": 0, "claim": "exact", "targets": "0x3", "programs": places[:1]}
    page = {
        **programs.data(), "opcode": "look", "modifiers": {}, "groups": {}, "targets": ["sm_1", "sm_2", "sm_3"],
        "signatures": [{"lanes": 1, "results": [operand], "sources": [operand]}],
        "families": [{**family, "on": [["0x2", places[1:]]]}],
    }  # fmt: skip
    found = [evaluator("page", data=page, spelling="look.f16", bits="3c00", target=t) for t in (None, *page["targets"])]
    assert [x.get("error") for x in found] == [
        None,
        None,
        "the computation on sm_2 is too large for this page; run ptxspec eval --target sm_2",
        "sm_3 does not support look.f16",
    ]
    assert found[0]["results"] == found[1]["results"] == [{"name": "x", "type": "f16", "bits": "0x3c00"}]

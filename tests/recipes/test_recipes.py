"""Recipes: wherever a variant is missing there is one or a reason, and whoever pastes it gets what the variant does."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.recipes import (
    bits,
    every_recipe,
    itself,
    outside,
    random_operands,
    run_both,
    special_operands,
    split,
    wrong,
)
from helpers.sizes import each_size, spread
from oracles import host_code
from ptxspec import Database
from ptxspec.evaluate import evaluate
from ptxspec.model import NAN_BITS, NOTHING_DIFFERS, WITHIN_BOUND, Instead, Spec, Variant
from ptxspec.proving.ptxas import verify
from ptxspec.proving.ptxas.asking import judge
from ptxspec.query.inline import as_function, inline_assembly
from ptxspec.recipes.inline import asm_operands
from ptxspec.recipes.linking import declared, width_of
from ptxspec.recipes.operands import specials
from ptxspec.roots import Root

pytestmark = pytest.mark.inputs("emulator", "requirements", "specification", "codegen/ptxspec/recipes")

OPCODES = (
    "abs", "add", "copysign", "cos", "cvt", "div", "ex2", "fma", "lg2", "mad", "max", "min", "mul", "neg", "rcp",
    "rsqrt", "set", "setp", "sin", "sqrt", "sub", "tanh", "testp",
)  # fmt: skip
# The oldest target that ptxas 13.5 assembles for.
OLDEST = "sm_75"


def pasted(registers: str, recipe: str) -> str:
    """A recipe in one line behind the declarations of its operands."""
    text = " ".join(recipe.split())
    body = text[1:-1].strip() if text.startswith("{") else text
    return f"{{ {registers} {body} }}"


def targets(spec: Spec) -> list[str]:
    return [t.name for t in spec.targets.values() if t.order >= spec.targets[OLDEST].order]


def test_where_a_variant_is_missing_there_is_a_recipe_or_a_reason(spec: Spec) -> None:
    catalog = spec.catalog
    pairs = [(t, p) for t in targets(spec) for p in spec.versions if catalog.knows(t, p)]
    # Thousands of variants need the same.
    found: dict[Any, Variant] = {}
    for opcode in OPCODES:
        instruction = spec.instructions[opcode]
        for v in instruction.variants:
            offered = frozenset(x.requires for x in spec.instead.get(v, ()))
            reason = any(r.none and r.selector.matches(v) for r in instruction.recipes)
            found.setdefault((v.requires, offered, reason), v)
    silent = [
        (str(v), pair)
        for (needs, offered, reason), v in found.items()
        for pair in pairs
        if not (reason or catalog.takes(needs, *pair) or any(catalog.takes(r, *pair) for r in offered))
    ]
    assert not silent


def test_recipes_are_of_what_may_be_advised(spec: Spec) -> None:
    for v, instead in every_recipe(spec):
        for call in instead.calls:
            assert spec.instructions[call.variant.opcode].is_advisable(call.variant), (str(v), call.text)
        assert instead.differs != WITHIN_BOUND or v.claim == "bounded"


@pytest.mark.exhaustive
def test_ptxas_takes_every_recipe_from_its_floor_on(spec: Spec, ptxas: Path) -> None:
    wrong, count = verify.recipes(spec, ptxas)
    assert not wrong and count > 250


# The types of registers by their bits.
REGISTERS = {
    0: ("pred",), 8: ("b8", "s8", "u8"), 16: ("b16", "s16", "u16", "f16"), 32: ("b32", "s32", "u32", "f32", "f16x2"),
    64: ("b64", "s64", "u64", "f64"),
}  # fmt: skip


def other_registers(v: Variant) -> Iterator[str]:
    """Declarations of a variant's operands: each of them with each type of as many bits, beside others of bits."""
    operands = [(o, place) for o in (*v.results[:1], *v.sources) for place in o.places]
    for at, (operand, _) in enumerate(operands):
        for name in REGISTERS[width_of(operand)]:
            yield " ".join(f".reg .{name if i == at else declared(o)} %{p};" for i, (o, p) in enumerate(operands))


@pytest.mark.exhaustive
def test_a_recipe_takes_the_registers_that_its_variant_takes(spec: Spec, ptxas: Path) -> None:
    """A recipe takes a .f32 register for an operand wherever ptxas takes one for that operand of the variant."""
    pairs = [(t, p) for t in targets(spec) for p in spec.versions if spec.catalog.knows(t, p)]
    variants: dict[tuple[str, str], dict[str, list[tuple[str, Instead]]]] = {}
    for v, instead in every_recipe(spec):
        here = [pair for pair in pairs if spec.catalog.takes(v.requires, *pair)]
        for registers in other_registers(v) if here else ():
            asked = variants.setdefault(here[-1], {}).setdefault(f"{{ {registers} {itself(v)} }}", [])
            asked.append((registers, instead))
    recipes: dict[tuple[str, str], set[str]] = {}
    for pair, blocks in variants.items():
        for said, offered in zip(judge(ptxas, list(blocks), *pair), blocks.values(), strict=True):
            for registers, instead in [] if said else offered:
                lowest = next(p for p in pairs if spec.catalog.takes(instead.requires, *p))
                recipes.setdefault(lowest, set()).add(pasted(registers, instead.ptx))
    wrong = [
        (block, pair, *said)
        for pair, blocks in recipes.items()
        for block, said in zip(sorted(blocks), judge(ptxas, sorted(blocks), *pair), strict=True)
        if said
    ]
    assert not wrong
    assert sum(map(len, recipes.values())) > 1_000


# What they compute


@pytest.mark.sampled(0)
@each_size
def test_a_recipe_makes_what_its_variant_makes(spec: Spec, whole: bool) -> None:
    """Of every combination of special values, or of so many, and of random operands."""
    found, every = [], every_recipe(spec)
    for v, instead in every if whole else spread(every, 50):
        for operands in (special_operands(v, 20_000 if whole else 300), random_operands(v, 30_000 if whole else 300)):
            found += wrong(v, instead, operands, *run_both(spec, v, instead, operands))
    assert not found


def narrow(spec: Spec) -> Iterator[tuple[Variant, Instead]]:
    """The recipes for at most two operands of 16 bits, those that are the same but for names once."""
    seen = set()
    for v, instead in every_recipe(spec):
        registers = [s.type.width for s in v.sources for _ in s.places]
        key = instead.ptx, v.type_names
        if max(registers) == 16 and len(registers) <= 2 and key not in seen:
            seen.add(key)
            yield v, instead


@pytest.mark.exhaustive
def test_recipes_of_16_bits_are_right_for_all_operands(spec: Spec) -> None:
    """Of two, all of the first with special values and every so many of the second: PTXSPEC_ALL_PAIRS=1 takes all, an
    hour of computing."""
    values = np.arange(1 << 16, dtype=np.uint16)
    for v, instead in narrow(spec):
        if v.operands == 1:
            assert not wrong(v, instead, [values], *run_both(spec, v, instead, [values]))
            continue
        others = (
            values if os.environ.get("PTXSPEC_ALL_PAIRS") else np.union1d(specials(v.sources[1].kind), values[::2003])
        )
        for part in np.array_split(others.astype(np.uint16), -(-others.size // 64)):
            operands = [np.tile(values, part.size), np.repeat(part, values.size)]
            assert not wrong(v, instead, operands, *run_both(spec, v, instead, operands))


@each_size
def test_a_recipe_stays_inside_of_the_bound_however_much_its_statements_err(spec: Spec, whole: bool) -> None:
    """Each approximate statement is rounded correctly, or errs as far as its own bound lets it, up and down: on every
    operand of 16 bits, and in each of several lanes."""
    judged = 0
    for v, instead in every_recipe(spec):
        if instead.differs == WITHIN_BOUND:
            one = [np.arange(0, 1 << 16, 1 if whole else 7, dtype=np.uint16)]
            several = special_operands(v, 60_000), random_operands(v, 10**5 if whole else 300)
            for operands in (one,) if v.sources[0].type.width == 16 else several:
                assert not outside(spec, v, operands, *split(instead)), str(v)
            judged += 1
    assert judged >= 8


def test_an_error_outside_of_the_bound_is_seen(spec: Spec) -> None:
    v, approximate = (by_spelling(spec, s) for s in ("tanh.approx.f16", "tanh.approx.f32"))
    values = np.arange(0, 1 << 16, 7, dtype=np.uint16)
    before, after = ptxemu.function("cvt.f32.f16 x, a;"), ptxemu.function("cvt.rn.f16.f32 d, t;")
    assert outside(spec, v, [values], before, {"t": approximate}, after)


@pytest.mark.parametrize("to", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
def test_numbers_of_eight_bits_and_less_are_those_of_nvidias_headers(spec: Spec, to: str) -> None:
    """NVIDIA's host code is the judge of what the recipe makes, and nothing of the specification."""
    v = by_spelling(spec, f"cvt.rn.satfinite.{to}x2.f32")
    (instead,) = spec.instead[v]
    high, low = random_operands(v, 20_000)
    pair = ptxemu.function(instead.ptx, results=["d"])(a1=high, a0=low)
    width = v.result.type.lane_width
    wanted = [host_code.to_narrow(to, "f32", "rn", True, x).astype(np.uint32) for x in (high, low)]
    assert (pair.astype(np.uint32) == wanted[0] << width | wanted[1]).all()


@pytest.mark.parametrize("source", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
def test_numbers_of_eight_bits_and_less_are_read_as_nvidias_headers_read_them(spec: Spec, source: str) -> None:
    v = by_spelling(spec, f"cvt.rn.f16x2.{source}x2")
    (instead,) = spec.instead[v]
    width = v.sources[0].type.lane_width
    lanes = np.arange(1 << v.sources[0].type.kind.width, dtype=np.uint16)
    made = ptxemu.function(instead.ptx, results=["d"])(a=(lanes << width | lanes).astype(f"u{2 * width // 8}"))
    wanted = host_code.from_narrow(source, "f16", lanes).astype(np.uint32)
    numbers = (wanted & 0x7FFF) <= 0x7C00
    assert ((made & 0xFFFF == wanted) & (made >> 16 == wanted))[numbers].all() and numbers.sum() > len(lanes) * 3 // 4
    assert ((made & 0x7FFF) > 0x7C00)[~numbers].all()


def by_spelling(spec: Spec, spelling: str) -> Variant:
    return next(v for v in spec.instructions[spelling.partition(".")[0]].variants if v.spelling == spelling)


# Following advice


@each_size
def test_whoever_follows_advice_blindly_gets_what_the_variant_does(
    spec: Spec, db: Database, ptxas: Path, whole: bool
) -> None:
    """Of random variants, targets and PTX versions: what query says to write there assembles there, and computes it."""
    r = random.Random(15)
    variants = {v.key: v for opcode in OPCODES for v in spec.instructions[opcode].variants if v in spec.instead}
    followed = 0
    blocks: dict[tuple[str, str], list[str]] = {}
    while followed < (1_000 if whole else 20):
        v, target = r.choice(list(variants.values())), r.choice(targets(spec))
        ptx = r.choice([p for p in spec.versions if spec.catalog.knows(target, p)])
        verdict = db.query(v.spelling, v.operands, target, ptx)
        answers = verdict.as_json(db)["instead"]
        assert verdict.available or answers or verdict.no_recipe, (str(v), target, ptx)
        if verdict.available:
            assert not answers
            continue
        for answer in answers:
            operands = [f".reg .{declared(o)} %{p};" for o in (v.result, *v.sources) for p in o.places]
            blocks.setdefault((target, ptx), []).append(pasted(" ".join(operands), answer["ptx"]))
            (instead,) = [x for x in spec.instead[v] if x.ptx == answer["ptx"]]
            assert (answer["differs"] or NOTHING_DIFFERS) == instead.differs
            chosen = random_operands(v, 50)
            assert not wrong(v, instead, chosen, *run_both(spec, v, instead, chosen))
        followed += bool(answers)
    for pair, some in blocks.items():
        assert not any(judge(ptxas, some, *pair)), pair


@each_size
def test_eval_prints_what_the_recipe_makes(spec: Spec, whole: bool) -> None:
    """On the newest target that has the variant, and without a target where the recipe promises nothing else."""
    promised = 0
    # Each is evaluated as in a process of its own, which reads the opcode's file.
    for v, instead in spread(every_recipe(spec), 200 if whole else 4):
        newest = [t for t in spec.targets if spec.catalog.takes(v.requires, t)][-1]
        if not spec.catalog.takes(instead.requires, newest):
            continue
        for operands in ([x[:1] for x in random_operands(v, 1)], [x[2:3] for x in special_operands(v, 300)]):
            texts = [str(bool(x[0])).lower() if x.dtype == bool else f"0x{x[0]:0{2 * x.itemsize}x}" for x in operands]
            named = dict(zip((p for s in v.sources for p in s.places), operands, strict=True))
            for target in (newest, None):
                if target is None and instead.recipe and instead.recipe.since:
                    continue
                printed = evaluate(Root(ROOT), v.spelling, texts, target).results
                made = bits(ptxemu.function(instead.ptx, target, results=v.result.places)(**named))
                wanted = np.array([sum(x << i for i, x in enumerate(printed[: len(v.result.places)]))], made.dtype)
                assert not wrong(v, instead, operands, made, wanted), target
                promised += 1
    assert promised > (30 if whole else 4)


def test_what_does_not_work_there_is_told_apart(db: Database) -> None:
    verdict = db.query("add.bf16", target="sm_75").as_json(db)
    assert [i["from"]["target"] for i in verdict["instead"]] == ["sm_75"]
    assert [i["from"] for i in verdict["instead_elsewhere"]] == [{"target": "sm_80", "ptx": "7.0", "cuda": "11.0"}]
    verdict = db.query("tanh.approx.bf16", target="sm_75", ptx="6.4").as_json(db)
    assert not verdict["instead"] and len(verdict["instead_elsewhere"]) == 2 and verdict["no_recipe"]


@pytest.mark.parametrize(
    ("spelling", "target", "statements"),
    [
        ("add.bf16", "sm_80", ["mov.b16 %_t, 0x3f80;", "fma.rn.bf16 %d, %a, %_t, %b;"]),
        ("sub.rn.bf16", "sm_80", ["mov.b16 %_t, 0xbf80;", "fma.rn.bf16 %d, %b, %_t, %a;"]),
        ("mul.bf16x2", "sm_80", ["mov.b32 %_t, 0x80008000;", "fma.rn.bf16x2 %d, %a, %b, %_t;"]),
        ("neg.bf16", "sm_75", ["xor.b16 %d, %a, 0x8000;"]),
        ("max.ftz.f32", "sm_90", ["max.ftz.f32 %_t, %a, %b;", "max.ftz.f32 %d, %_t, %c;"]),
        ("sin.f32", "sm_90", ["sin.approx.ftz.f32 %d, %a;"]),
    ],
)
def test_the_best_recipe_stands_first(db: Database, spelling: str, target: str, statements: list[str]) -> None:
    verdict = db.query(spelling, 3 if spelling == "max.ftz.f32" else None, target=target)
    lines = [line.strip() for line in verdict.instead[0].ptx.splitlines()]
    assert [line for line in lines if line not in "{}" and not line.startswith(".reg")] == statements


def test_eight_bits_are_an_operand_of_sixteen_in_cuda(db: Database) -> None:
    for spelling, operands in (
        ("cvt.rn.f16x2.e2m1x2", ': "=r"(d) : "h"(a));'),
        ("cvt.rn.satfinite.e2m1x2.f32", ': "=h"(d) : "f"(a1), "f"(a0));'),
    ):
        assert db.query(spelling, target="sm_90").instead[0].cuda.endswith(operands)


def test_nan_bits_is_said_where_they_differ(spec: Spec) -> None:
    """A recipe that says that NaNs may differ has some that do."""
    for v, instead in every_recipe(spec):
        if instead.differs == NAN_BITS:
            operands = special_operands(v, 2_000)
            found, wanted = run_both(spec, v, instead, operands)
            assert (found != wanted).any(), str(v)


def test_a_long_recipe_is_a_function_in_cuda(db: Database) -> None:
    [best] = db.query("cvt.rn.satfinite.e2m1x2.f32", target="sm_90").instead
    first, *_, last = best.function.splitlines()
    assert first == "__device__ inline unsigned short cvt_rn_satfinite_e2m1x2_f32(float a1, float a0) {"
    assert "\n".join(f"    {line}" for line in best.cuda.splitlines()) in best.function
    assert last == "}"
    assert not db.query("add.bf16", target="sm_80").instead[0].function


@pytest.mark.exhaustive
def test_nvcc_takes_every_recipe_as_inline_assembly(spec: Spec, nvcc: Path, tmp_path: Path) -> None:
    functions: dict[str, str] = {}
    for v, instead in every_recipe(spec):
        operands = asm_operands(v, instead)
        asm = inline_assembly(instead.ptx, operands)
        if asm and spec.catalog.takes(instead.requires, "sm_80", spec.catalog.newest_version):
            # nvcc would leave out an inline function that nobody calls.
            functions[asm] = as_function("NAME", asm, operands).replace("inline ", "")
    text = "\n".join(f.replace("NAME", f"f{i}") for i, f in enumerate(functions.values()))
    (tmp_path / "all.cu").write_text(text)
    command = [str(nvcc), "-arch=sm_80", "-dc", "-o", str(tmp_path / "all.o"), str(tmp_path / "all.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert len(functions) > 200

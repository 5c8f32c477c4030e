"""Rewritten programs compute what the programs of the specification do, and combined functions what their parts do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import pytest
from helpers.grids import special
from helpers.repository import checked, specification
from helpers.sizes import each_size, spread
from ptxspec.emit.lowering import applications
from ptxspec.model import BOOL, ROUNDINGS, Format, Kind, Variant, bits_of, float_in
from ptxspec.rewrite.comparing import EQUAL, GREATER, LESS, UNORDERED
from ptxspec.rewrite.rewriting import OF_ARRAYS, for_arrays, for_lanes
from ptxspec.semantics.exact.evaluate import evaluate, run
from ptxspec.semantics.functions import COMBINED
from ptxspec.semantics.program import Apply, Const, Program, Term

pytestmark = pytest.mark.inputs("codegen/ptxspec/rewrite", "codegen/ptxspec/semantics", "specification")

HALF = specification().formats["f16"]
SINGLE = specification().formats["f32"]
assert isinstance(HALF, Format) and isinstance(SINGLE, Format)
NUMBERS = special(HALF.exponent_bits, HALF.fraction_bits).tolist()


def apply(name: str, *arguments: Term, format: Format | None = HALF, kind: Kind | None = None) -> Apply:
    return Apply(kind or arguments[0].kind, name, arguments, format)


def numbers(*values: int, format: Format = HALF) -> list[Const]:
    return [Const(float_in(format), x) for x in values]


def value(term: Term) -> int:
    return evaluate(term, {})


def condition(name: str, *arguments: Term) -> Apply:
    return apply(name, *arguments, kind=BOOL)


def test_a_subnormal_number_is_flushed_to_a_zero_of_its_sign() -> None:
    for x in numbers(*NUMBERS):
        zero = apply("copySign", *numbers(0), x)
        assert value(apply("flushed", x)) == value(apply("select", condition("isSubnormal", x), zero, x))
        negated = apply("negate", x)
        for daz in (apply("negate", apply("flushed", x)), apply("flushed", negated)):
            assert value(daz) == value(Apply(**{**vars(negated), "daz": True}))


def test_the_first_nan_is_propagated() -> None:
    nan, (payload, other) = HALF.canonical_nan, (HALF.first_nan + 5, HALF.sign_bit | HALF.canonical_nan)
    for (x, y), wanted in {
        (payload, 0): payload | HALF.quiet_bit, (0, other): other, (payload, other): payload | HALF.quiet_bit,
        (0, 0): nan,
    }.items():  # fmt: skip
        assert value(apply("propagate", *numbers(nan, x, y))) == wanted
        assert value(apply("propagate", *numbers(1, x, y))) == 1
    one = HALF.bias << HALF.fraction_bits
    added = Apply(float_in(HALF), "addition", tuple(numbers(payload, one)), HALF, ROUNDINGS[0], passes_nans=True)
    assert value(added) == payload | HALF.quiet_bit


def test_a_pattern_replaces_a_number() -> None:
    assert [value(apply("replace", *numbers(1), Const(BOOL, c), Const(bits_of(16), 7))) for c in (0, 1)] == [1, 7]


def relations(x: Const, y: Const) -> int:
    """The relations that hold between two operands, asked one by one."""
    return sum(
        bool(value(apply("compare", x, y, Const(bits_of(4), bit), kind=BOOL))) * bit
        for bit in (LESS, EQUAL, GREATER, UNORDERED)
    )


def test_two_numbers_are_in_one_relation() -> None:
    for x, y in zip(numbers(*NUMBERS), numbers(*reversed(NUMBERS)), strict=True):
        less, equal, greater = (value(condition(f"compare{name}", x, y)) for name in ("Less", "Equal", "Greater"))
        assert relations(x, y) == (less * LESS + equal * EQUAL + greater * GREATER or UNORDERED)


def test_two_integers_are_in_one_relation() -> None:
    kind = specification().types["s16"].kind
    assert kind.fixed
    assert [relations(Const(kind, x), Const(kind, y)) for x, y in ((0xFFFF, 0), (5, 5), (1, 0xFFFF))] == [
        LESS,
        EQUAL,
        GREATER,
    ]


def test_predicates_are_combined_by_a_numbered_operator() -> None:
    for operator, name in enumerate(("logicalAnd", "logicalOr", "logicalXor")):
        for p, c in ((0, 0), (0, 1), (1, 0), (1, 1)):
            two = Const(BOOL, p), Const(BOOL, c)
            combined = apply("combine", *two, Const(bits_of(2), operator), kind=BOOL)
            assert value(combined) == value(apply(name, *two, format=None))


def canonical(values: Sequence[int]) -> Iterator[int]:
    """The values with no NaN but the canonical one."""
    return (x for x in values if not HALF.is_nan(x) or x == HALF.canonical_nan)


def test_a_number_is_clamped_above_zero() -> None:
    for x in numbers(*canonical(NUMBERS)):
        for most in numbers(1, HALF.bias << HALF.fraction_bits, HALF.largest):
            assert value(apply("clamped", x, most)) == value(
                apply("minimumNumber", apply("maximumNumber", x, *numbers(0)), most)
            )
        assert value(apply("clamped", x, *numbers(HALF.canonical_nan))) == value(apply("maximum", x, *numbers(0)))


def test_a_number_without_its_sign_is_at_least_zero() -> None:
    for x in numbers(*canonical(NUMBERS)):
        assert value(apply("withoutSign", x)) == value(apply("maximum", x, *numbers(0)))


def test_a_number_is_within_two_others() -> None:
    low, high = numbers(HALF.sign_bit | 5, HALF.largest - 3)
    for x in numbers(*NUMBERS):
        assert value(apply("within", x, low, high)) == value(apply("minimum", apply("maximum", x, low), high))


def test_a_number_converted_with_random_bits_is_bounded() -> None:
    random_bits = Const(bits_of(13), 0x1ABC)
    one = HALF.bias << HALF.fraction_bits

    def converted(name: str, x: Const, *more: Const) -> int:
        return value(Apply(float_in(HALF), name, (x, random_bits, *more), HALF))

    for x in numbers(*special(8, 23).tolist(), format=SINGLE):
        whole = converted("convertStochastic", x)
        above = not HALF.is_nan(whole) and HALF.magnitude(whole) > one
        wanted = whole & HALF.sign_bit | one if above else whole
        assert converted("convertBounded", x, *numbers(one)) == wanted


# By a variant: what its program calls, and what it calls instead once it is rewritten.
ARRAYS = {
    "add.f32": ("isNaN select", ""),
    "add.sat.f32": ("isNaN maximumNumber minimumNumber select", "clamped"),
    "add.ftz.f32": ("copySign isSubnormal isNaN select", ""),
    "add.f64": ("isNaN quieten select", "propagate"),
    "add.e5m2x4.e3m2x4": ("convert isNaN select", ""),
    "abs.f32": ("select", "replace"),
    "abs.ftz.f32": ("copySign isSubnormal", "flushed"),
    "set.ltu.u32.f32": ("compareGreaterEqual logicalNot", "compare"),
    "setp.lt.and.s32": ("lessInteger logicalAnd", "compare combine"),
    "cvt.rna.satfinite.tf32.f32": ("maximum minimum", "within"),
    "cvt.rn.relu.tf32.f32": ("maximum", "withoutSign"),
    "cvt.rn.relu.pzo.f16.f32": ("isZero maximum", "clamped"),
    "cvt.rs.satfinite.e5m2x4.f32": ("convertStochastic maximum minimum", "convertBounded"),
}
LANES = {
    "add.f64": ("isNaN quieten select", ""),
    "cvt.rni.f64.f64": ("isNaN quieten select", "propagate"),
    "add.ftz.f32": ("copySign isSubnormal isNaN select", "flushed"),
    "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32": (
        "division maximum",
        "multiplication subtractIntegers flushed within",
    ),
}


@pytest.mark.parametrize(
    ("rewritten", "spelling", "before", "after"),
    [(how, s, *change) for how, some in ((for_arrays, ARRAYS), (for_lanes, LANES)) for s, change in some.items()],
)
def test_rewriting_puts_other_functions_in_place(
    rewritten: Callable[[Program], Program], spelling: str, before: str, after: str
) -> None:
    (v,) = variants(spelling)
    program = checked()[v.opcode].programs[v][None]
    called, instead = functions(program), functions(rewritten(program))
    assert {*before.split()} <= called - instead and {*after.split()} == instead - called - {"bits", "float_of"}


def test_each_combined_function_is_put_in_place() -> None:
    assert {*COMBINED} == {name for _, after in ARRAYS.values() for name in after.split()}


def test_operations_flush_their_operands_and_pass_nans_on_themselves() -> None:
    one, other = (checked()["add"].programs[v][None] for v in variants("add.ftz.f32", "add.f64"))
    assert any(t.daz for t in applications(for_arrays(one)))
    assert any(t.passes_nans for t in applications(for_lanes(other)))


def variants(*spellings: str) -> list[Variant]:
    return [v for s in spellings for v in checked()[s.partition(".")[0]].programs if v.spelling == s]


def functions(program: Program) -> set[str]:
    return {t.function for t in applications(program)}


def operand(kind: Kind, rng: random.Random) -> int:
    """A zero, an infinity or a NaN; another special value; or any."""
    f, how = kind.format, rng.random()
    if f is None or kind.width <= 8:
        return rng.choice((0, 1, (1 << kind.width) - 1, rng.getrandbits(kind.width)))
    if how < 0.4:
        return rng.choice((0, f.infinity, f.first_nan, f.first_nan + 3, f.canonical_nan)) | rng.choice((0, f.sign_bit))
    if how < 0.8:
        return int(rng.choice(special(f.exponent_bits, f.fraction_bits)))
    return rng.getrandbits(kind.width)


@each_size
@pytest.mark.parametrize("rewritten", [for_arrays, for_lanes], ids=lambda f: f.__name__)
def test_a_rewritten_program_gives_the_same_results(rewritten: Callable[[Program], Program], whole: bool) -> None:
    rng = random.Random(27)
    programs = list({id(p): p for c in checked().values() for of in c.programs.values() for p in of.values()}.values())
    changed = 0
    for program in programs if whole else spread(programs, 250):
        shorter = rewritten(program)
        changed += shorter != program
        assert rewritten is for_arrays or not {*OF_ARRAYS} & {t.function for t in applications(shorter)}
        for _ in range(60 if whole else 30):
            row = [operand(i.kind, rng) for i in program.inputs]
            assert run(shorter, row) == run(program, row), (program, [*map(hex, row)])
    assert changed > (1000 if whole else 50)

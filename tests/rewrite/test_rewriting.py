"""Rewritten programs compute what the programs of the specification do, and combined functions what their parts do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from helpers.grids import special
from helpers.repository import checked, specification
from helpers.sizes import each_size, spread
from ptxspec.emit.lowering import applications
from ptxspec.model import BOOL, ROUNDINGS, Format, Kind, bits_of, float_in
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


def test_each_combined_function_is_tested_here() -> None:
    text = Path(__file__).read_text("utf-8")
    assert [name for name in COMBINED if f'"{name}"' not in text] == []


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

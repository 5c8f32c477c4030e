"""The manual's evaluator reads what people write, and tells them results, as `ptxspec eval` does."""

from __future__ import annotations

import random
from typing import Any

from helpers.node import Evaluator, named
from helpers.repository import checked, every_program, specification
from helpers.sizes import each_size, spread
from ptxspec.diagnostics import PtxspecError
from ptxspec.evaluate import parse_operand
from ptxspec.literals import decimal, describe, hex_float
from ptxspec.model import BOOL, Kind, Type, Variant
from ptxspec.proving.gpu.special import special


def first_of_each_type(whole: bool) -> list[tuple[Variant, int, Type]]:
    """A variant and the place of a source register, for each type of sources."""
    found: dict[str, tuple[Variant, int, Type]] = {}
    for c in checked().values():
        for v in c.instruction.variants:
            for i, t in enumerate(s.type for s in v.sources for _ in s.places):
                found.setdefault(t.name, (v, i, t))
    return list(found.values()) if whole else spread(list(found.values()), 12)


NUMBERS = [
    "1.5", "2^-127", "-2^3", "2^999999999", "≈1e+30", "0f3F800000", "0fFF800000", "0F7FC00123", "0d8000000000000001",
    "0f3F8", "-0.0", "0", "inf", "-inf", "+inf", "nan", "-nan", "infinity", "0x1.8p-3", "-0x1p0", "0X1P-149", "1e5",
    ".5", "5.", "0.1", "3.14159265358979", "255", "256", "-1", "127.5", "128", "-128", "448", "449", "65519.999",
    "65520", "1e-5", "1e400", "1e-400", "1e999999999", "-1e999999999", "1e-999999999", "18446744073709551615",
    "18446744073709551616", "-9223372036854775808", "7" * 30, "0." + "0" * 400 + "1", "9" * 400, "0x0.000001p-126",
    "0x1." + "f" * 60 + "p3",
]  # fmt: skip
NONSENSE = [
    "", "  ", ".", "abc", "info", "nn", "ifn", "nna", "innf", "0x", "0x1", "0xp0", "0x1p", "1e", "1.5e", "e5", "--1",
    "1 2", "+-inf", "1_0", "\u0661", "0x3fc00000", "0X3FC00000", "0x3c00", "0xffff", "0x3g00", "0x3fc000000", "1,2",
    "1, 2", "1,", ",", "true", "False", "TRUE", "yes", "1,2,3,4", "0x3c00,0x3c00", "inf,nan", "<b>1</b>",
]  # fmt: skip


@each_size
def test_operands_are_read_as_eval_reads_them_and_refused_in_its_words(evaluator: Evaluator, whole: bool) -> None:
    rng = random.Random(5)
    for v, register, t in first_of_each_type(whole):
        texts = [*NUMBERS, *NONSENSE, *(str(rng.uniform(-10, 10)) for _ in range(20))]
        texts += [", ".join(rng.choices([*NUMBERS, "x", ""], k=t.lanes)) for _ in range(30 if t.lanes > 1 else 0)]
        for written, got in zip(texts, evaluator("parse", **named(v), register=register, texts=texts), strict=True):
            try:
                want = {"bits": hex(parse_operand(written, t))}
            except PtxspecError as e:
                want = {"error": str(e)}
            assert {name: x for name, x in got.items() if name != "nearest"} == want, (t.name, written)


def test_lanes_may_stand_in_parentheses_and_a_long_text_is_refused(evaluator: Evaluator) -> None:
    v = next(v for v, _, t in first_of_each_type(True) if t.lanes == 2)
    one, other, long = evaluator("parse", **named(v), register=0, texts=["(1, 2)", "1,2", "1" * 6000])
    assert one == other and "bits" in one
    assert long == {"error": "an operand of 6000 characters is too long for this page"}


@each_size
def test_values_are_told_as_eval_tells_them(evaluator: Evaluator, whole: bool) -> None:
    rng = random.Random(6)
    results = {v.result.type.name: v for c in checked().values() for v in c.instruction.variants}
    for v in results.values() if whole else spread(list(results.values()), 8):
        t, kind = v.result.type, v.result.type.kind
        values = [*special(kind, 1), *(rng.getrandbits(kind.width) for _ in range(300 if whole else 20))]
        found = evaluator("tell", **named(v), bits=[f"{t.pack([x] * t.lanes):x}" for x in values])
        for x, lanes in zip(values, found, strict=True):
            assert len(lanes) == t.lanes and all(lane == lanes[0] for lane in lanes)
            check_told(lanes[0], x, kind)


def check_told(told: dict[str, Any], x: int, kind: Kind) -> None:
    assert told["text"] == describe(x, kind)
    assert kind == BOOL or int("".join(bits for _, bits in told["fields"]), 2) == x == int(told["bits"], 16)
    if (f := kind.format) is not None:
        assert told["decimal"] == decimal(x, f)
        assert told["hexFloat"] == (hex_float(x, f) if f.magnitude(x) <= f.largest else "")
        assert [name for name, _ in told["fields"]] == ["sign"] * f.signed + ["exponent"] + ["fraction"] * (
            f.fraction_bits > 0
        )


def test_modifiers_may_stand_in_any_order_and_the_rest_has_neighbours(evaluator: Evaluator) -> None:
    rng = random.Random(7)
    for v, _, _ in every_program(40):
        names = list(v.modifiers)
        rng.shuffle(names)
        written = ".".join([v.opcode, *names, *v.type_names])
        assert evaluator("find", opcode=v.opcode, text=written, operands=v.operands) == v.spelling
        assert evaluator("find", opcode=v.opcode, text=f"{written}.nothing", operands=None) is None
        assert evaluator("find", opcode=v.opcode, text=written, operands=99) is None
        near = evaluator("nearest", opcode=v.opcode, text=f"{written}.zzzz")
        hazardous = {w.spelling for w in checked()[v.opcode].instruction.variants if w.hazards}
        assert 0 < len(near) <= 3 and hazardous.isdisjoint(near)
        assert v.hazards or v.spelling in near


def test_a_target_that_has_not_the_variant_is_refused(evaluator: Evaluator) -> None:
    spec = specification()
    for v, _, _ in every_program(40):
        for t in (next(iter(spec.targets)), spec.newest):
            refusal = evaluator("refusal", **named(v), target=t)
            assert (refusal is None) == spec.catalog.takes(v.requires, t)
            assert refusal in (None, f"{t} does not support {v.spelling}")
    assert evaluator("refusal", **named(v), target="sm_1") == "unknown target 'sm_1'"


@each_size
def test_special_operands_are_of_their_class(evaluator: Evaluator, whole: bool) -> None:
    for v, register, t in first_of_each_type(whole):
        found = evaluator("specials", **named(v))[register]
        assert found["name"] == [p for s in v.sources for p in s.places][register]
        bits = [int(x["bits"], 16) for x in found["values"]]
        assert len(set(bits)) == len(bits) > 1
        for x, register_bits in zip(found["values"], bits, strict=True):
            lanes = t.unpack(register_bits)
            assert len(set(lanes)) == 1
            if (f := t.kind.format) is not None:
                number = ("inf", f.is_infinite(lanes[0])), ("NaN", f.is_nan(lanes[0])), ("0", f.is_zero(lanes[0]))
                assert all(is_so == x["label"].endswith(end) for end, is_so in number), x
                assert ("subnormal" in x["label"]) == f.is_subnormal(lanes[0])

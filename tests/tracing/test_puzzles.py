"""The answers of `eval --trace` about results that people ask about, checked on their facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from helpers import ROOT
from ptxspec import evaluate
from ptxspec.__main__ import main
from ptxspec.model import Spec, Variant

Found = dict[str, Any]
Form = tuple[str, int]
Trace = Callable[..., list[Found]]
Text = Callable[..., str]


@pytest.fixture(scope="module")
def variants(spec: Spec) -> dict[Form, Variant]:
    return {(v.spelling, v.operands): v for i in spec.instructions.values() for v in i.variants}


@pytest.fixture(autouse=True)
def read_once(spec: Spec, variants: dict[Form, Variant], monkeypatch: pytest.MonkeyPatch) -> None:
    """One reading of the specification serves all: tests/cli reads it as the command does."""
    monkeypatch.setattr(
        evaluate, "find_variant", lambda _, spelling, operands, whole: (spec, variants[spelling, operands])
    )


@pytest.fixture
def trace(capsys: pytest.CaptureFixture[str]) -> Trace:
    """The steps that have an effect."""

    def run(*statement: str) -> list[Found]:
        assert main(["eval", *statement, "--trace", "--format", "json", "--root", str(ROOT)]) == 0
        return [t for t in json.loads(capsys.readouterr().out)["trace"] if t["effective"]]

    return run


@pytest.fixture
def text(capsys: pytest.CaptureFixture[str]) -> Text:
    """A function that returns what `eval` prints for a statement."""

    def run(*statement: str) -> str:
        assert main(["eval", *statement, "--root", str(ROOT)]) == 0
        return capsys.readouterr().out

    return run


def rounding(step: Found) -> Found:
    """The one that a step tells of."""
    (event,) = (e for e in step["why"] if e["what"] == "rounding")
    return dict(event)


def bits(event: Found) -> tuple[str, str]:
    """Return the bits of the numbers below and above."""
    return event["below"]["bits"], event["above"]["bits"]


def flat(shown: str) -> str:
    """A text without the ends of its lines."""
    return " ".join(shown.split())


def source(place: str) -> str:
    """A line of the specification."""
    path, number = place.split(":")
    return (ROOT / path).read_text("utf-8").splitlines()[int(number) - 1].strip()


def test_a_product_that_is_flushed(trace: Trace) -> None:
    (step,) = trace("fma.rn.ftz.f32", "0x00800000", "0x3f000000", "0")
    event = rounding(step)
    assert event["exact"] == "0x1p-127" and event["chosen"] == "flushed" and event["result"] == "0x00000000"
    assert source(event["ftz_line"]) == "round: {ftz: true}"
    assert source(step["line"]) == "d = fusedMultiplyAdd(a, b, c, type)"


def test_its_text_has_three_lines(text: Text) -> None:
    _, block, folded, result = text("fma.rn.ftz.f32", "0x00800000", "0x3f000000", "0", "--trace").split("\n\n")
    head, exact, flush, zero = block.splitlines()
    assert head.startswith("  operation  spec/instructions/fma.yaml:")
    assert exact.startswith("    exact  5.877471754") and exact.endswith("0x1p-127, below the least normal 0x1p-126")
    assert flush.startswith("    .ftz   spec/modifiers.yaml:") and flush.endswith("becomes a zero of its sign")
    assert zero == "    d      0.0 0x0p+0 0x00000000"
    assert folded == "  4 more steps changed nothing: --trace=all" and result == "  d  0.0 0x0p+0 0x00000000\n"


def test_a_subnormal_operand_becomes_a_zero_of_its_sign(trace: Trace) -> None:
    flushed, operation = trace("add.ftz.f32", "0x80000001", "-0.0")
    assert (flushed["stage"], flushed["before"], flushed["after"]) == (".ftz a", "0x80000001", "0x80000000")
    (event,) = flushed["why"]
    assert (event["what"], event["operand"], event["is"]) == ("class", "0x80000001", "a subnormal number")
    assert source(event["line"]) == "x = copySign(0, x) if isSubnormal(x) else x"
    assert operation["after"] == "0x80000000"


def test_what_rounds_up_to_the_smallest_normal_number_is_not_flushed(trace: Trace, text: Text) -> None:
    # (1 + 2^-23) (1 - 2^-23) 2^-126 has 46 bits; rounded to 24 of them it is 2^-126.
    operands = ("0x1.000002p-63", "0x1.fffffcp-64")
    event = rounding(trace("mul.rn.ftz.f32", *operands)[-1])
    assert event["exact"] == "0x1.fffffffffff8p-127" and event["chosen"] == "above" and event["result"] == "0x00800000"
    assert "no flush: rounded with any exponent it is a normal number" in flat(
        text("mul.rn.ftz.f32", *operands, "--trace")
    )
    event = rounding(trace("mul.rz.ftz.f32", *operands)[-1])
    assert event["chosen"] == "flushed" and event["result"] == "0x00000000"


def test_an_f16_sum_that_an_f32_one_rounds_twice(trace: Trace) -> None:
    # 1 + 2^-10 + 2^-11 - 2^-31 is just below a tie in f16, and a tie once it was rounded to f32.
    operands = ("0x1.004p-5", "0x1.ff8p-7", "0x1.004p+0")
    once = rounding(trace("fma.rn.f16", *operands)[-1])
    assert once["exact"] == "0x1.005ffffep+0" and not once["tie"] and bits(once) == ("0x3c01", "0x3c02")
    assert once["chosen"] == "below" and 0.499 < once["place"] < 0.5
    single = rounding(trace("fma.rn.f32", *operands)[-1])
    assert single["exact"] == once["exact"] and single["chosen"] == "above" and single["result"] == "0x3f803000"
    twice = rounding(trace("cvt.rn.f16.f32", single["result"])[-1])
    assert twice["tie"] and bits(twice) == bits(once) and twice["chosen"] == "above" and twice["result"] == "0x3c02"


def test_a_place_so_near_to_a_tie_is_not_shown_as_one(text: Text) -> None:
    shown = text("fma.rn.f16", "0x1.004p-5", "0x1.ff8p-7", "0x1.004p+0", "--trace")
    assert "1/2 - 4.8e-07 of the way up" in shown and "tie," not in shown


@pytest.mark.parametrize(
    ("b", "below", "above", "chosen"),
    [("0x1p-24", "0x3f800000", "0x3f800001", "below"), ("0x1.8p-23", "0x3f800001", "0x3f800002", "above")],
)
def test_a_tie_goes_to_the_even_one(trace: Trace, b: str, below: str, above: str, chosen: str) -> None:
    event = rounding(trace("add.rn.f32", "1", b)[-1])
    assert event["tie"] and event["place"] == 0.5 and bits(event) == (below, above) and event["chosen"] == chosen
    assert event["mode"] == "roundTiesToEven" and source(event["mode_line"]) == "round: {mode: roundTiesToEven}"


@pytest.mark.parametrize("statement", [("sub.rm.f32", "1.5", "1.5"), ("add.rm.f32", "0.0", "-0.0")])
def test_an_exact_zero_toward_negative_infinity_is_negative(trace: Trace, text: Text, statement: tuple[str]) -> None:
    event = rounding(trace(*statement)[-1])
    assert event["exact"] == "-0x0p+0" and event["chosen"] == "exact" and event["result"] == "0x80000000"
    assert source(event["mode_line"]) == "round: {mode: roundTowardNegative}"
    assert "roundTowardNegative: such a zero is -0.0" in text(*statement, "--trace")


def test_a_negative_zero_among_operands_is_kept_toward_negative_infinity(trace: Trace) -> None:
    assert rounding(trace("add.rm.f32", "-0.0", "-0.0")[-1])["exact"] == "-0x0p+0"
    event = rounding(trace("add.rm.f32", "-1", "-0x1p-30")[-1])
    assert event["chosen"] == "below" and bits(event) == ("0xbf800001", "0xbf800000")


def test_a_maximum_with_a_nan(trace: Trace) -> None:
    operation, rule = trace("max.NaN.f32", "0x7f800001", "1")
    (event,) = operation["why"]
    assert (event["function"], event["operands"]) == ("maximum", ["0x7f800001", "0x3f800000"])
    assert source(event["line"]).startswith("return maximum(x, y) if NaN")
    assert (rule["stage"], rule["after"]) == ("NaN", "0x7fffffff") and source(rule["line"]).startswith("d = quietNaN")
    (operation,) = trace("max.f32", "nan", "1")
    assert operation["why"][0]["function"] == "maximumNumber" and operation["after"] == "0x3f800000"


def test_the_sign_of_xorsign(trace: Trace) -> None:
    steps = {t["name"]: t for t in trace("max.xorsign.abs.f32", "-3", "2")}
    assert (steps["a"]["before"], steps["a"]["after"]) == ("0xc0400000", "0x40400000") and "b" not in steps
    assert (steps["d"]["before"], steps["d"]["after"]) == ("0x40400000", "0xc0400000")
    assert source(steps["d"]["line"]) == "d = copySign(d, sign)"


def test_to_the_nearest_integer(trace: Trace) -> None:
    event = rounding(trace("cvt.rni.s32.f32", "2.5")[-1])
    assert event["tie"] and bits(event) == ("0x00000002", "0x00000003") and event["chosen"] == "below"
    event = rounding(trace("cvt.rni.f32.f32", "-2.5")[-1])
    assert event["tie"] and bits(event) == ("0xc0400000", "0xc0000000") and event["chosen"] == "above"
    event = rounding(trace("cvt.rzi.u8.f32", "256.5")[-1])
    assert event["chosen"] == "end" and event["result"] == "0xff"


def test_an_integer_that_a_narrower_type_does_not_have(trace: Trace, text: Text) -> None:
    (step,) = trace("cvt.u8.s32", "300")
    assert step["why"] == [{"line": step["line"], "what": "wrapped", "exact": 300, "result": "0x2c"}]
    (step,) = trace("add.s32", "0x7fffffff", "1")
    assert (step["why"][0]["exact"], step["after"]) == (2**31, "0x80000000")
    assert "300, which is no u8 integer: modulo 2^8" in text("cvt.u8.s32", "300", "--trace")
    assert trace("cvt.u8.s32", "200")[0]["why"] == []


def test_modifiers_that_act_unspelled_are_named(text: Text) -> None:
    shown = text("add.f32", "0x00000001", "1", "--target", "sm_13", "--trace")
    assert "  sm_13 implies .ftz\n" in shown and "  .ftz a  spec/modifiers.yaml:" in shown
    assert "  the spelling implies .ftz and .approx\n" in text("sin.f32", "0x00000001", "--trace")
    assert "as with" not in text("add.ftz.f32", "0x00000001", "1", "--target", "sm_90", "--trace")


def test_a_nan_to_an_integer(trace: Trace) -> None:
    (step,) = trace("cvt.rni.s32.f32", "nan")
    assert step["why"][0]["what"] == "invalid" and step["after"] == "0x00000000"
    _, step = trace("cvt.rni.s32.f64", "nan")
    assert (step["before"], step["after"]) == ("0x00000000", "0x80000000") and "isNaN(a)" in source(step["line"])


def test_a_number_beyond_e4m3_is_saturated_before_it_is_rounded(trace: Trace) -> None:
    tie, saturated = trace("cvt.rn.satfinite.e4m3x2.f32", "449", "0x1.1p-6")
    assert (tie["lane"], saturated["lane"]) == (0, 1)
    bound, exact = saturated["why"][-2:]
    assert (bound["function"], bound["result"]) == ("minimum", "0x43e00000") and "satfinite" in source(bound["line"])
    assert (exact["exact"], exact["chosen"], exact["result"]) == ("0x1.cp+8", "exact", "0x7e")
    assert rounding(tie)["tie"] and bits(rounding(tie)) == ("0x08", "0x09") and rounding(tie)["chosen"] == "below"


def test_halfway_between_powers_of_two(trace: Trace) -> None:
    least, half = (rounding(t) for t in trace("cvt.rz.ue8m0x2.f32", "3", "0x1p-149"))
    assert half["tie"] and bits(half) == ("0x80", "0x81") and half["chosen"] == "below"
    # There is no zero below the smallest number.
    assert least["below"] == {"bits": None, "value": "0x0p+0"} and least["above"]["bits"] == "0x00"
    assert least["chosen"] == "above"
    half = rounding(trace("cvt.rp.ue8m0x2.f32", "-3", "1")[-1])
    assert half["exact"] == "-0x1.8p+1" and bits(half) == ("0x80", "0x81") and half["chosen"] == "above"


def test_overflow(trace: Trace) -> None:
    event = rounding(trace("cvt.rn.f16.s32", "65520")[-1])
    assert event["tie"] and event["chosen"] == "overflow" and event["result"] == "0x7c00"
    assert event["below"]["bits"] == "0x7bff" and event["above"] == {"bits": None, "value": "0x1p+16"}
    event = rounding(trace("add.rz.f32", "0x7f7fffff", "0x7f7fffff")[-1])
    assert event["chosen"] == "below" and event["below"] is None and event["result"] == "0x7f7fffff"


def test_random_bits(trace: Trace, text: Text) -> None:
    low, high = (rounding(t) for t in trace("cvt.rs.f16x2.f32", "1.25", "0x1.006p+0", "0x10001000"))
    assert high["chosen"] == "exact"
    # Half of the last place is cut off: the 13 bits 0x1000 are half of one as well.
    assert (low["place"], low["random"], low["mode"], low["chosen"]) == (0.5, 0.5, None, "above")
    (low, _) = (rounding(t) for t in trace("cvt.rs.f16x2.f32", "1.25", "0x1.006p+0", "0x10000fff"))
    assert low["chosen"] == "below"
    shown = flat(text("cvt.rs.f16x2.f32", "1.25", "0x1.006p+0", "0x10000fff", "--trace"))
    assert "r bits 12..0 = 0x0fff" in shown and "less than 1, toward zero" in shown
    # They decide nothing beyond the largest number and its last place.
    shown = text("cvt.rs.f16x2.f32", "1e9", "65519", "0x10000000", "--trace")
    assert "too large for f16: +inf" in shown and "beyond the largest number, 65504.0" in flat(shown)


def test_a_comparison_with_a_nan(trace: Trace) -> None:
    t, p, q = trace("setp.ltu.f32", "nan", "1")
    assert t["why"][0]["holds"] == "unordered" and (p["after"], q["after"]) == (True, False)
    t, *_ = trace("setp.eq.f32", "-0.0", "0.0")
    assert t["why"][0]["holds"] == "equal" and t["after"] is True


def test_out_of_bounds(trace: Trace) -> None:
    steps = trace("fma.rn.oob.f16", "1", "2", "0x7fff")
    assert (steps[0]["stage"], steps[0]["after"]) == (".oob operands", True)
    assert [e["holds"] for e in steps[0]["why"]] == ["less", "less", "equal"]
    assert (steps[-1]["stage"], steps[-1]["before"], steps[-1]["after"]) == (".oob", "0x7fff", "0x0000")
    # Where nothing is out of bounds nobody asked.
    assert [t["stage"] for t in trace("fma.rn.oob.f16", "1", "2", "3")] == ["operation"]


def test_an_approximation_shows_digits_of_the_function(text: Text) -> None:
    shown = text("sin.approx.f32", "1", "--trace")
    assert "exact     0.841470984807896... 0x1.aed548f090ce" in shown and "0.4699 of the way up" in shown
    # The sine of 2^-40 differs from it in the 81st bit.
    assert "0x1.ffffffffffff...p-41" in text("sin.approx.f32", "0x1p-40", "--trace")
    # 2^(2^-40) is 1 + 2^-40 log 2 and more.
    assert "1.00000000000063041"[:16] in text("ex2.approx.f32", "0x1p-40", "--trace")
    assert "exact     beyond 3.40282366920938...e+38" in text("ex2.approx.f32", "1000.5", "--trace")


def test_the_json_has_the_shape_that_the_manual_documents(trace: Trace) -> None:
    section = (ROOT / "generated/manual/scripts.md").read_text("utf-8")
    seen = set()
    for statement in (
        ("fma.rn.oob.f16", "1", "2", "0x7fff"),
        ("max.NaN.f32", "nan", "1"),
        ("add.ftz.f32", "0x1p-149", "0x1.8p-140"),
        ("cvt.rs.satfinite.e4m3x4.f32", "1.1", "2.2", "-3.3", "460", "0xdeadbeef"),
    ):
        for step in trace(*statement):
            seen |= {*step, *(key for event in step["why"] for key in event)}
            seen |= {event["what"] for event in step["why"]}
            seen |= {event["chosen"] for event in step["why"] if "chosen" in event}
    assert {"rounding", "choice", "relation", "class", "invalid", "random", "ftz_line"} <= seen
    assert [name for name in sorted(seen) if f'"{name}"' not in section and f"`{name}`" not in section] == []


def test_all_steps_and_no_trace(text: Text, trace: Trace) -> None:
    shown = text("add.f32", "1", "2", "--trace=all")
    assert "  NaN  spec/types.yaml:" in shown and "d  3.0 0x1.8p+1 0x40400000, as before" in shown
    assert "changed nothing" not in shown
    # The variant may stand behind the option.
    assert text("--trace", "add.f32", "1", "2") == text("add.f32", "1", "2", "--trace")
    assert "operation" not in text("add.f32", "1", "2")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize(
    "statement",
    [
        "fma.rn.f64 0x1.23456789abcdep-1000 -0x1.fedcba9876543p-50 0x1p-1060",
        "cvt.rs.satfinite.e4m3x4.f32 1.1 2.2 -3.3 460 0xdeadbeef",
        "max.xorsign.abs.f32 -3 2",
        "rcp.approx.ftz.f64 3",
        "set.ltu.and.f16.f16 nan 2 true",
    ],
)
def test_lines_fit_the_terminal(text: Text, monkeypatch: pytest.MonkeyPatch, statement: str, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = text(*statement.split(), "--trace=all").splitlines()
    assert max(map(len, lines)) <= columns

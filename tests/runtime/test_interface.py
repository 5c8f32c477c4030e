"""Calling kernels: representations, shapes, errors, and what must hold for any operands."""

from __future__ import annotations

import re
import threading
import warnings

import ml_dtypes
import numpy as np
import ptxemu
import ptxspec
import pytest
from helpers.repository import database
from helpers.sizes import each_size, spread
from numpy.testing import assert_array_equal
from ptxemu import native
from ptxemu.index import CATALOG, OPCODES
from ptxemu.lookup import find
from ptxemu.rows import rows_of

F32 = np.array([1.5, -0.0, np.inf, np.nan, 1e-40], np.float32)


@pytest.mark.parametrize(
    ("spelling", "dtype"),
    [
        ("add.f16", np.float16),
        ("add.f32", np.float32),
        ("add.f64", np.float64),
        ("add.bf16", ml_dtypes.bfloat16),
    ],
)
def test_the_result_comes_in_the_operands_representation(spelling: str, dtype: type) -> None:
    native = np.array([1, 2, 3], dtype)
    bits = native.view(f"u{native.dtype.itemsize}")
    result = ptxemu.execute(spelling, native, native)
    assert result.dtype == dtype
    assert_array_equal(result.astype(float), [2, 4, 6])
    of_bits = ptxemu.execute(spelling, bits, bits)
    assert of_bits.dtype == bits.dtype
    assert_array_equal(of_bits, result.view(bits.dtype))


def test_numpy_scalars_give_a_scalar() -> None:
    result = ptxemu.execute("add.f32", np.float32(1), np.float32(2))
    assert isinstance(result, np.float32) and result == 3


def test_operands_broadcast_as_ufuncs_do() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.float32([[10], [20]])
    assert_array_equal(ptxemu.execute("add.f32", a, b), a + b)
    assert_array_equal(ptxemu.execute("add.f32", a[:, ::2].T, np.float32(1)), a[:, ::2].T + 1)
    assert ptxemu.execute("add.f32", np.empty((0, 3), np.float32), a[:1]).shape == (0, 3)


def test_more_elements_than_a_block_with_awkward_strides() -> None:
    a = np.arange(400_001, dtype=np.float32)[::-3]
    b = np.arange(a.size, dtype=np.float32)
    assert_array_equal(ptxemu.execute("mul.f32", a, b), a * b)
    pairs = np.arange(160_000, dtype=np.uint32)[::2] & np.uint32(0x3FFF3FFF)
    assert_array_equal(ptxemu.execute("max.f16x2", pairs, pairs), pairs)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("spelling", "dtype"), [("add.rz.f32", "f4"), ("add.rz.f32", "u4"), ("max.f16x2", "u4"), ("fma.rn.f64", "f8")]
)
def test_other_byte_orders_are_read_and_written(spelling: str, dtype: str, threads: int) -> None:
    kernel = ptxemu.compile(spelling)
    operands = [np.arange(200_000 + i)[i:].astype(dtype) for i in range(kernel.operands)]
    swapped = [x.astype(x.dtype.newbyteorder("S")) for x in operands]
    expected = kernel(*operands)
    result = kernel(*swapped, threads=threads)
    assert result.dtype == expected.dtype
    assert_array_equal(result, expected)
    out = np.empty_like(swapped[0])
    assert kernel(swapped[0], *operands[1:], out=out, threads=threads) is out
    assert out.dtype == swapped[0].dtype
    assert_array_equal(out, expected)
    kernel(*swapped, out=swapped[-1], threads=threads)
    assert_array_equal(swapped[-1], expected)


def test_out_receives_the_result() -> None:
    out = np.empty(5, np.float32)
    assert ptxemu.execute("add.f32", F32, F32, out=out) is out
    assert_array_equal(out, ptxemu.execute("add.f32", F32, F32))
    assert ptxemu.compile("add.f32")(F32, F32, out=(out,)) is out


@pytest.mark.parametrize("threads", [1, 2])
def test_out_may_be_of_a_class_of_its_own(threads: int) -> None:
    a = np.arange(1 << 19, dtype=np.float32).reshape(1, -1)
    out = np.zeros_like(a).view(np.matrix)
    assert ptxemu.execute("add.f32", a, a, out=out, threads=threads) is out
    assert_array_equal(np.asarray(out), a + a)


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (4, 2, 3), (0, 3)])
def test_operands_broadcast_to_outs_shape(shape: tuple[int, ...]) -> None:
    a, b = np.float32([1, 2, 3]), np.float32([[10]])
    out, expected = np.empty(shape, np.float32), np.empty(shape, np.float32)
    assert ptxemu.execute("add.f32", a, b[0], out=out) is out
    assert_array_equal(out, np.add(a, b[0], out=expected))
    ptxemu.execute("add.f32", a[0], b[0, 0], out=out)
    assert_array_equal(out, np.full(shape, 11))


def test_operands_that_broadcast_to_out_may_be_part_of_it() -> None:
    table = np.arange(400_000, dtype=np.float32).reshape(4, 100_000)
    expected = np.broadcast_to(table[1] * table[1], table.shape)
    for threads in (1, 2):
        out = table.copy()
        ptxemu.execute("mul.f32", out[1], out[1], out=out, threads=threads)
        assert_array_equal(out, expected)


def test_out_may_be_an_operand_or_overlap_one() -> None:
    a = np.arange(40_000, dtype=np.float32)
    want = a[:-1] + a[1:]
    ptxemu.execute("add.f32", a[:-1], a[1:], out=a[1:])
    assert_array_equal(a[1:], want)
    b = np.arange(40_000, dtype=np.float32)
    ptxemu.execute("mul.f32", b, b, out=b)
    assert_array_equal(b, np.arange(40_000, dtype=np.float32) ** 2)


@pytest.mark.parametrize("threads", [2, 3, None])
def test_threads_change_nothing(threads: int | None) -> None:
    a = np.arange(700_001, dtype=np.float32)
    b = a[::-1]
    expected = ptxemu.execute("mul.rz.f32", a, b)
    assert_array_equal(ptxemu.execute("mul.rz.f32", a, b, threads=threads), expected)
    table = np.arange(900_000, dtype=np.uint32).reshape(3, 300_000)[:, ::-1]
    row = table[0]
    expected = ptxemu.execute("max.f16x2", table, row)
    out = np.empty((300_000, 3), np.uint32).T
    assert ptxemu.execute("max.f16x2", table, row, out=out, threads=threads) is out
    assert_array_equal(out, expected)
    assert_array_equal(ptxemu.execute("testp.normal.f32", a, threads=threads), np.full(a.shape, True))


def test_threads_may_write_over_what_they_read() -> None:
    a = np.arange(700_001, dtype=np.float32)
    b = a.copy()
    ptxemu.execute("add.f32", b, b, out=b, threads=4)
    assert_array_equal(b, a + a)
    ptxemu.execute("add.f32", b[1:], b[:-1], out=b[:-1], threads=4)
    assert_array_equal(b[:-1], 2 * (a[1:] + a[:-1]))


def test_what_fails_in_a_thread_fails_the_call() -> None:
    failing = threading.Event()

    def fail(*arguments: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            failing.set()
            raise MemoryError("in a thread")
        failing.wait(30)

    a = np.ones(700_000, np.float32)
    with pytest.raises(MemoryError, match="in a thread"):
        native.on_threads(fail, [a, a, a.copy()], 1, 1, 2)


def test_threads_must_be_some() -> None:
    a = np.float32([1])
    for threads in ("2", 2.5, [2], True, np.True_):
        with pytest.raises(TypeError, match=f"threads is {re.escape(repr(threads))}; it takes 1 or more, or None"):
            ptxemu.execute("add.f32", a, a, threads=threads)  # type: ignore[arg-type]
    assert ptxemu.execute("add.f32", a, a, threads=np.int64(2)) == 2
    with pytest.raises(ValueError, match="0 threads; it takes 1 or more, or None"):
        ptxemu.execute("add.f32", a, a, threads=0)


def test_modifiers_may_stand_in_any_order() -> None:
    assert ptxemu.compile("max.NaN.ftz.f32").variant.spelling == "max.ftz.NaN.f32"
    assert ptxemu.compile("add.f32.sat.rz").variant.spelling == "add.rz.sat.f32"


def test_a_spelling_is_found_where_queries_find_it() -> None:
    rows = [row for opcode in OPCODES for row in rows_of(opcode)]
    for row in spread(rows, 300):
        names = [*sorted(row.modifiers), *row.types]
        for operands in (None, row.operands):
            found, known = (
                find(".".join([row.opcode, *names]), operands, None),
                database().find(row.opcode, names, operands),
            )
            assert known is not None and (found.spelling, found.operands) == (known.spelling, known.operands)


def test_the_fewest_operands_unless_told() -> None:
    assert ptxemu.compile("max.f32").operands == 2
    assert ptxemu.compile("max.f32", 3).operands == 3
    assert ptxemu.execute("max.f32", *np.float32([1, 3, 2])) == 3


def test_a_target_before_sm_20_flushes() -> None:
    tiny = np.float32(1e-40)
    assert ptxemu.execute("add.f32", tiny, tiny) > 0
    assert ptxemu.execute("add.f32", tiny, tiny, target="sm_13") == 0
    assert ptxemu.execute("add.f32", tiny, tiny, target="sm_20") > 0
    assert ptxemu.execute("add.f64", np.float64(5e-324), np.float64(0), target="sm_13") > 0


# Why, and what to write, is said as queries say it: query/test_advice.py holds the two against each other.
@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        (
            "max.ftz.f64",
            r"max\.ftz\.f64 does not exist: max\.f64 has no \.ftz; it has no modifiers; "
            r"no variant of max has all of these names; "
            r"spelled alike: max\.f64, ",
        ),
        ("fma.bf16", r"fma\.bf16 lacks \.rn or .*; write fma\.rn\.bf16$"),
        (
            "mov.b128",
            r"^mov\.b128: mov\.b128 is described in another section of PTX; this database has mov with \.f32, ",
        ),
        ("add.f32 d, a, b", r"a spelling consists of names separated by dots, such as add\.f32, without operands"),
        ("tan.f32", r"^tan\.f32: PTX has no tan; opcodes that are spelled alike compute something else"),
        ("qqq.f32", r"unknown opcode 'qqq'; `ptxemu.variants\(\)` lists the known ones"),
        ("", r"a spelling consists of names separated by dots"),
    ],
)
def test_an_unknown_variant_is_explained(spelling: str, message: str) -> None:
    with pytest.raises(ptxemu.UnknownVariantError, match=message):
        ptxemu.compile(spelling)


def test_an_unknown_number_of_operands_is_explained() -> None:
    with pytest.raises(ptxemu.UnknownVariantError, match=r"max\.f32 with 4 operands: max.f32 takes 2 or 3"):
        ptxemu.compile("max.f32", 4)
    for operands in ("2", 2.5, [2], True):
        message = f"max.f32: the number of operands is one such as 2, not {operands!r}"
        with pytest.raises(ptxemu.UnknownVariantError, match=re.escape(message)):
            ptxemu.compile("max.f32", operands)  # type: ignore[arg-type]
    assert ptxemu.compile("max.f32", np.int64(3)).operands == 3


def test_an_unknown_target_is_explained() -> None:
    with pytest.raises(ptxemu.UnknownTargetError, match=r"unknown target 'sm_91'; did you mean 'sm_9"):
        ptxemu.compile("add.f32", target="sm_91")
    with pytest.raises(ptxemu.UnknownTargetError, match=r"'blackwell' means several targets: sm_100 \(B200, GB200\)"):
        ptxemu.compile("add.f32", target="blackwell")
    # What its GPUs are called is a target, too: an H100 is no sm_100.
    for name in ("H100", "NVIDIA H100", "9.0", "compute_90", "Hopper"):
        assert ptxemu.compile("add.f32", target=name) is ptxemu.compile("add.f32", target="sm_90")
    for target in (90, ["sm_90"]):
        with pytest.raises(ptxemu.UnknownTargetError, match=re.escape(f"such as 'sm_90', not {target!r}")):
            ptxemu.execute("add.f32", F32, F32, target=target)  # type: ignore[arg-type]


def test_a_target_without_the_variant_is_explained() -> None:
    with pytest.raises(ptxemu.UnknownTargetError) as raised:
        ptxemu.compile("abs.bf16", target="sm_75")
    assert raised.value.recipe == "and.b16 %d, %a, 0x7fff;"
    assert str(raised.value) == (
        "abs.bf16 (1 operand) requires sm_80 or newer; sm_75 is older; "
        "instead: and.b16 %d, %a, 0x7fff;, equal except for the bits of a NaN"
    )


def test_a_target_has_what_the_database_says() -> None:
    database = ptxspec.load()
    assert CATALOG.targets == database.targets and CATALOG.versions == database.versions
    # The emulator computes what the assembler breaks down on, too.
    crashing = {(v.spelling, v.operands) for v in database.variants if v.crash}
    every = [row for opcode in OPCODES for row in rows_of(opcode)]
    rows = [row for row in every if (row.variant.spelling, row.operands) not in crashing]
    for target in CATALOG.targets:
        has = {(v.spelling, v.operands) for v in database.available(target)}
        assert {(r.variant.spelling, r.operands) for r in rows if CATALOG.takes(r.requires, target)} == has


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ((F32, F32.astype(np.float64)), r"operand b is float64; expected float32 or uint32"),
        ((F32.view(np.int32), F32), r"operand a is int32"),
        ((F32, F32.view(np.uint32)), r"operand a is float32, operand b is uint32; all must be of one"),
        (([1.0], F32), r"operand a is a list"),
    ],
)
def test_operands_of_a_wrong_kind_are_explained(operands: tuple[object, ...], message: str) -> None:
    with pytest.raises(ptxemu.OperandError, match=r"^add\.f32 \(2 operands\): " + message):
        ptxemu.compile("add.f32")(*operands)


def test_wrong_counts_shapes_and_outputs_are_explained() -> None:
    kernel = ptxemu.compile("add.f32")
    with pytest.raises(ptxemu.OperandError, match=r"takes 2 operands, 3 came"):
        kernel(F32, F32, F32)
    with pytest.raises(ValueError, match=r"shapes \(5,\), \(3,\) do not broadcast"):
        kernel(F32, F32[:3])
    with pytest.raises(ptxemu.OperandError, match=r"out is float64; the result is float32"):
        kernel(F32, F32, out=np.empty(5))
    with pytest.raises(ValueError, match=r"out has shape \(4,\); the result has \(5,\)"):
        kernel(F32, F32, out=np.empty(4, np.float32))
    fixed = np.empty(5, np.float32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        kernel(F32, F32, out=fixed)
    with pytest.raises(ptxemu.OperandError, match=r"expected uint32 \(the bits of 2 lanes\)"):
        ptxemu.execute("add.f16x2", F32, F32)


@each_size
def test_no_warning_and_numpys_error_state_is_left_alone(whole: bool) -> None:
    values = np.array([0, 1, 0x7F800000, 0xFFC00001, 0x7F7FFFFF, 0x80000001, 0x7F800001, 0x7C017C01], np.uint64)
    values = values | values << np.uint64(32)
    spellings = sorted({v.spelling for v in ptxemu.variants()})
    for spelling in spellings if whole else spread(spellings, 60):
        kernel = ptxemu.compile(spelling)
        operands = [np.roll(values, i).astype(t.bits) for i, (_, t) in enumerate(kernel._signature.registers)]
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            before = np.geterr()
            kernel(*operands)
            assert np.geterr() == before, spelling

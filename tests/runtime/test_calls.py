"""A call does what the first one of its kind did, in a fraction of the time: bits, representations, shapes, errors."""

from __future__ import annotations

import itertools
import pickle
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import ptxemu
import pytest
from helpers.control import DIRECTIONS, left, needs_x86
from helpers.layouts import LAYOUTS, operands
from helpers.sizes import each_size, spread
from numpy.testing import assert_array_equal

SPELLINGS = sorted({v.spelling for v in ptxemu.variants()})
SOME = ["add.f32", "fma.rm.f64", "max.NaN.f16", "fma.rn.bf16x2", "setp.lt.f32", "cvt.rn.f16x2.f32", "cvt.rn.f32.s32"]


def filled(kernel: ptxemu.Kernel, given: list[Any], like: Any) -> Any:
    """Return the result of a call that is given a place for it."""
    out = np.empty(np.shape(like), like.dtype)
    assert kernel(*given, out=out) is out
    return out


@pytest.mark.parametrize("native", [False, True], ids=["bits", "native"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spelling", SOME)
def test_a_later_call_gives_what_the_first_gave(spelling: str, layout: str, native: bool) -> None:
    kernel = ptxemu.compile(spelling)
    given = [LAYOUTS[layout](x) for x in operands(kernel, native)]
    first = kernel(*given)
    in_blocks = kernel(*given, threads=2)
    for x in (in_blocks, kernel(*given), filled(kernel, given, first)):
        assert x.dtype == first.dtype and x.shape == first.shape
        assert_array_equal(x.view(f"u{x.itemsize}"), first.view(f"u{x.itemsize}"))
    assert type(kernel(*given)) is type(first)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spelling", ["setp.lt.f32", "setp.gtu.xor.f64", "setp.neu.and.bf16x2"])
def test_later_calls_give_both_predicates_too(spelling: str, layout: str) -> None:
    kernel = ptxemu.compile(spelling)
    given, results = [LAYOUTS[layout](x) for x in operands(kernel, False)], len(kernel._signature.results)
    kernel(*given)
    first = kernel(*given, results=results)
    out = tuple(np.empty(np.shape(x), x.dtype) for x in first)
    for found in (kernel(*given, results=results), kernel(*given, results=results, out=out)):
        assert type(found) is tuple and len(found) == 2
        for x, due in zip(found, first, strict=True):
            assert x.dtype == due.dtype == bool and x.shape == due.shape
            assert_array_equal(x, due)
    assert_array_equal(kernel(*given)[0] if results == 1 else kernel(*given), first[0])
    for wrong in (float(results), 3):
        with pytest.raises((TypeError, ValueError), match="result"):
            kernel(*given, results=wrong)


@pytest.mark.parametrize("spelling", SPELLINGS[::100])
def test_one_element_has_the_bits_that_it_has_among_many(spelling: str) -> None:
    kernel = ptxemu.compile(spelling)
    given = operands(kernel, False)
    many = kernel(*given)
    for i in range(8):
        for _ in range(2):
            one = kernel(*(x[i : i + 1] for x in given))
            assert_array_equal(np.asarray(one), np.asarray(many)[..., i : i + 1])


@pytest.mark.parametrize("spelling", ["abs.f32", "neg.f16", "max.f32", "add.bf16"])
def test_a_result_is_an_array_of_its_own(spelling: str) -> None:
    kernel = ptxemu.compile(spelling)
    given = operands(kernel, False)
    before = [x.copy() for x in given]
    for _ in range(3):
        result = kernel(*given)
        assert result.flags.writeable and not any(np.may_share_memory(result, x) for x in given)
        result[...] = 7
    assert all(map(np.array_equal, given, before))


@each_size
def test_what_is_written_into_a_result_is_nothing_to_later_calls(whole: bool) -> None:
    for spelling in SPELLINGS if whole else spread(SPELLINGS, 60):
        kernel = ptxemu.compile(spelling)
        given, results = [x[:4] for x in operands(kernel, False)], len(kernel._signature.results)
        due = [x.copy() for x in list_of(kernel(*given, results=results))]
        for _ in range(3):
            for x, same in zip(list_of(kernel(*given, results=results)), due, strict=True):
                assert_array_equal(x, same, spelling)
                x[...] = 1 - x if x.dtype.kind == "f" else ~x


def list_of(found: Any) -> list[Any]:
    return [*found] if isinstance(found, tuple) else [found]


def test_types_that_came_before_do_not_let_others_in() -> None:
    kernel = ptxemu.compile("add.f32")
    one = np.ones(1, np.float32)
    for _ in range(3):
        kernel(one, one)
    for wrong in (np.ones(1), np.ones(1, np.float16), np.ones(1, np.int32), np.ones(1, np.uint32)):
        with pytest.raises(ptxemu.OperandError):
            kernel(one, wrong)
    with pytest.raises(ptxemu.OperandError, match="masked"):
        kernel(one, np.ma.MaskedArray(one, mask=[True]))
    with pytest.raises(ptxemu.OperandError, match="takes 2 operands, 3 came"):
        kernel(one, one, one)
    with pytest.raises(ValueError, match="do not broadcast"):
        kernel(np.ones(2, np.float32), np.ones(3, np.float32))
    with pytest.raises(TypeError, match="threads is 'x'"):
        kernel(one, one, threads="x")
    with pytest.raises(TypeError, match=r"results is 1\.0"):
        kernel(one, one, results=1.0)
    with pytest.raises(TypeError, match="results is True; it takes 1, or 2"):
        kernel(one, one, results=True)
    with pytest.raises(ValueError, match="has one result, not 2"):
        kernel(one, one, results=2)


class NoArray:
    """Has a type, as an array has, and a shape or none."""

    dtype = np.dtype(np.float32)


@pytest.mark.parametrize("shape", [None, 3, (3,), ()])
def test_what_is_no_array_is_refused_after_arrays_of_its_type(shape: object) -> None:
    kernel, one, other = ptxemu.compile("add.f32"), np.ones(1, np.float32), NoArray()
    if shape is not None:
        other.shape = shape  # type: ignore[attr-defined]
    kernel(one, one)
    for given in ((other, one), (one, other), (other, one[0]), (one[0], other), (other, other)):
        with pytest.raises(ptxemu.OperandError, match="is a NoArray"):
            kernel(*given)


@pytest.mark.parametrize(
    "spelling", ["mov.pred", "not.pred", "setp.lt.xor.f32", "setp.lt.xor.f16", "set.lt.xor.u32.f32", "selp.f32"]
)
def test_a_bool_of_any_byte_is_true(spelling: str) -> None:
    for size in (1, 2, 70):
        kernel = pickle.loads(pickle.dumps(ptxemu.compile(spelling)))  # which was not called before
        found = []
        for byte in (2, 2, 1):
            given = [np.ones(size, t.bits) for _, t in kernel._signature.registers]
            for x in given:
                if x.dtype.kind == "b":
                    x.view(np.uint8)[:] = byte
            found.append(kernel(*given).tobytes())
        assert found[0] == found[1] == found[2]


def test_types_of_another_package_come_back_as_they_came() -> None:
    kernel = ptxemu.compile("add.bf16")
    for one in (ml_dtypes.bfloat16(1.5), np.array([1.5], ml_dtypes.bfloat16)):
        for _ in range(3):
            result = kernel(one, one)
            assert result.dtype == ml_dtypes.bfloat16 and result == 3


@needs_x86
def test_numpy_computes_nothing_where_the_processor_rounds_otherwise() -> None:
    one, least = np.float32([1]), np.float32([1e-40])
    add, function = ptxemu.compile("add.f32"), ptxemu.function("add.f32 d, a, b;")
    for direction, flushing in itertools.product(DIRECTIONS, (False, True)):
        if (direction, flushing) == ("to nearest", False):
            continue
        with left(direction, flushing):
            for call in (add, function):
                for _ in range(3):
                    with pytest.raises(RuntimeError, match=r"the processor .* here"):
                        call(one, least)
            before = one + np.float32([2**-30]), least * np.float32(0.5)
        with left(direction, flushing):
            assert before == (one + np.float32([2**-30]), least * np.float32(0.5))
    assert add(least, least).view(np.uint32) == 2 * least.view(np.uint32)


def test_a_call_is_not_taken_for_the_one_before() -> None:
    kernel, add = ptxemu.compile("setp.lt.f32"), ptxemu.compile("add.f32")
    one, two = np.float32([1]), np.float32([2])
    for _ in range(3):
        assert kernel(one, two).tolist() == [True]
        assert [x.tolist() for x in kernel(one, two, results=2)] == [[True], [False]]
        assert kernel(one.view(np.uint32), two.view(np.uint32)).tolist() == [True]
        assert kernel(one[0], two[0]) and kernel(one, two[0]).tolist() == [True]
        assert kernel(np.tile(one, (2, 3)), two).all()
        out = np.zeros(1, bool)
        assert kernel(one, two, out=out) is out and out.all()
        assert add(one, two).dtype == np.float32 and add(one.view(np.uint32), two.view(np.uint32)).dtype == np.uint32
        for wrong in ((one,), (one, two, one), (one, two.astype(float)), (one, two.view(np.uint32)), (one, "2")):
            with pytest.raises(ptxemu.OperandError):
                kernel(*wrong)
        with pytest.raises(TypeError, match="results"):
            kernel(one, two, results=np.array([1, 2]))  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("spelling", ["add.f32", "mov.b32", "setp.lt.f32", "cvt.rn.f16x2.f32"])
def test_a_later_call_fills_what_the_first_filled(spelling: str, size: int) -> None:
    kernel = ptxemu.compile(spelling)
    given = [x[:size].copy() for x in operands(kernel, False)]
    due = kernel(*given)
    wrong_type, swapped = np.empty(size, np.complex64), np.empty(size, due.dtype.newbyteorder("S"))
    for _ in range(3):
        larger = np.empty((3, size), due.dtype)
        assert kernel(*given, out=larger) is larger and (larger == due).all()
        assert (kernel(*given, out=(np.empty_like(due),)) == due).all()
        assert kernel(*given, out=swapped) is swapped and (swapped == due).all()
        gaps = np.zeros(2 * size, due.dtype)
        kernel(*given, out=gaps[::2])
        assert (gaps[::2] == due).all() and not gaps[1::2].any()
        read_only = np.broadcast_to(due[:1], (size,))
        for wrong, error in [(wrong_type, TypeError), (read_only, ValueError), (np.empty((), due.dtype), ValueError)]:
            with pytest.raises(error, match="out"):
                kernel(*given, out=wrong)
    if due.dtype == given[0].dtype:
        long = np.concatenate([given[0], given[0][:1]])
        again = kernel(long[:-1], *given[1:])
        kernel(long[:-1], *given[1:], out=long[1:])
        assert_array_equal(long[1:], again)


def test_both_predicates_may_go_where_an_operand_was() -> None:
    kernel, a = ptxemu.compile("setp.eq.and.f32"), np.ones(3, np.float32)
    for _ in range(3):
        c, q = np.array([True, False, True]), np.empty(3, bool)
        p, q = kernel(a, a, c, results=2, out=(c, q))
        assert p is c and p.tolist() == [True, False, True] and q.tolist() == [False] * 3
        with pytest.raises(ptxemu.OperandError, match="tuple"):
            kernel(a, a, c, results=2, out=q)


def test_nothing_is_said_and_the_error_state_comes_back_in_later_calls() -> None:
    kernel = ptxemu.compile("add.f32")
    infinity = np.float32([np.inf])
    with warnings.catch_warnings(), np.errstate(over="warn", invalid="raise"):
        warnings.simplefilter("error")
        before = np.geterr()
        for _ in range(3):
            assert np.isnan(kernel(infinity, -infinity))
            assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            infinity - infinity


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_the_error_state_comes_back_after_an_interrupt(error: type[BaseException]) -> None:
    is_due, one = False, np.float32([1])

    def interrupted(x: Any, y: Any) -> Any:
        assert set(np.geterr().values()) == {"ignore"}
        if is_due:
            raise error
        return x

    kernel = pickle.loads(pickle.dumps(ptxemu.compile("add.f32")))
    kernel.__dict__["_choice"] = interrupted, ""
    kernel.__dict__["_ufuncs"] = (None,)
    kernel(one, one)
    before, is_due = np.geterr(), True
    for _ in range(2):
        with pytest.raises(error):
            kernel(one, one)
        assert np.geterr() == before


def test_a_kernel_can_be_pickled_after_it_was_called() -> None:
    kernel = ptxemu.compile("max.f32")
    one = np.ones(1, np.float32)
    kernel(one, one)
    again = pickle.loads(pickle.dumps(kernel))
    assert again(one, one) == again(one, one) == 1


def test_functions_of_ptx_are_called_again_as_kernels_are() -> None:
    f = ptxemu.function("mul.f32 t, a, a;  fma.rn.f32 d, b, b, t;")
    for given in (np.float32([3]), np.float32(3), np.full((2, 3), 3, np.float32)):
        for _ in range(3):
            assert_array_equal(f(given, given), given * 6)

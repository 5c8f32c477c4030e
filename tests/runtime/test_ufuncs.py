"""Kernels in C that NumPy calls by itself: the same bits in any layout, and nothing that NumPy could warn of."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.accelerating import skip_without_a_compiler
from helpers.layouts import LAYOUTS, operands
from numpy.testing import assert_array_equal
from ptxemu import accelerator, environment, kernel as kernels, quick, switch, ufuncs
from ptxemu.signature import signature

skip_without_a_compiler()

SOME = ["add.rz.f32", "fma.rm.bf16", "fma.rn.f32.bf16", "setp.lt.f32", "cvt.rn.f16x2.f32", "cos.approx.f32"]


def registered(kernel: ptxemu.Kernel, *given: Any) -> bool:
    """Is this how such arrays are taken the next time?"""
    plan = kernel._plans[tuple(x.dtype for x in given)]
    return isinstance(plan, quick.Registered)


def left(kernel: ptxemu.Kernel, x: Any) -> Any:
    """The places of the numbers that C leaves undecided."""
    assert kernel._native is not None and kernel._native.decides
    return kernel._native.left([bits(x), np.empty_like(bits(x))])


def bits(x: Any) -> Any:
    return np.asarray(x).view(f"u{x.itemsize}")


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("spelling", SOME)
def test_a_ufunc_gives_numpys_bits_in_any_layout(spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = ptxemu.compile(spelling)
    with monkeypatch.context() as m:
        m.setenv(switch.SWITCH, "0")
        plain = kernels.Kernel(kernel._row, None)
        assert plain._native is None
    for native in (False, True):
        columns = operands(kernel, native)
        kernel(*columns)
        assert registered(kernel, *columns)
        for name, layout in LAYOUTS.items():
            given = [layout(x) for x in columns]
            got, want = kernel(*given), plain(*given)
            assert got.dtype == want.dtype and got.shape == want.shape and type(got) is type(want), name
            assert_array_equal(bits(got), bits(want), err_msg=name)
    given = [np.tile(columns[0], (9, 40, 1))[:, ::3, ::-1], *(x[:1] for x in columns[1:])]
    assert_array_equal(bits(kernel(*given)), bits(plain(*given)))


@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("spelling", ["setp.lt.xor.f32", "setp.neu.f16x2"])
def test_a_ufunc_gives_both_predicates(spelling: str) -> None:
    kernel = ptxemu.compile(spelling)
    columns, results = operands(kernel, False), len(kernel._signature.results)
    first = kernel(*columns, results=results)
    plan = kernel._plans[(*[results] * (results > 1), *(x.dtype for x in columns))]
    assert isinstance(plan, quick.Registered)
    # NumPy says the same of the lanes.
    due = kernel._signature.apply(kernel._function, *(x.copy() for x in columns))
    for found in (first, kernel(*columns, results=results)):
        assert type(found) is tuple and [x.dtype for x in found] == [bool, bool]
        assert all(map(np.array_equal, found, due))
    for layout in LAYOUTS.values():
        given = [layout(x) for x in columns]
        p, q = kernel(*given, results=results)
        assert_array_equal(p, layout(first[0]))
        assert_array_equal(q, layout(first[1]))


@pytest.mark.usefixtures("accelerated")
def test_more_elements_than_are_gathered_at_a_time() -> None:
    kernel = ptxemu.compile("add.rz.f32")
    a = np.arange(9000, dtype=np.float32)
    kernel(a, a)
    assert registered(kernel, a, a)
    for x, y in ((a[::3], a[::-3]), (a, a[5]), (a[:1], a), (a.reshape(9, 1000)[:, ::2], a[:500])):
        assert_array_equal(kernel(x, y), x + y)


@pytest.mark.usefixtures("accelerated")
def test_lanes_left_undecided_are_found_by_numpy() -> None:
    kernel = ptxemu.compile("cos.approx.f32")
    near = (np.arange(1, 20_000, 2) * (np.pi / 2)).astype(np.float32)
    kernel(near)
    plan = kernel._plans[near.dtype,]
    assert isinstance(plan, quick.Registered) and plan.undecided is not None
    undecided = left(kernel, near)
    before = plan.undecided.value
    plan.ufunc(near)
    assert plan.undecided.value - before == undecided.size > 0
    many = kernel(np.tile(near, 12))
    for part in (near[undecided[:1]], near[:300], near[undecided[0]]):
        assert_array_equal(
            kernel(part),
            np.float32(
                [kernel._function(np.atleast_1d(x).view(np.uint32)).view(np.float32)[0] for x in np.atleast_1d(part)]
            ).reshape(part.shape),
        )
    assert_array_equal(many, np.tile(kernel(near), 12))
    # A matrix stays one however it is reshaped.
    out = np.zeros((1, near.size), np.float32).view(np.matrix)
    assert kernel(near.reshape(1, -1), out=out, threads=1) is out
    assert_array_equal(np.asarray(out)[0], kernel(near))


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("spelling", ["add.f32", "div.rp.f64", "cvt.rzi.s32.f32", "ex2.approx.f32", "fma.rn.f16"])
def test_nothing_is_said_and_flags_stay_as_they_were(spelling: str) -> None:
    kernel = ptxemu.compile(spelling)
    columns = operands(kernel, True)
    kernel(*columns)
    assert registered(kernel, *columns)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        before = np.geterr()
        kernel(*columns)
        kernel(*(x[::2] for x in columns))
        kernel(*(x[4] for x in columns))
        assert np.geterr() == before


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("accelerated")
@pytest.mark.skipif(not environment.FLUSHES, reason="the environment cannot be steered on this platform")
@pytest.mark.parametrize("direction", environment._ORDER)
def test_the_callers_environment_neither_counts_nor_changes(direction: str) -> None:
    one, small, least = np.float32([1]), np.float32([2**-30]), np.float32([1e-40])
    add, up = ptxemu.compile("add.f32"), ptxemu.compile("fma.rp.f32")
    for kernel in (add, up):
        kernel(*[np.ones(2, np.float32)] * kernel.operands)
    assert registered(add, one, one) and registered(up, one, one, one)
    with environment.environment(direction, True, True):
        before = (one + small).tobytes(), (least + least).tobytes()
        assert add(one, small).view(np.uint32) == 0x3F800000
        assert add(least, least).view(np.uint32) == 2 * least.view(np.uint32)
        assert up(one, one, small).view(np.uint32) == 0x3F800001
        assert before == ((one + small).tobytes(), (least + least).tobytes())


@pytest.mark.usefixtures("accelerated")
def test_what_a_ufunc_would_cast_is_refused() -> None:
    kernel = ptxemu.compile("add.f32")
    a = np.ones(4, np.float32)
    kernel(a, a)
    assert registered(kernel, a, a)
    for wrong in (
        np.ones(4, np.float16),
        np.ones(4, np.int8),
        np.ones(4, bool),
        np.ones(4),
        np.ones(4, np.uint32),
        np.ma.MaskedArray(a, mask=[True] * 4),
    ):
        with pytest.raises(ptxemu.OperandError):
            kernel(a, wrong)
    with pytest.raises(ValueError, match=r"shapes \(4,\), \(3,\) do not broadcast"):
        kernel(a, a[:3])


@pytest.mark.usefixtures("accelerated")
def test_a_single_element_does_not_hide_that_more_are_worth_a_compiler() -> None:
    kernel, a = ptxemu.compile("add.rm.f32"), np.ones(5, np.float32)
    for _ in range(3):
        kernel(a[:1], a[:1])
    assert "_native" not in kernel.__dict__
    kernel(a, a)
    assert kernel._native is not None and registered(kernel, a, a)
    assert pickle.loads(pickle.dumps(kernel))(a, a).tolist() == [2.0] * 5


@pytest.mark.usefixtures("accelerated")
def test_where_numpy_has_no_such_function_kernels_are_called_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ufuncs, "_functions", lambda: None)
    kernel, a = ptxemu.compile("add.f32"), np.arange(5, dtype=np.float32)
    for _ in range(3):
        assert_array_equal(kernel(a, a), a + a)
        assert_array_equal(kernel(a[::2], a[::2]), a[::2] * 2)
    assert kernel._native is not None and not registered(kernel, a, a)


@pytest.mark.usefixtures("accelerated")
def test_a_call_that_takes_more_than_its_ufunc_makes_no_other() -> None:
    kernel, a = ptxemu.compile("add.f32"), np.ones(5, np.float32)
    kernel(a, a, threads=2)
    before = len(ufuncs._held), kernel._plans[a.dtype, a.dtype]
    for _ in range(3):
        kernel(a, a, threads=2)
    assert before == (len(ufuncs._held), kernel._plans[a.dtype, a.dtype])


@pytest.mark.usefixtures("accelerated")
def test_a_result_that_has_a_place_and_large_arrays_on_one_thread_are_the_ufuncs_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, many = ptxemu.compile("add.f32"), np.arange(1 << 20, dtype=np.float32)
    out = np.zeros_like(many)
    assert kernel(many, many, out=out, threads=1) is out
    assert registered(kernel, many, many)
    few, table = many[:50], np.zeros((3, 50), np.float32)
    with monkeypatch.context() as m:
        m.setattr(kernels.Kernel, "_on_threads", None)  # what any other call comes to
        for place in (np.zeros(50, np.float32), np.zeros(100, np.float32)[::2], table):
            assert kernel(few, few[::-1], out=place) is place
            assert (place == 49).all()
        out[:] = 0
        assert kernel(many, many, out=out, threads=1) is out
        assert_array_equal(out, many * 2)
        assert_array_equal(kernel(many, many, threads=1), out)
        # What is read is read before it is written over.
        over = np.arange(51, dtype=np.float32)
        kernel(over[:-1], over[:-1], out=over[1:])
        assert_array_equal(over[1:], few * 2)
    least = np.zeros(50, np.uint32)
    assert kernel(few.view(np.uint32), few.view(np.uint32), out=least) is least
    with pytest.raises(ptxemu.OperandError, match="out is float64"):
        kernel(few, few, out=np.zeros(50))
    with pytest.raises(ValueError, match="out has shape"):
        kernel(few, few, out=np.zeros(51, np.float32))
    table.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        kernel(few, few, out=table)


@pytest.mark.usefixtures("accelerated")
def test_what_leaves_lanes_of_packed_numbers_undecided_is_no_ufunc() -> None:
    """A ufunc marks elements. No such variant is there yet: the cosine of f32x2 is made up of that of f32."""
    cosine, packed = ptxemu.compile("cos.approx.f32")._function, signature("d:f32x2 = a:f32x2")
    native = accelerator.native("cos.approx.f32x2", "cos", cosine, packed)
    assert native is not None and native.decides and native.ufunc([np.dtype(np.uint64)] * 2, 1) is None
    near = (np.arange(1, 20_001) * (np.pi / 2)).astype(np.float32).view(np.uint64)
    made = np.empty_like(near)
    native([near, made], 2)
    assert_array_equal(made.view(np.uint32), cosine(near.view(np.uint32)))


@pytest.mark.usefixtures("accelerated")
def test_lanes_left_undecided_are_found_in_an_operands_place() -> None:
    kernel = ptxemu.compile("cos.approx.f32")
    near = (np.arange(1, 2000, 2) * (np.pi / 2)).astype(np.float32)
    want = kernel(near)
    assert registered(kernel, near) and left(kernel, near).size
    place = near.copy()
    assert kernel(place, out=place, threads=1) is place
    assert_array_equal(bits(place), bits(want))

"""Formats unlike IEEE 754's, and integers: every function against the exact back end, and against ml_dtypes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.typed import Exact, project
from ptxspec.evaluate import emulator
from ptxspec.model import BOOL, ROUNDINGS, Format, Kind, float_in, number_in
from ptxspec.roots import Root
from ptxspec.semantics.exact.evaluate import FUNCTIONS
from ptxspec.semantics.functions import TABLE
from ptxspec.semantics.program import Apply, Var

Array = np.ndarray[Any, np.dtype[Any]]

SPECIAL = ("e4m3", "e2m1", "e2m3", "e3m2", "ue8m0", "ue5m3", "e3m4", "tf32")
FIXED = ("s2f6", "s8", "u8", "s16", "s32", "u32", "s64", "u64")
ROUNDING = ("addition", "multiplication", "division", "squareRoot", "fusedMultiplyAdd")
OTHERS = sorted(
    name
    for name, f in TABLE.items()
    if not f.rounds and set(f.parameters) == {"float"} and f.needs in ("", "sign") and name != "highWord"
)


class Both:
    """The formats of the project, by name, as both back ends have them."""

    def __init__(self, root: Path) -> None:
        self.model: dict[str, Any] = dict(Exact(root).spec.formats)
        self.emulator = emulator(Root(root))
        self.special = __import__(self.emulator.__name__ + ".special", fromlist=["special"])

    def format(self, name: str) -> Any:
        return getattr(self.emulator.formats, name)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(project(tmp_path_factory.mktemp("formats")))


def every(width: int, operands: int, count: int = 3000) -> list[Array]:
    """All pairs of few bits, else edges and any."""
    dtype = f"u{next(w for w in (8, 16, 32, 64) if w >= width) // 8}"
    if width * operands <= 16:
        pairs = np.arange(1 << width * operands)
        return [(pairs >> width * i & (1 << width) - 1).astype(dtype) for i in range(operands)]
    rng = np.random.default_rng(width)
    columns = []
    for _ in range(operands):
        any_ = rng.integers(0, (1 << width) - 1, count, dtype=np.uint64, endpoint=True)
        # Few bits set or clear, at either end: zeros, the largest, subnormal numbers, ties.
        runs = any_ >> rng.integers(0, width, count).astype(np.uint64) << rng.integers(0, 3, count).astype(np.uint64)
        runs = np.where(rng.random(count) < 0.5, runs, ~runs) & np.uint64((1 << width) - 1)
        columns.append(np.where(rng.random(count) < 0.5, any_, runs).astype(dtype))
    return columns


def agree(got: Array, exact: Callable[..., int], columns: list[Array]) -> None:
    seen: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if row not in seen:
            seen[row] = int(exact(*row))
        assert int(got[i]) == seen[row], (row, int(got[i]), seen[row])


def term(function: str, kind: Kind, operands: list[Kind], f: Format | None, mode: str = "", ftz: bool = False) -> Apply:
    return Apply(kind, function, tuple(Var(k, "x") for k in operands), f, mode, ftz)


@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("name", SPECIAL)
def test_operations_round_as_the_format_is_declared(both: Both, name: str, mode: str, ftz: bool) -> None:
    f = both.model[name]
    kind = float_in(f)
    for function in ROUNDING:
        count = len(TABLE[function].parameters)
        # All pairs are many for fractions: to nearest, and of fewer bits in every direction.
        whole = count * f.width <= 12 or (mode == ROUNDINGS[0] and not ftz and count * f.width <= 16)
        columns = every(f.width, count)
        if not whole:
            chosen = np.random.default_rng(5).integers(0, columns[0].size, 300)
            columns = [c[chosen] for c in columns]
        t = term(function, kind, [kind] * count, f, mode, ftz)
        got = getattr(both.special, function)(*columns, both.format(name), mode, ftz)
        agree(got, lambda *row, t=t, function=function: FUNCTIONS[function](t, *row), columns)


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("function", OTHERS)
def test_functions_that_do_not_round_honour_it_too(both: Both, function: str, name: str) -> None:
    f, row = both.model[name], TABLE[function]
    if row.needs == "sign" and not f.signed:
        return
    kind, count = float_in(f), len(row.parameters)
    columns = every(f.width, count, 1000)
    t = term(function, BOOL if row.result == "bool" else kind, [kind] * count, f)
    agree(getattr(both.special, function)(*columns, both.format(name)), lambda *r: FUNCTIONS[function](t, *r), columns)


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("to", [*SPECIAL, *FIXED, "f16", "f32", "f64", "e5m2"])
def test_conversions(both: Both, to: str, mode: str) -> None:
    target = both.model[to]
    made = number_in(target)
    for source_name in (*SPECIAL, *FIXED, "f16", "f32", "f64", "e5m2"):
        source = both.model[source_name]
        if isinstance(source, Format) and isinstance(target, Format) and source.is_ieee and target.is_ieee:
            continue
        columns = every(source.width, 1, 500)
        chosen = np.random.default_rng(7).permutation(columns[0].size)[:150]
        columns = [c[chosen] for c in columns]
        t = term("convert", made, [number_in(source)], made.format, mode)
        got = both.special.convert(*columns, both.format(source_name), both.format(to), mode, False)
        agree(got, lambda x, t=t: FUNCTIONS["convert"](t, x), columns)


@pytest.mark.parametrize("name", FIXED)
def test_integers_are_compared_with_their_sign(both: Both, name: str) -> None:
    f = both.model[name]
    columns = every(f.width, 2)
    t = term("lessInteger", BOOL, [number_in(f)] * 2, None)
    got = both.special.lessInteger(*columns, both.format(name))
    agree(got, lambda *r: FUNCTIONS["lessInteger"](t, *r), columns)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("e4m3", ml_dtypes.float8_e4m3fn),
        ("e5m2", ml_dtypes.float8_e5m2),
        ("ue8m0", ml_dtypes.float8_e8m0fnu),
        ("e2m3", ml_dtypes.float6_e2m3fn),
        ("e3m2", ml_dtypes.float6_e3m2fn),
        ("e2m1", ml_dtypes.float4_e2m1fn),
    ],
)
def test_values_are_those_of_ml_dtypes(both: Both, name: str, dtype: Any) -> None:
    """All encodings as float64, and from there back."""
    f = both.format(name)
    bits = np.arange(1 << f.width, dtype=np.uint8)
    want = bits.view(dtype).astype(np.float64)
    got = both.special.convert(bits, f, both.format("f64"), ROUNDINGS[0], False)
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got.view(np.float64)), nan)
    np.testing.assert_array_equal(got[~nan], want[~nan].view(np.uint64))
    back = both.special.convert(got, both.format("f64"), f, ROUNDINGS[0], False)
    np.testing.assert_array_equal(back[~nan], bits[~nan])


def test_a_number_too_large_becomes_what_the_format_says(both: Both) -> None:
    """240 + 240 has no encoding in e4m3, whose largest number is 448, and no infinity stands for it."""
    largest = np.uint8([0x77, 0xF7])
    total = both.special.addition(largest, largest, both.format("e4m3"), ROUNDINGS[0], False)
    assert total.tolist() == [0x7F, 0x7F]

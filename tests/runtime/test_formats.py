"""Formats unlike IEEE 754's, as an emulator is generated with them: all of their numbers, and pairs of them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.made_up_instructions import Exact, project
from helpers.sizes import each_size
from ptxspec.evaluate import emulator
from ptxspec.model import ROUNDINGS, float_in
from ptxspec.roots import Root
from ptxspec.semantics.exact.evaluate import FUNCTIONS
from ptxspec.semantics.program import Apply, Var

pytestmark = pytest.mark.inputs("emulator")

Array = np.ndarray[Any, np.dtype[Any]]

EIGHT = ("e4m3", "e2m1", "e2m3", "e3m2", "ue8m0", "ue5m3", "e3m4", "short")


class Both:
    """The formats of the project, by name, as both back ends have them."""

    def __init__(self, root: Path) -> None:
        self.model: dict[str, Any] = dict(Exact(root).spec.formats)
        self.emulator = emulator(Root(root))

    def function(self, module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"{self.emulator.__name__}.{module}"), name)

    def format(self, name: str) -> Any:
        return getattr(self.emulator.formats, name)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(project(tmp_path_factory.mktemp("formats")))


@each_size
@pytest.mark.parametrize("name", EIGHT)
@pytest.mark.parametrize("function", ["addition", "multiplication"])
def test_sums_and_products_of_pairs(both: Both, function: str, name: str, whole: bool) -> None:
    f = both.model[name]
    kind = float_in(f)
    pairs = np.arange(1 << 2 * f.width)
    if not whole and f.width > 6:
        # Each encoding with every 11th, on either side.
        pairs = pairs[pairs % 11 == 0]
    columns = [(pairs >> f.width * i & (1 << f.width) - 1).astype(np.uint8) for i in range(2)]
    t = Apply(kind, function, (Var(kind, "x"), Var(kind, "y")), f, ROUNDINGS[0])
    with np.errstate(all="ignore"):
        got = both.function("declared", function)(*columns, both.format(name), ROUNDINGS[0], False)
    want = [FUNCTIONS[function](t, *row) for row in zip(*(c.tolist() for c in columns), strict=True)]
    np.testing.assert_array_equal(got, want)


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
    got = both.function("conversion", "convert")(bits, f, both.format("f64"), ROUNDINGS[0], False)
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got.view(np.float64)), nan)
    np.testing.assert_array_equal(got[~nan], want[~nan].view(np.uint64))
    back = both.function("conversion", "convert")(got, both.format("f64"), f, ROUNDINGS[0], False)
    np.testing.assert_array_equal(back[~nan], bits[~nan])


def test_a_number_too_large_becomes_what_the_format_says(both: Both) -> None:
    """240 + 240 has no encoding in e4m3, whose largest number is 448, and no infinity stands for it."""
    largest = np.uint8([0x77, 0xF7])
    total = both.function("declared", "addition")(largest, largest, both.format("e4m3"), ROUNDINGS[0], False)
    assert total.tolist() == [0x7F, 0x7F]

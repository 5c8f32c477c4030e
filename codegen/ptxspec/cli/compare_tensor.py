"""compare: what the tensor cores of two targets make of the same matrices."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import evaluate as e, roots, tensor, terminal
from ..diagnostics import PtxspecError
from ..literals import hexadecimal, registered
from ..matrices.forms import Form, form_named
from ..model import Type
from ..query.lists import wrapped
from ..tensor import Cores
from . import NO, OK, database

# Products of matrices, and how far from 1 exponents are.
_PRODUCTS, _SPREAD = 100, 3
_BITS = NDArray[np.uint64]


class Side(NamedTuple):
    """A form on a target."""

    form: Form
    target: str

    def __str__(self) -> str:
        return f"{self.form}@{self.target}"


class Found(NamedTuple):
    """The results of both sides that differ: how many of how many, how many steps of the format apart, and an example:
    a row of A, a column of B, an element of C and both results."""

    tried: int
    ulps: tuple[int, ...]
    example: tuple[list[int], list[int], int, int, int] | None


def run(options: argparse.Namespace, cores: Cores) -> int:
    db = database(options)
    sides = []
    for text in (options.a, options.b):
        name, _, target = text.partition("@")
        try:
            form = form_named(name, cores.forms, cores.elements)
        except ValueError as error:
            raise PtxspecError(str(error)) from None
        if not (target := target.strip() or options.target or ""):
            raise PtxspecError(f"{text}: write a target behind it, as in {name}@H100")
        sides.append(Side(form, db.target(target)))
    a, b = sides
    if (a.form.shape, a.form.types) != (b.form.shape, b.form.types) or a.form.is_scaled or b.form.is_scaled:
        raise PtxspecError(f"{a.form} and {b.form}: what has the same shape, the same types and no scales is compared")
    types = tensor.types(db, a.form)
    try:
        found = _compared(e.emulator(roots.find(options.root)), a, b, types)
    except (LookupError, ValueError, TypeError) as error:
        raise PtxspecError(str(error)) from None
    print(
        json.dumps(_as_json(a, b, found, types), indent=2) if options.format == "json" else _as_text(a, b, found, types)
    )
    return NO if found.ulps else OK


def _compared(emulator: Any, a: Side, b: Side, types: tuple[Type, ...]) -> Found:
    elements_of = import_module(f"{emulator.__name__}.tensor").elements_of
    (m, n, k), rng = a.form.size, np.random.default_rng(754)
    given = [_drawn(rng, t, (_PRODUCTS, *size)) for t, size in zip(types[1:], ((m, k), (k, n), (m, n)), strict=True)]
    matrices = [elements_of(x, t) for x, t in zip(given, a.form.types[1:], strict=True)]
    first, second = (_bits(emulator.mma(s.form.spelling, *matrices, target=s.target)) for s in (a, b))
    at = first != second
    if not at.any():
        return Found(first.size, (), None)
    ulps = np.abs(_ordered(first[at], types[0]) - _ordered(second[at], types[0]))
    p, i, j = np.argwhere(at)[0]
    x, y, z = given
    return Found(
        first.size, tuple(int(u) for u in ulps),
        (x[p, i].tolist(), y[p, :, j].tolist(), int(z[p, i, j]), int(first[p, i, j]), int(second[p, i, j])),
    )  # fmt: skip


def _drawn(rng: np.random.Generator, t: Type, size: tuple[int, ...]) -> _BITS:
    """Return encodings: of numbers near 1, or any integers."""
    f = t.kind.format
    if f is None:
        return rng.integers(0, 2**t.kind.width - 1, size, np.uint64, endpoint=True)
    least, most = (max(0, f.bias - _SPREAD), min(f.bias + _SPREAD, f.largest >> f.fraction_bits))
    magnitudes = rng.integers(
        least << f.fraction_bits, min(f.largest, (most + 1 << f.fraction_bits) - 1), size, np.uint64
    )
    sign = rng.integers(0, 2, size, np.uint64) << np.uint64(f.exponent_bits + f.fraction_bits)
    found: _BITS = (magnitudes | sign) << np.uint64(f.shift)
    return found


def _bits(x: NDArray[Any]) -> _BITS:
    return x.view(f"u{x.dtype.itemsize}").astype(np.uint64)


def _ordered(bits: _BITS, t: Type) -> NDArray[np.int64]:
    """Return numbers in the order of the format's: neighbours differ by 1."""
    if t.kind.format is None:
        return bits.astype(np.int64)
    sign = np.uint64(t.kind.format.sign_bit)
    magnitude = (bits & ~sign).astype(np.int64)
    return np.where(bits & sign, -magnitude, magnitude)


def _as_text(a: Side, b: Side, found: Found, types: tuple[Type, ...]) -> str:
    tried = f"Tried: {_PRODUCTS} products of matrices with elements near 1, {found.tried:,} results."
    width = terminal.lines_width() or 80
    if found.example is None:
        return "\n".join(wrapped(f"{a} and {b} are equal. {tried}", "", "", width))
    row, column, c, first, second = found.example
    ulps, (d, of_a, of_b, of_c) = sorted(found.ulps), types
    half, most = (f"{ulps[i]:,} ulp" for i in (len(ulps) // 2, -1))
    lines = wrapped(f"{a} and {b} differ. {tried}", "", "", width)
    lines += [
        "",
        *wrapped(f"{len(ulps):,} results differ: half of them by {half} or less, and the worst by {most}.", "", ""),
    ]
    lines += ["", "for example"]
    for target, bits in ((a.target, first), (b.target, second)):
        lines += wrapped(f"{registered(bits, d)} on {target}", "  ", "    ", width)
    sums = ((row, of_a), (column, of_b), ([c], of_c))
    operands = " ".join(",".join(hexadecimal(x, t.width) for x in bits) for bits, t in sums)
    return "\n".join([*lines, "why", f"  ptxspec eval {a.form} {operands} --target {a.target} --trace"])


def _as_json(a: Side, b: Side, found: Found, types: tuple[Type, ...]) -> dict[str, Any]:
    ulps = sorted(found.ulps)
    example = None
    if found.example:
        row, column, c, first, second = found.example
        d, of_a, of_b, of_c = types
        example = {
            "a": [hexadecimal(x, of_a.width) for x in row],
            "b": [hexadecimal(x, of_b.width) for x in column],
            "c": hexadecimal(c, of_c.width),
            "results": [hexadecimal(first, d.width), hexadecimal(second, d.width)],
        }
    return {
        "schema": 1,
        "a": {"form": a.form.spelling, "target": a.target},
        "b": {"form": b.form.spelling, "target": b.target},
        "equal": not ulps,
        "tried": found.tried,
        "differ": len(ulps),
        "median_ulp": ulps[len(ulps) // 2] if ulps else None,
        "largest_ulp": ulps[-1] if ulps else None,
        "example": example,
    }

"""compare: compare what the tensor cores of two targets compute from the same matrices."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
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

# The number of matrix products, and the greatest distance of an element's exponent from that of 1.
_PRODUCTS, _SPREAD = 100, 3
_BITS = NDArray[np.uint64]


class Side(NamedTuple):
    """A form on a target."""

    form: Form
    target: str

    def __str__(self) -> str:
        return f"{self.form}@{self.target}"


class FormDifferences(NamedTuple):
    """The differences between both sides: the number of results tried, the distance in ulp of each pair that differs,
    and an example. The example has a row of A, a column of B, an element of C and the scales, by name, and both
    results."""

    tried: int
    ulps: tuple[int, ...]
    example: tuple[dict[str, list[int]], int, int] | None


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
            raise PtxspecError(f"{text} has no target; add one, as in {name}@H100")
        sides.append(Side(form, db.target(target)))
    a, b = sides
    if _matrices(a.form) != _matrices(b.form):
        raise PtxspecError(f"{a.form} and {b.form}: only forms of the same shape, types and scales can be compared")
    if a.form.is_sparse:
        raise PtxspecError(f"{a.form}: sparse forms are not supported here; those of integers are exact on all targets")
    types = tensor.types(db, cores, a.form)
    try:
        found = _compared(e.emulator(roots.find(options.root)), a, b, types)
    except (LookupError, ValueError, TypeError) as error:
        raise PtxspecError(str(error)) from None
    print(
        json.dumps(_as_json(a, b, found, types), indent=2) if options.format == "json" else _as_text(a, b, found, types)
    )
    return NO if found.ulps else OK


def _matrices(f: Form) -> tuple[Any, ...]:
    return f.sizes, f.types, f.scales, f.scale_type


def _compared(emulator: Any, a: Side, b: Side, types: Mapping[str, Type]) -> FormDifferences:
    elements_of = import_module(f"{emulator.__name__}.tensor").elements_of
    rng, f = np.random.default_rng(754), a.form
    (m, n), *of_abc = f.sizes
    sizes = dict(zip("abc", of_abc, strict=True)) | {"scale_a": (m, f.scales), "scale_b": (f.scales, n)}
    given = {name: _drawn(rng, of, (_PRODUCTS, *sizes[name])) for name, of in types.items() if name in sizes}
    matrices = {name: elements_of(x, types[name].name) for name, x in given.items()}
    first, second = (_bits(emulator.mma(s.form.spelling, **matrices, target=s.target)) for s in (a, b))
    at = first != second
    if not at.any():
        return FormDifferences(first.size, (), None)
    ulps = np.abs(_ordered(first[at], types["d"]) - _ordered(second[at], types["d"]))
    p, i, j = np.argwhere(at)[0]
    places = {
        "a": (p, i),
        "b": (p, slice(None), j),
        "c": (p, i, [j]),
        "scale_a": (p, i),
        "scale_b": (p, slice(None), j),
    }
    example = {name: x[places[name]].tolist() for name, x in given.items()}
    return FormDifferences(
        first.size, tuple(int(u) for u in ulps), (example, int(first[p, i, j]), int(second[p, i, j]))
    )


def _drawn(rng: np.random.Generator, t: Type, size: tuple[int, ...]) -> _BITS:
    """Return random encodings: of numbers near 1, or of any integers."""
    f = t.kind.format
    if f is None:
        return rng.integers(0, 2**t.kind.width - 1, size, np.uint64, endpoint=True)
    least, most = (max(0, f.bias - _SPREAD), min(f.bias + _SPREAD, f.largest >> f.fraction_bits))
    magnitudes = rng.integers(
        least << f.fraction_bits, min(f.largest, (most + 1 << f.fraction_bits) - 1), size, np.uint64
    )
    sign = rng.integers(0, 2, size, np.uint64) * np.uint64(f.sign_bit)
    found: _BITS = (magnitudes | sign) << np.uint64(f.shift)
    return found


def _bits(x: NDArray[Any]) -> _BITS:
    return x.view(f"u{x.dtype.itemsize}").astype(np.uint64)


def _ordered(bits: _BITS, t: Type) -> NDArray[np.int64]:
    """Return integers in the order of the format's numbers: neighbouring numbers differ by 1."""
    if t.kind.format is None:
        return bits.astype(np.int64)
    sign = np.uint64(t.kind.format.sign_bit)
    magnitude = (bits & ~sign).astype(np.int64)
    return np.where(bits & sign, -magnitude, magnitude)


def _as_text(a: Side, b: Side, found: FormDifferences, types: Mapping[str, Type]) -> str:
    tried = f"Tried: {_PRODUCTS} products of matrices with elements near 1, {found.tried:,} results."
    width = terminal.lines_width() or 80
    if found.example is None:
        return "\n".join(wrapped(f"{a} and {b} are equal. {tried}", "", "", width))
    example, first, second = found.example
    ulps = sorted(found.ulps)
    half, most = (f"{ulps[i]:,} ulp" for i in (len(ulps) // 2, -1))
    lines = wrapped(f"{a} and {b} differ. {tried}", "", "", width)
    lines += [
        "",
        *wrapped(f"{len(ulps):,} results differ: half of them by {half} or less, and the worst by {most}.", "", ""),
    ]
    lines += ["", "for example"]
    for target, bits in ((a.target, first), (b.target, second)):
        lines += wrapped(f"{registered(bits, types['d'])} on {target}", "  ", "    ", width)
    operands = " ".join(",".join(_hexadecimal(example, name, types)) for name in example)
    return "\n".join([*lines, "why", f"  ptxspec eval {a.form} {operands} --target {a.target} --trace"])


def _hexadecimal(example: Mapping[str, list[int]], name: str, types: Mapping[str, Type]) -> list[str]:
    return [hexadecimal(x, types[name].width) for x in example[name]]


def _as_json(a: Side, b: Side, found: FormDifferences, types: Mapping[str, Type]) -> dict[str, Any]:
    ulps = sorted(found.ulps)
    example: dict[str, Any] | None = None
    if found.example:
        operands, *results = found.example
        example = {name: _hexadecimal(operands, name, types) for name in operands}
        (example["c"],) = example["c"]
        example["results"] = [hexadecimal(x, types["d"].width) for x in results]
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

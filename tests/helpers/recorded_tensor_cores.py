"""Results that tensor cores of GPUs returned, as Khattak and Mikaitis published them, and what the emulator returns;
and how far the emulator's results are from exact sums.

`python tests/helpers/recorded_tensor_cores.py` writes spec/observed/tensor_cores.yaml anew."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
from numpy.typing import NDArray
from ptxemu import tensor
from ptxemu.index import CATALOG
from ptxemu.matrices.rows import row_of
from ptxemu.tensor_cores import FORMS, ROWS
from ptxspec.files import replace_text

from helpers import ROOT

PUBLISHED = "https://github.com/north-numerical-computing/MATLAB-tensor-core"
OBSERVED = "spec/observed/tensor_cores.yaml"
FOLDER = Path(os.environ.get("PTXSPEC_RECORDED") or ROOT.parent / "shared/recorded-tensor-cores")
_TARGETS = {
    "V100": "sm_70", "A100": "sm_80", "A2": "sm_86", "Ada": "sm_89", "L40S": "sm_89", "H100": "sm_90", "H200": "sm_90",
    "B200": "sm_100",
}  # fmt: skip
# The types of the inputs, and K of the form.
_INPUTS = {"fp16": ("f16", 16), "bf16": ("bf16", 16), "tf32": ("tf32", 8), "E4M3": ("e4m3", 32), "E5M2": ("e5m2", 32)}
_HEAD = """\
# yaml-language-server: $schema=../schema/tensor_cores.schema.json
# How many of the recorded results of a GPU the emulator returns, and the digest of what it returns for all of them.
# Written by tests/helpers/recorded_tensor_cores.py; do not edit.
source: recorded
sets:
"""
_APART = """
# How far results are from the exact sums, of matrices of normally distributed numbers: how many of them are not the
# nearest number, and the median and the largest of the errors, in units in the last place.
apart:
"""


@dataclass(frozen=True)
class Recorded:
    """A set of results: each is the sum of the products of a row of A and a column of B, and of c. All are bits, c and
    the results as the form has them."""

    gpu: str
    target: str
    form: str
    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    d: NDArray[Any]

    def computed(self) -> NDArray[Any]:
        """The emulator's results: the vectors stand in the first row and the first column of matrices of zeros."""
        form = ptxemu.fragments(self.form).form
        m, n, k = form.size
        found = []
        for some in np.array_split(np.arange(len(self.a)), max(1, len(self.a) // 250)):
            a = np.zeros((len(some), m, k), self.a.dtype)
            b = np.zeros((len(some), k, n), self.b.dtype)
            c = np.zeros((len(some), m, n), self.c.dtype)
            length = self.a.shape[1]
            a[:, 0, :length], b[:, :length, 0], c[:, 0, 0] = self.a[some], self.b[some], self.c[some]
            found.append(ptxemu.mma(self.form, a, b, c, target=self.target)[:, 0, 0])
        return np.concatenate(found)


def sets(folder: Path = FOLDER) -> Iterator[Recorded]:
    """Yield the sets of a folder. Those of FP8 with results of f32 that Hopper recorded are of another instruction,
    wgmma, and are left out."""
    for path in sorted(folder.glob("*.npz.xz")):
        gpu, inputs = path.name.partition(".")[0].split("_")
        kept = np.load(io.BytesIO(lzma.decompress(path.read_bytes())))
        of, k = _INPUTS[inputs]
        shape = "m8n8k4" if gpu == "V100" else f"m16n8k{k}"
        for result in ("f32", "f16"):
            name = f"d_fp{result[1:]}"
            if name not in kept or (_TARGETS[gpu] == "sm_90" and of[0] == "e" and result == "f32"):
                continue
            c, d = (_narrowed(kept[x], result) for x in ("c", name))
            yield Recorded(gpu, _TARGETS[gpu], f"{shape}.{result}.{of}", kept["a"], kept["b"], c, d)


def _narrowed(x: NDArray[Any], result: str) -> NDArray[Any]:
    """Numbers of f32 as bits of the result's type; what is f16 was widened, and c was rounded first."""
    return x.view(np.float32).astype(np.float16).view(np.uint16) if result == "f16" else x


def entry(one: Recorded) -> str:
    """A set's line in the file."""
    found = one.computed()
    equal = int((found == one.d).sum())
    digest = hashlib.sha256(found.tobytes()).hexdigest()[:16]
    return (
        f"  - {{gpu: {one.gpu}, target: {one.target}, form: {one.form}, products: {one.a.shape[1]}, "
        f"vectors: {len(found)}, equal: {equal}, digest: {digest}}}\n"
    )


# Tiles for each form.
_TILES = 50


def forms() -> Iterator[tuple[str, str]]:
    """Yield forms of each rule, with the largest K, and a target of it: one for each type of the elements and of the
    result."""
    seen = set()
    every = sorted(FORMS, key=lambda f: -f.size[2])
    for n, row in enumerate(ROWS):
        for f in every:
            d, a, b, c = f.types
            plain = [t for t, known in CATALOG.targets.items() if not known.base or t.endswith("f")]
            for target in () if row.exact or f.is_scaled or a != b or c != d else plain:
                base = CATALOG.targets[target].base or target
                if CATALOG.takes(f.requires, target) and row_of(f, base, ROWS) is row and (n, d, a) not in seen:
                    seen.add((n, d, a))
                    yield f.spelling, target


def apart(form: str, target: str) -> str:
    """How far the results of a form are from exact sums, as a line of the file."""
    f = ptxemu.fragments(form).form
    (d, a, _, _), (m, n, k) = f.types, f.size
    rng = np.random.default_rng(754)
    x, y, z = (rng.standard_normal((_TILES, *size)) for size in ((m, k), (k, n), (m, n)))
    x, y, z = _as(x, a), _as(y, a), _as(z, d)
    found = ptxemu.mma(form, x, y, z, target=target)
    fraction = {"f32": 23, "f16": 10, "f64": 52}[d]
    errors = []
    p, q, r, s = (np.vectorize(_exact, otypes=[object])(v) for v in (x, y, z, found))
    for got, want in zip(s.ravel(), (p @ q + r).ravel(), strict=True):
        errors.append(float(abs(got - want) / Fraction(2) ** (_exponent(want) - fraction)))
    return (
        f"  - {{form: {'.'.join((f.shape, d, a))}, target: {CATALOG.targets[target].base or target}, "
        f"results: {found.size}, not_nearest: {sum(e > 0.5 for e in errors)}, median: {np.median(errors):.2f}, "
        f"largest: {max(errors):.3g}}}\n"
    )


def _as(x: NDArray[Any], of: str) -> NDArray[Any]:
    native = tensor.native_of(of)
    assert native is not None
    found = x.astype(native)
    return (found.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) if of == "tf32" else found


def _exact(x: Any) -> Fraction:
    return Fraction(float(x))


def _exponent(x: Fraction) -> int:
    """The exponent of a number's leading bit."""
    if not x:
        return -126
    n = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return n if abs(x) >= Fraction(2) ** n else n - 1


def written() -> str:
    """The file."""
    return _HEAD + "".join(map(entry, sets())) + _APART + "".join(apart(*f) for f in forms())


if __name__ == "__main__":
    if not FOLDER.is_dir():
        raise SystemExit(f"{FOLDER} holds no recording; PTXSPEC_RECORDED names the folder of those from {PUBLISHED}")
    replace_text(ROOT / OBSERVED, written())

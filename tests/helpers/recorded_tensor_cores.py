"""Results that tensor cores of GPUs returned, as Khattak and Mikaitis published them, and what the emulator returns.

`python tests/helpers/recorded_tensor_cores.py` writes spec/observed/tensor_cores.yaml anew."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
from numpy.typing import NDArray
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
        f"  - {{gpu: {one.gpu}, target: {one.target}, form: {one.form}, vectors: {len(found)}, equal: {equal}, "
        f"digest: {digest}}}\n"
    )


if __name__ == "__main__":
    lines = [entry(one) for one in sets()]
    if not lines:
        raise SystemExit(f"{FOLDER} holds no recording; PTXSPEC_RECORDED names the folder of those from {PUBLISHED}")
    replace_text(ROOT / OBSERVED, _HEAD + "".join(lines))

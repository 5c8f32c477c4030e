"""The sums of tensor cores against MMA-Sim, the published model, on random matrices: `pip install mmasim torch`."""

from __future__ import annotations

from typing import Any

import numpy as np
import ptxemu
import pytest
from helpers.matrices import SORTS, drawn
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="MMA-Sim needs torch: pip install mmasim torch", exc_type=ImportError)
isa = pytest.importorskip("mmasim.nv_ptx.isa_mma", reason="pip install mmasim", exc_type=ImportError)
sim = pytest.importorskip("mmasim.nv_ptx.sim", reason="pip install mmasim", exc_type=ImportError)

TARGETS = {
    "Volta": "sm_70", "Turing": "sm_75", "Ampere": "sm_80", "Ada Lovelace": "sm_89", "Hopper": "sm_90",
    "Blackwell": "sm_100", "RTX Blackwell": "sm_120a",
}  # fmt: skip
_OF_TORCH = {
    "f64": "float64", "f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2",
}  # fmt: skip
DENSE = [(arch, name) for arch, names in isa.mma_shape_and_type.items() for name in names]
SCALED = isa.mma_block_scale_shape_and_type["RTX Blackwell"]


def given(x: NDArray[Any], of: str) -> Any:
    """Encodings as torch has them; MMA-Sim takes FP6 and FP4 in their bytes."""
    if of not in _OF_TORCH:
        return torch.from_numpy(x << 2 if of == "e2m1" else x)
    signed = np.dtype(f"i{x.dtype.itemsize}") if x.dtype.itemsize > 1 else np.dtype("u1")
    return torch.from_numpy(x.view(signed)).view(getattr(torch, _OF_TORCH[of]))


def same(found: Any, want: Any, of: str) -> bool:
    """Return whether all bits are the same. Of f64 the bits of NaNs are not told by the model."""
    other = want.contiguous().view(getattr(torch, f"int{8 * found.dtype.itemsize}")).numpy().view(found.dtype)
    if of == "f64":
        x, y = found.view(np.float64), other.view(np.float64)
        return bool(((found == other) | (np.isnan(x) & np.isnan(y))).all())
    return bool((found == other).all())


@pytest.mark.parametrize(("arch", "name"), DENSE, ids=map(" ".join, DENSE))
def test_products_are_summed_alike(arch: str, name: str) -> None:
    model = sim.MMA(arch, name)
    d, a, b, c = [part for part in name.split(".")[1:] if not part.startswith("kind")]
    rng = np.random.default_rng([754, *name.encode()])
    for sort in SORTS:
        x, y = drawn(rng, a, (model.m, model.k), sort), drawn(rng, b, (model.k, model.n), sort)
        z = drawn(rng, c, (model.m, model.n), sort)
        for added in (z, np.zeros_like(z)):
            found = ptxemu.mma(name, x, y, added, target=TARGETS[arch])
            assert same(found, model(given(x, a), given(y, b), given(added, c)), d), sort


@pytest.mark.parametrize("name", SCALED)
def test_blocks_are_scaled_alike(name: str) -> None:
    model = sim.MMABlockScale("RTX Blackwell", name)
    shape, kind, _, d, a, b, c, of_scale = name.split(".")
    count = model.k // model.block_size
    form = f"mma.sync.aligned.{shape}.row.col.{kind}.block_scale.scale_vec::{count}X.{d}.{a}.{b}.{c}.{of_scale}"
    native = torch.float8_e8m0fnu if of_scale == "ue8m0" else torch.float8_e4m3fn
    rng = np.random.default_rng([754, *name.encode()])
    for sort in SORTS:
        x, y = drawn(rng, a, (model.m, model.k), sort), drawn(rng, b, (model.k, model.n), sort)
        z = drawn(rng, c, (model.m, model.n), sort)
        scales = [drawn(rng, of_scale, s, sort) for s in ((model.m, count), (count, model.n))]
        found = ptxemu.mma(form, x, y, z, target="sm_120a", scale_a=scales[0], scale_b=scales[1])
        if model.packing == 2:
            pair = (torch.from_numpy(x[:, ::2] | x[:, 1::2] << 4), torch.from_numpy(y[::2] | y[1::2] << 4))
        else:
            pair = (given(x, a), given(y, b))
        want = model(*pair, given(z, c), *(torch.from_numpy(s).view(native) for s in scales))
        assert same(found, want, d), sort

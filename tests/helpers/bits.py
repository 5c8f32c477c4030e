"""The bits that kernels give for operands that a number determines: the same wherever they are computed."""

from __future__ import annotations

import sys
import threading
import zlib
from typing import Any

import numpy as np
import ptxemu

# By native operations in steered directions, by integers, by tables, in lanes, with two results, in binary64.
SPELLINGS = (
    "add.rz.f32", "fma.rm.ftz.f32", "mul.rp.f64", "div.full.f32", "ex2.approx.f32", "sin.approx.f32", "max.NaN.bf16x2",
    "fma.rn.relu.f16x2", "cvt.rna.tf32.f32", "set.lt.u32.f32", "testp.subnormal.f64",
)  # fmt: skip
# Enough that kernels share them among threads, and NumPy takes long enough for a compiler to be worth it.
SIZE = 1 << 17


def kernels() -> list[Any]:
    """Of variants, and of a piece of PTX."""
    return [*map(ptxemu.compile, SPELLINGS), ptxemu.function("fma.rz.f32 t, a, b, c;  rsqrt.approx.f32 d, t;")]


def of(kernel: Any, seed: int, size: int = SIZE, threads: int | None = None) -> int:
    """A digest of them."""
    rng = np.random.default_rng(seed)
    piece = [np.dtype(np.uint32)] * 3
    types = [t.bits for _, t in kernel._signature.registers] if isinstance(kernel, ptxemu.Kernel) else piece
    operands = [rng.integers(0, 1 << 64, size, np.uint64).astype(t) for t in types]
    found = kernel(*operands, threads=threads)
    return zlib.crc32(np.ascontiguousarray(found).tobytes())


def main() -> None:
    """Of several threads that meet each kernel at once, in a process of its own: each thread's digests in a line."""
    count, met = int(sys.argv[1]), [list[Any]() for _ in range(int(sys.argv[1]))]
    barrier = threading.Barrier(count)

    def meet(n: int) -> None:
        barrier.wait(120)
        for kernel in kernels():
            barrier.wait(120)
            met[n].append([of(kernel, 1) for _ in range(3)])

    threads = [threading.Thread(target=meet, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found in met:
        print([set(each).pop() if len(set(each)) == 1 else each for each in found])


if __name__ == "__main__":
    main()

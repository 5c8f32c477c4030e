"""Kernels that make numbers of packed integers, in the ways of libraries of language models: compiled by nvcc and run
here, against the definition of each format."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import ptxemu
import pytest
from numpy.typing import NDArray

pytestmark = pytest.mark.inputs(
    "emulator",
    *(f"generated/python/ptxemu/{name}.py" for name in ("entries", "memory", "straightline", "threads", "variables")),
)

SOURCE = """\
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL(name, result) extern "C" __global__ void name(const uint32_t *words, const int *which, result *d, int n)
#define ELEMENT int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return

__constant__ float levels[16] = {-1, -.75f, -.5f, -.375f, -.25f, -.125f, -.0625f, 0,
                                 .0625f, .125f, .1875f, .25f, .375f, .5f, .75f, 1};
static __device__ const int8_t steps[8] = {-8, -5, -3, -1, 1, 3, 5, 8};

// Four bits beside the fraction of 1024 or 64 times 16, of which the excess is taken away.
__device__ __forceinline__ uint4 halves(uint32_t q) {
    uint4 d;
    asm("lop3.b32 %0, %1, %2, %3, 234;" : "=r"(d.x) : "r"(q), "n"(0x000f000f), "n"(0x64006400));
    asm("lop3.b32 %0, %1, %2, %3, 234;" : "=r"(d.y) : "r"(q), "n"(0x00f000f0), "n"(0x64006400));
    q >>= 8;
    asm("lop3.b32 %0, %1, %2, %3, 234;" : "=r"(d.z) : "r"(q), "n"(0x000f000f), "n"(0x64006400));
    asm("lop3.b32 %0, %1, %2, %3, 234;" : "=r"(d.w) : "r"(q), "n"(0x00f000f0), "n"(0x64006400));
    asm("sub.f16x2 %0, %0, %1;" : "+r"(d.x) : "r"(0x64086408));
    asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(d.y) : "r"(0x2c002c00), "r"(0xd480d480));
    asm("sub.f16x2 %0, %0, %1;" : "+r"(d.z) : "r"(0x64086408));
    asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(d.w) : "r"(0x2c002c00), "r"(0xd480d480));
    return d;
}

KERNEL(nibbles, uint4) { ELEMENT; d[i] = halves(words[i]); }

// What is asked for by a number that nobody knows stands in local memory.
KERNEL(one_nibble, __half) { ELEMENT; uint4 all = halves(words[i]); d[i] = ((__half *)&all)[which[i] & 7]; }

KERNEL(bytes, __nv_bfloat162) {
    ELEMENT;
    for (int j = 0; j < 4; j += 2) {
        float low = __uint_as_float(__byte_perm(words[i], 0x4b000000, 0x7650 + j)) - 8388736.f;
        float high = __uint_as_float(__byte_perm(words[i], 0x4b000000, 0x7651 + j)) - 8388736.f;
        d[2 * i + j / 2] = __floats2bfloat162_rn(low, high);
    }
}

KERNEL(eights, __half2) {
    ELEMENT;
    uint32_t q = words[i];
    const __half2 bias = __float2half2_rn(256.f);
    uint32_t odd = (q & 0x80008000) | ((q & 0x7f007f00) >> 1), even = ((q & 0x00800080) << 8) | ((q & 0x007f007f) << 7);
    d[2 * i] = __hmul2(*(__half2 *)&even, bias);
    d[2 * i + 1] = __hmul2(*(__half2 *)&odd, bias);
}

KERNEL(constants, float) { ELEMENT; d[i] = levels[words[i] & 15] * levels[words[i] >> 28]; }

KERNEL(globals, float) { ELEMENT; for (int j = 0; j < 4; j++) d[4 * i + j] = steps[words[i] >> 8 * j & 7] * 0.5f; }

KERNEL(threes, __half) {
    ELEMENT;
    int bit = 3 * which[i], at = bit / 32;
    uint32_t q = __funnelshift_r(words[3 * i + at], words[3 * i + min(at + 1, 2)], bit & 31);
    d[i] = __int2half_rn((int)(q & 7) - 4);
}

KERNEL(tree, float) {
    ELEMENT;
    uint32_t q = words[i];
    float x;
    if (q & 4)
        if (q & 2) x = q & 1 ? 0.25f : 0.375f; else x = q & 1 ? 3.f : 6.f;
    else if (which[i] > 3) x = 0.f;
    else x = q & 2 ? 12.f : 8.f;
    d[i] = q & 8 ? -x : x;
}

KERNEL(scaled, __half2) {
    ELEMENT;
    __half2 scale = __half2half2(__ushort_as_half(0x2c00 | which[i])), zero = __half2half2(__int2half_rn(which[i]));
    for (int j = 0; j < 4; j++) {
        __half2 q = __halves2half2(__int2half_rn(words[i] >> 8 * j & 15), __int2half_rn(words[i] >> 8 * j + 4 & 15));
        d[4 * i + j] = __hmul2(__hsub2(q, zero), scale);
    }
}
"""
N = 1000
ROWS = np.arange(N)
Words = NDArray[np.uint32]


def fields(words: Words, width: int) -> NDArray[np.int64]:
    """The fields of so many bits of each word, the low ones first."""
    return (words[:, None] >> np.arange(0, 32, width, dtype=np.uint32)).astype(np.int64) & ((1 << width) - 1)


def half(x: Any) -> NDArray[Any]:
    return np.asarray(x, np.float64).astype(np.float16).view(np.uint16)


def bf16(x: Any) -> NDArray[Any]:
    """The bits of numbers that bf16 has."""
    return (np.asarray(x, np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def single(x: Any) -> NDArray[Any]:
    return np.asarray(x, np.float32).view(np.uint32)


def e4m3(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    exponent, fraction = bits >> 3 & 15, bits & 7
    x = np.where(exponent, (8 + fraction) * 2.0 ** (exponent - 10), fraction * 2.0**-9)
    return np.where(bits >> 7, -x, x)


LEVELS = np.float32([-1, -0.75, -0.5, -0.375, -0.25, -0.125, -0.0625, 0])
LEVELS = np.concatenate([LEVELS, np.float32([0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.75, 1])])
STEPS = np.array([-8, -5, -3, -1, 1, 3, 5, 8])
# Nibbles come in pairs, four places apart.
PAIRS = [0, 4, 1, 5, 2, 6, 3, 7]


def of_tree(words: Words, which: NDArray[np.int32]) -> NDArray[Any]:
    left = np.where(which > 3, 0, np.where(words & 2, 12, 8))
    right = np.where(words & 2, np.where(words & 1, 0.25, 0.375), np.where(words & 1, 3, 6))
    x = np.where(words & 4, right, left)
    return single(np.where(words & 8, -x, x))


def of_threes(words: Words, which: NDArray[np.int32]) -> NDArray[Any]:
    bits = np.unpackbits(words.view(np.uint8).reshape(N, 12), axis=1, bitorder="little").astype(np.int64)
    return half(sum(bits[ROWS, 3 * which + j] << j for j in range(3)) - 4)


def of_scaled(words: Words, which: NDArray[np.int32]) -> NDArray[Any]:
    scale = np.float64(np.uint16(0x2C00 | which).view(np.float16))
    return half((fields(words, 4) - which[:, None]) * scale[:, None])


EXPECTED: dict[str, Callable[[Words, NDArray[np.int32]], NDArray[Any]]] = {
    "nibbles": lambda words, _: half(fields(words, 4)[:, PAIRS] - 8),
    "one_nibble": lambda words, which: half(fields(words, 4)[:, PAIRS][ROWS, which & 7] - 8),
    "bytes": lambda words, _: bf16(fields(words, 8) - 128),
    "eights": lambda words, _: half(e4m3(fields(words, 8)[:, [0, 2, 1, 3]])),
    "constants": lambda words, _: single(LEVELS[words & 15] * LEVELS[words >> 28]),
    "globals": lambda words, _: single(STEPS[fields(words, 8) & 7] / 2),
    "threes": of_threes,
    "tree": of_tree,
    "scaled": of_scaled,
}


@pytest.fixture(scope="module", params=["sm_80", "sm_90", "sm_120a"])
def module(request: pytest.FixtureRequest, nvcc: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "k.cu").write_text(SOURCE)
    command = [nvcc, f"-arch={request.param}", "-ptx", "-o", folder / "k.ptx", folder / "k.cu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "k.ptx"


@pytest.mark.parametrize("name", EXPECTED)
def test_packed_integers_become_the_numbers_of_their_format(name: str, module: Path) -> None:
    random = np.random.default_rng(1)
    words = random.integers(0, 1 << 32, N * 3 if name == "threes" else N, np.uint32)
    which = random.integers(0, 32, N, np.int32)
    wanted = EXPECTED[name](words, which)
    found = np.zeros(wanted.shape, wanted.dtype)
    ptxemu.kernel(module, name)(-(-N // 128), 128, words, which, found, N)
    assert (found == wanted).all()


@pytest.mark.parametrize(("name", "declared"), [("one_nibble", ".local"), ("constants", ".const"), ("tree", "bra")])
def test_kernels_have_what_they_are_here_for(name: str, declared: str, module: Path) -> None:
    text = module.read_text("utf-8")
    _, _, body = text.partition(f".entry {name}(")
    assert declared in (text if declared == ".const" else body.partition(".entry")[0])

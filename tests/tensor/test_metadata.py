"""Metadata of sparse forms against the machine code that ptxas writes.

From sm_100 on machines want stored elements in their order. What mma.sp may have in any order is ordered by code before
the instruction: elements of A in their registers, and metadata in those of the lanes that the selector names. From
sm_90 on elements of 4 bits are multiplied as those of 8. What such code makes of registers is unpacked here, and
compared with the matrices that were packed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.machine_code import listed
from helpers.sparse import drawn, integers
from oracles import nvidia
from oracles.warp import LANES, Lanes, Warp

pytestmark = pytest.mark.inputs("spec/tensor", "codegen/ptxspec/proving/ptxas")

STEP = 4
OBSERVED = "ptxas 13.5.37"
Multiply = Callable[[Warp, str, Sequence[str]], None]


def kernel(f: ptxemu.Fragments, selector: int, target: str) -> str:
    """A kernel whose lanes load the registers of A, B, C and metadata, `STEP` bytes apart, and store those of D."""
    d, a, b, c = f.form.registers
    types = [".f32" if t == "f32" else ".b32" for t in f.form.types]
    names = [[f"%{x}{i}" for i in range(n)] for x, n in zip("dabc", (d, a, b, c), strict=True)]
    declared = [f".reg {t} {', '.join(of)};" for t, of in zip(types, names, strict=True)]
    loads = [(t, name) for t, of in zip(types[1:], names[1:], strict=True) for name in of] + [(".b32", "%e")]
    loaded = [f"ld.global{t} {name}, [%in+{STEP * n}];" for n, (t, name) in enumerate(loads)]
    stored = [f"st.global{types[0]} [%in+{STEP * n}], {name};" for n, name in enumerate(names[0])]
    vectors = ", ".join(f"{{{', '.join(of)}}}" for of in names)
    return "\n".join([
        f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p) {{",
        ".reg .u64 %in, %own; .reg .u32 %lane; .reg .b32 %e;", *declared,
        "ld.param.u64 %in, [p]; mov.u32 %lane, %tid.x; mul.wide.u32 %own, %lane, 256; add.u64 %in, %in, %own;",
        *loaded, f"{f.form.spelling} {vectors}, %e, {selector};", *stored, "ret; }",
    ])  # fmt: skip


def ran(
    f: ptxemu.Fragments, selector: int, target: str, registers: Sequence[Lanes], folder: Path, multiply: Multiply
) -> Lanes:
    """The registers of D that the machine code leaves, with what it multiplies computed by a function."""
    code = listed(nvidia.ptxas(OBSERVED), nvidia.nvdisasm(), folder, kernel(f, selector, target))["k"]
    words = np.concatenate(registers, -1)
    warp = Warp({STEP * n: words[:, n] for n in range(words.shape[1])}, multiply)
    warp.run(code)
    return np.stack([warp.memory[STEP * n] for n in range(f.d.registers)], -1)


def with_others(metadata: Lanes, f: ptxemu.Fragments, selector: int, rng: np.random.Generator) -> Lanes:
    """Registers of metadata with anything in those of the lanes that do not give it."""
    give = sorted({f.metadata.where(row, column, selector)[0][0] for row, column in np.ndindex(f.metadata.size)})
    found = rng.integers(0, 2**32, (LANES, 1), np.uint32)
    found[give] = metadata[give]
    return found


SELECTED = [
    ("m16n8k16.sp.f32.f16", 4), ("m16n8k32.sp.f32.f16", 2), ("m16n8k32.sp.s32.s8", 2), ("m16n8k64.sp.s32.s8", 1),
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(("form", "selector"), [(form, s) for form, count in SELECTED for s in range(count)])
def test_ptxas_orders_what_is_packed(form: str, selector: int, tmp_path: Path) -> None:
    """All but the places 2 and 1, which the machine takes."""
    f, rng = ptxemu.fragments(form), np.random.default_rng(selector)
    elements = np.arange(1, 2**16, dtype=np.uint16) if f.a.type == "f16" else integers(f.a.type)
    stored, places, whole = drawn(f.form, rng, elements)
    registers = [f.a.pack(stored), *(np.zeros((LANES, x.registers), np.uint32) for x in (f.b, f.c))]
    registers.append(with_others(f.metadata.pack(places, selector), f, selector, rng))
    seen = []

    def multiply(warp: Warp, opcode: str, operands: Sequence[str]) -> None:
        d, a, _, _, e, chosen = operands
        its_places = f.metadata.unpack(warp.several(e, 1), int(chosen, 16))
        seen.append((f.a.unpack(warp.several(a, f.a.registers)).view(elements.dtype), its_places))
        warp.write(d, np.zeros((LANES, f.d.registers), np.uint32))

    ran(f, selector, "sm_100", registers, tmp_path, multiply)
    ((found, its_places),) = seen
    pairs, before = (set(map(tuple, x.reshape(-1, 2).tolist())) for x in (its_places, places))
    assert len(before) == 12 and pairs == {(i, j) for i, j in before if i < j} | {(2, 1)}
    again = np.zeros_like(whole)
    np.put_along_axis(again, np.arange(its_places.shape[1]) // 2 * 4 + its_places, found, -1)
    assert np.array_equal(again, whole)


@pytest.mark.parametrize(("shape", "selector"), [("m16n8k64", 0), ("m16n8k64", 1), ("m16n8k128", 0)])
@pytest.mark.parametrize("types", ["s4.s4", "u4.s4", "s4.u4"])
@pytest.mark.sampled(2)
def test_ptxas_multiplies_elements_of_4_bits_as_those_of_8(
    shape: str, selector: int, types: str, tmp_path: Path
) -> None:
    f, rng = ptxemu.fragments(f"{shape}.sp.s32.{types}.s32"), np.random.default_rng(selector)
    of_a, of_b = types.split(".")
    stored, places, whole = drawn(f.form, rng, integers(of_a))
    b = rng.choice(integers(of_b), f.b.size)
    c = rng.integers(-1000, 1000, f.c.size).astype(np.int32)
    registers = [x.pack(given) for x, given in ((f.a, stored), (f.b, b), (f.c, c))]
    registers.append(with_others(f.metadata.pack(places, selector), f, selector, rng))

    def multiply(warp: Warp, opcode: str, operands: Sequence[str]) -> None:
        d, a, b, c, e, chosen = operands
        *_, size, a8, b8 = opcode.lower().split(".")
        g = ptxemu.fragments(f"m16n8k{size.removeprefix('168')}.sp.s32.{a8}.{b8}.s32")
        three = (warp.several(x, part.registers) for x, part in ((a, g.a), (b, g.b), (c, g.c)))
        warp.write(d, g.mma(*three, target="sm_90", metadata=warp.several(e, 1), selector=int(chosen, 16)))

    found = f.d.unpack(ran(f, selector, "sm_90", registers, tmp_path, multiply))
    assert np.array_equal(found, whole.astype(np.int64) @ b.astype(np.int64) + c)

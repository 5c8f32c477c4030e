"""Functions in which all lanes of a warp multiply matrices: as ptxemu.mma does on the matrices that the lanes hold."""

from __future__ import annotations

import numpy as np
import ptxemu
import pytest
from helpers.matrices import operands
from numpy.typing import NDArray
from ptxemu.matrices.forms import form_named
from ptxemu.tensor_cores import ELEMENTS, FORMS

F = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
OPERANDS = "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3}"


def registers(x: NDArray[np.generic]) -> list[NDArray[np.generic]]:
    """The arrays of lanes, one for each register."""
    return [*np.moveaxis(x, -1, 0)]


def named(letter: str, count: int) -> str:
    return "{" + ", ".join(f"{letter}{i}" for i in range(count)) + "}"


@pytest.mark.parametrize(
    ("form", "target"),
    [("m16n8k16.f32.f16", "H100"), ("m16n8k32.f16.e4m3", "L40S"), ("m16n8k4.f64", "H100"), ("m8n8k16.s32.s8", "A100"),
     ("m16n8k64.sp.s32.s8", "A100"), ("m16n8k32.kind::mxf8f6f4.block_scale.f32.e4m3", "sm_120a")],
)  # fmt: skip
def test_lanes_multiply_what_they_hold(form: str, target: str) -> None:
    f = ptxemu.fragments(form)
    (a, b, c), more = operands(np.random.default_rng(7), f.form, "near", (3,), (3,))
    given = {"a": f.a.pack(a), "b": f.b.pack(b), "c": f.c.pack(c)}
    text = ", ".join(named(x, n) for x, n in zip("dabc", f.form.registers, strict=True))
    for name, x in more.items():
        given[name] = getattr(f, name).pack(x)
        text += f", {name}, {'0' if name == 'metadata' else '{0, 0}'}"
    function = ptxemu.function(f"{f.form} {text};", target)
    named_arrays = {
        name if name in more else f"{name}{i}": r for name, x in given.items() for i, r in enumerate(registers(x))
    }
    found = f.d.unpack(np.stack(function(**{name: named_arrays[name] for name in function.inputs}), -1))
    assert found.tobytes() == ptxemu.mma(form, a, b, c, target=target, **more).tobytes()


def test_statements_around_it_are_of_each_lane() -> None:
    """Each lane doubles its elements of A in the first half of K, and adds one to a sum."""
    function = ptxemu.function(f"add.f16x2 a0, a0, a0; {F} {OPERANDS}; add.f32 e, d0, 0f3F800000;", "A100", ["e"])
    two = np.full(32, 0x40004000, np.uint32)
    arrays = dict.fromkeys(function.inputs, two) | {f"d{i}": np.zeros(32, np.float32) for i in range(4)}
    assert function(**arrays).tolist() == [8 * 4 * 2 + 8 * 2 * 2 + 1] * 32


def test_several_warps_and_arrays_of_any_layout() -> None:
    function = ptxemu.function(f"{F} {OPERANDS};", "A100")
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal((5, 96)).astype(np.float32) for _ in range(4)]
    arrays += [rng.integers(0, 0x3C00, (5, 96)).astype(np.uint32) for _ in range(6)]
    arrays = [x for _, x in sorted(zip([function.inputs.index(n) for n in named_inputs()], arrays, strict=True))]
    whole = np.stack(function(*arrays))
    assert np.array_equal(whole, np.stack(function(*map(np.asfortranarray, arrays))))
    apart = [np.stack(function(*(x[i, j : j + 32] for x in arrays))) for i in range(5) for j in (0, 32, 64)]
    assert np.array_equal(whole.reshape(4, 15, 32), np.stack(apart, 1))


def named_inputs() -> list[str]:
    return [*(f"d{i}" for i in range(4)), *(f"a{i}" for i in range(4)), "b0", "b1"]


@pytest.mark.parametrize(
    ("text", "target", "says"),
    [
        (f"{F} {OPERANDS};", None, "1:1: what mma.sync.* computes depends on the target; name one, as in"),
        (f"{F} {OPERANDS};", "sm_75", f"1:1: {F} needs sm_80, PTX 7.0"),
        (f"@p {F} {OPERANDS};", "A100", "1:4: .* by all lanes at once; no guard or branch may leave some out"),
        (f"{F} {OPERANDS.replace('{b0, b1}', '{b0}')};", "A100", "1:87: B of m16n8k16 must be 2 registers in braces"),
        (f"{F} {{d0, d1, d2, d3}};", "A100", "takes the operands d, a, b, c, not 1"),
        (F.replace("k16", "k61") + f" {OPERANDS};", "A100", "is no form of mma"),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {d0, d1, d2, d3, d4, d5, d6, d7}, {a0, a1}, {b0, b1}, "
         "{d0, d1, d2, d3, d4, d5, d6, d7};", "A100", "no source says how sm_80 computes"),
        (f".reg .b16 a0; {F} {OPERANDS};", "A100", "a0 is a .b16 register; one of 32 bits is required here"),
    ],
)  # fmt: skip
def test_what_is_not_run_is_refused(text: str, target: str | None, says: str) -> None:
    with pytest.raises(ptxemu.StatementError, match=says):
        ptxemu.function(text, target)


def test_what_is_added_to_must_come_in() -> None:
    d, a = (", ".join(f'"{letter}"({name}{i})' for i in range(4)) for letter, name in (("=f", "d"), ("r", "a")))
    text = f"{F} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
    with pytest.raises(ptxemu.StatementError, match='d0 is read before it is written, and its constraint is "="'):
        ptxemu.function(f'asm("{text}" : {d} : {a}, "r"(b0), "r"(b1));', "A100")


def test_arrays_have_the_lanes_of_warps() -> None:
    function = ptxemu.function(f"{F} {OPERANDS};", "A100")
    for shape in ((), (31,), (32, 1)):
        with pytest.raises(ptxemu.OperandError, match="the last axis must have the 32 lanes of a warp"):
            function(*(np.zeros(shape, np.uint32) for _ in function.inputs))


def test_a_kernel_runs_its_threads_by_themselves() -> None:
    text = f""".version 8.0
.target sm_80
.entry k(.param .u64 out) {{
    .reg .b32 a<4>, b<2>; .reg .f32 d<4>;
    {F} {OPERANDS};
    ret;
}}"""
    with pytest.raises(ptxemu.StatementError, match=r"each thread runs by itself here; ptxemu\.function"):
        ptxemu.kernel(text)


def test_a_trace_has_each_register() -> None:
    function = ptxemu.function(f"{F} {OPERANDS};", "A100")
    steps = function.trace(*(np.zeros(32, np.uint32) for _ in function.inputs))
    assert [s.register for s in steps] == ["d0", "d1", "d2", "d3"]
    assert form_named(F, FORMS, ELEMENTS).registers[0] == len(steps)

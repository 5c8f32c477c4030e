"""Kernels of Triton in its own interpreter, with inline assembly. `pytest` leaves them out, CI has a step for them: the
wheel is larger than all else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import ptxemu.triton
import pytest
from helpers.sizes import spread
from ptxspec import Database
from ptxspec.model import IntrinsicSignature, Spec
from ptxspec.proving.nvcc import llvm, record, triton as compiler
from ptxspec.proving.nvcc.body import work

try:
    import triton
    import triton.language as tl
    from triton.runtime import interpreter
except ImportError:
    triton = tl = interpreter = None

pytestmark = pytest.mark.skipif(triton is None, reason="Triton's wheel is not to be had here")


class Storage:
    """An array's memory as the interpreter copies it."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def cpu(self) -> Storage:
        return self

    def copy_(self, other: Storage) -> None:
        self._array[...] = other._array


class Tensor:
    """An array as the interpreter takes it, in the stead of torch's tensor."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    @property
    def dtype(self) -> str:
        return f"torch.{self.array.dtype.name}"

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> Storage:
        return Storage(self.array)

    def new_empty(self, size: int, device: str) -> Tensor:
        return Tensor(self.array)

    def set_(self, *_: Any) -> None:
        pass

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        return (1,)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The interpreter as it is before and after."""
    builder = interpreter.InterpreterBuilder
    monkeypatch.setattr(builder, "create_inline_asm", builder.create_inline_asm)
    ptxemu.triton.install()
    yield


def bytes_as_numbers(a, b, c, d, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    x = tl.load(a + tl.arange(0, BLOCK))
    y = tl.load(b + tl.arange(0, BLOCK))
    (n, m) = tl.inline_asm_elementwise(
        asm="""
        {
            .reg .b8 t<4>;
            mov.b32 {t0, t1, t2, t3}, $8;
            cvt.u32.u8 $0, t0;
            cvt.u32.u8 $1, t1;
            cvt.u32.u8 $2, t2;
            cvt.u32.u8 $3, t3;
        }
        cvt.rn.f32.s32 $4, $0;
        cvt.rn.f32.s32 $5, $1;
        cvt.rn.f32.s32 $6, $2;
        cvt.rn.f32.s32 $7, $3;
        max.f32 $4, $4, $9;
        max.f32 $5, $5, $10;
        max.f32 $6, $6, $11;
        max.f32 $7, $7, $12;
        """,
        constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        args=[x, y],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=4,
    )
    tl.store(c + tl.arange(0, BLOCK), n)
    tl.store(d + tl.arange(0, BLOCK), m)


def test_several_elements_are_taken_at_a_time() -> None:
    a, b = np.arange(64, dtype=np.uint8), np.linspace(0, 100, 64, dtype=np.float32)
    c, d = np.zeros(64, np.int32), np.zeros(64, np.float32)
    run(bytes_as_numbers, a, b, c, d, BLOCK=64)
    assert (c == a).all() and (d == np.maximum(a.astype(np.float32), b)).all()


def rounded_down(a, b, d, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    x = tl.load(a + tl.arange(0, BLOCK))
    y = tl.load(b + tl.arange(0, BLOCK))
    z = tl.inline_asm_elementwise("add.rm.f32 $0, $1, $2;", "=f,f,f", [x, y], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(d + tl.arange(0, BLOCK), z)


def test_rounding_is_the_instructions() -> None:
    a, b = np.full(16, 1, np.float32), np.float32(2.0) ** -np.arange(16, 32, dtype=np.float32)
    d = np.zeros(16, np.float32)
    run(rounded_down, a, b, d, BLOCK=16)
    exact = a.astype(np.float64) + b
    assert (d <= exact).all() and (np.nextafter(d, np.float32(2)) > exact).all()


def halves(a, d, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    x = tl.load(a + tl.arange(0, BLOCK))
    z = tl.inline_asm_elementwise("fma.rn.f16x2 $0, $1, $1, $1;", "=r,r", [x], dtype=tl.float16, is_pure=True, pack=2)
    tl.store(d + tl.arange(0, BLOCK), z)


def test_halves_stand_together() -> None:
    a, d = np.arange(32, dtype=np.float16), np.zeros(32, np.float16)
    run(halves, a, d, BLOCK=32)
    assert (d == a * a + a).all()


def loaded(a, d, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    x = tl.load(a + tl.arange(0, BLOCK))
    z = tl.inline_asm_elementwise("ld.global.b32 $0, [$1];", "=r,l", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(d + tl.arange(0, BLOCK), z)


def test_what_cannot_be_run_is_told() -> None:
    with pytest.raises(interpreter.InterpreterError, match="there is no memory here"):
        run(loaded, np.zeros(16, np.int64), np.zeros(16, np.int32), BLOCK=16)


def run(kernel: Any, *arrays: np.ndarray[Any, Any], **constants: int) -> None:
    """Run one program of a kernel."""
    triton.jit(kernel)[(1,)](*map(Tensor, arrays), **constants)


def test_triton_makes_some_of_the_recorded_ptx_anew(spec: Spec) -> None:
    assert spec.triton is not None and spec.triton.compiler == f"Triton {compiler.version()}"
    recorded = {c.call: c for c in spec.triton.calls}
    asked = spread(compiler.calls(spec.signatures), 40)
    for target in ("sm_75", "sm_90a"):
        found = compiler.compiled(asked, target)
        assert len(found) > 30
        for call in asked:
            now = [work(call, found[call]).ptx] if call in found else []
            told = recorded[call.written].becomes if call.written in recorded else ()
            assert now == [b.ptx for b in told if target in b.targets], call


def test_a_target_that_triton_lacks_has_no_kernels(spec: Spec) -> None:
    assert compiler.compiled(compiler.calls(spec.signatures)[:1], "sm_20") == {}


def test_llvm_knows_only_names_of_intrinsics() -> None:
    names = ("llvm.nvvm.fma.rn.f", "llvm.nvvm.fma.rx.f", "llvm.nothing.f")
    asked = llvm.calls([IntrinsicSignature(name, ("float",) * 3, "float") for name in names])
    for target in ("sm_80", "sm_100f"):
        assert [c.name for c in llvm.compiled(asked, target)] == [names[0]]
    assert llvm.compiled(asked, "sm_999") == {}


def test_llvm_makes_the_recorded_ptx_anew(spec: Spec, db: Database) -> None:
    assert spec.intrinsics is not None
    # Of releases of LLVM that differ in what an intrinsic gives, this one takes one.
    recorded = {(c.call, c.gives): c for c in spec.intrinsics.calls}
    for target in ("sm_75", "sm_121a"):
        asked = llvm.calls(spec.signatures)
        found = record.compiled_by_llvm(db, asked, target)
        assert len(found) > 400
        for call in asked:
            now = [work(call, found[call]).ptx] if call in found else []
            known = recorded.get((call.written, call.gives))
            assert now == [b.ptx for b in (known.becomes if known else ()) if target in b.targets], call

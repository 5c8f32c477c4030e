"""Kernels are compiled ahead of their first call: those of an opcode in one go."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers.accelerating import skip_without_a_compiler
from ptxemu import accelerator, compiling, switch
from ptxemu.lookup import rows_of

skip_without_a_compiler()

A = np.array([1, 2.5, -3, np.inf, 1e-40], np.float32)


def test_all_kernels_of_an_opcode_are_one_library(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warmed = ptxemu.warm("neg")
    assert [k.variant.spelling for k in warmed] == [row.variant.spelling for row in rows_of("neg")]
    said = capsys.readouterr().err
    assert said.startswith("ptxemu: compiling ") and " kernels of neg with " in said and said.count("\n") == 1
    assert len(list(fresh.glob("*.so"))) == 1
    kernel = ptxemu.compile("neg.ftz.f32")
    assert kernel.is_in_c
    np.testing.assert_array_equal(kernel(A), np.where(np.abs(A) < 1e-38, -0.0, -A))
    bits = np.array([0x80003C00, 0x40004200], np.uint32)
    np.testing.assert_array_equal(ptxemu.execute("neg.f16x2", bits), bits ^ np.uint32(0x80008000))


@pytest.mark.usefixtures("fresh")
def test_variants_and_pieces_of_ptx_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(switch.SWITCH)
    monkeypatch.setattr(switch, "_has_wheel", lambda: False)
    f = ptxemu.function("add.rz.f32 d, a, b;")
    assert ptxemu.warm("abs.f32", f) == [ptxemu.compile("abs.f32"), f]
    assert f._pieces and ptxemu.compile("abs.f32").is_in_c
    np.testing.assert_array_equal(f(A, A), A + A)


@pytest.mark.usefixtures("fresh")
def test_what_is_compiled_serves_however_a_kernel_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(switch.SWITCH)
    monkeypatch.setattr(switch, "_has_wheel", lambda: False)
    (warmed,) = ptxemu.warm("add.rz.f32")
    assert all(ptxemu.compile(s, n) is warmed for s in ("add.rz.f32", " add.rz.f32") for n in (None, 2))
    assert pickle.loads(pickle.dumps(warmed)).is_in_c and ptxemu.compile("add.rz.f32", target="sm_90").is_in_c
    # Nobody waits for what is compiled meanwhile.
    monkeypatch.setattr(accelerator, "_lock", None)
    assert not ptxemu.compile("add.rm.f32").is_in_c and ptxemu.compile("add.rz.f32", target="sm_80").is_in_c


@pytest.mark.usefixtures("fresh")
def test_where_it_is_forbidden_or_cannot_be_nothing_is_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as m:
        m.setenv(switch.SWITCH, "0")
        assert ptxemu.warm("neg", "add.f32") == []
        assert capsys.readouterr().err == ""
    monkeypatch.setattr(compiling, "_on_path", lambda name: None)
    monkeypatch.setattr(compiling, "find_spec", lambda name: None)
    assert ptxemu.warm("neg") == []
    said = capsys.readouterr().err
    assert "there is no C compiler" in said and said.count("\n") == 1


@pytest.mark.usefixtures("fresh")
def test_what_is_unknown_is_said() -> None:
    with pytest.raises(ptxemu.UnknownVariantError, match="did you mean 'neg'"):
        ptxemu.warm("negg")
    with pytest.raises(ptxemu.UnknownTargetError, match="unknown target 'sm_1'"):
        ptxemu.warm("neg", target="sm_1")

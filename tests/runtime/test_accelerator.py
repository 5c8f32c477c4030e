"""Kernels in C: the same bits as NumPy's and as MPFR's, found, built, kept and refused as accelerator.py says."""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import mpmath  # type: ignore[import-untyped]
import numpy as np
import ptxemu
import pytest
from helpers import ROOT, groups
from helpers.grids import pairs, small, special, triples
from oracles import judge
from ptxemu import (
    accelerator,
    arithmetic,
    comparison,
    compiling,
    encoding,
    environment,
    formats,
    kernel as kernels,
)
from ptxemu.binary import DIRECTIONS, Array, Format
from ptxemu.index import TYPES, VARIANTS
from ptxspec.check.checking import check
from ptxspec.emit.generate import generate
from ptxspec.emit.lowering import shared
from ptxspec.emit.products import native
from ptxspec.read.link import read

A = np.array([1, 2.5, -3, np.inf, 1e-40], np.float32)
B = np.array([2, -2.5, 1e-9, 1, 1e-40], np.float32)

try:
    compiling._compiler()
except compiling.Failure as e:
    pytest.skip(str(e), allow_module_level=True)


class Function(NamedTuple):
    """A function of a generated module, with what its kernels need to know."""

    apply: Callable[..., Array]
    format: Format
    operands: int
    predicate: bool


def functions(opcode: str) -> dict[str, Function]:
    module = importlib.import_module(f"ptxemu.instructions.{opcode}")
    predicates = {spelling for spelling, _, _, predicate, _ in VARIANTS if predicate}
    found = {}
    for (spelling, operands), choice in module.KERNELS.items():
        f = getattr(formats, TYPES[spelling.rpartition(".")[2]][0])
        for function in choice.values():
            found[function.__name__] = Function(function, f, operands, spelling in predicates)
    return found


OPCODES = sorted({v.spelling.partition(".")[0] for v in ptxemu.variants()})
WITH_C = [opcode for opcode in OPCODES if accelerator.exported(opcode)]


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, accelerator.Native]:
    """Every function that has C, an opcode's in one library."""
    found: dict[str, accelerator.Native] = {}
    with pytest.MonkeyPatch.context() as m:
        m.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for opcode in WITH_C:
            has = accelerator.exported(opcode)
            some = {name: f.apply for name, f in functions(opcode).items() if name in has}
            found |= accelerator.load(opcode, some, f"all of {opcode}")
    return found


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """As in a new process with an empty cache, which it gives, and the accelerator switched on."""
    monkeypatch.setenv(kernels.SWITCH, "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    forget(monkeypatch)
    yield tmp_path / "cache" / "ptxemu"
    kernels._compile.cache_clear()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "_kernels", {})
    monkeypatch.setattr(compiling, "_said", set())
    monkeypatch.setattr(compiling, "_broken", [])
    kernels._compile.cache_clear()
    compiling.source.cache_clear()
    accelerator.exported.cache_clear()


@pytest.fixture
def accelerated(fresh: Path, monkeypatch: pytest.MonkeyPatch, everything: dict[str, accelerator.Native]) -> None:
    """Kernels run in C, wherever there is C."""
    monkeypatch.setattr(accelerator, "_kernels", dict(everything))


# The bits


def grid(f: Format, operands: int) -> list[Array]:
    fields = f.exponent_bits, f.fraction_bits
    if operands == 1:
        return [special(*fields)]
    return pairs(special(*fields)) if operands == 2 else triples(small(*fields))


def assert_same(name: str, function: Function, kernel: accelerator.Native, operands: list[Array]) -> None:
    operands = [np.ascontiguousarray(x) for x in operands]
    with np.errstate(all="ignore"):
        want = function.apply(*operands)
    got = np.empty_like(want)
    kernel([*operands, got])
    wrong = np.flatnonzero(got != want)
    shown = [tuple(hex(int(x[i])) for x in (*operands, got, want)) for i in wrong[:3]]
    assert not wrong.size, f"{name}: {wrong.size} of {got.size} differ from NumPy's: {shown}"


@pytest.mark.parametrize("opcode", WITH_C)
def test_every_kernel_gives_numpys_bits(opcode: str, everything: dict[str, accelerator.Native]) -> None:
    for name, function in functions(opcode).items():
        if name in everything:
            random = judge.random_operands(function.format.name, function.operands, 1 << 12)
            columns = zip(grid(function.format, function.operands), random, strict=True)
            assert_same(name, function, everything[name], [np.concatenate(c) for c in columns])


@pytest.mark.exhaustive
@pytest.mark.parametrize("opcode", WITH_C)
def test_every_kernel_gives_numpys_bits_for_a_million_operands(
    opcode: str, everything: dict[str, accelerator.Native]
) -> None:
    for name, function in functions(opcode).items():
        if name in everything:
            operands = judge.random_operands(function.format.name, function.operands, 1 << 20)
            assert_same(name, function, everything[name], list(operands))


# In an order that lets variants share MPFR's results.
JUDGED = sorted(groups.GROUPS, key=lambda g: (g[2], g[0], sorted(g[1] - {"sat", "relu"}), len(g[1])))


def check_against_mpfr(group: tuple[str, frozenset[str], str, int], size: int) -> None:
    for spelling in groups.GROUPS[group]:
        assert ptxemu.compile(spelling, group[3])._native is not None, spelling
    groups.check(group, list(judge.random_operands(group[2], group[3], size)))


@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("group", JUDGED[::9], ids=groups.ids)
def test_kernels_give_mpfrs_bits(group: tuple[str, frozenset[str], str, int]) -> None:
    check_against_mpfr(group, 1 << 12)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize("group", JUDGED, ids=groups.ids)
def test_every_kernel_gives_mpfrs_bits(group: tuple[str, frozenset[str], str, int]) -> None:
    check_against_mpfr(group, 1 << 18)


def built(folder: Path, text: str, *flags: str) -> str:
    """C of a test's own as a library: its path."""
    path = str(folder / "built.so")
    compiling._build(compiling._compiler(), [*compiling.FLAGS, *flags], text, path, "C of a test's own")
    return path


# Formats that PTX does not have, which a specification may add: each takes another way through the C.
OTHERS = [Format("e5m2", 5, 2, 0x7F), Format("e4m11", 4, 11, 0x7FFF), Format("e7m8", 7, 8, 0x7FFF)]
ROUNDED = {
    "addition": 2, "subtraction": 2, "multiplication": 2, "division": 2, "squareRoot": 1, "fusedMultiplyAdd": 3,
}  # fmt: skip
OPERATIONS = {**vars(arithmetic), **vars(comparison), **vars(encoding)}
OF_BITS = {"maximum": 2, "minimumNumber": 2, "compareLess": 2, "compareNotEqual": 2, "isSubnormal": 1, "isSignaling": 1}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("f", [*OTHERS, Format("e10m21", 10, 21, 0x7FFFFFFF)], ids=lambda f: f.name)
def test_formats_that_ptx_does_not_have(f: Format, tmp_path: Path) -> None:
    text = '#include "formats.h"\n#include "kernel.h"\n'
    text += f"#define FORMAT {f.name}\n#define EXPONENT_BITS {f.exponent_bits}\n"
    text += f"#define FRACTION_BITS {f.fraction_bits}\n#define CANONICAL_NAN {f.canonical_nan}\n"
    text += '#include "operations.h"\n'
    cases: list[tuple[str, str, int, tuple[Any, ...]]] = [(name, name, n, (f,)) for name, n in OF_BITS.items()]
    if f.carrier is not None:
        for name, n in ROUNDED.items():
            for mode in DIRECTIONS:
                cases += [(f"{name}_{mode}_{int(ftz)}", name, n, (f, mode, ftz)) for ftz in (False, True)]
    for case, name, n, (_, *how) in cases:
        unsigned = f"uint{f.width}_t"
        arguments = ", ".join(["a", "b", "c"][:n] + [str(int(h)) if isinstance(h, bool) else h for h in how])
        operands = ", ".join(f"{unsigned} {x}" for x in "abc"[:n])
        result = "uint8_t" if name.startswith(("is", "compare")) else unsigned
        text += f"static inline {result} {case}({operands}) {{ return {name}_{f.name}({arguments}); }}\n"
        text += f"KERNEL_{n}({case}, {unsigned}, {result}, roundTiesToEven)\n"
    library = ctypes.CDLL(built(tmp_path, text, "-O1"))
    for case, name, n, how in cases:
        columns = accelerator.trial(f, n) if n > 2 else grid(f, n)
        with np.errstate(all="ignore"):
            want = OPERATIONS[name](*columns, *how)
        got = np.empty_like(want)
        getattr(library, f"{case}_run")(
            ctypes.c_size_t(got.size), *(ctypes.c_void_p(x.ctypes.data) for x in [*columns, got])
        )
        np.testing.assert_array_equal(got, want, err_msg=case)


EXACTLY: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "rSqrt": lambda x: 1 / mpmath.sqrt(x),
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", EXACTLY)
def test_intervals_of_elementary_functions_hold_eight_times_the_error(name: str, tmp_path: Path) -> None:
    """float32 operands of every size, near the functions' zeros, and where the reduced argument is largest."""
    loop = f"for (size_t i = 0; i < n; i++) {{ interval e = between_{name}(a[i]); low[i] = e.low; high[i] = e.high; }}"
    text = '#include <stddef.h>\n#include "formats.h"\n'
    text += f"void ends(size_t n, const double *a, double *low, double *high) {{ {loop} }}\n"
    rng = np.random.default_rng(11)
    with np.errstate(all="ignore"):
        some = rng.integers(0, 1 << 32, 1000, np.uint64).astype(np.uint32).view(np.float32)
        k = np.arange(1, 500)
        parts = [k * np.pi / 2, k / 32, 1 + k * 2.0**-23, 1 - k * 2.0**-24, k * np.log(2) / 4, k - 0.5, np.sqrt(2) * k]
        x = np.concatenate([some, *parts]).astype(np.float32).astype(np.float64)
    x = np.concatenate([x, -x])
    limits = {"exp2": 255, "tanh": 19}
    x = x[np.isfinite(x) & (x != 0) & (np.abs(x) < limits.get(name, np.inf))]
    x = np.abs(x) if name in ("log2", "rSqrt") else x
    low, high = np.empty_like(x), np.empty_like(x)
    run = ctypes.CDLL(built(tmp_path, text)).ends
    run(ctypes.c_size_t(x.size), *(ctypes.c_void_p(v.ctypes.data) for v in (x, low, high)))
    with mpmath.workprec(300):
        for operand, one, other in zip(x.tolist(), low.tolist(), high.tolist(), strict=True):
            margin = abs(mpmath.mpf(other) - one) / 2
            error = abs((mpmath.mpf(other) + one) / 2 - EXACTLY[name](mpmath.mpf(operand)))
            assert 8 * error <= margin, operand.hex()


def test_what_has_no_c_is_what_the_emitter_declines() -> None:
    checked, errors = check(read(ROOT))
    assert not errors
    for c in checked:
        has = {f.name for f in shared(c).values() if not native.why_not(f.program)}
        assert accelerator.exported(c.instruction.opcode) == has
        assert has or c.instruction.opcode not in WITH_C
    assert set(WITH_C) == set(OPCODES)


def test_variables_may_be_called_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: Path) -> None:
    for folder in ("spec", "templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    path = tmp_path / "spec/instructions/add.yaml"
    text = path.read_text("utf-8")
    assert "  d = a + b\n" in text
    strange = "  double = a + b\n  double_ = -double\n  PI = -double_\n  undecided = -PI\n  addition_f32 = -undecided\n"
    strange += "  d = addition_f32\n"
    path.write_text(text.replace("  d = a + b\n", strange), "utf-8")
    generate(tmp_path)
    monkeypatch.setattr(compiling, "SOURCES", str(tmp_path / "generated/python/ptxemu/native"))
    assert "v_double = addition" in (tmp_path / "generated/python/ptxemu/native/add.c").read_text("utf-8")
    assert add() is not None


# The compiler's options

NEAR_A_TIE = [np.full(64, x, np.uint32) for x in (0x0211DAA5, 0x13BE8006, 0x847784FC)]


def the_compiler_with(options: str) -> str:
    return " ".join([*compiling._compiler().command, options])


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    "options",
    ["-ffast-math", "-funsafe-math-optimizations", "-Ofast", "-ffp-contract=fast", "-ffinite-math-only",
     "-fassociative-math -fno-signed-zeros -fno-trapping-math", "-freciprocal-math"],
)  # fmt: skip
def test_options_that_change_what_is_computed_are_taken_back(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", the_compiler_with(options))
    kernel = ptxemu.compile("fma.rn.f16x2")
    assert kernel._native is not None
    # Wrong with the error of a sum taken for zero, on few operands.
    np.testing.assert_array_equal(kernel(*NEAR_A_TIE), np.uint32(0x84778000))
    assert add() is not None


@pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")
@pytest.mark.usefixtures("fresh")
def test_options_that_cannot_be_taken_back_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of a compiler that appends them to whatever it is asked for."""
    script = tmp_path / "fast-cc"
    script.write_text(f'#!/bin/sh\nexec {" ".join(compiling._compiler().command)} "$@" -ffast-math\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    assert add() is None and add("add.rm.f32") is None
    _, said = capsys.readouterr().err.splitlines()
    assert said.startswith("ptxemu: fast-cc does not compile: ") and "change what operations compute" in said


@pytest.mark.skipif(not environment.STEERS, reason="the environment cannot be steered on this platform")
@pytest.mark.usefixtures("fresh")
def test_what_a_library_does_as_it_is_loaded_does_not_count(tmp_path: Path) -> None:
    text = "#include <fenv.h>\n__attribute__((constructor)) static void on_load(void) { fesetround(FE_UPWARD); }\n"
    text += "void some_run(void) {}\n"
    one, small = np.float32([1]), np.float32([2**-30])
    path = built(tmp_path, text)
    accelerator._kernels_of(path, {"some": np.add})
    assert one + small == 1


# Calling them


@pytest.mark.usefixtures("accelerated")
@pytest.mark.parametrize(
    "spelling", ["add.rz.f32", "fma.rp.f64", "mul.ftz.sat.f16", "fma.rm.bf16x2", "max.f16x2", "testp.normal.f64"]
)
def test_operands_of_any_layout(spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = ptxemu.compile(spelling)
    assert kernel._native is not None
    rng = np.random.default_rng(7)
    every = [rng.integers(0, 1 << 64, (50, 70, 20), np.uint64).astype(kernel._bits) for _ in range(kernel.operands)]
    bytes_ = np.frombuffer(rng.bytes(1 + every[0].nbytes), np.uint8)[1:]
    layouts: list[list[Array]] = [
        every,
        [x[::-1, ::3, 1::2] for x in every],
        [x.T for x in every],
        [np.asfortranarray(x) for x in every],
        [x[: 1 + 49 * (i == 0), :1] for i, x in enumerate(every)],
        [x[0, 0, :1] for x in every[:-1]] + [every[-1]],
        [bytes_.view(kernel._bits), *(x.ravel() for x in every[1:])],
        [x[:0] for x in every],
        [x[1, 2, 3] for x in every],
    ]
    got = [kernel(*operands) for operands in layouts]
    monkeypatch.setenv(kernels.SWITCH, "0")
    kernels._compile.cache_clear()
    plain = ptxemu.compile(spelling)
    assert plain._native is None
    for operands, result in zip(layouts, got, strict=True):
        want = plain(*operands)
        assert result.dtype == want.dtype and result.shape == want.shape
        np.testing.assert_array_equal(result, want)


@pytest.mark.usefixtures("accelerated")
def test_out_may_be_an_operand_or_overlap_one() -> None:
    a = np.arange(40_000, dtype=np.float32)
    want = a[:-1] + a[1:]
    ptxemu.execute("add.f32", a[:-1], a[1:], out=a[1:])
    np.testing.assert_array_equal(a[1:], want)
    b = np.arange(40_000, dtype=np.float32)
    ptxemu.execute("mul.f32", b, b, out=b)
    np.testing.assert_array_equal(b, np.arange(40_000, dtype=np.float32) ** 2)


@pytest.mark.usefixtures("accelerated")
def test_lanes_left_undecided_are_found_also_in_place() -> None:
    kernel = ptxemu.compile("cos.approx.f32")
    native = kernel._native
    assert native is not None and native.decides
    # Where the cosine is nearly zero, its margin is wider than the steps of float32.
    near = (np.arange(1, 200_000, 2) * (np.pi / 2)).astype(np.float32).view(np.uint32)
    near = np.tile(near, 2)
    want = np.concatenate([kernel._function(part) for part in np.split(near, 100)])
    count = native._run([near, np.empty_like(near), np.empty(near.size, np.uintp)], near.size)
    assert count and count > 10
    np.testing.assert_array_equal(kernel(near), want)
    kernel(near, out=near)
    np.testing.assert_array_equal(near, want)


@pytest.mark.usefixtures("accelerated")
def test_a_kernel_can_be_pickled_after_it_has_run() -> None:
    kernel = ptxemu.compile("add.f32")
    kernel(A, B)
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(A, B), kernel(A, B))


@pytest.mark.usefixtures("accelerated")
def test_the_processors_state_is_left_alone() -> None:
    third = np.float64([1]) / np.float64([3])
    with np.errstate(all="raise"):
        ptxemu.execute("div.rp.f32", A, B - B)
        np.testing.assert_array_equal(np.float64([1]) / np.float64([3]), third)


# Finding, building, keeping and refusing them


def add(spelling: str = "add.rz.f32") -> Any:
    """The accelerator's part in a result that must be right."""
    kernel = ptxemu.compile(spelling)
    near = A.astype(np.float64) + B
    np.testing.assert_allclose(kernel(A, B), near, rtol=1e-6)
    return kernel._native


def test_the_first_use_compiles_and_says_so_in_a_line(
    fresh: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add() is not None
    said = capsys.readouterr().err
    assert said.startswith("ptxemu: compiling add.rz.f32 with ") and said.endswith(f"; kept in {fresh}\n")
    assert said.count("\n") == 1
    assert sorted(p.suffix for p in fresh.iterdir() if p.is_file()) == [".digest", ".so"]
    forget(monkeypatch)
    assert add() is not None
    assert capsys.readouterr().err == ""


def test_a_single_element_is_left_to_numpy(fresh: Path) -> None:
    assert ptxemu.execute("add.rz.f32", np.float32(1), np.float32(2)) == 3
    assert not fresh.exists()


def test_the_switch(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.SWITCH, "0")
    assert add() is None and not fresh.exists()
    for found in (None, object()):
        monkeypatch.setattr(kernels, "find_spec", lambda name, found=found: found)
        monkeypatch.setenv(kernels.SWITCH, "")
        assert kernels.is_accelerated() == (found is not None)
        monkeypatch.delenv(kernels.SWITCH)
        assert kernels.is_accelerated() == (found is not None)


@pytest.mark.usefixtures("fresh")
def test_a_bad_value_of_the_switch_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.SWITCH, "yes")
    with pytest.raises(ValueError, match="PTXEMU_ACCELERATOR is 'yes'; 1 is on, 0 is off"):
        ptxemu.execute("add.f32", A, B)


def failing(tmp_path: Path) -> str:
    path = tmp_path / "failing-cc"
    path.write_text("#!/bin/sh\necho '<stdin>:1: error: out of order' >&2\nexit 1\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="scripts have another form there")
@pytest.mark.usefixtures("fresh")
def test_a_failing_compiler_is_said_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", failing(tmp_path))
    assert add() is None and add("add.rm.f32") is None
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == ["ptxemu: failing-cc does not compile: <stdin>:1: error: out of order; NumPy goes on"]


@pytest.mark.usefixtures("fresh")
def test_a_compiler_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -O1")
    assert add() is None and add("add.rm.f32") is None
    assert capsys.readouterr().err == (
        "ptxemu: there is no compiler no-such-compiler, which the environment variable CC names; NumPy goes on\n"
    )
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(compiling, "find_spec", lambda name: None)
    assert add("add.rp.f32") is None
    assert "there is no C compiler: none in CC, no gcc, cc or clang on the path" in capsys.readouterr().err


@pytest.fixture
def temporary(fresh: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for temporary files, where the cache cannot be written."""
    fresh.parent.write_text("a file in the way")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_cache_that_cannot_be_written_has_a_temporary_folder_in_its_place(
    temporary: Path, fresh: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add() is not None
    (folder,) = temporary.iterdir()
    assert f"; kept in {folder}, as {fresh} cannot be written\n" in capsys.readouterr().err
    forget(monkeypatch)
    assert add() is not None
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_processes_share_one_temporary_folder(temporary: Path) -> None:
    children = []
    for spelling in ("add.rz.f32", "add.rm.f32", "add.rp.f32"):
        child = os.fork()
        if child == 0:
            # As multiprocessing ends its workers: without atexit.
            os._exit(0 if add(spelling) is not None else 1)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    (folder,) = temporary.iterdir()
    assert sorted(p.suffix for p in folder.iterdir() if p.is_file()) == [".digest"] * 3 + [".so"] * 3
    assert not list(folder.glob("tmp*"))


@pytest.mark.skipif(os.name == "nt", reason="permissions have another form there")
@pytest.mark.parametrize("whose", ["open to others", "a link"])
def test_a_temporary_folder_of_somebody_else_is_not_used(
    whose: str, temporary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = temporary / f"ptxemu-{os.getuid()}"
    if whose == "a link":
        folder.symlink_to(tmp_path)
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert add() is None
    assert capsys.readouterr().err == (
        f"ptxemu: there is no folder to compile in: {folder} is not this user's alone; NumPy goes on\n"
    )


def test_what_a_killed_compilation_left_goes_with_the_next_one(fresh: Path) -> None:
    old, recent = fresh / "tmpold", fresh / "tmprecent"
    for folder in (old, recent):
        folder.mkdir(parents=True)
        (folder / "half.so").write_text("half a library")
    os.utime(old, (0, 0))
    assert add() is not None
    assert not old.exists() and recent.exists()


@pytest.mark.parametrize("damage", ["cut short", "garbage"])
def test_a_damaged_library_is_built_again(
    damage: str, fresh: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert add() is not None
    (library,) = fresh.glob("*.so")
    # Elsewhere, since what this process has loaded once it does not load again.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    other = shutil.copytree(fresh, tmp_path / "other" / "ptxemu") / library.name
    other.write_bytes(library.read_bytes()[:5000] if damage == "cut short" else b"no library")
    if damage == "garbage":
        other.with_name(other.name + ".digest").write_text(compiling._digest(other.read_bytes()))
    capsys.readouterr()
    forget(monkeypatch)
    assert add() is not None
    assert "compiling add.rz.f32" in capsys.readouterr().err


def test_a_kernel_that_disagrees_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fresh: Path
) -> None:
    shutil.copytree(compiling.SOURCES, tmp_path / "native")
    path = tmp_path / "native" / "add.c"
    right, wrong = "addition_f32(v_a, v_b, roundTowardZero, 0)", "addition_f32(v_a, v_a, 0, 0)"
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    monkeypatch.setattr(compiling, "SOURCES", str(tmp_path / "native"))
    assert add() is None
    line = "ptxemu: the compiled add.rz.f32 disagrees with NumPy's and is not used; NumPy goes on"
    assert capsys.readouterr().err.splitlines()[1:] == [line]
    assert add("add.rm.f32") is not None


def test_another_processor_or_compiler_has_libraries_of_its_own(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add()
    forget(monkeypatch)
    processor = compiling._processor()
    with monkeypatch.context() as m:
        m.setattr(compiling, "_processor", lambda: processor and processor + " avx1024")
        add()
    assert len(list(fresh.glob("*.so"))) == (2 if processor else 1)


def test_the_sources_are_part_of_the_package() -> None:
    names = {p.name for p in Path(compiling.SOURCES).iterdir()}
    assert {"operations.h", "rounding.h", "kernel.h", "formats.h"} <= names
    assert {f"{opcode}.c" for opcode in WITH_C} <= names


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("command", ['"', "gcc\\"])
def test_a_compiler_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setenv("CC", command)
    assert add() is None
    assert capsys.readouterr().err.startswith(f"ptxemu: the environment variable CC is {command!r}: No ")


@pytest.mark.usefixtures("fresh")
def test_a_relative_cache_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/dir")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert compiling._cache() == str(tmp_path / "home/.cache/ptxemu")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # nobody's home is known
    assert compiling._cache() == ""


@pytest.mark.usefixtures("fresh")
def test_no_folder_to_write_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError("no space left")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    assert add() is None
    assert capsys.readouterr().err == "ptxemu: there is no folder to compile in: no space left; NumPy goes on\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.usefixtures("fresh")
def test_a_forked_process_has_a_lock_of_its_own() -> None:
    with accelerator._lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if accelerator._lock.acquire(timeout=5) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


NOTICE = """
import ptxemu, numpy as np
a = np.ones(5, np.float32)
print(ptxemu.execute("add.f32", a, a), flush=True)
"""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&-"])
def test_nothing_depends_on_stderr(stderr: str) -> None:
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(NOTICE)} {stderr}"
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[2. 2. 2. 2. 2.]\n")

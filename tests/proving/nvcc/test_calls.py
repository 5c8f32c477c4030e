"""Functions of CUDA C++ and Triton, LLVM's intrinsics and the PTX that spec/observed/ has of them: compilers make it
anew, and ptxas takes it."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.cli import calls as command
from ptxspec.cli.main import main
from ptxspec.model import CallEvidence, CompiledCall, Spec
from ptxspec.proving.nvcc import compiling, record
from ptxspec.proving.nvcc.body import work
from ptxspec.query import calls

pytestmark = pytest.mark.inputs(
    "spec/observed/calls.yaml",
    "spec/observed/intrinsics.yaml",
    "spec/observed/triton.yaml",
    "spec/llvm.yaml",
    "spec/mlir.yaml",
    "codegen/ptxspec/proving/nvcc",
)

# What CUDA's types have in their registers, from NVIDIA's documentation of them.
BITS = {
    "float": 32, "double": 64, "float2": 64, "double2": 128, "float4": 128, "double4": 256, "long double": 64,
    "int": 32, "unsigned int": 32, "long": 64, "short": 16,
    "unsigned short": 16, "unsigned long": 64, "long long": 64, "unsigned long long": 64, "long int": 64,
    "unsigned long int": 64, "long long int": 64, "unsigned long long int": 64, "short int": 16,
    "unsigned short int": 16, "__half": 16,
    "__half_raw": 16, "__half2": 32, "__half2_raw": 32, "__nv_bfloat16": 16, "__nv_bfloat16_raw": 16,
    "__nv_bfloat162": 32, "__nv_bfloat162_raw": 32,
    "half": 16, "bfloat": 16, "<2 x half>": 32, "<2 x bfloat>": 32, "<4 x float>": 128, "<4 x i8>": 32,
    "<2 x float>": 64, "i16": 16, "i32": 32, "i64": 64,
    "fp16": 16, "bf16": 16, "fp32": 32, "fp64": 64, "u32": 32, "u64": 64,
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(spec: Spec) -> dict[str, CompiledCall]:
    assert spec.calls is not None
    return {c.call: c for c in spec.calls.calls}


def test_the_functions_that_people_ask_for_are_there(recorded: dict[str, CompiledCall]) -> None:
    names = {call.partition("(")[0] for call in recorded}
    for family in ("fadd", "fsub", "fmul", "fdiv", "dadd", "dsub", "dmul", "ddiv"):
        assert {f"__{family}_{r}" for r in ("rn", "rz", "ru", "rd")} <= names
    assert {"fmaf", "__expf", "roundf", "lrintf", "__nv_cvt_float2_to_fp4x2", "h2exp2", "__float2half_rn"} <= names
    assert {"__nv_fmaf", "__nv_fast_expf", "operator*", "__nv_fp8_e4m3", "__sincosf", "__ffma2_rn"} <= names


def test_what_each_function_becomes_is_told_for_targets_that_nvcc_compiles_for(
    spec: Spec, recorded: dict[str, CompiledCall]
) -> None:
    assert spec.calls is not None and list(spec.calls.targets) == record.targets(spec)
    for call, c in recorded.items():
        for some in (c.becomes, c.fast):
            on = [t for b in some for t in b.targets]
            assert len(on) == len(set(on)) and set(on) <= {*spec.calls.targets}, call


def test_the_file_is_what_is_read_of_it(spec: Spec) -> None:
    every = ((command.PATH, spec.calls), (command.INTRINSICS, spec.intrinsics), (command.TRITON, spec.triton))
    for path, found in every:
        assert found is not None and record.as_yaml(found) == (ROOT / path).read_text("utf-8")


@pytest.mark.exhaustive
def test_nvcc_makes_all_of_it_anew(spec: Spec, nvcc: Path) -> None:
    """`ptxspec calls` asks of all targets, which takes many minutes."""
    every = record.targets(spec)
    found = record.examine(nvcc, [every[1], every[-1]])
    assert spec.calls is not None and len(found.calls) > 1800
    for target in found.targets:
        assert told(found, target) == told(spec.calls, target)


def told(e: CallEvidence, target: str) -> dict[str, list[list[str]]]:
    """The PTX that each call becomes on a target, and becomes under -use_fast_math."""
    some = {c.call: [c.becomes, c.fast or c.becomes] for c in e.calls}
    on = {call: [[b.ptx for b in of if target in b.targets] for of in both] for call, both in some.items()}
    return {call: both for call, both in on.items() if any(both)}


@pytest.mark.exhaustive
def test_nvcc_makes_some_of_it_anew(spec: Spec, nvcc: Path, recorded: dict[str, CompiledCall]) -> None:
    target = "sm_89"
    asked = spread(compiling.declared(nvcc, record.targets(spec)[-1]), 60)
    found = compiling.compiled(nvcc, asked, target)
    assert len(found) > 40
    for call in asked:
        now = [work(call, found[call]).ptx] if call in found else []
        told = recorded[call.written].becomes if call.written in recorded else ()
        assert now == [b.ptx for b in told if target in b.targets], call


def test_operations_of_mlir_are_lowered_to_functions_with_recorded_ptx(spec: Spec) -> None:
    assert spec.lowered is not None and spec.calls is not None and spec.intrinsics is not None
    known = {c.call.partition("(")[0] for e in (spec.calls, spec.intrinsics) for c in e.calls}
    assert spec.lowered.ops["math.exp"] == ("__nv_expf", "__nv_exp")
    assert {name for names in spec.lowered.ops.values() for name in names} <= known


def test_mlir_lowers_its_operations_so(spec: Spec) -> None:
    """MLIR's own tool, where it is installed, is the judge of functions of libdevice and instructions."""
    tool = next(filter(None, map(shutil.which, ("mlir-opt", "mlir-opt-22"))), None)
    if tool is None:
        pytest.skip("mlir-opt is not installed")
    assert spec.lowered is not None
    judged = 0
    for op, names in spec.lowered.ops.items():
        for name in names:
            recorded = spec.calls if name.startswith("__nv_") else spec.intrinsics
            call = next(c for c in (recorded.calls if recorded else ()) if c.call.startswith(f"{name}("))
            text = module(op, call)
            if text and op != "math.trunc":
                command = [tool, "--pass-pipeline=builtin.module(gpu.module(convert-gpu-to-nvvm))"]
                said = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
                wanted = name.replace("llvm.", "llvm.intr.").rpartition(".")[0] if name.startswith("llvm.") else name
                assert wanted in said, (op, said)
                judged += 1
    assert judged > 70


def module(op: str, call: CompiledCall) -> str:
    """A module with an operation on the types of a call; empty for one of NVVM's own."""
    kinds = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16", "int": "i32"}
    takes, _, to = call.call.partition("(")[2].rstrip(")").partition(" to ")
    types = [kinds.get(t, t) for t in takes.split(", ")]
    gives = "i1" if op.startswith("math.is") else kinds.get(call.gives, call.gives)
    if op.startswith("nvvm.") or any(t.startswith("<") for t in types):
        return ""
    written = f"{types[0]} to {gives}" if to else ", ".join(types) if len(set(types)) > 1 else types[0]
    given = ", ".join(f"%{letter}: {type}" for letter, type in zip("abc", types, strict=False))
    values = ", ".join(f"%{letter}" for letter, _ in zip("abc", types, strict=False))
    body = f"%d = {op} {values} : {written}\n return %d : {gives}"
    return f"gpu.module @m {{ func.func @k({given}) -> {gives} {{ {body} }} }}"


@pytest.mark.sampled(0)
@each_size
def test_ptxas_takes_what_is_told(spec: Spec, ptxas: Path, tmp_path: Path, db: Database, whole: bool) -> None:
    """Registers have the sizes of the types in C++, whatever the recorder took them for."""
    assert spec.calls is not None and spec.intrinsics is not None and spec.triton is not None
    rows = [
        (c, b)
        for e in (spec.calls, spec.intrinsics, spec.triton)
        for c in e.calls
        for b in (*c.becomes, *c.fast)
        if b.ptx
    ]
    by_target: dict[str, list[tuple[CompiledCall, str]]] = {}
    for c, b in rows if whole else spread(rows, 60):
        by_target.setdefault(b.targets[0], []).append((c, b.ptx))
    for target, some in by_target.items():
        head = f".version {db.catalog.newest_version}\n.target {target}\n.address_size 64\n"
        # A value of 8 bits stands in either register.
        for byte in itertools.product((16, 32), repeat=2):
            texts = [function(n, c, ptx, byte) for n, (c, ptx) in enumerate(some)]
            (tmp_path / "k.ptx").write_text(head + "\n".join(texts), "utf-8")
            command = [str(ptxas), "-arch", target, "-c", "k.ptx", "-o", "k.cubin"]
            said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            wrong = {int(line) - 4 for line in re.findall(r", line (\d+); error", said.stderr)}
            assert bool(said.returncode) == bool(wrong), (target, said.stderr[:2000])
            some = [some[i] for i in sorted(wrong)]
            if not some:
                break
        assert not some, (target, some)


def function(n: int, c: CompiledCall, ptx: str, byte: tuple[int, int]) -> str:
    """Return a function with registers for the arguments and results that PTX names; `byte`: the bits that hold 8."""
    takes = [t.strip().partition(" to ")[0] for t in c.call.partition("(")[2].rstrip(")").split(",")]
    types = dict(zip("abcefghijk", takes, strict=False))
    given = [*([] if c.gives == "void" else [c.gives]), *(t.rstrip("*") for t in takes if t.endswith("*"))]
    declared = []
    for name in sorted(set(re.findall(r"%[a-ce-k][xyzw]?\b|%d\d?[xyzw]?\b", ptx))):
        type = given[int(name[2:3]) - 1 if name[2:3].isdigit() else 0] if name[1] == "d" else types[name[1]]
        small = 16 if re.search("fp8x2|fp6x2|fp4x4", type) else byte[name[1] == "d"]
        bits = BITS.get(type, 32 if re.search("fp[68]x4", type) else small)
        parts = 1 if name[-1] not in "xyzw" else 4 if type.endswith("4") or type.startswith("<4") else 2
        declared.append(f".reg .b{bits // parts} {name};")
    return f".func k{n}() {{ {' '.join(declared)} {ptx} ret; }}"


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("__hmul2", "mul.f16x2 %d, %a, %b;", "sub"),
        ("__hmul2(__nv_bfloat162)", "mul.bf16x2 %d, %a, %b;", "mul.f16x2"),
        ("fma(double)", "fma.rn.f64 %d, %a, %b, %c;", "f32"),
        ("__nv_fmaf", "fma.rn.f32 %d, %a, %b, %c;", "f64"),
    ],
)
def test_a_name_finds_its_functions(db: Database, text: str, some: str, none: str) -> None:
    found = [b.ptx for c in calls.named(db, text) for b in c.becomes]
    assert some in found and not any(none in ptx for ptx in found)


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("__nv_fma", "fma(double, double, double)"),
        ("__nv_copysign", "copysign(double, double)"),
        ("__nv_isnand", "__isnan(double)"),
        ("__nv_isinfd", "__isinf(double)"),
        ("__nv_isfinited", "__finite(double)"),
        ("__nv_signbitd", "__signbit(double)"),
    ],
)
def test_functions_of_double_have_their_names_of_libdevice(
    recorded: dict[str, CompiledCall], name: str, like: str
) -> None:
    """libdevice names some of them by the type, and C by none."""
    own = name + like[like.index("(") :]
    assert recorded[own].header == "libdevice" and recorded[own].becomes == recorded[like].becomes


def test_an_opcode_is_no_function_unless_it_is_called(db: Database) -> None:
    assert calls.named(db, "fma") == [] and calls.named(db, "fma()") != []
    assert calls.near(db, "__hmul3") == "__hmul2" and calls.near(db, "mull") == ""


def test_instructions_name_the_functions_that_become_them(db: Database) -> None:
    found = {c.text for c, _ in calls.becoming(db, db.variant("mul.f16x2"))}
    assert {"__hmul2(__half2, __half2)", "operator*(__half2, __half2)"} <= found
    assert "fmaf(float, float, float)" in {c.text for c, _ in calls.becoming(db, db.variant("fma.rn.f32"))}


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["query", "__hmul2", "--target", "A100"], 0, "mul.f16x2 %d, %a, %b;"),
        (["query", "__hmul2(__nv_bfloat162)"], 0, "sm_75: a software routine"),
        (["query", "__hfma(__nv_bfloat16)", "--target", "sm_75"], 1, "does not compile it"),
        (["query", "__hmul2", "--target", "sm_70"], 1, "supports sm_75 to"),
        (["query", "sqrtf"], 0, "from sm_75 on, with -use_fast_math: one instruction"),
        (["query", "__hmul3"], 1, "did you mean '__hmul2'?"),
        (["query", "__hmul2(int)"], 2, "does not take these arguments"),
        (["query", "__hmul2", "--ptx", "8.0"], 2, "--ptx applies to variants only"),
        (["show", "__expf"], 0, "ex2.approx.f32 %d, %t1;"),
        (["show", "mul.f16x2"], 0, "`__hmul2(__half2, __half2)`"),
        (["eval", "__hmul2(__half2)", "1.5,2", "2,3"], 0, "0x46004200"),
        (["eval", "__fadd_rz", "1"], 2, "takes a, b, not 1 operand"),
        (["eval", "__hmul2", "1", "2"], 2, "name one of them"),
        (["eval", "sinf", "1"], 2, "software"),
        (["query", "llvm.nvvm.fma.rn.bf16", "--target", "sm_100a"], 0, "fma.rn.bf16 %d, %a, %b, %c;"),
        (["query", "llvm.nvvm.fma.rn.bf16", "--target", "H100"], 0, "compiled by the LLVM of Triton"),
        (["query", "llvm.maximum.f32", "--target", "A100"], 0, "max.NaN.f32 %d, %a, %b;"),
        (["query", "llvm.nvvm.ex2.approx.ftz.bf16", "--target", "A100"], 1, "another LLVM may"),
        (["query", "fadd(bfloat)", "--target", "A100"], 0, "fma.rn.bf16 %d, %a, %t1, %b;"),
        (["query", "fptosi(float to i32)"], 0, "cvt.rzi.s32.f32 %d, %a;"),
        (["query", "math.exp", "--target", "H100"], 0, "math.exp on sm_90, lowered to __nv_expf"),
        (["query", "math.sqrt(f64)"], 0, "sqrt.rn.f64 %d, %a;"),
        (["query", "math.fma(f64)"], 0, "fma.rn.f64 %d, %a, %b, %c;"),
        (["query", "math.isnan(f64)"], 0, "__nv_isnand(double) returns int"),
        (["query", "arith.truncf(bf16)", "--target", "H100"], 0, "cvt.rn.bf16.f32 %d, %a;"),
        (["query", "nvvm.convert.f32x2.to.f8x2", "--target", "L4"], 0, "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;"),
        (["query", "math.exq"], 1, "did you mean 'math.exp'?"),
        (["eval", "math.sqrt(f32)", "4"], 0, "2.0"),
        (["query", "llvm.nvvm.fma.rn.bf17"], 1, "did you mean 'llvm.nvvm.fma.rn.bf16'?"),
        (["query", "llvm.nvvm.ex2.approx.f"], 0, "ex2.approx.f32 %d, %a;"),
        (["query", "tl.exp2", "--target", "H100"], 0, "ex2.approx.ftz.f32 %d, %a;"),
        (["query", "triton.language.math.sqrt(fp32)"], 0, "compiled by Triton"),
        (["query", "tl.extra.cuda.libdevice.fma_rn(fp32)"], 0, "fma.rn.ftz.f32 %d, %a, %b, %c;"),
        (["query", "tl.fma(bf16)", "--target", "sm_75"], 0, "14 instructions"),
        (["query", "tl.exq2"], 1, "did you mean 'tl.exp2'?"),
        (["eval", "tl.sqrt(fp32)", "4"], 0, "2.0"),
        (["show", "fma.rn.f32"], 0, "`llvm.nvvm.fma.rn.f(float, float, float)`"),
        (["eval", "llvm.nvvm.fma.rn.f", "1", "2", "3"], 0, "5.0"),
    ],
)
def test_commands_take_functions(capsys: pytest.CaptureFixture[str], command: list[str], code: int, said: str) -> None:
    assert main([command[0], "--root", str(ROOT), *command[1:]]) == code
    out = capsys.readouterr()
    assert said in out.out + out.err

"""`ptxspec explain` on logs of a real ptxas, and on what it may say."""

from __future__ import annotations

import io
import itertools
import re
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.linting import written
from helpers.repository import database
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.explain.log import as_text, explanations, messages
from ptxspec.explain.meanings import Meaning
from ptxspec.proving.ptxas.asking import judge

pytestmark = pytest.mark.inputs(
    "specification",
    "codegen/ptxspec/explain",
    "codegen/ptxspec/proving/ptxas",
    "codegen/ptxspec/catalog",
    "codegen/ptxspec/query",
)

MODULE = """\
.version 6.5
.target sm_75
.entry k() {
.reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>;
max.NaN.f32 %f0, %f1, %f2;
max.NaN.f32 %f0, %f1, %f3;
max.NaN.f64 %d0, %d1, %d2;
fma.f32 %f0, %f1, %f2, %f3;
add.f16 %h0, %h1, 1.0;
cvt.foo.f32 %f0, %f1;
add.rn.ftz.f32 %f0, %f1, %f2;
ret;
}
"""


def log_of(ptxas: Path, source: Path) -> list[str]:
    command = [str(ptxas), str(source), "-o", str(source.with_suffix(".o"))]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr.splitlines()


def test_a_log_is_explained_by_its_file(db: Database, ptxas: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.ptx"
    source.write_text(MODULE)
    log = log_of(ptxas, source)
    found = messages(db, log)
    new = [c for c in found if "requires .target sm_80" in c.text and "NaN" in c.text and "f32" in c.found[0].message]
    assert [p.line for p in new[0].places] == [5, 6]
    text = "\n".join(as_text(explanations(db, log)))
    assert "a.ptx:5" in text and "a.ptx:6" in text
    assert "it requires .target sm_80 or newer and .version 7.0 (CUDA 11.0) or newer" in text
    assert "instead: { .reg .pred %_p; .reg .b32 %_t; setp.nan.f32 %_p, %f1, %f2;" in text
    assert "fma.f32 lacks .rn" in text
    assert "setp.nan.f64 %_p, " in text
    assert "move the constant into a register first" in text
    assert "aborted" not in text


def test_without_the_file_the_message_is_explained_by_itself(db: Database, ptxas: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.ptx"
    source.write_text(MODULE)
    log = log_of(ptxas, source)
    source.unlink()
    text = "\n".join(as_text(explanations(db, log)))
    assert "compile for sm_80 or newer" in text
    assert (
        "compile for sm_80 or newer (-arch=sm_80; .target sm_80 in PTX) with .version 7.0 (CUDA 11.0) or newer" in text
    )
    assert "add the one that you mean to fma: .rn (round to nearest, ties to even); .rz (" in text


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Modifier '.NaN' requires .target sm_80 or higher", "compile for sm_80 or newer"),
        ("Instruction 'testp' requires .target sm_20 or higher", "compile for sm_20 or newer"),
        ("Feature '.NaN' requires PTX ISA .version 7.0 or later", "write .version 7.0 (CUDA 11.0) or newer"),
        ("Illegal modifier '.ftz' for instruction 'tanh'", "tanh has no .ftz; it has .approx"),
        ("Illegal modifier '.ftz' for instruction 'fma'", "write .ftz with .f32, .f32x2, .f16, .f16x2 only"),
        ("Illegal modifier '.sat' for instruction 'fma.f64'", "remove .sat if you do not need it"),
        ("Illegal rounding modifier for instruction 'max'", "remove the rounding mode: no max has one"),
        ("Rounding modifier required for instruction 'fma'", ".rn (round to nearest, ties to even); .rz (round toward"),
        (
            "Rounding modifier or '.approx' modifier required for instruction 'div'",
            ".approx (a fast approximation, not",
        ),
        (".approx modifier required for instruction 'sin'", "add .approx, which is required"),
        ("'.ftz' modifier required for instruction 'rcp.approx.f64'", "rcp.approx.ftz.f64"),
        ("Modifier '.xorsign' requires modifier '.abs'", "write both, .xorsign.abs, with your opcode"),
        ("Modifier '.ftz' cannot be combined with modifier '.oob'", "write only one of"),
        ("Unknown modifier '.ftzz'", "did you mean '.ftz'"),
        ("Unknown modifier '.full'", "div.full.f32"),
        ("Unexpected instruction types specified for 'div'", "div has .f32, .f64"),
        ("Arguments mismatch for instruction 'add'", "the operands are d, a, b"),
        ("Arguments mismatch for instruction 'tanh'", "the operands are d, a"),
        ("PTX .version 1.0 does not support .target sm_12", "write .version 1.2"),
        ("Unsupported .version 99.9; current version is '9.5'", "9.5"),
        ("Unsupported .target 'sm_999'", "sm_"),
        ("Multiple rounding modifiers specified", "one of them"),
        ("Parsing error near ';': syntax error", "did not check the rest"),
        ("Feature 'max.f32 with 3 input operands' requires .target sm_100 or higher", "with .version 8.8"),
        ("Modifier '.xorsign' requires .target sm_86 or higher", "with .version 7.2"),
        ("Instruction 'tanh' requires .target sm_75 or higher", "with .version 7.0"),
        ("Feature '.satfinite' requires .target sm_70 or higher", "with .version 8.1"),
        ("Special register argument not allowed for instruction 'add'", "move it to a register"),
        ("Vector operand is not allowed for instruction 'add'", "write one register"),
        ("Argument 1 of instruction 'add': must be register", "load it into a register first"),
        ("Argument 0 of instruction 'add': must be register", "the result must be a register"),
        ("Operand negation not allowed for instruction 'mul'", "a separate instruction"),
        ("Not a name of any known instruction: 'ADD'", "in lower case: add"),
        ("Not a name of any known instruction: 'ad'", "did you mean 'add'"),
        ("Not a name of any known instruction: 'qqqqqqq'", "no instruction of this database is qqqqqqq"),
        ("Constant overflow", "the integer is too large for every type"),
        ("Value 'sm_130' is not defined for option 'gpu-name'", "did you mean 'sm_"),
        ("Value 'sm_20' is not defined for option 'gpu-name'", "sm_20 was introduced in PTX 2.0"),
        ("Missing .target directive at start of file 'a.ptx'", "`.target sm_"),
        ("Parsing error near 'st': syntax error", "the statement before 'st' lacks its semicolon"),
        ("Unknown symbol 'x'", "`.reg .f32 x;`"),
        ("Unknown symbol '$3'", "in inline assembly of CUDA write %3 for $3"),
        ("Parsing error near '.tf32': syntax error", "declare the register as .b32"),
        ("'.noftz' modifier required for instruction 'red' with type '.bf16x2'", "add .noftz, which is required"),
        ("Illegal vector size: 3", "as many registers as the instruction requires"),
        ("Incompatible elements of vector expression", "all of the required size"),
        ("Predicate output not allowed for instruction 'setp'", "there is no second result"),
        ("Predicate output expected for instruction 'setp'", "declare it with .reg .pred"),
        ("Integer constant expression expected", "write 1, not 1.0"),
        ("Constant expression has division by zero", "cannot divide by zero"),
        ("Unsupported cast operation", "only (.s64) and (.u64)"),
        ("Sink '_' not allowed as a source operand", "name a register"),
        ("Something else altogether", "not about an instruction in this database"),
    ],
)
def test_each_form_of_message_has_an_answer(db: Database, message: str, answer: str) -> None:
    for severity, name in itertools.product(("error  ", "fatal  "), ("ptxas", "ptxas-blackwell", "ptxas.exe")):
        text = "\n".join(as_text(explanations(db, [f"{name} /nowhere/a.ptx, line 9; {severity}: {message}"])))
        assert message in text and "/nowhere/a.ptx:9" in text
        assert answer in text


@pytest.mark.sampled(0)
@each_size
def test_who_does_what_is_said_of_targets_and_versions_is_understood_by_ptxas(
    db: Database, ptxas: Path, whole: bool
) -> None:
    """Whatever ptxas says of all variants on all targets: each that only needs a newer target or version has it then.
    Nothing is told of the version where the words are prose, or name what the target that they name is not the first
    to have; for those the newest is taken."""
    newest = db.catalog.newest_version
    statements = [written(db, v.spelling, v.operands) for v in db.variants]
    targets = [t for t in db.targets if not db.targets[t].base]
    plain = targets if whole else spread(targets, 3)
    asked = {(t, p) for t in plain for p in (db.targets[t].ptx, "7.8", newest) if db.catalog.knows(t, p)}
    said = {pair: judge(ptxas, statements, *pair) for pair in sorted(asked)}
    changes: dict[tuple[str, ...], Meaning] = {}
    told: dict[tuple[str, str], set[str]] = {}
    unknown = set()
    for (target, _), found in said.items():
        for statement, lines in zip(statements, found, strict=True):
            if not lines or not all(re.search("requires (.target|PTX)", m) for m in lines):
                continue
            key = tuple(lines)
            if key not in changes:
                log = [f"ptxas a.ptx, line 1; error   : {m}" for m in lines]
                changes[key] = explanations(db, log)[0].meaning
            change = changes[key]
            unknown.update(lines if change.target and not change.ptx else ())
            told.setdefault((change.target or target, change.ptx or newest), set()).add(statement)
    assert len(changes) > 100 and len(told) > 8
    for pair, some in told.items():
        refused = {s: m for s, m in zip(some, judge(ptxas, list(some), *pair), strict=True) if m}
        assert refused == {}, pair
    assert {name for m in unknown for name in re.findall(r"'(\w+ [^']*) instruction", m)} == {
        "f16 arithemetic and compare",
        "half precision floating point set",
    }


def test_what_was_said_of_an_instruction_does_not_answer_another_complaint(
    db: Database, ptxas: Path, tmp_path: Path
) -> None:
    source = tmp_path / "a.ptx"
    source.write_text(".version 8.0\n.target sm_80\n.entry k() {\n.reg .f32 f;\nmax.xorsign.f32 f,f,f;\n}\n")
    text = "\n".join(as_text(explanations(db, log_of(ptxas, source))))
    assert "lacks .abs" in text
    assert "compile for sm_86" in text and "with .version 7.2" in text


def test_ptxas_may_have_another_name(db: Database, ptxas: Path, tmp_path: Path) -> None:
    """Triton's is ptxas-blackwell, and calls itself so."""
    source, other = tmp_path / "a.ptx", tmp_path / "ptxas-blackwell"
    source.write_text(MODULE)
    other.symlink_to(ptxas)
    assert messages(db, log_of(other, source)) == messages(db, log_of(ptxas, source)) != []


def test_the_command_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    log = b"nvcc warning\nptxas a.ptx, line 9; error   : Unknown modifier '.\xff'\n"
    log += b"ptxas fatal   : Ptx assembly aborted due to errors\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(log)))
    assert main(["explain", "--root", str(ROOT)]) == 0
    assert "no instruction of this database has" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"all is well\n")))
    assert main(["explain", "--root", str(ROOT)]) == 0
    assert "no error message" in capsys.readouterr().out


def test_messages_about_comparisons_are_explained(ptxas: Path) -> None:
    db = database()
    statements = ["setp.f32 %p0, %f1, %f2;", "setp.lt.f32 %p0, %f1, %f2, %p3;", "setp.lt.f32 %p0, %f1, %r2, %f3;"]
    said = [m for found in judge(ptxas, statements, "sm_90", "8.0") for m in found]
    text = "\n".join(as_text(explanations(db, [f"ptxas fatal   : {m}" for m in said])))
    assert "add the one that you mean to setp: .eq (true if a is equal to b;" in text
    assert "how the predicate after the operands is combined, as in setp.eq.and.f32 p|q, a, b, c" in text
    assert "the operands are p|q, a, b or p, a, b or p0|p1, a, b or p|q, a, b, c" in text


# Logs as people have them, shortened: each with the change that mends it.

LOGS = {
    "Triton, an old GPU": (
        """\
RuntimeError: Internal Triton PTX codegen error
`ptxas` stderr:
ptxas /tmp/compile-ptx-src-38292b, line 100; error   : Feature '.bf16' requires .target sm_80 or higher
ptxas /tmp/compile-ptx-src-38292b, line 100; error   : Feature 'cvt with .f32.bf16' requires .target sm_80 or higher
ptxas /tmp/compile-ptx-src-38292b, line 102; error   : Feature '.bf16' requires .target sm_80 or higher
ptxas fatal   : Ptx assembly aborted due to errors
Repro command: ptxas -lineinfo -v --gpu-name=sm_75 /tmp/compile-ptx-src-38292b
""",
        [
            "use another type on sm_75: for .bf16 use .f16 (numbers up to 65504) or .f32",
        ],
    ),
    "Triton, a ptxas that is too old": (
        """\
(VllmWorker TP0) ERROR [multiproc_executor.py:602] PTXASError: PTXAS error: Internal Triton PTX codegen error
(VllmWorker TP0) ERROR [multiproc_executor.py:602] `ptxas` stderr:
(VllmWorker TP0) ERROR [multiproc_executor.py:602] ptxas fatal   : Value 'sm_103a' is not defined for option 'gpu-name'
""",
        ["use ptxas of CUDA 12.9 or newer"],
    ),
    "Triton on Windows": (
        """\
ptxas C:\\Users\\J J\\Temp\\tmpafh.ptx, line 5; fatal   : Unsupported .version 8.6; current version is '8.5'
ptxas fatal   : Ptx assembly aborted due to errors
triton\\backends\\nvidia\\compiler.py", line 295, in make_cubin
""",
        ["install CUDA 12.8 or newer, whose ptxas supports .version 8.6"],
    ),
    "nvcc on PTX": (
        "ptxas add_kernel.ptx, line 5; fatal   : Unsupported .version 8.8; current version is '8.4'\n",
        ["install CUDA 12.9 or newer, whose ptxas supports .version 8.8"],
    ),
    "Numba, the driver's linker": (
        """\
numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX_VERSION
ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'
""",
        ["install driver 570.26 or newer, 570.65 on Windows (CUDA 12.8), which supports .version 8.7"],
    ),
    "Numba, nvJitLink": (
        """\
pynvjitlink.api.NvJitLinkError: NVJITLINK_ERROR_PTX_COMPILE error when calling nvJitLinkAddData
ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'
ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (<cudapy-ptx>)
""",
        ["install nvJitLink of CUDA 12.8 or newer, which supports .version 8.7"],
    ),
    "the driver's compiler": (
        "ptxas application ptx input, line 9; error   : Feature 'add.bf16' requires .target sm_90 or higher\n",
        ["compile for sm_90 or newer (-arch=sm_90; .target sm_90 in PTX) with .version 7.8 (CUDA 11.8) or newer"],
    ),
    "a driver that is too old": (
        """\
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
Cuda compilation tools, release 12.5, V12.5.40
Error: DriverError(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain.")
""",
        ["install driver 555.42.02 or newer, which supports the PTX of CUDA 12.5"],
    ),
    "the same as the runtime says it": (
        "[cudaErrorUnsupportedPtxVersion] the provided PTX was compiled with an unsupported toolchain. in k.cu:406",
        ["install the driver of the CUDA release that wrote the PTX, or a newer one: `ptxspec versions` lists them"],
    ),
    "the same as a number": (
        "Cuda failure: 222 the application says no more\n",
        ["install the driver of the CUDA release that wrote the PTX, or a newer one: `ptxspec versions` lists them"],
    ),
    "a JIT that does not say why": (
        'Error: DriverError(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed")\n',
        ["assemble the PTX with ptxas, and explain its errors: `ptxas -arch=sm_90 a.ptx 2>&1 | ptxspec explain`"],
    ),
    "no code for the GPU": (
        "CUDA error 209 at ggml-cuda.cu:6701: no kernel image is available for execution on the device\n",
        ["compile for this machine's GPU, as in -arch=sm_90; `ptxspec targets native` shows its target"],
    ),
    "nvcc and a new GPU": (
        "nvcc fatal   : Unsupported gpu architecture 'compute_120'\ngmake[2]: *** [fattn.cu.o] Error 1\n",
        ["use nvcc of CUDA 12.8 or newer"],
    ),
    "nvcc and an old GPU": (
        "nvcc fatal   : Unsupported gpu architecture 'compute_20'\n",
        ["use nvcc of CUDA 3.0 or newer, before 9.0"],
    ),
    "clang": (
        "clang: error: Unsupported CUDA gpu architecture: sm_61\n",
        ["use a clang compatible with CUDA 8.0 or newer, before 13.0"],
    ),
    "clang and a CUDA that is too new": (
        "clang: error: GPU arch sm_35 is supported by CUDA versions between 7.0 and 11.8 (inclusive), but installation "
        "at /usr/local/cuda-12.4 is 12.4; use '--cuda-path' to specify a different CUDA install\n",
        ["set --cuda-path to a CUDA release from 7.0 to 11.8"],
    ),
    "LLVM": (
        "'+ptx88' is not a recognized feature for this target (ignoring feature)\n",
        ["use an LLVM that supports PTX 8.8 (CUDA 12.9), or request an older version"],
    ),
    "NVRTC": (
        """\
NVRTC compilation error: nvrtc: error: invalid value for --gpu-architecture (-arch)
Options: -I/home/x/cupy/core/include -ftz=true -arch=compute_120
""",
        ["use NVRTC of CUDA 12.8 or newer"],
    ),
    "two messages of one instruction": (
        """\
ptxas a.ptx, line 9; error   : Feature 'max.f32 with 3 input operands' requires .target sm_100 or higher
ptxas a.ptx, line 9; error   : Feature 'max.f32 with 3 input operands' requires PTX ISA .version 8.8 or later
""",
        ["compile for sm_100 or newer (-arch=sm_100; .target sm_100 in PTX) with .version 8.8 (CUDA 12.9) or newer"],
    ),
    "no complaint": (
        "nvcc warning : The option is deprecated\nBuilding CUDA object\nunary minus is fine, code 12\n",
        [],
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_tells_what_to_change(db: Database, name: str) -> None:
    log, changes = LOGS[name]
    found = explanations(db, log.splitlines(keepends=True))
    assert [e.meaning.change for e in found] == changes
    text = list(as_text(explanations(db, log.splitlines())))
    assert [line for line in text if line in changes] == changes


def test_an_older_version_is_the_other_way(db: Database) -> None:
    (found,) = explanations(db, ["ptxas a.ptx, line 1; fatal : Unsupported .version 8.8; current version is '8.4'"])
    assert found.meaning.why == (
        "this ptxas is older than the compiler that wrote the PTX: it supports PTX up to 8.4 (CUDA 12.4)",
        "or write .version 8.4 if the file uses nothing newer: `ptxspec lint --ptx 8.4` shows what does",
    )


def test_bare_messages_are_found_on_standard_input(db: Database) -> None:
    log = ["some program\n", "E   Feature '.bf16' requires .target sm_80 or higher\n", "elements of a list\n"]
    (found,) = explanations(db, log)
    assert found.meaning.target == "sm_80"


# Of what is not the database's

OUTSIDE = [
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, {%r0,%r1}, {%r2,%r3}, "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
    "{%f4,%f5,%f6,%f7};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
    "{%f4,%f5,%f6,%f7};",
    "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r0,%r1}, {%r2}, {%r3}, {%r4,%r5};",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%r4];",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r0,%r1,%r2,%r3};",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
    "ld.mmio.relaxed.sys.global.b32 %r0, [%b0];",
    "ld.relaxed.gpu.global.b32 %r0, [%b0];",
    "ld.global.L1::no_allocate.f32 %f0, [%b0];",
    "ld.global.v8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%b0];",
    "atom.global.add.noftz.bf16 %h0, [%b0], %h1;",
    "atom.global.v2.f32.add {%f0,%f1}, [%b0], {%f2,%f3};",
    "red.global.add.noftz.bf16x2 [%b0], %r1;",
    "cp.async.bulk.commit_group;",
    "cp.async.ca.shared.global [%r0], [%b0], 16;",
    "mbarrier.init.shared.b64 [%r0], %r1;",
    "mbarrier.try_wait.shared.b64 %p0, [%r0], %b1;",
    "redux.sync.add.s32 %r0, %r1, %r2;",
    "redux.sync.min.abs.NaN.f32 %f0, %f1, %r2;",
    "elect.sync %r0|%p0, %r1;",
    "match.any.sync.b32 %r0, %r1, %r2;",
    "activemask.b32 %r0;",
    "nanosleep.u32 20;",
    "griddepcontrol.wait;",
    "fence.sc.sys;",
    "barrier.cluster.arrive;",
    "getctarank.u32 %r0, %r1;",
    "mapa.u32 %r0, %r1, %r2;",
    "discard.global.L2 [%b0], 128;",
    "multimem.ld_reduce.global.add.f32 %f0, [%b0];",
    "multimem.ld_reduce.global.add.v4.bf16x2 {%r0,%r1,%r2,%r3}, [%b0];",
    "szext.wrap.s32 %r0, %r1, %r2;",
    "bmsk.clamp.b32 %r0, %r1, %r2;",
    "dp4a.u32.u32 %r0, %r1, %r2, %r3;",
    "add.s16x2 %r0, %r1, %r2;",
    "add.u16x2 %r0, %r1, %r2;",
    "max.s16x2 %r0, %r1, %r2;",
    "max.s16x2.relu %r0, %r1, %r2;",
    "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("statement", OUTSIDE)
def test_what_is_said_of_other_instructions_is_what_ptxas_wants(db: Database, ptxas: Path, statement: str) -> None:
    """Step by step: who follows each answer comes to a module that ptxas takes, and no version is told that it
    refuses."""
    target, ptx = "sm_50", "5.0"
    for _ in range(4):
        (said,) = judge(ptxas, [statement], target, ptx)
        if not said:
            break
        (change, *_) = explanations(db, [f"ptxas a.ptx, line 1; error   : {m}" for m in said])
        # Of what few targets have the database knows its own only: no target and no version is told.
        if not change.meaning.target and not change.meaning.ptx:
            assert not change.meaning.lacking and not change.meaning.others
            return
        target = change.meaning.target or target
        asked = [change.meaning.ptx or ptx, ptx, db.targets[target].ptx]
        ptx = max(asked, key=lambda v: db.versions[v].order)
    assert judge(ptxas, [statement], target, ptx) == [[]] or "redux" in statement


@pytest.mark.parametrize(
    ("message", "target"),
    [
        ("Feature 'mma with FP8 floating point type' requires .target sm_89 or higher", "sm_89"),
        ("Feature 'mma with .bf16' requires .target sm_80 or higher", "sm_80"),
        ("Feature 'WMMA with floating point types' requires .target sm_70 or higher", "sm_70"),
        ("Instruction 'atom.add.f64.global' requires .target sm_60 or higher", "sm_60"),
        ("Modifier '.evict_normal' on 'applypriority' requires .target sm_80 or higher", "sm_80"),
        # The database has these two later, and the second one by other words.
        ("Feature '.bf16x2' requires .target sm_75 or higher", "sm_75"),
        ("Feature 'f16 arithemetic and compare instructions' requires .target sm_53 or higher", "sm_53"),
    ],
)
def test_no_version_is_told_of_what_the_database_does_not_have_there(db: Database, message: str, target: str) -> None:
    (found,) = explanations(db, [message])
    assert found.meaning.change == f"compile for {target} or newer (-arch={target}; .target {target} in PTX)"
    assert any("unknown here" in why for why in found.meaning.why) and found.is_known


@pytest.mark.parametrize(
    ("message", "target", "version"),
    [
        ("Feature 'mma' requires .target sm_70 or higher", "sm_70", "6.4 (CUDA 10.1)"),
        ("Feature 'ldmatrix' requires .target sm_75 or higher", "sm_75", "6.5 (CUDA 10.2)"),
        ("Modifier '.m8n8' requires .target sm_75 or higher", "sm_75", "6.5 (CUDA 10.2)"),
        ("Feature '.mmio' requires .target sm_70 or higher", "sm_70", "8.2 (CUDA 12.2)"),
        ("Feature '.mmio' on 'ld' requires .target sm_70 or higher", "sm_70", "8.2 (CUDA 12.2)"),
        ("Feature 'cp.async.bulk' requires .target sm_90 or higher", "sm_90", "8.0 (CUDA 12.0)"),
        ("Instruction 'wmma.mma' requires .target 70 or higher", "sm_70", "6.3 (CUDA 10.0)"),
    ],
)
def test_the_version_of_what_is_outside_is_told(db: Database, message: str, target: str, version: str) -> None:
    (found,) = explanations(db, [message])
    change = f"compile for {target} or newer (-arch={target}; .target {target} in PTX) with .version {version} or newer"
    assert found.meaning.change == change


@pytest.mark.parametrize(
    ("message", "version", "why"),
    [
        (
            "Feature 'cvt with .e4m3x2/.e5m2x2' requires .target sm_89 or higher",
            "8.1 (CUDA 12.1)",
            "introduced with sm_89",
        ),
        ("Feature 'cvt with .e4m3x2/.e5m2x2' requires .target sm_90 or higher", "7.8", "sm_89 has it from PTX 8.1"),
        ("Feature 'cvt.f16x2.e5m2x2' requires .target sm_90 or higher", "7.8", "sm_89 has it from PTX 8.1"),
        ("Feature 'ex2.f16/f16x2' requires .target sm_75 or higher", "7.0", "introduced with sm_75"),
        ("Instruction 'div.rnd.f32' requires .target sm_20 or higher", "2.0", "introduced with sm_20"),
        (
            "Modifier '.satfinite' on 'cvt.tf32.f32.rn' requires .target sm_100 or higher",
            "8.6",
            "introduced with sm_100",
        ),
        ("Feature '.bf16' requires .target sm_80 or higher", "8.1", "PTX 7.0 is enough for some variants"),
    ],
)
def test_the_version_told_is_that_of_the_target(db: Database, message: str, version: str, why: str) -> None:
    (found,) = explanations(db, [message])
    assert f"with .version {version}" in found.meaning.change
    assert any(why in line for line in found.meaning.why)


def test_with_the_file_the_version_told_is_that_of_the_target_too(db: Database, ptxas: Path, tmp_path: Path) -> None:
    """sm_89 has it later than sm_90."""
    source = tmp_path / "a.ptx"
    statement = "cvt.rn.satfinite.e4m3x2.f32 h,f,f;"
    for target in ("sm_80", "sm_89"):
        source.write_text(
            f".version 7.8\n.target {target}\n.entry k() {{\n.reg .f32 f; .reg .b16 h;\n{statement}\n}}\n"
        )
        log = log_of(ptxas, source)
        assert ".version 8.1 " in explanations(db, log)[0].meaning.change, log


@pytest.mark.parametrize(
    ("message", "known"),
    [
        ("Arguments mismatch for instruction 'ld'", False),
        ("Unexpected instruction types specified for '_mma'", False),
        ("Illegal modifier '.ftz' for instruction 'atom'", False),
        ("Illegal rounding modifier for instruction 'wmma.mma'", False),
        ("'.noftz' modifier required for instruction 'red' with type '.f16'", True),
        ("Argument 1 of instruction 'vote': must be register", False),
        ("Argument 0 of instruction 'pmevent': value '99' out of range, expected to be in range [0..15]", False),
        ("Vector operand is not allowed for instruction 'vote'", False),
        ("Modifier '.nc' requires modifier '.global'", False),
        ("Modifier '.ca' cannot be combined with modifier '.cg'", False),
        ("Sink '_' is expected as a destination operand for instruction 'red' with '.x'", False),
        ("Unknown video selector: '.b9'", False),
        ("Special register argument not allowed for instruction 'vote'", False),
        ("Predicate output not allowed for instruction 'shfl'", False),
        ("Arguments mismatch for instruction 'cvt.pack'", True),
        ("Arguments mismatch for instruction 'add'", True),
    ],
)
def test_of_what_is_outside_it_is_said_that_nothing_is_known(db: Database, message: str, known: bool) -> None:
    (found,) = explanations(db, [f"ptxas a.ptx, line 1; error   : {message}"])
    assert found.is_known == known


@pytest.mark.parametrize(
    ("opcode", "answer"),
    [
        ("ld", "as many registers in braces as the vector has elements: two for .v2, four for .v4"),
        ("mma", "as many registers in braces as the vector has"),
        ("mov", "as many registers in braces as the vector has"),
        ("wgmma.mma_async with floating point types", "as many registers in braces as the vector has"),
        ("add", "write one register: add accepts no vectors"),
    ],
)
def test_a_vector_has_as_many_registers_as_it_says(db: Database, opcode: str, answer: str) -> None:
    (found,) = explanations(db, [f"Argument vector size mismatch for instruction '{opcode}'", "x: error"], direct=True)[
        :1
    ]
    assert answer in found.meaning.change
    assert any("not in this database" in why for why in found.meaning.why) == (opcode not in ("mov", "add"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("opcode", sorted(database().opcodes))
def test_the_constants_that_are_told_of_are_those_that_ptxas_takes(db: Database, ptxas: Path, opcode: str) -> None:
    """Of each type in each place, where the answer to a mismatch says how constants are written."""
    (found,) = explanations(db, [f"Arguments mismatch for instruction '{opcode}'"])
    assert (
        "in number" not in found.meaning.change
        and "number of operands does not match, or the type" in found.meaning.why[0]
    )
    said: dict[str, set[str]] = {}
    for line in found.meaning.why:
        if m := re.fullmatch(
            r"(?P<types>\.[^ ].*?)(?: and \d+ more)? takes? (?:constants as (?P<as>.*)|no constants)", line
        ):
            said |= {t.strip(" ."): set((m["as"] or "").split(" or ")) - {""} for t in m["types"].split(",")}
    assert said
    asked: dict[str, tuple[str, bool]] = {}
    seen = set()
    for v in db.opcodes[opcode].variants:
        if any(s.braced for s in v.sources) or not db.takes(v, "sm_120a", "9.5"):
            continue
        # A second result of another type is not left out.
        second = v.second not in (None, v.result)
        head, operands = written(db, v.spelling, v.operands, second).rstrip(";").split(" ", 1)
        parts = operands.split(", ")
        place = 0
        for s in v.sources:
            for _ in range(s.registers):
                place += 1
                for constant in ("1", "1.0", "0f3F800000") if s.type in said else ():
                    if (v.types, s.type, place, constant) not in seen:
                        seen.add((v.types, s.type, place, constant))
                        statement = f"{head} {', '.join([*parts[:place], constant, *parts[place + 1 :]])};"
                        asked[statement] = (s.type, constant in said[s.type])
    refused = judge(ptxas, list(asked), "sm_120a", "9.5")
    assert asked and [s for s, m in zip(asked, refused, strict=True) if asked[s][1] == bool(m)] == []


MENDED = [
    ("fma.rn.f32 %f0, %f1, %f2;", "the operands are d, a, b, c", "fma.rn.f32 %f0, %f1, %f2, %f3;"),
    ("fma.rn.f32 %f0, %f1, %f2, 1;", ".f32, .f64 take constants as 1.0", "fma.rn.f32 %f0, %f1, %f2, 1.0;"),
    ("add.f16 %h0, %h1, 1.0;", "take no constants", "add.f16 %h0, %h1, %h2;"),
    ("and.b32 %r0, %r1, 1.0;", ".b16, .pred take constants as 1", "and.b32 %r0, %r1, 1;"),
    ("selp.f32 %f0, 1, 2, %p0;", ".f32, .f64 take constants as 1.0", "selp.f32 %f0, 1.0, 2.0, %p0;"),
    ("setp.eq.s32 %p0, %r1;", "p, a, b", "setp.eq.s32 %p0, %r1, %r2;"),
    ("shl.b32 %r0, %r1, %b2;", "or the type of a register", "shl.b32 %r0, %r1, %r2;"),
    ("mov.b64 {%r0, %r1}, %r2;", "the vector first", "mov.b64 {%r0, %r1}, %b2;"),
    ("mov.v4.b32 %r0, %r1;", "four for .v4", "mov.v4.u32 {%r0, %r1, %r2, %r3}, %tid;"),
    ("ld.global.v2.f32 %f0, [%b0];", "two for .v2", "ld.global.v2.f32 {%f0, %f1}, [%b0];"),
    ("ld.global.v4.f32 {%f0, %f1}, [%b0];", "four for .v4", "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%b0];"),
    ("add.v2.f32 %f0, %f1, %f2;", "remove .v2 or .v4", "add.f32 %f0, %f1, %f2;"),
    ("add.global.f32 %f0, %f1, %f2;", "remove the state space", "add.f32 %f0, %f1, %f2;"),
    ("add.lt.f32 %f0, %f1, %f2;", "remove the comparison", "add.f32 %f0, %f1, %f2;"),
    ("testp.nan.f32 %p0, %f1;", ".notanumber", "testp.notanumber.f32 %p0, %f1;"),
    ("setp.lo.f32 %p0, %f1, %f2;", "a comparison that exists for this type", "setp.lt.f32 %p0, %f1, %f2;"),
    ("setp.s32 %p0, %r1, %r2;", ".eq (true if a is equal to b;", "setp.eq.s32 %p0, %r1, %r2;"),
    ("cvt.rn.s32.f32 %r0, %f1;", ".rni, .rzi", "cvt.rni.s32.f32 %r0, %f1;"),
    ("cvt.s32.f32 %r0, %f1;", ".rzi (round to an integer", "cvt.rzi.s32.f32 %r0, %f1;"),
    ("cvt.rn.f64.f32 %d0, %f1;", "or none if it has none", "cvt.f64.f32 %d0, %f1;"),
    ("cvt.rn.e4m3x2.f32 %h0, %f1, %f2;", "write .satfinite", "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;"),
    ("add.cc.f32 %f0, %f1, %f2;", "remove .cc", "add.f32 %f0, %f1, %f2;"),
    ("cvt.rn.ftz.f64.s32 %d0, %r1;", "remove .ftz", "cvt.rn.f64.s32 %d0, %r1;"),
    ("add.rn.rz.f32 %f0, %f1, %f2;", "write one of them", "add.rz.f32 %f0, %f1, %f2;"),
    ("max.rn.f32 %f0, %f1, %f2;", "remove the rounding mode: no max has one", "max.f32 %f0, %f1, %f2;"),
    ("add.f32 %f0, %f1, {%f2, %f3};", "write one register", "add.f32 %f0, %f1, %f2;"),
    ("add.f32 %f0|%f1, %f1, %f2;", "there is no second result", "add.f32 %f0, %f1, %f2;"),
    ("setp.lt.f32 %p0|%r1, %f1, %f2;", "declare it with .reg .pred", "setp.lt.f32 %p0|%p1, %f1, %f2;"),
    ("add.f32 %f0, %f1, %f2.x;", "write the register alone", "add.f32 %f0, %f1, %f2;"),
    ("fadd.f32 %f0, %f1, %f2;", "did you mean 'add'?", "add.f32 %f0, %f1, %f2;"),
    ("div.rn.full.f32 %f0, %f1, %f2;", "as in div.full.f32", "div.full.f32 %f0, %f1, %f2;"),
    ("rcp.approx.f64 %d0, %d1;", "rcp.approx.ftz.f64", "rcp.approx.ftz.f64 %d0, %d1;"),
    ("min.xorsign.f32 %f0, %f1, %f2;", "write both", "min.xorsign.abs.f32 %f0, %f1, %f2;"),
    ("max.nan.f32 %f0, %f1, %f2;", "write .NaN for .nan", "max.NaN.f32 %f0, %f1, %f2;"),
    ("bra %r1;", "as in bra L1, with `L1:`", "{ bra L1; L1: mov.u32 %r0, %r1; }"),
    ("ld.global.f32 %f0, [%f1];", "write a register with an address in the brackets", "ld.global.f32 %f0, [%b1];"),
    (
        "ld.shared.f32 %f0, [m0];",
        "`.shared .align 4 .b8 m0[1024];`",
        "{ .shared .align 4 .b8 m0[9]; ld.shared.f32 %f0, [m0]; }",
    ),
    ("neg.u32 %r0, %r1;", "write the signed type of the same size: .s32 for .u32", "neg.s32 %r0, %r1;"),
    ("add.f32 %f0, %f1, inf;", "write 0f7F800000 (.f32)", "add.f32 %f0, %f1, 0f7F800000;"),
    ("add.f64 %d0, %d1, nan;", "0d7FFFFFFFFFFFFFFF (.f64) for NaN", "add.f64 %d0, %d1, 0d7FFFFFFFFFFFFFFF;"),
    ("add.f32 %f0, %f1, -inf;", "0fFF800000 or", "add.f32 %f0, %f1, 0fFF800000;"),
    ("add.f32 %f0, %f1, 1.0f;", "write the constant without its f", "add.f32 %f0, %f1, 1.0;"),
    ("add.f32 %f0, %f1, 0x1p0;", "as in 0f3F800000 for 1.0", "add.f32 %f0, %f1, 0f3F800000;"),
    ("add.f32 %f0, %f1, 0f3f80;", "8 after 0f", "add.f32 %f0, %f1, 0f3f800000;"),
    (".reg .bf16x2 %x;", "declare the register as .b32", ".reg .b32 %x;"),
    (".reg .e4m3x2 %xs;", "declare the register as .b16", ".reg .b16 %ys;"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("wrong", "answer", "right"), MENDED)
def test_what_follows_the_answer_assembles(db: Database, ptxas: Path, wrong: str, answer: str, right: str) -> None:
    """Without the file: the message alone is explained."""
    said, mended = judge(ptxas, [wrong, right], "sm_120a", "9.5")
    assert said and not mended
    assert answer in "\n".join(as_text(explanations(db, [f"ptxas a.ptx, line 9; error   : {m}" for m in said])))


@pytest.mark.parametrize(
    "message",
    ["Unknown modifier '.foo'", "Unknown modifier '.relaxed2'", "Not a name of any known instruction: 'redd'"],
)
def test_no_name_is_suggested_that_is_only_somewhat_alike(db: Database, message: str) -> None:
    (found,) = explanations(db, [message])
    assert "did you mean" not in found.meaning.change or "'red'" in found.meaning.change


def test_what_follows_from_a_name_that_is_not_declared_is_shown_with_it(db: Database) -> None:
    said = (
        "Arguments mismatch for instruction 'add'",
        "Unknown symbol '%f99'",
        "Multiple rounding modifiers specified",
    )
    found = explanations(db, [f"ptxas a.ptx, line 9; error   : {text}" for text in said])
    assert [[c.text for c in e.complaints] for e in found] == [[said[1], said[0]], [said[2]]]
    assert found[0].meaning.change.startswith("declare %f99")


def test_a_file_that_is_no_ptx_is_not_searched_for_errors(db: Database, ptxas: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k(float *f) { f[0] = f[1]; }\n")
    (found,) = explanations(db, log_of(ptxas, source))
    assert found.meaning.change.startswith("a file begins with .version and .target")

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
from ptxspec.ptxas.asking import judge
from ptxspec.ptxas.explain import as_text, explanations, messages

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
    assert "it needs .target sm_80 or newer, and .version 7.0 (CUDA 11.0) or newer" in text
    assert "instead: { .reg .pred %_p; .reg .b32 %_t; setp.nan.f32 %_p, %f1, %f2;" in text
    assert "fma.f32 lacks .rn" in text
    assert "no max has all of this\n" in text
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
    assert "write the one that you mean behind fma: .rn (round to nearest, ties to even); .rz (" in text


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Modifier '.NaN' requires .target sm_80 or higher", "compile for sm_80 or newer"),
        ("Instruction 'testp' requires .target sm_20 or higher", "compile for sm_20 or newer"),
        ("Feature '.NaN' requires PTX ISA .version 7.0 or later", "write .version 7.0 (CUDA 11.0) or newer"),
        ("Illegal modifier '.ftz' for instruction 'tanh'", "no tanh has .ftz; it has .approx"),
        ("Illegal modifier '.ftz' for instruction 'fma'", "write .ftz with .f32, .f32x2, .f16, .f16x2 only"),
        ("Illegal modifier '.sat' for instruction 'fma.f64'", "leave .sat out, where you can do without it"),
        ("Illegal rounding modifier for instruction 'max'", "leave the rounding out: no max has one"),
        ("Rounding modifier required for instruction 'fma'", ".rn (round to nearest, ties to even); .rz (round toward"),
        (
            "Rounding modifier or '.approx' modifier required for instruction 'div'",
            ".approx (a fast approximation, not",
        ),
        (".approx modifier required for instruction 'sin'", "write .approx, which must be there"),
        ("'.ftz' modifier required for instruction 'rcp.approx.f64'", "rcp.approx.ftz.f64"),
        ("Modifier '.xorsign' requires modifier '.abs'", "max.xorsign.abs.f32"),
        ("Modifier '.ftz' cannot be combined with modifier '.oob'", "the one that you mean"),
        ("Unknown modifier '.ftzz'", "did you mean '.ftz'"),
        ("Unknown modifier '.full'", "div.full.f32"),
        ("Unexpected instruction types specified for 'div'", "div has .f32, .f64"),
        ("Arguments mismatch for instruction 'add'", "the operands are d, a, b"),
        ("Arguments mismatch for instruction 'tanh'", "the operands are d, a"),
        ("PTX .version 1.0 does not support .target sm_12", "write .version 1.2"),
        ("Unsupported .version 99.9; current version is '9.5'", "9.5"),
        ("Unsupported .target 'sm_999'", "sm_"),
        ("Multiple rounding modifiers specified", "one of them"),
        ("Parsing error near ';': syntax error", "what follows was not judged"),
        ("Feature 'max.f32 with 3 input operands' requires .target sm_100 or higher", "with .version 8.8"),
        ("Modifier '.xorsign' requires .target sm_86 or higher", "with .version 7.2"),
        ("Instruction 'tanh' requires .target sm_75 or higher", "with .version 7.0"),
        ("Feature '.satfinite' requires .target sm_70 or higher", "with .version 8.1"),
        ("Special register argument not allowed for instruction 'add'", "move it into a register"),
        ("Vector operand is not allowed for instruction 'add'", "name one register"),
        ("Argument 1 of instruction 'add': must be register", "load it into a register first"),
        ("Argument 0 of instruction 'add': must be register", "the result needs a register"),
        ("Operand negation not allowed for instruction 'mul'", "an instruction of its own"),
        ("Not a name of any known instruction: 'ADD'", "in lower case: add"),
        ("Not a name of any known instruction: 'ad'", "did you mean 'add'"),
        ("Not a name of any known instruction: 'qqqqqqq'", "no instruction of this database is qqqqqqq"),
        ("Constant overflow", "no type has such a large integer"),
        ("Value 'sm_130' is not defined for option 'gpu-name'", "did you mean 'sm_"),
        ("Value 'sm_20' is not defined for option 'gpu-name'", "sm_20 came with PTX 2.0"),
        ("Missing .target directive at start of file 'a.ptx'", "`.target sm_"),
        ("Parsing error near 'st': syntax error", "the statement before 'st' lacks its semicolon"),
        ("Unknown symbol 'x'", "`.reg .f32 x;`"),
        ("Illegal vector size: 3", "as many registers as the instruction takes"),
        ("Incompatible elements of vector expression", "all of the size that it takes"),
        ("Predicate output not allowed for instruction 'setp'", "there is no second result"),
        ("Predicate output expected for instruction 'setp'", "declare it by .reg .pred"),
        ("Integer constant expression expected", "write 1 and not 1.0"),
        ("Constant expression has division by zero", "divides nothing by zero"),
        ("Unsupported cast operation", "only (.s64) and (.u64)"),
        ("Sink '_' not allowed as a source operand", "name a register"),
        ("Something else altogether", "not what this is about"),
    ],
)
def test_each_form_of_message_has_an_answer(db: Database, message: str, answer: str) -> None:
    for severity, name in itertools.product(("error  ", "fatal  "), ("ptxas", "ptxas-blackwell", "ptxas.exe")):
        text = "\n".join(as_text(explanations(db, [f"{name} /nowhere/a.ptx, line 9; {severity}: {message}"])))
        assert message in text and "/nowhere/a.ptx:9" in text
        assert answer in text


@each_size
def test_without_the_file_the_version_named_is_that_of_the_oldest_variant_meant(
    db: Database, ptxas: Path, whole: bool
) -> None:
    """Whatever ptxas says of all variants on all targets. Those that came with the target that it names are meant."""
    floors: dict[tuple[str, str], set[tuple[str, str]]] = {}
    newest = db.catalog.newest_version
    statements = [written(db, v.spelling, v.operands) for v in db.variants]
    for target in db.targets if whole else spread(list(db.targets), 10):
        for v, said in zip(db.variants, judge(ptxas, statements, target, newest), strict=True):
            for m in said:
                if found := re.search(r"requires \.target (\w+) or higher", m):
                    floors.setdefault((m, found[1]), set()).add((v.requires.target, v.requires.ptx))
    assert len(floors) > (40 if whole else 30)
    # What a feature is in prose cannot be looked up; it is told with the first version of its target.
    named = {key: needs for key, needs in floors.items() if not re.search(r"'\w+ \w+ \w+ ", key[0])}
    assert len(named) > len(floors) - 10
    for (message, target), needs in named.items():
        versions = [ptx for first, ptx in needs if first == target] or [ptx for _, ptx in needs]
        oldest = min(db.versions[v].order for v in versions)
        first = list(db.versions)[max(oldest, db.versions[db.targets[target].ptx].order)]
        assert f" with .version {first} " in "\n".join(as_text(explanations(db, [f"ptxas fatal   : {message}"]))), (
            message
        )


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
    assert "no complaint" in capsys.readouterr().out


def test_messages_about_comparisons_are_explained(ptxas: Path) -> None:
    db = database()
    statements = ["setp.f32 %p0, %f1, %f2;", "setp.lt.f32 %p0, %f1, %f2, %p3;", "setp.lt.f32 %p0, %f1, %r2, %f3;"]
    said = [m for found in judge(ptxas, statements, "sm_90", "8.0") for m in found]
    text = "\n".join(as_text(explanations(db, [f"ptxas fatal   : {m}" for m in said])))
    assert "write the one that you mean behind setp: .eq (is a equal to b?" in text
    assert "what is done with the predicate behind the operands, as in setp.eq.and.f32 p|q, a, b, c" in text
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
            "compile for sm_80 or newer (-arch=sm_80; .target sm_80 in PTX) with .version 7.0 (CUDA 11.0) or newer",
            "compile for sm_80 or newer (-arch=sm_80; .target sm_80 in PTX) with .version 7.1 (CUDA 11.1) or newer",
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
        ["install CUDA 12.8 or newer, whose ptxas reads .version 8.6"],
    ),
    "nvcc on PTX": (
        "ptxas add_kernel.ptx, line 5; fatal   : Unsupported .version 8.8; current version is '8.4'\n",
        ["install CUDA 12.9 or newer, whose ptxas reads .version 8.8"],
    ),
    "Numba, the driver's linker": (
        """\
numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX_VERSION
ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'
""",
        ["install driver 570.26 or newer, 570.65 on Windows (CUDA 12.8), which reads .version 8.7"],
    ),
    "Numba, nvJitLink": (
        """\
pynvjitlink.api.NvJitLinkError: NVJITLINK_ERROR_PTX_COMPILE error when calling nvJitLinkAddData
ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'
ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (<cudapy-ptx>)
""",
        ["install nvJitLink of CUDA 12.8 or newer, which reads .version 8.7"],
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
        ["install driver 555.42.02 or newer, which reads the PTX of CUDA 12.5"],
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
        ["assemble the PTX with ptxas, and explain what that says: `ptxas -arch=sm_90 a.ptx 2>&1 | ptxspec explain`"],
    ),
    "no code for the GPU": (
        "CUDA error 209 at ggml-cuda.cu:6701: no kernel image is available for execution on the device\n",
        ["compile for this machine's GPU: `ptxspec targets native` names its target, as in -arch=sm_90"],
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
        ["use a clang that goes with CUDA 8.0 or newer, before 13.0"],
    ),
    "clang and a CUDA that is too new": (
        "clang: error: GPU arch sm_35 is supported by CUDA versions between 7.0 and 11.8 (inclusive), but installation "
        "at /usr/local/cuda-12.4 is 12.4; use '--cuda-path' to specify a different CUDA install\n",
        ["point clang to a CUDA from 7.0 to 11.8 by --cuda-path"],
    ),
    "LLVM": (
        "'+ptx88' is not a recognized feature for this target (ignoring feature)\n",
        ["use an LLVM that knows PTX 8.8 (CUDA 12.9), or ask it for an older version"],
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
        "this ptxas is older than what wrote the PTX: it reads PTX up to 8.4 (CUDA 12.4)",
        "or write .version 8.4, if the file uses nothing newer: `ptxspec lint --ptx 8.4` says what does",
    )


def test_bare_messages_are_found_on_standard_input(db: Database) -> None:
    log = ["some program\n", "E   Feature '.bf16' requires .target sm_80 or higher\n", "elements of a list\n"]
    (found,) = explanations(db, log)
    assert found.meaning.target == "sm_80"

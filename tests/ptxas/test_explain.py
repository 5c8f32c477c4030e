"""`ptxspec explain` on logs of a real ptxas, and on what it may say."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.linting import written
from helpers.repository import database
from ptxspec import Database
from ptxspec.cli.main import main
from ptxspec.ptxas.asking import judge
from ptxspec.ptxas.explain import explain, messages

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
    assert [line for _, line in new[0].places] == [5, 6]
    text = "\n".join(explain(db, log))
    assert "a.ptx:5" in text and "a.ptx:6" in text
    assert "it needs .target sm_80 or newer, and .version 7.0 (CUDA 11.0) or newer" in text
    assert "no other max does the same on sm_75 and PTX 6.5" in text
    assert "fma.f32 lacks .rn" in text
    assert "the manual has no max with all of this\n" in text
    assert "move the constant into a register first" in text
    assert "aborted" not in text


def test_without_the_file_the_message_is_explained_by_itself(db: Database, ptxas: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.ptx"
    source.write_text(MODULE)
    log = log_of(ptxas, source)
    source.unlink()
    text = "\n".join(explain(db, log))
    assert "compile for sm_80 or newer" in text
    assert "write .version 7.0 (CUDA 11.0) or newer" in text
    assert "write one of fma.rn.f32" in text


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Modifier '.NaN' requires .target sm_80 or higher", "compile for sm_80 or newer"),
        ("Instruction 'testp' requires .target sm_20 or higher", "compile for sm_20 or newer"),
        ("Feature '.NaN' requires PTX ISA .version 7.0 or later", "write .version 7.0 (CUDA 11.0) or newer"),
        ("Illegal modifier '.ftz' for instruction 'tanh'", "no tanh has .ftz; it has .approx"),
        ("Illegal modifier '.ftz' for instruction 'fma'", "write one of fma.rn.ftz.f32"),
        ("Illegal rounding modifier for instruction 'max'", "write one of max.f32"),
        ("Rounding modifier required for instruction 'fma'", "write one of fma.rn.f32"),
        ("Rounding modifier or '.approx' modifier required for instruction 'div'", "div.approx.f32"),
        (".approx modifier required for instruction 'sin'", "sin.approx.f32"),
        ("'.ftz' modifier required for instruction 'rcp.approx.f64'", "rcp.approx.ftz.f64"),
        ("Modifier '.xorsign' requires modifier '.abs'", "max.xorsign.abs.f32"),
        ("Modifier '.ftz' cannot be combined with modifier '.oob'", "one of the two"),
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
        ("Feature 'max.f32 with 3 input operands' requires .target sm_100 or higher", "needs .version 8.8"),
        ("Modifier '.xorsign' requires .target sm_86 or higher", "needs .version 7.2"),
        ("Instruction 'tanh' requires .target sm_75 or higher", "needs .version 7.0"),
        ("Feature '.satfinite' requires .target sm_70 or higher", "needs .version 5.1"),
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
@pytest.mark.parametrize("severity", ["error  ", "fatal  "])
@pytest.mark.parametrize("name", ["ptxas", "ptxas-blackwell", "ptxas.exe"])
def test_each_form_of_message_has_an_answer(db: Database, message: str, answer: str, severity: str, name: str) -> None:
    text = "\n".join(explain(db, [f"{name} /nowhere/a.ptx, line 9; {severity}: {message}"]))
    assert message in text and "/nowhere/a.ptx:9" in text
    assert answer in text


def test_without_the_file_the_version_named_is_that_of_the_oldest_variant_meant(db: Database, ptxas: Path) -> None:
    """Whatever ptxas says of all variants on all targets."""
    floors: dict[tuple[str, str], set[str]] = {}
    newest = db.catalog.newest_version
    statements = [written(db, v.spelling, v.operands) for v in db.variants]
    for target in db.targets:
        for v, said in zip(db.variants, judge(ptxas, statements, target, newest), strict=True):
            for m in said:
                if found := re.search(r"requires \.target (\w+) or higher", m):
                    floors.setdefault((m, found[1]), set()).add(v.requires.ptx)
    assert len(floors) > 40
    for (message, target), versions in floors.items():
        oldest = min(db.versions[v].order for v in versions)
        first = list(db.versions)[max(oldest, db.versions[db.targets[target].ptx].order)]
        assert f"it needs .version {first} " in "\n".join(explain(db, [f"ptxas fatal   : {message}"])), message


def test_what_was_said_of_an_instruction_does_not_answer_another_complaint(
    db: Database, ptxas: Path, tmp_path: Path
) -> None:
    source = tmp_path / "a.ptx"
    source.write_text(".version 8.0\n.target sm_80\n.entry k() {\n.reg .f32 f;\nmax.xorsign.f32 f,f,f;\n}\n")
    text = "\n".join(explain(db, log_of(ptxas, source)))
    assert "lacks .abs" in text
    assert "compile for sm_86" in text and "needs .version 7.2" in text


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
    text = "\n".join(explain(db, [f"ptxas fatal   : {m}" for m in said]))
    assert "write one of setp.eq.f32" in text
    assert "what is done with the predicate behind the operands, as in setp.eq.and.f32 p|q, a, b, c" in text
    assert "the operands are p|q, a, b or p, a, b or p0|p1, a, b or p|q, a, b, c" in text

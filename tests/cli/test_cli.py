"""The commands eval, show and validate as a user meets them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.commands import Run
from helpers.project import OPCODES, Project
from ptxspec.cli.main import main
from ptxspec.model import Spec


def result_of(run: Run, *arguments: str) -> str:
    code, out, err = run("eval", *arguments, "--format", "json")
    assert code == 0, err
    return str(json.loads(out)["result"])


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (("add.f32", "1.5", "2.25"), "0x40700000"),
        (("add.f32", "-1", "-.5"), "0xbfc00000"),
        (("max.f32", "-0.0", "-inf"), "0x80000000"),
        (("add.f32", "inf", "-inf"), "0x7fffffff"),
        (("mul.f32", "nan", "1"), "0x7fffffff"),
        (("mul.f32", "0x1.8p-3", "-0x1p1"), "0xbec00000"),
        (("mul.f32", "0x3fc00000", "0x40000000"), "0x40400000"),
        (("add.f64", "1e-3", "0"), "0x3f50624dd2f1a9fc"),
        (("add.f64", "1e400", "0"), "0x7ff0000000000000"),
        (("add.f64", "-1e999999999", "0x1p999999999999"), "0xfff8000000000000"),
        (("add.f64", "-1e-999999999", "-0x1p-99999999999999"), "0x8000000000000000"),
        (("add.f64", "1" + "0" * 5000, "0"), "0x7ff0000000000000"),
        (("add.f64", "1" + "0" * 5000 + "e-5000", "0"), "0x3ff0000000000000"),
        (("add.f64", "0x1" + "0" * 5000 + "p-20000", "0"), "0x3ff0000000000000"),
        (("add.f16x2", "1,2", "-0.5,0x1p0"), "0x42003800"),
        (("add.f16x2", "0x40003c00", "0x3c00b800"), "0x42003800"),
        (("max.f32", "1", "2", "3"), "0x40400000"),
        (("add.ftz.rz.f32", "0x00000001", "0"), "0x00000000"),
        (("add.f32", "0x00000001", "0", "--target", "sm_13"), "0x00000000"),
        (("add.f32", "0x00000001", "0", "--target", "sm_90"), "0x00000001"),
    ],
)
def test_eval_reads_every_form_of_operand(run: Run, arguments: tuple[str, ...], result: str) -> None:
    assert result_of(run, *arguments) == result


def test_eval_shows_decimal_hexadecimal_and_bits(run: Run) -> None:
    code, out, _ = run("eval", "add.ftz.rz.f32", "0.1", "-2")
    assert code == 0
    assert out.splitlines()[0].startswith("add.rz.ftz.f32 (2 operands), ")  # in the manual's order
    assert "  a  0.1 0x1.99999ap-4 0x3dcccccd" in out
    assert "  d  -1.9 -0x1.e66666p+0 0xbff33333" in out


def test_bits_that_are_no_float_need_not_have_all_their_digits(run: Run) -> None:
    assert "  d  8 0x00000008\n" in run("eval", "popc.b32", "0xff")[1]
    assert "  d  256 0x00000100\n" in run("eval", "add.u32", "0xff", "0x1")[1]
    assert run("eval", "add.u32", "0x1ffffffff", "0x1")[0] == 2


def test_the_trace_shows_each_stage_with_its_line(run: Run) -> None:
    code, out, _ = run("eval", "add.ftz.sat.f32", "0x00000001", "3", "--trace", "--format", "json")
    found = json.loads(out)
    assert code == 0 and found["schema"] == 1 and found["variant"] == "add.ftz.sat.f32"
    assert found["operands"] == ["0x00000001", "0x40400000"]
    steps = [(t["stage"], t["before"], t["after"]) for t in found["trace"]]
    assert steps[0] == (".ftz a", "0x00000001", "0x00000000")
    assert ("operation", None, "0x40400000") in steps
    assert steps[-1] == (".sat", "0x40400000", "0x3f800000")
    for t in found["trace"]:
        path, line = t["line"].split(":")
        assert 0 < int(line) <= len((ROOT / path).read_text("utf-8").splitlines())
    text = run("eval", "add.ftz.sat.f32", "0x00000001", "3", "--trace")[1]
    assert "spec/instructions/add.yaml:" in text and "  d = addition(a, b, type)\n" in text
    assert "    was  1e-45 0x1p-149 0x00000001, a subnormal number\n    a    0.0 0x0p+0 0x00000000\n" in text
    assert "    d              1.0 0x1p+0 0x3f800000\n" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("eval", "add.f23", "1", "2"), "add.f"),
        (("eval", "addd.f32", "1", "2"), "add"),
        (("eval", "add.f32", "1"), "2"),
        (("eval", "add.f32"), "2 operands"),
        (("eval", "add.f32", "1", "2", "3"), "2"),
        (("eval", "add.f32", "1", "x"), "operand 'x' is not a number; write a number, "),
        (("eval", "add.f32", "1", "ifn"), "operand 'ifn' is not a number; did you mean 'inf'?"),
        (("eval", "add.f32", "1", "0x3f80"), "0x and 8 hexadecimal digits"),
        (("eval", "add.f32", "1,2", "3"), "one number"),
        (("eval", "add.f16x2", "1", "2"), "low,high"),
        (("eval", "add.f32", "1", "2", "--target", "sm_91"), "sm_9"),
        (("eval", "add.f32x2", "1,1", "2,2", "--target", "sm_50"), "sm_100"),
        (("eval", "add.f32", "1", "2", "--format", "xml"), "json"),
        (("show", "ad"), "add"),
        (("show", "max.NaNN.f32"), "did you mean '.NaN'?"),
        (("show", "max.f64", "--operands", "3"), "max.f64 takes 2 source operands, not 3"),
        (("show", "max", "--operands", "2"), "--operands applies to variants only, such as max.f32"),
        (("show", "mov.b128"), "another section of PTX"),
        (("validate", "nowhere.yaml"), "no such file"),
        (("valdate",), "validate"),
        (("query", "add.f32", "--traget", "sm_90"), "unknown option '--traget'; did you mean '--target'?"),
        (("query", "add.f32", "--traget", "sm_90"), "usage: ptxspec query "),
        (("diff", "8.5..8.8"), "usage: ptxspec diff "),
        (("explain", str(ROOT / "README.md")), "README.md' is a file, not a message; write `ptxspec explain < "),
        (("query", "add.f32", "sm_80"), "unexpected argument 'sm_80'; did you mean '--target sm_80'?"),
        (("list", "--type", "f32", "--type", "f64"), "--type was given twice"),
        (("list", "--target", ""), "unknown target ''; `ptxspec targets` lists the known targets"),
        (("diff", "--ptx", ""), "OLD..NEW"),
    ],
)
def test_misuse_is_told_with_the_nearest(run: Run, arguments: tuple[str, ...], said: str) -> None:
    try:
        code, out, err = run(*arguments)
    except SystemExit as e:  # pragma: no cover
        raise AssertionError from e
    assert code == 2 and out == ""
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        # The answer to a question is no.
        ("query max.NaN.f64", 1),
        ("query add.bf16 --target sm_80", 1),
        ("query mov.b128", 1),
        ("list --opcode tanh --target sm_50", 1),
        # A name is unknown where a known one is needed.
        ("query add.f32 --target sm_91", 2),
        ("list --opcode maxx", 2),
        ("show maxx", 2),
        ("show max.f64.NaN", 2),
        ("eval max.NaN.f64 1 2", 2),
        ("vectors max.NaN.f64", 2),
        # It cannot run.
        ("eval add.bf16 1 2 --target sm_80", 2),
    ],
)
def test_1_is_the_answer_no_and_2_is_what_cannot_be_done(run: Run, arguments: str, code: int) -> None:
    assert run(*arguments.split())[0] == code


def test_show_has_the_page_and_the_variant(run: Run) -> None:
    code, page, _ = run("show", "max")
    assert code == 0 and "maximumNumber" in page and "enerated by" not in page
    code, part, _ = run("show", "max.f32.NaN.ftz")
    assert code == 0 and part.startswith("# max.ftz.NaN.f32, 2 operands")
    assert "# max.ftz.NaN.f32, 3 operands" in part
    only = run("show", "max.ftz.NaN.f32", "--operands", "3")[1]
    assert "2 operands" not in only and "sm_100 or newer, PTX 8.8" in only


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_terminal_gets_a_page_that_fits(run: Run, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """Elsewhere it is the Markdown as it stands. No word of a table is cut, and no link leads to a file."""
    piped = run("show", "mad")[1]
    assert piped in (ROOT / "generated/manual/mad.md").read_text("utf-8")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    page = run("show", "mad")[1]
    assert max(map(len, page.splitlines())) <= columns
    assert "…" not in page and " | " not in page and "```" not in page and "glossary.md" not in page
    letters = re.sub(r"\s", "", page)
    for table in re.findall(r"^(?:\|.*\|\n)+", piped, re.MULTILINE):
        cells = re.split(r"(?<!\\)\||\s", table.partition("\n")[2])
        words = {word.replace("`", "") for word in cells if not re.search(r"---|[][\\]", word)}
        assert [word for word in words if word not in letters] == []


def test_a_recipe_is_a_block_of_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\n```\n{\n    .reg .b16 %_t;\n" in run("show", "add.bf16")[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert re.search(r"^ *\{ *\n *\.reg \.b16 %_t; *\n", run("show", "add.bf16")[1], re.MULTILINE)


@pytest.mark.exhaustive
def test_validate_counts(project: Project, spec: Spec) -> None:
    result = project.run("validate")
    variants = sum(len(spec.instructions[o].variants) for o in OPCODES)
    assert result.code == 0 and f": {len(OPCODES)} opcodes, {variants:,} variants, no errors" in result.out


def test_a_root_is_named_from_within_and_a_wrong_one_is_told(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("spec/instructions/mul.yaml", "nothing")
    monkeypatch.chdir(project.root / "spec/instructions")
    assert main(["validate", "--root", "../.."]) == 1
    assert "spec/instructions/mul.yaml:1:1" in capsys.readouterr().err
    assert main(["validate", "--root", str(tmp_path)]) == 2
    assert "has no spec/ and templates/" in capsys.readouterr().err


@pytest.mark.exhaustive
def test_eval_uses_the_emulator_of_its_root_and_finds_a_stale_one(project: Project) -> None:
    assert "run `ptxspec generate`" in project.run("eval", "add.f32", "1", "2").err
    project.edit(
        "spec/instructions/mul.yaml", "d = multiplication(a, b, type)", "x = multiplication(a, b, type)\n      d = -x"
    )
    text = (project.root / "spec/instructions/mul.yaml").read_text("utf-8")
    project.write("spec/instructions/mul.yaml", text.partition("corner_cases:")[0])
    assert project.run("generate").code == 0
    assert "  d  -6.0 " in project.run("eval", "mul.f32", "2", "3").out
    project.edit("spec/instructions/mul.yaml", "d = -x", "d = x")
    for options in ([], ["--trace"]):
        stale = project.run("eval", "mul.f32", "2", "3", *options)
        assert stale.code == 2 and "generated/ and spec/ disagree on mul.f32" in stale.err
    stale = project.run("vectors", "mul.f32")
    assert stale.code == 2 and stale.out == ""
    assert "spec/instructions/mul.yaml has changed since generated/ was written; run `ptxspec generate`" in stale.err
    assert project.run("generate").code == 0 and project.run("vectors", "mul.f32").code == 0
    # A measurement changes no result.
    project.bring("spec/observed/speed.yaml")
    assert project.run("vectors", "mul.f32").code == 0
    (project.root / "spec/instructions/mul.yaml").unlink()
    assert "spec/instructions/mul.yaml has changed since" in project.run("vectors", "mul.f32").err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    shown = f"{sys.executable} -m ptxspec show max --root {ROOT}"
    closed = subprocess.run(["bash", "-c", f"{shown} | true"], capture_output=True, text=True, check=False)
    assert closed.stderr == ""


@pytest.mark.exhaustive
def test_a_poor_terminal_is_no_error(project: Project) -> None:
    project.edit("spec/instructions/mul.yaml", "summary: Multiply", "summary: Größe – Multiply")
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    for opcode in {*OPCODES} - {"mul"}:
        (project.root / f"spec/instructions/{opcode}.yaml").unlink()
    command = [sys.executable, "-m", "ptxspec", "generate", "--check", "--diff", "--root", str(project.root)]
    poor = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert poor.returncode == 1 and b"Multiply" in poor.stdout and b"Traceback" not in poor.stderr


def test_a_verdict_that_its_reader_did_not_wait_for_is_none(tmp_path: Path) -> None:
    (tmp_path / "many.ptx").write_text("max.NaN.f64 %d0, %d1, %d2;\n" * 5000)
    command = f"{sys.executable} -m ptxspec lint {tmp_path}/many.ptx --root {ROOT} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 141 and done.stderr == "" and len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("module", ["argparse", "ptxspec.cli.main", "ptxspec.query.database", "ptxspec.cli.list"])
def test_an_interrupt_while_modules_are_imported_is_quiet(module: str) -> None:
    script = f"""\
import sys
from ptxspec.__main__ import main

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

assert {module!r} not in sys.modules
sys.meta_path.insert(0, Interrupted())
sys.argv = ["ptxspec", "list"]
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.sampled(1)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("command", ["query add.f32", "list --format csv", "vectors max.f32 --format csv"])
def test_output_that_cannot_be_written_is_one_line(command: str) -> None:
    script = f"import sys; from ptxspec.cli.main import main; sys.exit(main({[*command.split()]!r}))"
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 2 and done.stderr == "ptxspec: the output: No space left on device\n"


def test_options_stand_anywhere(run: Run, tmp_path: Path) -> None:
    first = run("eval", "add.f32", "1.5", "2", "--format", "json")
    assert first[0] == 0 and run("eval", "add.f32", "--format", "json", "1.5", "2") == first
    for name in ("a.ptx", "b.ptx"):
        (tmp_path / name).write_text("max.NaN.f64 %d0, %d1, %d2;\n")
    found = run("lint", str(tmp_path / "a.ptx"), "--target", "sm_90", str(tmp_path / "b.ptx"))
    assert found[0] == 1 and "a.ptx:1:" in found[1] and "b.ptx:1:" in found[1]


@pytest.mark.exhaustive
def test_errors_in_the_specification_are_an_answer_of_the_commands_that_are_about_it_alone(project: Project) -> None:
    """1 from compare says that two things differ."""
    assert project.run("generate").code == 0
    # Nothing in generated/ is made of it that would be called stale.
    project.write("spec/functions.yaml", "nothing: here\n")
    found = {}
    for command, *arguments in (
        ("validate",),
        ("generate",),
        ("compare", "add.f32", "add.rz.f32"),
        ("sweep", "add.f32", "--against", "add.rz.f32"),
    ):
        result = project.run(command, *arguments)
        assert "spec/functions.yaml:" in result.err, command
        found[command] = result.code
    assert found == {"validate": 1, "generate": 1, "compare": 2, "sweep": 2}

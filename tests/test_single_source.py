"""Everything follows from spec/: an opcode is one more file, and an edited line of semantics reaches every product."""

from __future__ import annotations

import ast
import json
import keyword
import re
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT
from helpers.project import again, copied
from ptxspec.cli.main import main
from ptxspec.emit.generate import generate
from ptxspec.evaluate import emulator
from ptxspec.roots import find
from ptxspec.semantics.functions import TABLE


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copied(tmp_path_factory.mktemp("single") / "project", ("max", "min"))
    generate(root)
    return root


@pytest.fixture
def project(generated: Path, tmp_path: Path) -> Path:
    """A few opcodes, with all that is generated of them."""
    return again(generated, tmp_path / "project")


def manuals_opcode() -> str:
    found = re.search(r"```yaml\n(.*?)```", (ROOT / "generated/manual/adding.md").read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def run(project: Path, *arguments: str) -> int:
    return main([arguments[0], "--root", str(project), *arguments[1:]])


def test_the_manuals_opcode_is_short() -> None:
    assert len(manuals_opcode().splitlines()) < 20


def test_an_opcode_nobody_has_heard_of_is_one_more_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "spec/instructions/sumsq.yaml").write_text(manuals_opcode(), "utf-8")
    assert run(project, "generate") == 0
    assert "added: cuda/sumsq.cu" in capsys.readouterr().out

    emu = emulator(find(project))
    assert emu.execute("sumsq.f32", np.float32(3), np.float32(4)) == 25
    a = np.random.default_rng(1).standard_normal(1000)
    assert emu.execute("sumsq.rz.f64", a, a[::-1]).shape == (1000,)
    c = (project / "generated/native/src/sumsq.c").read_text("utf-8")
    # Directions share what the processor rounds.
    assert len(re.findall(r"^LANE\(sumsq_\w+, uint32_t,", c, re.MULTILINE)) == 4
    assert len(re.findall(r"^LANE\(sumsq_\w+, uint64_t,", c, re.MULTILINE)) == 2
    assert len(re.findall(r'^    \{"(?:\w+\.)*f(?:32|64)/2"', c, re.MULTILINE)) == 15
    near, cut = (emu.execute(f"sumsq.{r}.f32", np.float32(0.1), np.float32(0.7)) for r in ("rp", "rm"))
    assert cut < near

    assert run(project, "eval", "sumsq.ftz.rz.f32", "3", "-4", "--trace", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["variant"] == "sumsq.rz.ftz.f32"
    assert found["result"] == "0x41c80000"
    assert [t["name"] for t in found["trace"]] == ["a", "b", "square", "d", "d"]

    source = (project / "generated/cuda/sumsq.cu").read_text("utf-8")
    assert len(re.findall(r"^PTXSPEC_\w+\(sumsq_", source, re.MULTILINE)) == 15
    assert 'PTXSPEC_d_d_d(sumsq_rm_f64_2, "sumsq.rm.f64", ' in source
    assert "0xff800000, 0x800000, 0x7f800000" in source

    for suffix in ("md", "html"):
        page = (project / f"generated/manual/sumsq.{suffix}").read_text("utf-8")
        assert "Sum of two squares" in page and "square = a * a" in page
        assert "sumsq{.rnd}{.ftz}.f32" in page and "sumsq{.rnd}.f64" in page
    assert "sumsq" in (project / "generated/manual/index.md").read_text("utf-8")
    assert run(project, "show", "sumsq.f64") == 0
    assert "sm_120 or newer, PTX 9.5" in capsys.readouterr().out
    data = json.loads((project / "generated/data/opcodes/sumsq.json").read_text("utf-8"))
    assert len(data["variants"]) == 15


def test_an_edit_that_the_corner_cases_contradict_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "spec/instructions/max.yaml"
    path.write_text(path.read_text("utf-8").replace("d = copySign(d, sign)", "d = negate(copySign(d, sign))"), "utf-8")
    before = {p: p.read_bytes() for p in (project / "generated").rglob("*") if p.is_file()}
    assert run(project, "generate") == 1
    assert "the semantics contradicts this row: max.xorsign.abs.f32 of" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in (project / "generated").rglob("*") if p.is_file()} == before


def test_one_edited_line_of_semantics_reaches_every_product(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "spec/instructions/max.yaml"
    text = path.read_text("utf-8").replace("d = copySign(d, sign)", "d = negate(copySign(d, sign))")
    # The rows about .xorsign say the opposite now, and are taken out.
    text = re.sub(r"  - title: [^\n]*xorsign.*?(?=  - title|\nnotes)", "", text, flags=re.DOTALL)
    text = re.sub(r"  - title: The sign is.*?(?=  - title|\nnotes)", "", text, flags=re.DOTALL)
    row = "corner_cases:\n  - title: Edited\n    for: .xorsign\n    rows:\n      - [2.0, 1.0, -2.0]\n"
    path.write_text(text.replace("corner_cases:\n", row), "utf-8")
    assert run(project, "generate") == 0
    summary = capsys.readouterr().out
    for product in (
        "python/ptxemu/instructions/max.py",
        "native/src/max.c",
        "cuda/max.cu",
        "manual/max.md",
        "manual/max.html",
    ):
        assert f"changed: {product}" in summary
    assert "changed: data/ptxspec.json" in summary and "changed: data/opcodes/max.json" in summary
    assert "min" not in summary

    kernel = emulator(find(project)).compile("max.xorsign.abs.f32")
    assert kernel(np.float32(2), np.float32(1)) == -2
    assert "0x40000000, 0x3f800000, 0xc0000000" in (project / "generated/cuda/max.cu").read_text("utf-8")
    assert "negate(copySign(d, sign))" in (project / "generated/manual/max.md").read_text("utf-8")
    assert run(project, "eval", "max.xorsign.abs.f16", "2", "1") == 0
    assert "-2.0" in capsys.readouterr().out


def texts_of(path: Path) -> list[tuple[int, str]]:
    """Return a file's texts and their lines, without comments and docstrings: of Python its string literals, of a
    template every line."""
    text = path.read_text("utf-8")
    if path.suffix in (".j2", ".h"):
        return list(enumerate(text.splitlines(), 1))
    tree = ast.parse(text)
    prose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    literals = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in prose]
    return [(n.lineno, n.value) for n in literals if isinstance(n.value, str)]


# A few opcodes are also functions of the semantics language: alone they say nothing, before a modifier they do.
OPCODES = [p.stem for p in (ROOT / "spec/instructions").glob("*.yaml")]
ALONE = {o for o in OPCODES if o not in TABLE}
# Python's operators are those of the semantics language, which only its own package may name; with a blank beside it
# such a word joins those of a sentence.
OPERATORS = ALONE & {*keyword.kwlist}
LANGUAGE = "codegen/ptxspec/semantics/"
MODIFIED = re.compile(rf"\b(?:{'|'.join(OPCODES)})[.{{](?:rn|rz|ftz|sat|NaN|approx|full|lo|hi|wide|b?f\d|[bsu]\d|pred)")

# Around the instruction of a kernel or an example: C has no registers for predicates and bytes, and other PTX carries
# them over.
CARRYING = {
    "templates/cuda/ptxspec.cuh.j2": re.compile(r"\{%- set (?:load|store) = .*"),
    "codegen/ptxspec/examples/statement.py": re.compile(r"selp\.b32 %|setp\.ne\.b32 |mov\.b16 [%{]"),
}


def knows_an_opcode(text: str, path: str) -> bool:
    # What shows people how an error, an option or a whole command looks may show one.
    if (
        "such as" in text
        or "as in" in text
        or text.startswith("ptxspec ")
        # Pages that show people how commands answer: tests/test_readme.py runs these, and finds each variant named.
        or path.startswith("templates/manual/guides/")
        or (path in CARRYING and CARRYING[path].fullmatch(text))
    ):
        return False
    word = text.strip()
    if word in OPERATORS:
        return text == word and not path.startswith(LANGUAGE)
    return word in ALONE or MODIFIED.search(text) is not None


@pytest.mark.parametrize("path", ["codegen/ptxspec/emit/lowering.py", "templates/cuda/opcode.cu.j2"])
@pytest.mark.parametrize(
    "text", ["add", "and", "not", "set", " cvt ", "max.f32", "if {cos.approx", "or.b32", "not.pred"]
)
def test_code_that_knows_an_opcode_is_noticed(text: str, path: str) -> None:
    assert knows_an_opcode(text, path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (" and ", "codegen/ptxspec/basis.py"),
        ("or ", "codegen/ptxspec/explain/meanings.py"),
        ("and", "codegen/ptxspec/semantics/parse.py"),
        ("sin", "codegen/ptxspec/semantics/functions/arithmetic.py"),
        ("neither add nor sub", "codegen/ptxspec/lint/rules.py"),
        ("a spelling such as add.f32", "codegen/ptxspec/catalog/explaining.py"),
        ("ptxspec query add.f32", "codegen/ptxspec/cli/help.py"),
    ],
)
def test_words_are_no_opcodes(text: str, path: str) -> None:
    assert not knows_an_opcode(text, path)


def test_the_language_of_semantics_has_no_opcode_but_its_operators() -> None:
    assert {"and", "or", "not"} <= OPERATORS
    assert knows_an_opcode("add", f"{LANGUAGE}parse.py") and knows_an_opcode("and.b32", f"{LANGUAGE}parse.py")


def test_no_code_or_template_knows_an_opcode() -> None:
    sources = [
        p for f in ("codegen", "templates") for p in sorted((ROOT / f).rglob("*")) if p.suffix in (".py", ".j2", ".h")
    ]
    knowing = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sources
        for line, text in texts_of(path)
        if knows_an_opcode(text, path.relative_to(ROOT).as_posix())
    ]
    assert knowing == []

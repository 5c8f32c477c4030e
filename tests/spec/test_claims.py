"""A claim is earned by a run: `exact` is what a judge found right as it is now, and everything else is unjudged."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ptxspec
import pytest
from helpers import ROOT, judging
from helpers.project import Project, copied
from helpers.repository import specification
from ptxspec.check.claims import FIXED, JUDGE_AGAIN, JUDGES
from ptxspec.evaluate import emulator
from ptxspec.model import JUDGED, Spec
from ptxspec.roots import Root
from ptxspec.specification import read

MUL = "spec/instructions/mul.yaml"
JUDGED_OF = {n: f"{JUDGED}{n}.yaml" for n in ("add", "max", "min")}


def claims(spec: Spec) -> dict[str, str]:
    return {str(v): v.claim for i in spec.instructions.values() for v in i.variants}


def lost(project: Project, *opcodes: str) -> set[str]:
    """The variants of opcodes that are exact in the repository, and no longer in a copy."""
    now = claims(read(project.root))
    before = claims(specification())
    return {v for v in now if before[v] == "exact" != now[v] and v.partition(".")[0] in opcodes}


# The file


@pytest.mark.exhaustive
def test_it_is_about_what_variants_compute_now() -> None:
    spec = specification()
    stale = {f"{j.variant} by {j.by}" for j in judging.written(spec) - judging.present(spec)}
    assert not stale, f"`{JUDGE_AGAIN}` judges what has changed: {sorted(stale)}"


def test_it_is_what_is_written_of_its_judgements() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / JUDGED).iterdir()}
    assert judging.as_yaml(judging.written(specification())) == texts


def test_its_judges_are_those_that_there_are_words_for() -> None:
    assert {j.by for j in judging.written(specification())} == JUDGES.keys()
    schema = json.loads((ROOT / "spec/schema/judged.schema.json").read_text("utf-8"))
    names = schema["properties"]["judges"]["propertyNames"]["pattern"]
    assert names == "^({0})(, ({0}))*$".format("|".join(JUDGES))


def test_exact_is_what_has_a_judge() -> None:
    fixed = [v for i in specification().instructions.values() for v in i.variants if v.claim in FIXED]
    assert all((v.claim == "exact") == bool(v.judges) for v in fixed) and len(fixed) > 5000


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("  MPFR:", "  mpfr:", "mpfr:"),
        ("  definition, ptxas folding:", "  definition, Euler:", "definition, Euler:"),
        ("judges:\n", 'judges:\n  ptxas folding: {"0123": .f32}\n', '"0123"'),
        ("judges:\n", 'judges:\n  ptxas folding: {"0123456789": add.f32}\n', "add.f32"),
        ("judges:\n", "judges:\n  ptxas folding: {}\n", "{}"),
    ],
)
def test_what_no_machine_wrote_is_an_error(project: Project, old: str, new: str, at: str) -> None:
    text = (project.root / JUDGED_OF["add"]).read_text("utf-8")
    assert old in text
    project.write(JUDGED_OF["add"], text.replace(old, new, 1))
    result = project.run("validate")
    assert result.code == 1 and result.err.startswith(project.place(JUDGED_OF["add"], at.strip()))


@pytest.mark.exhaustive
@pytest.mark.parametrize("variants", [".f32 .sat.f64 .nonsense.f32", ".f16"])
def test_another_program_or_an_unknown_variant_in_it_claims_nothing(project: Project, variants: str) -> None:
    before = claims(read(project.root))
    text = (project.root / JUDGED_OF["max"]).read_text("utf-8")
    project.write(
        JUDGED_OF["max"], text.replace("judges:\n", f'judges:\n  NVIDIA host code: {{"0123456789": {variants}}}\n', 1)
    )
    assert project.run("validate").code == 0 and claims(read(project.root)) == before


# Variants and their programs


@pytest.mark.exhaustive
def test_a_variant_that_was_added_a_minute_ago_is_unjudged_everywhere(project: Project) -> None:
    """It computes what another variant computes, which was judged."""
    before = claims(read(project.root))
    project.edit(MUL, "  - mul{.rnd}.f64 ", "  - mul.rz.f64.f64  d, a, b\n  - mul{.rnd}.f64 ")
    assert project.run("generate").code == 0
    now = claims(read(project.root))
    assert now.pop("mul.rz.f64.f64 (2 operands)") == "unjudged" and now == before

    why = "IEEE 754 and NVIDIA's manual; no test compares it with an outside judge"
    assert f"claim unjudged: {why}" in " ".join(project.run("query", "mul.rz.f64.f64").out.split())
    answer = json.loads(project.run("query", "mul.rz.f64.f64", "--format", "json").out)
    assert (answer["claim"], answer["basis"]) == ("unjudged", why)
    listed = json.loads(project.run("list", "--opcode", "mul", "--format", "json").out)["variants"]
    assert [v["variant"] for v in listed if v["claim"] != before.get(f"{v['variant']} (2 operands)")] == [
        "mul.rz.f64.f64"
    ]
    assert project.run("eval", "mul.rz.f64.f64", "2", "3").out.startswith("mul.rz.f64.f64 (2 operands), unjudged")
    shown = project.run("show", "mul.rz.f64.f64").out
    assert "- claim: unjudged" in shown and why in shown
    assert ptxspec.load(project.root).variant("mul.rz.f64.f64").claim == "unjudged"
    assert emulator(Root(project.root)).compile("mul.rz.f64.f64").claim == "unjudged"
    assert why in (project.root / "generated/manual/mul.md").read_text("utf-8")


@pytest.mark.exhaustive
def test_a_changed_program_is_unjudged_and_says_so(project: Project) -> None:
    project.edit(MUL, "      d = multiplication(a, b, type)\n", "      d = multiplication(b, a, type)\n")
    changed = lost(project, "add", "min", "max", "mul")
    assert {"mul.f32 (2 operands)", "mul.rz.ftz.sat.f32 (2 operands)"} <= changed
    assert not any("satfinite" in v or not v.startswith("mul.") for v in changed)

    assert project.run("generate").code == 0
    why = f"its program has changed since tests compared it with MPFR: run `{JUDGE_AGAIN}`"
    said = " ".join(project.run("query", "mul.f32").out.split())
    assert f"claim unjudged: IEEE 754 and NVIDIA's manual; {why}" in said
    assert why in project.run("show", "mul.f32").out
    assert "tests compare it with MPFR" in project.run("show", "add.f32").out
    assert "tests compare it with its definition, written independently" in project.run("show", "max.f32").out


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "old", "new", "about"),
    [
        ("types", "f16:  {exponent_bits: 5,  fraction_bits: 10, canonical_nan: 0x7fff}",
         "f16:  {exponent_bits: 5,  fraction_bits: 10, canonical_nan: 0x7e00}", r"\bf16(x2)?\b"),
        ("modifiers", "      x = copySign(0, x) if isSubnormal(x) else x\n",
         "      x = copySign(0, x) if isSubnormal(x) or isZero(x) else x\n", r"\.ftz\."),
    ],
)  # fmt: skip
def test_what_variants_share_is_a_part_of_their_programs(
    project: Project, path: str, old: str, new: str, about: str
) -> None:
    project.edit(f"spec/{path}.yaml", old, new)
    changed = lost(project, "add", "min", "max")
    assert changed and all(re.search(about, v) or on_some_targets(v) for v in changed)
    assert {v for v in claims(read(project.root)) if re.search(about, v) and v.startswith("min.")} <= changed


def on_some_targets(v: str) -> bool:
    """Single precision without .ftz has it on sm_1x."""
    return ".f32 " in v and ".ftz" not in v


def test_what_a_variant_computes_on_some_targets_must_be_judged_too(project: Project) -> None:
    text = (project.root / JUDGED_OF["add"]).read_text("utf-8")
    lines = text.splitlines(keepends=True)
    # add.f32 is add.ftz.f32 on sm_1x.
    project.write(JUDGED_OF["add"], "".join(line for line in lines if not line.endswith(": .ftz.f32 .rn.ftz.f32\n")))
    assert {"add.f32 (2 operands)", "add.ftz.f32 (2 operands)", "add.rn.f32 (2 operands)"} <= lost(project, "add")
    assert "add.sat.f32 (2 operands)" not in lost(project, "add")


def test_comments_names_and_places_change_no_claim(project: Project) -> None:
    text = (project.root / MUL).read_text("utf-8")
    for old, new in (
        ("semantics: |\n", "# A comment.\n\nsemantics: |\n  # Another one.\n"),
        ("bounded(x)", "held(x)"),
        ("      x = multiplication(a, b, f64)\n", "\n      product = multiplication(a, b, f64)  # exact\n"),
        ("d = convert(held(x), type)", "d = convert(held(product), type)"),
        ("summary: Multiply two", "summary: Multiply any two"),
    ):
        assert old in text
        text = text.replace(old, new)
    head, _, lines = text.partition("  - mul{.rnd}{.ftz}{.sat}.f32 ")
    first, _, rest = lines.partition("\n")
    others, _, after = rest.partition("\n\n")
    project.write(MUL, f"{head}{others}\n  - mul{{.rnd}}{{.ftz}}{{.sat}}.f32 {first}\n\n{after}")
    assert project.run("validate").code == 0
    assert lost(project, "add", "min", "max", "mul") == set()


@pytest.mark.exhaustive
def test_without_the_file_everything_is_unjudged(project: Project) -> None:
    shutil.rmtree(project.root / JUDGED)
    assert "exact" not in claims(read(project.root)).values()
    assert project.run("generate").code == 0
    assert "| unjudged |" in (project.root / "generated/manual/mul.md").read_text("utf-8")


# Recording

CONFTEST = """
from pathlib import Path
from helpers import judging

def pytest_addoption(parser):
    parser.addoption("--record-judged", action="store_true")

def pytest_configure(config):
    config.pluginmanager.register(judging.Judging(config, Path({root!r})))
"""
TESTS = """
import pytest

@pytest.mark.exhaustive
@pytest.mark.parametrize("spelling", ["max.f32", "max.NaN.f32", "max.ftz.f32", "max.ftz.NaN.f32", "min.f64"])
def test_judges(spelling, judged):
    judged("definition", [(spelling, 2), (spelling, 7)])

@pytest.mark.exhaustive
def test_fails(judged):
    judged("MPFR", [("min.f64", 2)])
    assert {passes}
"""


class Suite:
    """Tests that judge a project."""

    def __init__(self, project: Project, folder: Path) -> None:
        folder.mkdir()
        self._folder, self._project = folder, project
        (folder / "conftest.py").write_text(CONFTEST.format(root=str(project.root)), "utf-8")
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = exhaustive\ntestpaths = .\n", "utf-8")

    def run(self, *arguments: str, passes: bool = True) -> tuple[int, str]:
        (self._folder / "test_some.py").write_text(TESTS.replace("{passes}", str(passes)), "utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "exhaustive", *arguments]
        places = os.pathsep.join(map(str, (ROOT / "tests", ROOT / "codegen", ROOT / "generated/python")))
        environment = {**os.environ, "PYTHONPATH": places}
        made = subprocess.run(command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False)
        return made.returncode, made.stdout + made.stderr

    @property
    def judged(self) -> set[tuple[str, str]]:
        return {(j.by, j.variant) for j in judging.written(read(self._project.root))}


@pytest.fixture
def small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    """Generated, and judged by nobody."""
    project = Project(copied(tmp_path / "small", ("max", "min")), capsys)
    shutil.rmtree(project.root / JUDGED)
    assert project.run("generate").code == 0
    return project


@pytest.fixture
def suite(small: Project, tmp_path: Path) -> Suite:
    return Suite(small, tmp_path / "suite")


SWAPPED = "spec/instructions/max.yaml", "d = larger(a, b)", "d = larger(b, a)"
MAXIMA = {("definition", f"max{names}.f32") for names in ("", ".NaN", ".ftz", ".ftz.NaN")}
MINIMA = {("definition", "min.f64"), ("MPFR", "min.f64")}


@pytest.mark.exhaustive
def test_workers_hand_in_what_they_judged_and_a_part_of_the_tests_forgets_nothing(suite: Suite, small: Project) -> None:
    code, said = suite.run("-n2", "-k", "max", "--record-judged")
    assert code == 0 and "4 judgements of this run, 0 of earlier ones" in said, said
    assert suite.judged == MAXIMA
    assert claims(read(small.root))["max.f32 (2 operands)"] == "exact"
    assert small.run("generate", "--check").code == 0
    code, said = suite.run("-k", "min or fails", "--record-judged")
    assert code == 0 and "2 judgements of this run, 4 of earlier ones" in said, said
    assert suite.judged == MAXIMA | MINIMA


@pytest.mark.exhaustive
def test_a_run_of_all_finds_what_is_claimed_in_vain_and_what_is_not_written(suite: Suite, small: Project) -> None:
    assert suite.run("--record-judged")[0] == 0
    assert suite.run()[0] == 0
    small.write(
        JUDGED_OF["min"], (small.root / JUDGED_OF["min"]).read_text("utf-8").replace(": .f64\n", ": .f64 .f32\n", 1)
    )
    small.edit(*SWAPPED)
    code, said = suite.run()
    assert code == 1 and JUDGE_AGAIN in said
    assert "no test judged this: definition: min.f32" in said
    assert "no test judged this: definition: max.f32" in said and "not in the files: definition: max.f32" in said
    code, said = suite.run("-k", "max")
    assert code == 1 and "not in the files: definition: max.f32" in said and "no test judged" not in said


@pytest.mark.exhaustive
def test_nothing_is_recorded_where_a_test_fails_or_the_emulator_is_an_older_one(suite: Suite, small: Project) -> None:
    code, said = suite.run("--record-judged", passes=False)
    assert code == 1 and "nothing is recorded" in said and not (small.root / JUDGED).exists()
    small.edit(*SWAPPED)
    code, said = suite.run("--record-judged")
    assert code == pytest.ExitCode.USAGE_ERROR and "run `ptxspec generate`" in said
    assert not (small.root / JUDGED).exists()

"""[tool.ptxspec.lint] in pyproject.toml: where it is found, what it says, and what is wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.repository_of_programs import NEW, ORDER, RIGHT, TWICE, WRONG, lint, write
from ptxspec.lint.configuration import KEYS


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configured(*lines: str) -> str:
    return "\n".join(['[project]\nname = "it"\n', "[tool.ptxspec.lint]", *lines, "\n[tool.other]", "target = 3"])


@pytest.mark.parametrize(
    ("line", "text", "before", "after"),
    [
        ('target = "sm_80"', NEW, 0, 1),
        ('target = "H100"', NEW, 0, 0),
        ('ptx = "7.0"', NEW, 0, 1),
        ('select = ["hazard"]', WRONG, 1, 0),
        ('select = ["hazard", "illegal-modifier"]', WRONG, 1, 1),
        ('ignore = ["illegal-modifier"]', WRONG, 1, 0),
        ('exclude = ["src"]', WRONG, 1, 2),
        ('exclude = ["b.*"]', WRONG, 1, 1),
        ("strict = true", TWICE, 0, 1),
    ],
)
def test_it_says_how_files_are_judged(repository: Path, line: str, text: str, before: int, after: int) -> None:
    write(repository, src__a_cu=text)
    assert lint(".") == before
    write(repository, pyproject_toml=configured(line))
    assert lint(".") == after
    assert lint(".", "--isolated") == before


def test_the_command_line_wins(repository: Path) -> None:
    write(repository, a_cu=NEW, b_cu=WRONG, pyproject_toml=configured('target = "sm_80"', 'select = ["hazard"]'))
    assert lint("a.cu", "b.cu") == 0
    assert lint("a.cu", "--select", "target-too-old") == 1
    assert lint("a.cu", "--select", "target-too-old", "--target", "sm_90") == 0
    assert lint("a.cu", "b.cu", "--select", "hazard,illegal-modifier") == 1
    assert lint("b.cu", "--select", "illegal-modifier", "--ignore", "hazard") == 1
    write(repository, pyproject_toml=configured('exclude = ["b.cu"]'))
    assert lint(".") == 0
    assert lint(".", "--exclude", "a.cu") == 1


def test_it_is_found_above_the_file_else_above_the_working_folder(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(repository, pyproject_toml=configured('target = "sm_80"'), work__a_cu=NEW)
    write(repository, own__pyproject_toml=configured('target = "sm_90"'), own__deep__a_cu=NEW)
    write(repository, other__pyproject_toml="[tool.ruff]\n", other__a_cu=NEW)
    write(elsewhere, a_cu=NEW)
    assert lint("work") == 1
    assert lint("own") == 0
    assert lint("own/deep/a.cu") == 0
    assert lint("other") == 1  # a pyproject.toml that says nothing of lint is passed by
    assert lint(elsewhere) == 1
    monkeypatch.chdir(elsewhere)
    assert lint("a.cu") == 0
    assert lint("a.cu", repository / "work", repository / "own") == 1


def test_each_folder_of_a_walk_has_its_own(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository, pyproject_toml=configured('target = "sm_80"'), a_cu=NEW)
    write(repository, own__pyproject_toml=configured('target = "sm_90"', 'exclude = ["gen"]'), own__b_cu=NEW)
    write(repository, own__gen__c_cu=WRONG)
    assert lint() == 1
    out = capsys.readouterr().out
    assert "a.cu:1:6: error" in out and "own/" not in out
    assert "checked for sm_80 and PTX 9.5, or for sm_90 and PTX 9.5" in out


@pytest.mark.parametrize(
    ("line", "column", "message", "help"),
    [
        ('tagret = "sm_90"', 1, "unknown key 'tagret'", "did you mean 'target'?"),
        (
            "look = 1",
            1,
            "unknown key 'look'",
            f"known: {', '.join(KEYS)}",
        ),
        ('target = "sm_91"', 11, "unknown target 'sm_91'; did you mean 'sm_90'?", ""),
        (
            "target = 90",
            1,
            "'target' must be a target or a list of targets, such as \"sm_90\"",
            'write target = "sm_90"',
        ),
        ("ptx = 8.0", 1, "'ptx' must be a PTX version, such as \"8.0\"", 'write ptx = "8.0"'),
        ('ptx = "8.9"', 8, "unknown PTX version '8.9'", ""),
        ('select = ["hazard", "hazrad"]', 22, "unknown code 'hazrad'", "did you mean 'hazard'?"),
        ('ignore = "hazard"', 1, "'ignore' must be a list of codes that are not reported", 'write ignore = ["hazard"]'),
        (
            "exclude = [1]",
            1,
            "'exclude' must be a list of patterns, such as third_party",
            'write exclude = ["third_party/"]',
        ),
        ("select = []", 1, "'select' names no code: nothing would be reported", "name a code that is to be reported"),
        ('ignore = ["hazard"]; select = ["hazard"]', 1, "'ignore' names all codes of 'select'", "name a code"),
        ('select = [["hazard"]]', 1, "'select' must be a list of", 'write select = ["hazard"]'),
        ('target = "sm_100a"; ptx = "7.0"', 8, "sm_100a requires PTX 8.6 (CUDA 12.8) or newer; 7.0 is older", ""),
        ('strict = "yes"', 1, "'strict' must be true or false", "write strict = true"),
        ("target = sm_90", 10, "not TOML: invalid value", ""),
        ("defines = 1", 1, "'defines' must be a table of macros, such as {HAS_FP8", ""),
        ('defines = {A = "sm_90 <"}', 17, "'sm_90 <' is not a value for a macro", 'write ">= sm_90", "sm_90a, '),
        ('defines = {A = "> sm_90"}', 17, "'> sm_90' is not a value for a macro", 'write ">= sm_90", "sm_90a, '),
        ('defines = {A = "sm_90a, "}', 17, "'sm_90a, ' is not a value for a macro", 'write ">= sm_90", "sm_90a, '),
        ('defines = {A = ">= sm_90 < sm_80"}', 17, "there is no target sm_90 or newer that is older than sm_80", ""),
        ('defines = {A = "sm_90a, sm_10f"}', 17, "unknown target 'sm_10f'", ""),
        ('defines = {A = ">= sm_91"}', 17, "unknown target 'sm_91'; did you mean 'sm_90'?", ""),
        ("defines = {A = 1.5}", 12, "'1.5' is not a value for a macro", 'write ">= sm_90", "sm_90a, '),
        ('defines = {"A B" = 1}', 13, "'A B' is not the name of a macro", "write one such as HAS_FP8"),
    ],
)
def test_what_is_wrong_in_it_is_said_once_with_its_place(
    repository: Path, capsys: pytest.CaptureFixture[str], line: str, column: int, message: str, help: str
) -> None:
    *others, line = line.split("; ")
    write(repository, pyproject_toml=configured(*(others or [""]), line), a_cu=RIGHT, src__b_cu=RIGHT)
    assert lint("a.cu", "src", ".") == 2
    captured = capsys.readouterr()
    first, source, caret, *more = captured.err.splitlines()
    assert first.startswith(f"pyproject.toml:6:{column}: error: {message}")
    assert source == f"    {line}" and caret.index("^") == 3 + column
    assert (help in "".join(more)) if help else not "".join(more).strip()
    # The files are judged as if it were not there.
    assert captured.err.count("error:") == 1 and captured.out.startswith("2 instructions in 2 files")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool]\nptxspec = 3\n", "2:1: error: tool.ptxspec must be a table"),
        ('[project]\ndependencies = ["ptxspec"]\n[tool]\nptxspec = "x"\n', "4:1: error: tool.ptxspec must be a table"),
        ("tool.ptxspec = [1]\n", "1:6: error: tool.ptxspec must be a table"),
        ('tool = "ptxspec"\n', "1:1: error: tool must be a table"),
        ('[[tool]]\nname = "ptxspec"\n', "1:3: error: tool must be a table"),
    ],
)
def test_what_is_no_table_is_said_with_its_place(
    repository: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    write(repository, pyproject_toml=text, a_cu=RIGHT)
    assert lint() == 2
    err = capsys.readouterr().err
    assert err.startswith(f"pyproject.toml:{said}") and "help: write [tool.ptxspec.lint]" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--select", ""], "--select names no code: nothing would be reported"),
        (["--select", " ,"], "--select names no code: nothing would be reported"),
        (
            ["--select", "hazard", "--ignore", "hazard"],
            "--ignore names all codes of --select: nothing would be reported",
        ),
    ],
)
def test_options_that_leave_nothing_to_say_are_refused(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    write(repository, a_cu=WRONG)
    assert lint("a.cu", *arguments) == 2
    assert capsys.readouterr().err == f"ptxspec: {said}\n"
    assert lint("a.cu", "--ignore", "") == 1


def test_a_ptx_version_that_does_not_know_the_target_is_said_once(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "sm_100a requires PTX 8.6 (CUDA 12.8) or newer; 7.0 is older"
    write(repository, a_cu=WRONG * 3)
    assert lint("a.cu", "--target", "sm_100a", "--ptx", "7.0") == 2
    assert capsys.readouterr().err.startswith(f"ptxspec: {said}")
    for own, column, option in (
        ('ptx = "7.0"', 8, ("--target", "sm_100a")),
        ('target = "sm_100a"', 11, ("--ptx", "7.0")),
    ):
        write(repository, pyproject_toml=configured(own))
        assert lint("a.cu", *option) == 2
        captured = capsys.readouterr()
        assert captured.err.startswith(f"pyproject.toml:5:{column}: error: {said}")
        assert captured.err.count("error") == 1 and "\n3 errors\n" in captured.out


def test_all_that_is_wrong_is_said_at_once(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = configured('target = "sm_1"', 'exlude = ["a"]') + "\n[tool.ptxspec.lnit]\n"
    write(repository, pyproject_toml=text, a_cu=RIGHT)
    assert lint("a.cu") == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "error:" in line]
    assert [line.split(": ")[0] for line in lines] == [
        "pyproject.toml:5:11", "pyproject.toml:6:1", "pyproject.toml:10:15"
    ]  # fmt: skip


def test_a_code_of_the_command_line_that_does_not_exist_gets_a_suggestion(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, a_cu=ORDER)
    assert lint("a.cu", "--select", "modifier-ordr") == 2
    assert "unknown code 'modifier-ordr'; did you mean 'modifier-order'?" in capsys.readouterr().err
    assert lint("a.cu", "--target", "sm_91") == 2


def test_a_pattern_that_excludes_nothing_of_all_that_it_might_is_said_with_its_place(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, pyproject_toml=configured('exclude = ["third", "thrid", "*.h"]'), src__a_cu=RIGHT, third__b_h="")
    assert lint() == 0
    # Whether *.h would match in what is passed by nobody knows; it is said, and harms nothing.
    assert capsys.readouterr().err.splitlines() == [
        "warning: pyproject.toml:5:22: 'thrid' excludes nothing",
        "warning: pyproject.toml:5:31: '*.h' excludes nothing",
    ]
    assert lint("src") == 0 and lint("src/a.cu") == 0 and lint("-q") == 0
    assert capsys.readouterr().err == ""
    assert lint(".", "--exclude", "scr") == 0
    assert capsys.readouterr().err == "warning: --exclude: 'scr' excludes nothing\n"

"""The files that `ptxspec lint` judges: named ones, folders, patterns, and standard input."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from helpers.repository_of_programs import NEW, RIGHT, WRONG, lint, write


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        src__a_cu=WRONG,
        src__deep__b_h=WRONG,
        src__c_py=f"inline_{WRONG}",
        src__d_txt=WRONG,
        third_party__e_cu=WRONG,
    )
    return tmp_path


def judged(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The files with errors, in the order of the output."""
    out = capsys.readouterr().out
    return list(dict.fromkeys(line.split(":")[0] for line in out.splitlines() if ": error: " in line))


ALL = ["src/a.cu", "src/c.py", "src/deep/b.h", "third_party/e.cu"]


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ([], ALL),
        (["."], ALL),
        (["src"], ALL[:3]),
        (["src/deep", "src/a.cu"], ["src/deep/b.h", "src/a.cu"]),
        (["src", "src/a.cu", "src/../src/c.py"], ALL[:3]),
        (["src/*.cu"], ["src/a.cu"]),
        (["**/*.h"], ["src/deep/b.h"]),
        (["s*"], ALL[:3]),
    ],
    ids=str,
)
def test_folders_and_patterns_stand_for_the_files_in_them(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], files: list[str]
) -> None:
    assert lint(*arguments) == 1
    assert judged(capsys) == files


@pytest.mark.parametrize("name", [".git", ".venv", "env", "node_modules", "build", "dist", "__pycache__"])
def test_what_no_one_wrote_there_is_passed_by_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, a_cu=RIGHT)
    (tmp_path / name / "inside").mkdir(parents=True)
    (tmp_path / name / "inside" / "b.cu").write_text(WRONG)
    (tmp_path / name / "pyvenv.cfg" if name == "env" else tmp_path / "c.txt").write_text("")
    assert lint() == 0 and lint("**/*.cu") == 0
    assert lint(name) == 1
    assert lint(f"{name}/inside/b.cu") == 1
    assert lint(f"{name}/inside/b.cu", "a.cu", "--force-exclude") == 0


def test_files_without_an_ending_are_judged_where_they_are_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that begins with its dot has none."""
    for name in (".gitignore", "Makefile"):
        (repository / name).write_text("# comments of another language\n", "utf-8")
        assert lint() == 1 and judged(capsys) == ALL
        assert lint(name) == 1 and judged(capsys) == [name]


def test_a_file_is_judged_once_by_whichever_path_it_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint("src/a.cu", repository / "src" / "a.cu", "./src/a.cu", repository) == 1
    assert judged(capsys) == ["src/a.cu", *(str(repository / name) for name in ALL[1:])]
    # What stands behind a link and .. is another file.
    write(repository, far__off__x_cu="", far__a_cu=WRONG)
    os.symlink(repository / "far" / "off", repository / "src" / "link", target_is_directory=True)
    assert lint("src/a.cu", "src/link/../a.cu") == 1
    assert judged(capsys) == ["src/a.cu", "src/link/../a.cu"]


def test_links_to_folders_are_not_followed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.symlink(repository, repository / "src" / "again", target_is_directory=True)
    assert lint("src") == 1
    assert judged(capsys) == ALL[:3]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("third_party", ALL[:3]),
        ("third_party/", ALL[:3]),
        ("*.cu", ALL[1:3]),
        ("src/*.cu", ALL[1:]),
        ("**/deep", [ALL[0], ALL[1], ALL[3]]),
        ("src/**/b.h", [ALL[0], ALL[1], ALL[3]]),
        ("[ab].*,c.py", ALL[3:]),
        ("deep/b.h", ALL),  # with a slash it counts from the working folder
    ],
)
def test_what_is_excluded_is_passed_by(
    repository: Path, capsys: pytest.CaptureFixture[str], pattern: str, left: list[str]
) -> None:
    assert lint("--exclude", pattern) == 1
    assert judged(capsys) == left


def test_what_is_excluded_is_judged_where_it_is_named(repository: Path) -> None:
    assert lint("src/a.cu", "--exclude", "src") == 1
    assert lint("src/a.cu", "--exclude", "src", "--force-exclude") == 0


@pytest.mark.parametrize("pattern", ["third_party", "third_party/", "*_party", "third_*/**"])
def test_a_folder_that_is_excluded_is_judged_where_it_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    write(repository, third_party__inside__f_cu=WRONG)
    assert lint("third_party/inside", "--exclude", pattern) == 1
    assert judged(capsys) == ["third_party/inside/f.cu"]
    assert lint("third_party", "--exclude", pattern) == (2 if "**" in pattern else 1)
    assert lint("third_party/inside", "--exclude", pattern, "--force-exclude") == 0
    write(repository, pyproject_toml='[tool.ptxspec.lint]\nexclude = [".*", "third_party"]\n')
    assert lint(".", "src") == 1


def test_what_is_excluded_in_a_folder_is_said_where_nothing_else_is_there(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint("third_party", "--exclude", "*.cu") == 2
    assert (
        "third_party: there are no files to check except files that '*.cu' excludes; supported"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("src/*.cuh", "src/*.cuh matches no file to check; the files there have the suffixes .cu .h .py"),
        ("sorce/*.cu", "sorce/*.cu matches no file to check; sorce: No such file or directory; did you mean 'src'?"),
        ("src/aa.cu", "src/aa.cu: No such file or directory; did you mean 'src/a.cu'?"),
        ("scr/a.cu", "scr: No such file or directory; did you mean 'src'?"),
        ("empty", "empty: there are no files to check; supported suffixes: .ptx"),
        ("src/d.txt", "src/d.txt: supported suffixes: .ptx"),
    ],
)
def test_what_is_not_there_is_said_with_what_is_and_the_rest_is_judged(
    repository: Path, capsys: pytest.CaptureFixture[str], argument: str, said: str
) -> None:
    (repository / "empty").mkdir()
    assert lint(argument, argument, "src/a.cu") == 2
    captured = capsys.readouterr()
    assert captured.err.count(said) == 1
    assert "src/a.cu:1:9: error" in captured.out


def test_a_named_file_is_written_in_what_the_command_line_says(repository: Path) -> None:
    write(repository, a_txt=WRONG)
    assert lint("a.txt") == 2
    assert lint("a.txt", "--language", "c++") == 1


def stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_standard_input_has_a_language(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stdin(monkeypatch, WRONG)
    assert lint("-", "--language", "c++") == 1
    assert capsys.readouterr().out.startswith("<stdin>:1:9: error")


def test_standard_input_may_be_a_file_that_an_editor_has_not_saved(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(repository, src__pyproject_toml='[tool.ptxspec.lint]\ntarget = "sm_80"\n')
    stdin(monkeypatch, NEW)
    assert lint("-", "--stdin-filename", "src/new.cu") == 1
    assert "src/new.cu:1:6: error: add.bf16" in capsys.readouterr().out


def test_a_program_in_an_unknown_encoding_stops_nothing_and_a_module_has_none(repository: Path) -> None:
    (repository / "other.py").write_bytes(b"# \xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2 \xff\xfe\n")
    assert lint("other.py") == 0
    (repository / "other.ptx").write_bytes(b"\xff\xfe\xfd\xfc")
    assert lint("other.ptx") == 2


BINARY = [b"\0\1\2 asm", b"\x7fELF\2\1\1\0", WRONG.encode("utf-16")]


@pytest.mark.parametrize("data", BINARY, ids=["asm", "ELF", "UTF-16"])
def test_what_is_no_text_is_said_and_is_wrong_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary.h").write_bytes(data)
    write(tmp_path, a_cu=RIGHT)
    assert lint("binary.h") == 2
    assert capsys.readouterr().err == "ptxspec: binary.h is not a text file\n"
    for argument in (".", "*.*"):
        assert lint(argument) == 0
        captured = capsys.readouterr()
        assert captured.err == "warning: binary.h is not a text file\n" and "1 instruction in 1 file," in captured.out
    assert lint(".", "binary.h") == 2 and "ptxspec: binary.h" in capsys.readouterr().err
    assert lint("-q") == 0
    assert not capsys.readouterr().err
    (tmp_path / "c.ptx").write_bytes(data)
    assert lint() == 2

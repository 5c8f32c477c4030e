"""Links in a repository: those within it are judged from wherever lint runs, those that lead out of it are told and
show nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.repository_of_programs import NEW, RIGHT, WRONG, lint, write

OUT = "to a file outside the repository, or to a hidden one; such files are checked only if you name them\n"
TABLE = "[tool.ptxspec.lint]\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder is another one."""
    home, work = tmp_path / "home", tmp_path / "home/work"
    work.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(work)
    folder = home / "it"
    write(folder, src__a_cu=RIGHT, other__b_cu=WRONG)
    (folder / "src/link.cu").symlink_to("../other/b.cu")
    return folder


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
@pytest.mark.parametrize("argument", ["src", "src/*.cu", "**/li*.cu"])
def test_a_link_within_a_repository_is_judged_from_wherever_lint_runs(
    repository: Path, capsys: pytest.CaptureFixture[str], mark: str, argument: str
) -> None:
    (repository / mark).write_text("")
    assert lint(repository / argument) == 1
    captured = capsys.readouterr()
    assert "link.cu:1:9: error" in captured.out and not captured.err


def test_a_link_out_of_it_is_told_and_judged_where_it_is_named(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = repository / "src/link.cu"
    for argument in (repository / "src", repository / "src/*.cu"):
        assert lint(argument) == 0
        assert capsys.readouterr().err == f"warning: {link} is a link {OUT}"
    assert lint("-q", repository / "src") == 0 and not capsys.readouterr().err
    assert lint(link) == 1
    for i in range(3):
        (repository / f"src/more{i}.cu").symlink_to("../other/b.cu")
    assert lint(repository / "src") == 0
    assert capsys.readouterr().err == f"warning: {link} and 3 more are links {OUT}"


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
def test_the_home_of_whoever_runs_it_is_no_repository(repository: Path, mark: str) -> None:
    (repository.parent / mark).write_text("")
    assert lint(repository / "src") == 0
    assert lint(repository) == 1


@pytest.mark.parametrize("hidden", [".git/config", ".env", "src/.secret/a"])
def test_what_is_hidden_in_a_repository_is_shown_by_no_link(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    (repository / ".git").mkdir()
    (repository / hidden).parent.mkdir(exist_ok=True)
    (repository / hidden).write_text("add.f46 SECRET, b, c;\n")
    (repository / "src/link.cu").unlink()
    (repository / "src/shown.ptx").symlink_to(repository / hidden)
    monkeypatch.chdir(repository)
    assert lint("src") == 0
    assert "SECRET" not in (captured := capsys.readouterr()).out and captured.err.startswith(
        "warning: src/shown.ptx is a link "
    )


def test_a_pattern_goes_through_no_link_to_a_folder_of_another_place(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / ".git").mkdir()
    write(repository.parent / "secrets", deep__a_cu=WRONG)
    (repository / "src/folder").symlink_to(repository.parent / "secrets")
    write(repository.parent / "secrets/deep", pyproject_toml=f"{TABLE}SECRET = 1\n")
    for pattern in ("src/*/*/*.cu", "src/fold*", "src/**/a.c?", "src/*/*/*"):
        lint(repository / pattern)
        captured = capsys.readouterr()
        assert "error" not in captured.out and "SECRET" not in captured.out + captured.err, pattern


@pytest.mark.parametrize("text", [f"{TABLE}SECRET = 1\n", f"{TABLE}SECRET\n", f'{TABLE}target = "SECRET"\n'])
def test_a_configuration_that_is_a_link_out_of_the_repository_shows_nothing_and_is_told(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    secret = repository.parent / "secret.toml"
    secret.write_text(text)
    (repository / "src/link.cu").unlink()
    path = repository / "src/pyproject.toml"
    path.symlink_to(secret)
    for folder, shown in ((repository.parent / "work", str(path)), (path.parent, path.name)):
        monkeypatch.chdir(folder)
        assert lint(repository / "src") == 0
        captured = capsys.readouterr()
        assert captured.err == (
            f"warning: {shown} is a link to a file outside the repository, or to a hidden one; it is not read\n"
        )
        assert "SECRET" not in captured.out
    assert lint("--isolated", repository / "src") == 0 and not capsys.readouterr().err
    secret.write_text("[tool.ruff]\n")
    assert lint(repository / "src") == 0 and not capsys.readouterr().err


def test_a_configuration_that_is_a_link_within_the_repository_is_read(repository: Path) -> None:
    (repository / ".git").mkdir()
    write(repository, common_toml=f'{TABLE}target = "sm_80"\n', src__new_cu=NEW)
    (repository / "src/link.cu").unlink()
    assert lint(repository / "src") == 0
    (repository / "src/pyproject.toml").symlink_to("../common.toml")
    assert lint(repository / "src") == 1

"""Repositories of strangers: what lint says of their files is text, in whatever form, and shows no other place's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ptxspec.cli.main import main
from ptxspec.lint.patterns import PathPattern

WRONG = "add.f46 %f1, %f2, %f3;\n"
NAMES = [
    "a\n::error::canary.ptx",
    "%0A::error::canary.ptx",
    "b,line=5::canary.ptx",
    "<script>canary()<.ptx",
    "\033[2J.ptx",
    "\u202e.ptx",
    "'; touch CANARY; '.ptx",
    "$(touch CANARY).ptx",
    "\udcff.ptx",
    "-rf.ptx",
    '"}],"x":"\\.ptx',
]
TEXTS = [
    "add.f46\u202e %f1, %f2, %f3; // \u2066 canary\n",
    "add.f3x\u2028::error::canary a, b, c;\n",
    "max.f32 a, b, c; // ptxspec: ignore[canary\u202e, \\x1b]\nadd.f46 a, b, c;\n",
    "\ufeffadd.f46 a\u200b, b, c;\n",
    "add.f46\r::error::canary\r a, b, c;\n",
    "add.f46 </script><script>canary()</script>, b, c;\n",
]


@pytest.fixture
def repository(around: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = around / "project"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text(WRONG, "utf-8")
    for i, text in enumerate(TEXTS):
        (folder / f"text{i}.ptx").write_text(text, "utf-8", newline="")
    return folder


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_name_and_a_line_of_a_file_are_text(repository: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert main(["lint", "--isolated", "--format", form, str(repository)]) == 1
    out, err = capsys.readouterr()
    # As a terminal and GitHub divide lines.
    lines = out.encode("utf-8", "backslashreplace").decode().split("\n")
    assert all(line.isprintable() for line in (*lines, *err.split("\n")))
    if form == "github":
        commands = [line for line in lines if line.startswith("::")]
        assert len(commands) >= len(NAMES) + len(TEXTS) - 1
        assert all(c.startswith(("::error file=", "::warning file=", "::notice file=")) for c in commands)
        # A property ends at a comma, the properties at two colons.
        properties = [c.split("::")[1].partition(" ")[2].split(",") for c in commands]
        assert all([p.partition("=")[0] for p in found][:3] == ["file", "line", "col"] for found in properties)
    elif form == "text":
        assert not any(line.startswith(("::", "##[")) for line in lines)
    else:
        found = json.loads(out)
        findings = found if form == "json" else found["runs"][0]["results"]
        assert len(findings) >= len(NAMES)


def test_a_link_that_a_walk_meets_shows_nothing_of_another_place(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("add.f46 SECRET, b, c;\n")
    (repository / "secret.ptx").symlink_to(secret)
    (repository / "zero.ptx").symlink_to("/dev/zero")
    (repository / "loop.ptx").symlink_to("loop.ptx")
    (repository / "again").symlink_to(".")
    os.mkfifo(repository / "pipe.ptx")
    for argument in (repository, repository / "*.ptx"):
        main(["lint", "--isolated", str(argument)])
        out, err = capsys.readouterr()
        assert "SECRET" not in out + err and "text0.ptx" in out
    assert main(["lint", "--isolated", str(repository / "secret.ptx")]) == 1
    assert "SECRET" in capsys.readouterr().out


def test_a_configuration_that_is_a_pipe_or_has_no_end_is_passed_by(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / "pyproject.toml"
    os.mkfifo(path)
    assert main(["lint", str(repository)]) == 1
    path.unlink()
    path.symlink_to("/dev/zero")
    assert main(["lint", str(repository)]) == 1


def test_a_pattern_of_many_wildcards_ends() -> None:
    base, deep = Path("/"), Path("/", *["a"] * 1000)
    assert not PathPattern("*a" * 60 + "b", base).matches(Path("/", "a" * 255))
    assert PathPattern("*a" * 60, base).matches(Path("/", "a" * 255))
    assert not PathPattern("**/" * 100 + "b", base).matches(deep)
    assert not PathPattern("**/a/" * 100 + "b", base).matches(deep)
    assert PathPattern("**/a/" * 100 + "**", base).matches(deep)


CONFIGURATIONS = [
    "exclude = ['" + "*a" * 60 + "']",
    "exclude = ['" + "**/" * 400 + "b']",
    "exclude = ['[z-a]']",
    "exclude = ['(a+)+$']",
    "exclude = ['../../**', '/etc/**']",
    "x = " + "[" * 50_000,
    "x = " + "{a=" * 50_000,
    "ptx = " + "9" * 10_000,
    "ptx = 1e999999999",
    "target = 'sm_90; touch CANARY'",
    "target = '\\x1b[2J'",
    '"\\u001b[2J" = 1',
    "exclude = ['\\u202e']",
    "[[tool.ptxspec.lint]]",
    "strict = 'true'",
]


@pytest.mark.parametrize("line", CONFIGURATIONS, ids=range(len(CONFIGURATIONS)))
@pytest.mark.sampled(4)
def test_a_configuration_of_a_stranger_decides_what_is_said_and_nothing_else(
    repository: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (repository / "pyproject.toml").write_text(f"[tool.ptxspec.lint]\n{line}\n", "utf-8")
    assert main(["lint", str(repository)]) in (1, 2)
    out, err = capsys.readouterr()
    assert all(x.isprintable() for x in (out + err).split("\n")) and "Traceback" not in err

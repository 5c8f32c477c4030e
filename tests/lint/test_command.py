"""The command `ptxspec lint`: its output in each format, and what it cannot read."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec.cli.main import main


def run(command: str, *arguments: str | Path) -> int:
    return main([command, "--root", str(ROOT), *map(str, arguments)])


def test_the_command_shows_line_caret_reason_and_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.ptx"
    file.write_text(".version 8.0\n.target sm_80\n\tmax.NaN.f64 %d0, %d1, %d2;\n")
    assert run("lint", file) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{file}:3:5: error: max.f64 has no .NaN")
    assert lines[0].endswith("[illegal-modifier]")
    assert lines[2].index("^^^^") == lines[1].index(".NaN")
    assert lines[3].strip().startswith("help: instead: { .reg .pred %_p; .reg .b64 %_t; setp.nan.f64 %_p, ")
    assert lines[-2:] == ["1 error", "1 instruction in 1 file, checked for its own .version and .target"]
    assert run("lint", file, "--target", "sm_90") == 1
    file.write_text("add.ftz.rn.f32 %f0, %f1, %f2;\n")
    assert run("lint", file) == 0


def test_json_is_a_plain_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.cu"
    file.write_text('asm("max.NaN.f64 %0, %1, %2;");\n')
    assert run("lint", file, "--format", "json") == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert list(found) == ["file", "line", "column", "severity", "code", "message", "variant", "targets"]
    assert (found["file"], found["line"], found["column"], found["variant"]) == (str(file), 1, 9, "max.NaN.f64")
    file.write_text("")
    assert run("lint", file, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == []


def test_sarif_has_what_code_scanning_asks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.ptx").write_text(
        "add.foo.f32 %f0, %f1, %f2;\nadd.ftz.rn.f32 %f0, %f1, %f2;\nadd.sat.sat.f32 %f0, %f1, %f2;"
    )
    assert run("lint", "a b.ptx", "--format", "sarif") == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (sarif,) = log["runs"]
    rules = sarif["tool"]["driver"]["rules"]
    driver = sarif["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("ptxspec", version("ptxspec"))
    assert all(r["shortDescription"]["text"] and r["help"]["text"] for r in rules)
    assert [r["level"] for r in sarif["results"]] == ["error", "note", "warning"]
    for result in sarif["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "a%20b.ptx"
        assert place["region"]["endColumn"] > place["region"]["startColumn"] >= 1


def test_a_program_that_is_not_installed_answers_without_its_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    file = tmp_path / "a.ptx"
    file.write_text("add.foo.f32 %f0, %f1, %f2;\n")
    assert run("lint", file, "--format", "sarif") == 1
    (sarif,) = json.loads(capsys.readouterr().out)["runs"]
    assert sarif["tool"]["driver"].keys() == {"name", "rules"} and sarif["results"]
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == "ptxspec (unknown version: not installed)\n"


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
def test_a_name_that_is_no_text_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"bad\xff.cu")
    Path(name).write_text('asm("max.NaN.f64 %0, %1, %2;");\n')
    for named, start in ((name, "bad"), (tmp_path / name, "file:///")):
        assert run("lint", named, "--format", "sarif") == 1
        (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.startswith(start) and uri.endswith("bad%FF.cu")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files have no such characters there")
def test_a_finding_is_a_line_that_a_terminal_does_not_obey(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"a\n\x1b[31m\xff.cu")
    Path(name).write_text('asm("max.NaN.f64 %0, %1, %2;"); // \x1b[31m\n')
    assert run("lint", name) == 1
    first, source, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(r"a\n\x1b[31m\xff.cu:1:9: error: max.f64 has no .NaN") and source.endswith("//  [31m")
    Path(name).write_bytes(b"\0 asm")
    assert run("lint", name) == 2
    assert capsys.readouterr().err == "ptxspec: a\\n\\x1b[31m\\xff.cu is not a text file\n"


def test_what_cannot_be_read_is_said_and_the_rest_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "a.cu"
    good.write_bytes(b'// caf\xe9\nasm("max.NaN.f64 %0, %1, %2;");\n')
    assert run("lint", tmp_path / "b.cu", good) == 2
    captured = capsys.readouterr()
    assert "b.cu: No such file or directory; did you mean" in captured.err
    assert "a.cu:2:9: error" in captured.out
    assert run("lint", good, "--target", "sm_999") == 2
    assert run("lint", good, "--ptx", "99.9") == 2


@pytest.mark.parametrize(("name", "code"), [("a.HIP", 1), ("a.cl", 1), ("a", 0), ("a.go", 2), ("a.xyz", 2)])
def test_the_ending_says_what_a_file_is_written_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    (tmp_path / name).write_text('asm("max.NaN.f64 %0, %1, %2;");\n' if code else "add.f32 %f0, %f1, %f2;\n")
    assert run("lint", tmp_path / name) == code
    assert (".ptx .cu" in capsys.readouterr().err) == (code == 2)

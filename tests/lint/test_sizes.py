"""Files of any size up to a bound, and of any shape, are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from ptxspec import Database
from ptxspec.__main__ import main
from ptxspec.lint import reading
from ptxspec.lint.linter import Linter

LIMIT = 1 << 20


def test_a_file_that_is_too_long_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MEGABYTES", 1)
    path = tmp_path / "long.ptx"
    path.write_bytes(b" " * LIMIT)
    assert main(["lint", str(path)]) == 0
    path.write_bytes(b" " * (LIMIT + 1))
    capsys.readouterr()
    assert main(["lint", str(path)]) == 2
    assert f"{path} is longer than 1 MB, the limit for a file" in capsys.readouterr().err


LONG = 4 * LIMIT


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("x" * LONG, ["syntax"]),
        ("{" * LONG, ["syntax"]),
        ("add.f32 " + "%f1, " * (LONG // 5) + ";\nadd.foo.f32 %f0, %f1, %f2;", ["syntax", "unknown-modifier"]),
        ("add" + ".f32" * (LONG // 4) + " %f0;\nadd.foo.f32 %f0, %f1, %f2;", ["illegal-type", "unknown-modifier"]),
        ("add.f32 " + "(" * LONG + ";", ["syntax"]),
        ("/*" + "x" * LONG, ["unterminated-comment"]),
        ("/*" + "x" * LONG + "*/ add.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("//" + "x" * LONG + "\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ('.pragma "' + "x" * LONG + "\nadd.foo.f32 %f0, %f1, %f2;", ["unterminated-string", "unknown-modifier"]),
        ("add.f32 %f0,%f1,%f2; " * (LONG // 20) + "add.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ('.pragma "nounroll;\nadd.foo.f32 %f0, %f1, %f2;', ["unterminated-string", "unknown-modifier"]),
        ("add.foo.f32 %f0, %f1, %f2; /* never", ["unknown-modifier", "unterminated-comment"]),
        ("add.f32 %f0, %f1, %f2", ["syntax"]),
        (".global .b8 x[] = {" + "1, " * (LONG // 3) + "};\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("", []),
    ],
    ids=lambda x: x[:24] if isinstance(x, str) else None,
)
@pytest.mark.sampled(1)
def test_lines_of_any_length_are_read(db: Database, text: str, codes: list[str]) -> None:
    found = list(Linter(db).lint(text, "f"))
    assert [f.code for f in found] == codes
    assert all(len(f.source) < 500 for f in found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("language", ["c++", "python"])
@pytest.mark.parametrize("unit", ["x", '"', "'", "/*", "#", 'asm("', "asm(", 'R"(', '"""', "\\", '"\n'])
def test_programs_of_any_shape_are_read(db: Database, language: str, unit: str) -> None:
    for _ in Linter(db).lint(unit * (2 * LIMIT // len(unit) // 8), "f", language):
        pass


def test_a_spelling_of_many_names_is_one_finding(db: Database) -> None:
    assert len(db.lint(f"add{'.rn' * 8000}.f32 %f0, %f1, %f2;")) == 1

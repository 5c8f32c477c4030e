"""Files of any size and shape are read, in little memory and time."""

from __future__ import annotations

import tracemalloc

import pytest
from helpers.doubling import grows_linearly
from helpers.linting import (
    UNTOUCHED,
    spoilt,
)
from ptxspec import Database
from ptxspec.lint.linter import Linter
from ptxspec.lint.windows import LIMIT, chunks


@pytest.mark.parametrize("size", [1, 13, 4096])
def test_where_the_pieces_of_a_file_end_does_not_matter(db: Database, size: int) -> None:
    text = ".version 8.0\n.target sm_80\n" + "\n".join(spoilt(db, 120, "pieces")) + UNTOUCHED
    pieces = (text[i : i + size] for i in range(0, len(text), size))
    whole = list(Linter(db).lint([text], "f"))
    assert len(whole) > 20
    assert list(Linter(db).lint(pieces, "f")) == whole


@pytest.mark.parametrize("size", range(1, 60))
def test_where_a_piece_ends_in_a_string_or_a_comment_does_not_matter(db: Database, size: int) -> None:
    text = (
        '.version 8.0\n.target /* a; b */ sm_80\n.file 1 "a;b.c", 12, 34\n.pragma "a;b";\nadd.rn.bf16 %h0, %h1, %h2;\n'
    )
    found = list(Linter(db).lint((text[i : i + size] for i in range(0, len(text), size)), "f"))
    assert [(f.line, f.code) for f in found] == [(5, "target-too-old")]


@pytest.mark.parametrize("lines", [100, pytest.param(2_000, marks=pytest.mark.exhaustive)])
def test_memory_does_not_grow_with_the_file(db: Database, lines: int) -> None:
    block = "add.f32 %f0, %f1, %f2; // a comment\nadd.foo.f32 %f0, %f1, %f2;\n" * lines
    linter = Linter(db)

    def peak(blocks: int) -> int:
        tracemalloc.start()
        count = sum(1 for _ in linter.lint((block for _ in range(blocks)), "f"))
        assert count == lines * blocks
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(2)
    assert peak(20) < 1.5 * peak(5)


LONG = 4 * LIMIT


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("x" * LONG, []),
        ("{" * LONG, []),
        ("add.f32 " + "%f1, " * (LONG // 5) + ";\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("add" + ".f32" * (LONG // 4) + " %f0;\nadd.foo.f32 %f0, %f1, %f2;", ["unknown-modifier"]),
        ("add.f32 " + "(" * LONG + ";", []),
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
@pytest.mark.sampled(5)
def test_lines_of_any_length_are_read(db: Database, text: str, codes: list[str]) -> None:
    found = list(Linter(db).lint(chunks(text), "f"))
    assert [f.code for f in found] == codes
    assert all(len(f.source) < 500 for f in found)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("language", ["c++", "python"])
@pytest.mark.parametrize("unit", ["x", '"', "'", "/*", "#", 'asm("', "asm(", 'R"(', '"""', "\\", '"\n'])
def test_programs_of_any_shape_are_read(db: Database, language: str, unit: str) -> None:
    for _ in Linter(db).lint(chunks(unit * (2 * LIMIT // len(unit) // 8)), "f", language):
        pass


@pytest.mark.sampled(2)
@pytest.mark.parametrize("unit", ["add.f32 a\n", ".reg a\n", ".target ", "@p\n", "a[", "asm", "add.f32 {", '" '])
@pytest.mark.parametrize("language", ["ptx", "python"])
def test_what_has_no_end_takes_time_in_proportion(db: Database, language: str, unit: str) -> None:
    def judge(length: int) -> None:
        text = unit * (length // len(unit))
        db.lint(f"f('''.version {text}''')" if language == "python" else text, language=language)

    assert grows_linearly(judge, LIMIT // 32)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", [".rn", ".foo", ".rn.rz", ".f32", ".sat", ".wide", ".cc", "."])
def test_a_spelling_takes_time_in_proportion_to_its_names(db: Database, unit: str) -> None:
    assert grows_linearly(lambda count: db.lint(f"add{unit * count}.f32 %f0, %f1, %f2;"), 1000)
    assert len(db.lint(f"add{'.rn' * 8000}.f32 %f0, %f1, %f2;")) == 1


def test_a_spelling_of_names_that_nothing_has_takes_time_in_proportion(db: Database) -> None:
    def judge(count: int) -> None:
        db.lint(f"add{''.join(f'.m{i}' for i in range(count))}.f32 %f0, %f1, %f2;")

    assert grows_linearly(judge, 100)

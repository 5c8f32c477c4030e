"""A file is read in windows: what stands where one ends is found as it is anywhere else."""

from __future__ import annotations

import pytest
from helpers.doubling import grows_linearly
from ptxspec import Database
from ptxspec.lint.findings import Finding
from ptxspec.lint.linter import Linter
from ptxspec.lint.windows import CHUNK, LIMIT, chunks

# What is found only in an argument, with the text as it stands.
WRONG = "add.foo.f32 %0, %1, %2"
MODULE = f".version 7.0\n.target sm_75\n{WRONG};\n"
PROGRAMS = {
    "an argument": ("python", f'x = 1\ninline(  asm = ( rb"{WRONG}"), c=1)\n', 2),
    "a function": ("python", f"my_asm (\n  ptx =\n ('{WRONG}'))\nx = 1\n", 2),
    "a raw string": ("python", f'y = rf"""\n{MODULE}{WRONG}\\n"""\nz = 1\n', 2),
    "a string over lines": ("python", f'y = ".version 7.0 \\\n.target sm_75 \\\n{WRONG};"\n', 1),
    "what is filled in": ("python", f'f((asm="{WRONG} %2r;"  )\n  % y)\n', 1),
    "an error": ("python", f'raise ValueError("{WRONG};")\nasm("")\n', 0),
    "a docstring": ("python", f'# asm\n\n# it\n"""{WRONG};"""\nx = 1\n', 0),
    "of a function": ("python", f'x = 1\ndef f(asm):\n    # it\n    """{WRONG};"""\n', 0),
    "a statement": ("c++", f'int x;\nasm /* it */ volatile ( "{WRONG}" : "=f"(r) : "f"(x), "f"(y));\n', 2),
    "strings": ("c++", f'auto x = u8"{WRONG[:7]}" /* it */\n LR"({WRONG[7:]};)";\n', 1),
    "a macro": ("rust", f'fn f() {{}}\nglobal_asm!( r##"{WRONG}"##);\n', 2),
    "a macro of Julia's": ("julia", f'x = 1\n@asmcall( """{WRONG}""", "=f,f,f", Float32)\n', 2),
    "no docstring": ("julia", f'y =\n  raw"""{MODULE}"""\nx = 1\n', 1),
    "a call": ("mlir", f'%0 = llvm.inline_asm has_side_effects "{WRONG}\\0A", "=f,f,f" %a, %b\n', 2),
}


def found(db: Database, pieces: list[str], language: str) -> list[Finding]:
    """All but how much of a line is shown, and which number a statement has."""
    return [f._replace(source="", at=0, statement=None) for f in Linter(db).lint(pieces, "f", language)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_where_a_window_ends_in_a_program_does_not_matter(db: Database, name: str) -> None:
    language, text, count = PROGRAMS[name]
    whole = found(db, [text], language)
    assert len(whole) == count
    for cut in range(len(text)):
        assert found(db, [text[:cut], text[cut:]], language) == whole, (text[:cut], text[cut:])


@pytest.mark.parametrize("opening", ["asm(", "asm", "x(asm=", "x(", "x(asm", "x(asm = (r"])
def test_an_opening_at_the_end_of_the_first_window_of_a_file_is_found(db: Database, opening: str) -> None:
    head, tail = 'asm("");'.ljust(CHUNK - len(opening) - 1, "#") + "\n" + opening, f'"{WRONG}")\n'
    tail = {"asm": "(", "x(": "asm=", "x(asm": "="}.get(opening, "") + tail
    assert [f.line for f in Linter(db).lint(chunks(head + tail), "f", "python")] == [2, 2]


@pytest.mark.parametrize("unit", ["# asm\n", "asm(\n", "x(asm = (\n", "( ", "asm(r", '"\\\n'])
@pytest.mark.exhaustive
def test_what_waits_for_the_next_window_takes_time_in_proportion(db: Database, unit: str) -> None:
    def judge(length: int) -> None:
        db.lint(unit * (length // len(unit)), language="python")

    assert grows_linearly(judge, LIMIT // 8)

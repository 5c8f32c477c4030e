"""A text without a trace of PTX is not read, and nothing is overlooked by that."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from helpers.repository_of_programs import WRONG, write
from ptxspec import Database
from ptxspec.lint import traces
from ptxspec.lint.checking import Checker
from ptxspec.lint.configuration import Settings
from ptxspec.lint.discovery import LintedFile
from ptxspec.lint.findings import Finding
from ptxspec.lint.languages.text import has_statement
from ptxspec.lint.linter import Linter

KERNEL = 'k = """\n.version 8.0\n.target sm_80\nmax.NaN.f64 %d0, %d1, %d2;\n"""\n'
STATEMENT = 's = f"max.NaN.f64 %d0, %d1, {x};"\n'
PLAIN = {
    "c++": 'int x = 1; // "a"\nconst char *s = "text";\n',
    "python": 'x = f(1, "a", \'b\')  # "c"\ny = """\nz\n"""\n',
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("asm(", True),
        ("wasm", True),
        (".version 8.0", True),
        ("add.f32 %0", True),
        ("cvt.rn.bf16x2", True),
        (".pred p", True),
        ("x.versions .f32a .predicate np.float32 a.b x.e4m3a .e4 .e4m .s2f x.ue8", False),
        ("", False),
    ],
)
def test_inline_assembly_a_version_and_a_type_are_traces(text: str, found: bool) -> None:
    assert traces.has(text) == found == bool(traces.offsets(text))


def test_every_type_is_a_trace_and_ends_a_statement(db: Database) -> None:
    """A string that is PTX is known by it, without a word of assembly around it."""
    types = [t for t in (*db.types, *db.other_types) if not t.endswith("ref")]
    assert {"e4m3x2", "e2m1x2", "ue8m0x2", "s2f6x2", "tf32", "b8x16"} <= {*types}
    for t in types:
        assert traces.has(f"cvt.rn.{t} %0") and not traces.has(f"cvt.rn.{t}_ %0"), t
        assert has_statement(f"cvt.rn.{t} $0, $1;") and not has_statement(f"cvt.rn.{t}_ $0, $1;"), t


@pytest.mark.parametrize(
    "spelling",
    ["cvt.rx.f16x2.e4m3x2", "cvt.rx.f16x2.e2m1x2", "cvt.rx.bf16x2.ue8m0x2", "cvt.foo.e4m3x2.f32", "cvt.rn.f16x2.e5m2"],
)
def test_a_string_with_a_narrow_type_is_judged(db: Database, spelling: str) -> None:
    assert db.lint(f'const char *x = "{spelling} $0, $1;";', language="c++") != []
    assert db.lint(f'x = "{spelling} $0, $1;"', language="python") != []


def test_a_spelling_may_have_a_narrow_type_alone(db: Database) -> None:
    (found,) = db.lint('x = "cvt.rn.e5m2x2 $0, $1;"', language="python")
    assert found.code == "illegal-type"


@pytest.mark.parametrize(
    ("language", "wrong"), [("c++", WRONG), ("python", WRONG[:-2] + "\n"), ("python", KERNEL), ("python", STATEMENT)]
)
def test_a_trace_is_found_wherever_it_stands(db: Database, language: str, wrong: str) -> None:
    plain = PLAIN[language]
    for before, after in ((0, 0), (3, 0), (0, 3), (20, 20)):
        text = plain * before + wrong + plain * after
        found = list(Linter(db).lint(text, "f", language))
        assert [f.code for f in found] == ["illegal-modifier"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", ["c++", "python"])
def test_reading_all_of_a_text_finds_no_more(db: Database, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    r = random.Random(language)
    parts = [
        *PLAIN.values(),
        WRONG,
        WRONG[:-2] + "\n",
        KERNEL,
        STATEMENT,
        '"',
        "'",
        '"""',
        "/*",
        "*/",
        "//",
        "#",
        "\n",
        "(",
    ]
    texts = ["".join(r.choices(parts, k=8)) for _ in range(400)]

    def found(text: str) -> list[Finding]:
        # Statements are numbered as they are met.
        return [f._replace(statement=None) for f in Linter(db).lint(text, "f", language)]

    quick = [found(t) for t in texts]
    assert sum(map(bool, quick)) > 40
    monkeypatch.setattr(traces, "has", lambda text: True)
    if language == "python":
        # As though everything were a trace.
        monkeypatch.setattr(traces, "offsets", lambda text: list(range(len(text))))
    assert [found(t) for t in texts] == quick


def test_a_program_without_a_trace_is_not_scanned(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Linter, "lint", lambda *_: pytest.fail("it was scanned"))
    write(tmp_path, a_cu=PLAIN["c++"], b_py=PLAIN["python"])
    checker = Checker(db)
    for name, language in (("a.cu", "c++"), ("b.py", "python")):
        assert list(checker.check(LintedFile(str(tmp_path / name), language, Settings()))) == []
    assert checker.account.others == 2

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
from ptxspec.lint.discovery import Source
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
        ("x.versions .f32a .predicate np.float32 a.b", False),
        ("", False),
    ],
)
def test_inline_assembly_a_version_and_a_type_are_traces(text: str, found: bool) -> None:
    assert traces.has(text) == found == bool(traces.offsets(text))


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
    quick = [list(Linter(db).lint(t, "f", language)) for t in texts]
    assert sum(map(bool, quick)) > 40
    monkeypatch.setattr(traces, "has", lambda text: True)
    if language == "python":
        # As though everything were a trace.
        monkeypatch.setattr(traces, "offsets", lambda text: list(range(len(text))))
    assert [list(Linter(db).lint(t, "f", language)) for t in texts] == quick


def test_a_program_without_a_trace_is_not_scanned(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Linter, "lint", lambda *_: pytest.fail("it was scanned"))
    write(tmp_path, a_cu=PLAIN["c++"], b_py=PLAIN["python"])
    checker = Checker(db)
    for name, language in (("a.cu", "c++"), ("b.py", "python")):
        assert list(checker.check(Source(str(tmp_path / name), language, Settings()))) == []
    assert checker.account.others == 2

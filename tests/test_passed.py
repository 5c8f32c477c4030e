"""A sweep that passed whole is known again by what its result rests on, and by nothing else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.passed import PATH, Passed


def options(**given: bool) -> Any:
    asked = {"--record-passed": False, "--again": False} | {f"--{n.replace('_', '-')}": x for n, x in given.items()}
    return SimpleNamespace(getoption=asked.__getitem__)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """What a sweep called "a" rests on: it has passed."""
    code, table = tmp_path / "code.py", tmp_path / "table.txt"
    code.write_text('"""A module."""\n\ndef f(x):\n    """Return x."""\n    return x  # as it is\n', "utf-8")
    table.write_bytes(b"1 2 3")
    recorded = Passed("a", options(record_passed=True), tmp_path / "passed")
    assert not recorded.has([code, table])
    recorded.whole()
    return [code, table]


def has(files: list[Path], name: str = "a", **given: bool) -> bool:
    return Passed(name, options(**given), files[0].parent / "passed").has(files)


def test_it_is_known_while_all_is_the_same(files: list[Path]) -> None:
    assert has(files) and has(files[::-1])
    assert not has(files, "b") and not has(files[:1])


def test_words_in_code_change_nothing(files: list[Path]) -> None:
    files[0].write_text('"""Another."""\n\n\ndef f(x):\n    "What x is."\n\n    return x\n', "utf-8")
    assert has(files)
    files[0].write_text("def f(x):\n    return -x\n", "utf-8")
    assert not has(files)


def test_a_table_another_numpy_and_another_compiler_do(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(np, "__version__", "99.0")
        assert not has(files)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert not has(files)
    files[1].write_bytes(b"1 2 4")
    assert not has(files)


def test_it_runs_whole_where_that_is_asked_for(files: list[Path]) -> None:
    assert not has(files, again=True) and not has(files, record_passed=True)


def test_a_record_takes_the_place_of_the_one_before(files: list[Path]) -> None:
    files[1].write_bytes(b"4")
    passed = Passed("a", options(record_passed=True), files[0].parent / "passed")
    passed.has(files)
    passed.whole()
    assert has(files) and (files[0].parent / "passed").read_text("utf-8").count(" a\n") == 1


def test_nothing_is_recorded_where_it_is_not_asked_for(tmp_path: Path) -> None:
    passed = Passed("a", options(), tmp_path / "passed")
    passed.has([])
    passed.whole()
    assert not (tmp_path / "passed").exists()


def test_the_list_has_tests_that_there_are(request: pytest.FixtureRequest) -> None:
    for line in PATH.read_text("utf-8").splitlines()[1:]:
        path, _, name = line.partition(" ")[2].partition("::")
        assert f"def {name.partition('[')[0]}(" in (PATH.parents[1] / path).read_text("utf-8")

"""A sweep that passed whole is not run again while all that its result depends on is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT, passed
from helpers.passed import PATH, imported, inputs, read

CONFTEST = """
from pathlib import Path
from helpers.passed import Passed

def pytest_addoption(parser):
    for option in ("--record-passed", "--record-judged", "--again"):
        parser.addoption(option, action="store_true")

def pytest_configure(config):
    config.pluginmanager.register(Passed(config, Path({root!r})))
"""
TESTS = '''
"""Two sweeps, of which one says what it judges."""
import pytest

@pytest.mark.exhaustive
@pytest.mark.inputs("data/table.txt")
@pytest.mark.parametrize("x", [1, 2, 3])
def test_a(x):
    """Whether x is in the table."""
    assert str(x) in open({table!r}).read()  # as text

@pytest.mark.exhaustive
def test_b():
    pass
'''


class Suite:
    """Tests in a folder of their own, with their list."""

    def __init__(self, root: Path) -> None:
        self.root, self.table, self.tests = root, root / "data/table.txt", root / "tests/test_some.py"
        for path in (self.table, self.tests):
            path.parent.mkdir()
        self.table.write_text("1 2 3", "utf-8")
        self.tests.write_text(TESTS.format(table=str(self.table)), "utf-8")
        (root / "tests/conftest.py").write_text(CONFTEST.format(root=str(root)), "utf-8")
        (root / "pytest.ini").write_text(
            "[pytest]\naddopts = --import-mode=importlib\nmarkers =\n  exhaustive\n  inputs\ntestpaths = tests\n",
            "utf-8",
        )

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "exhaustive", *arguments]
        places = os.pathsep.join(map(str, (ROOT / "tests", ROOT / "codegen", ROOT / "generated/python")))
        environment = {**os.environ, "PYTHONPATH": places, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        made = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        return made.stdout + made.stderr


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


WORKERS = "-p", "xdist.plugin", "-n2"


@pytest.mark.exhaustive
@pytest.mark.parametrize("processes", [(), WORKERS], ids=["here", "in workers"])
def test_what_passed_is_left_out_until_an_input_changes(suite: Suite, processes: tuple[str, ...]) -> None:
    assert "4 passed" in suite.run(*processes)
    said = suite.run("--record-passed", *processes)
    assert "4 passed" in said and "tests/passed.txt is written: 1 of 1 sweeps passed whole" in said
    said = suite.run(*processes)
    assert "1 passed" in said and "3 tests passed before with the same inputs: not run again" in said
    assert "4 passed" in suite.run("--again", *processes)
    # Words change nothing, code does.
    text = suite.tests.read_text("utf-8")
    suite.tests.write_text(text.replace("Whether x is", "It is").replace("  # as text", ""), "utf-8")
    assert "1 passed" in suite.run(*processes)
    # Nor do other tests.
    suite.tests.write_text(text.replace("    pass", "    assert True"), "utf-8")
    assert "1 passed" in suite.run(*processes)
    suite.tests.write_text(text.replace("str(x)", "str(+x)"), "utf-8")
    assert "4 passed" in suite.run(*processes)
    suite.tests.write_text(text, "utf-8")
    suite.table.write_text("3 2 1", "utf-8")
    assert "4 passed" in suite.run(*processes)


@pytest.mark.exhaustive
def test_another_compiler_is_another_machine(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.run("--record-passed")
    monkeypatch.setenv("PATH", str(suite.root))
    assert "4 passed" in suite.run()


@pytest.mark.exhaustive
def test_what_fails_in_part_is_not_recorded_and_what_was_is_taken_back(suite: Suite) -> None:
    suite.run("--record-passed")
    suite.table.write_text("1 2", "utf-8")
    assert "0 of 1 sweeps passed whole" in suite.run("--record-passed")
    assert read(suite.root / "tests/passed.txt") == {}


def test_a_part_of_a_sweep_passes_for_no_whole(suite: Suite) -> None:
    suite.run("--record-passed", "-k", "1")
    assert "4 passed" in suite.run()


def test_a_sweep_depends_on_the_helpers_that_its_module_imports() -> None:
    names = {p.relative_to(ROOT).as_posix() for p in imported(ROOT, ROOT / "tests/runtime/test_operations.py")}
    assert {"tests/runtime/test_operations.py", "tests/helpers/rounding.py", "tests/oracles/mpfr.py"} <= names
    assert "tests/helpers/project.py" not in names


def test_a_comment_in_yaml_changes_no_result(tmp_path: Path) -> None:
    texts = {"a": "# one\nx: 1\n", "b": "x: 1\n  # another\n", "c": "x: 2\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    a, b, c = (passed.content(tmp_path / f"{name}.yaml") for name in texts)
    assert a == b != c


def test_an_opcodes_emulator_is_what_is_shared_and_its_own() -> None:
    names = {p.relative_to(ROOT / "generated/python/ptxemu").as_posix() for p in inputs(ROOT, "emulator:sin")}
    assert {"unit.py", "units.py", "instructions/sin.py"} <= names
    assert not names & {"instructions/cos.py", "catalog.py", "opcodes/sin.py"}
    names = {p.relative_to(ROOT / "generated/native/src").as_posix() for p in inputs(ROOT, "native:sin")}
    assert {"sin.c", "unit.h"} <= names and not names & {"cos.c", "module.c", "matrices.c"}


def test_the_list_has_tests_that_there_are() -> None:
    for name in read(PATH):
        path, _, test = name.partition(" of ")[0].partition("::")
        assert f"def {test.rpartition('::')[2]}(" in (ROOT / path).read_text("utf-8")


def test_every_input_that_is_named_exists() -> None:
    for kind in passed._WHOLE:
        assert inputs(ROOT, kind)

"""The extension for Visual Studio Code: it is there for the languages that lint reads, and is a program."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import ROOT
from ptxspec.lint.languages import LANGUAGES, NOTEBOOK
from ptxspec.server.judged import language_named

FOLDER = ROOT / "codegen" / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text("utf-8"))


def test_it_is_there_for_the_languages_that_lint_reads() -> None:
    contributed = PACKAGE["contributes"]["languages"]
    names = [event.removeprefix("onLanguage:") for event in PACKAGE["activationEvents"]]
    names += [language["id"] for language in contributed]
    # Of a notebook an editor gives the cells, in their own languages.
    assert {language_named(name) for name in names} == {*LANGUAGES.values()} - {NOTEBOOK}
    for language in contributed:
        assert {LANGUAGES[ending] for ending in language["extensions"]} == {language_named(language["id"])}


def test_what_it_names_is_there() -> None:
    assert (FOLDER / PACKAGE["main"]).is_file()
    assert PACKAGE["contributes"]["configuration"]["properties"]["ptxspec.command"]["default"] == ["ptxspec", "server"]
    assert PACKAGE["version"] in (FOLDER / "README.md").read_text("utf-8")
    commands = [command["command"] for command in PACKAGE["contributes"]["commands"]]
    program = (FOLDER / PACKAGE["main"]).read_text("utf-8")
    assert all(f'registerCommand("{command}"' in program for command in commands)


def test_it_is_a_program() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    subprocess.run([node, "--check", str(Path(FOLDER, PACKAGE["main"]))], check=True)

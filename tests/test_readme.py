"""Every command that the README and the manual's pages show prints what they show."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from helpers import ROOT
from helpers.repository import database, specification
from ptxspec.__main__ import main
from ptxspec.cli.main import COMMANDS

README = ROOT / "README.md"
MANUAL = ROOT / "generated/manual"
TEXT = README.read_text("utf-8")
GUIDES = [MANUAL / path.name.removesuffix(".j2") for path in sorted((ROOT / "templates/manual/guides").iterdir())]


def transcripts(path: Path) -> Iterator[tuple[str, str]]:
    """The commands of a page's transcripts, each with what it prints."""
    for block in re.findall(r"^```console\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        for command, output in re.findall(r"^\$ ([^\n]*)\n(.*?)(?=^\$ |\Z)", block, re.DOTALL | re.MULTILINE):
            yield command, output.rstrip()


SHOWN = {path: list(transcripts(path)) for path in (README, *sorted(MANUAL.glob("*.md")))}
RUN = dict.fromkeys((command, output) for found in SHOWN.values() for command, output in found)


@cache
def printed(command: str) -> str:
    """Return what a command of the shell prints. One of ours, alone or before a filter, needs no process of its own."""
    program, *arguments = shlex.split(command)
    ours, _, filter_ = command.partition(" | ")
    if program == "ptxspec" and arguments.count("|") <= 1:
        said = io.StringIO()
        with contextlib.chdir(ROOT), contextlib.redirect_stdout(said):
            main(shlex.split(ours)[1:])
        return filtered(filter_, said.getvalue()).rstrip()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    return done.stdout.rstrip()


def filtered(filter_: str, text: str) -> str:
    if not filter_:
        return text
    return subprocess.run(filter_, shell=True, input=text, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(("command", "output"), RUN, ids=[c for c, _ in RUN])
def test_a_command_prints_what_is_shown(command: str, output: str) -> None:
    assert printed(command) == output


def test_every_transcript_is_read() -> None:
    """A block that begins otherwise would be shown and never run."""
    for path, found in SHOWN.items():
        blocks = re.findall(r"^```console$", path.read_text("utf-8"), re.MULTILINE)
        assert bool(blocks) == bool(found), path.name
        assert all(output for _, output in found), path.name
    assert all(SHOWN[path] for path in (README, MANUAL / "claims.md", MANUAL / "guide.md"))


def test_the_guide_names_every_command() -> None:
    named = set(re.findall(r"`ptxspec ([a-z-]+)", (MANUAL / "guide.md").read_text("utf-8")))
    assert named == set(COMMANDS)


def test_the_overview_has_every_page_of_the_guide() -> None:
    listed = re.findall(r"^\| \[[^\]]+\]\(([\w-]+\.md)\)", (MANUAL / "guide.md").read_text("utf-8"), re.MULTILINE)
    assert sorted([*listed, "guide.md"]) == sorted(path.name for path in GUIDES)


@pytest.mark.parametrize("path", [README, *GUIDES], ids=lambda p: p.stem)
def test_files_that_a_text_names_are_there(path: Path) -> None:
    text = path.read_text("utf-8")
    for name in re.findall(r"`((?:spec|codegen|templates|tests|generated|\.ci|\.github)/[\w./-]*)`", text):
        assert (ROOT / name).exists() or name in MADE_LATER, name


def test_every_variant_that_a_guide_names_exists() -> None:
    """The guides are prose: nothing else holds what they say of variants."""
    opcodes = "|".join(specification().instructions)
    wanted = {v.spelling for v in database().variants}
    for path in (README, *GUIDES):
        text = re.sub(r"^no: .*\n(?:  .*\n)*", "", path.read_text("utf-8"), flags=re.MULTILINE)
        for name in re.findall(rf"(?<![\w.%/-])((?:{opcodes})(?:\.\w+(?:::\w+)?)+)(?![\w{{.]|\()", text):
            is_file = name.endswith((".html", ".md", ".yaml", ".ptx", ".cu"))
            is_family = not database().groups.keys().isdisjoint(name.split("."))
            assert name in wanted or is_file or is_family, (path.name, name)


# What a reader makes as the text says.
MADE_LATER = {"generated/cuda/sumsq.cu", "spec/observed/recordings.yaml"}


def test_the_readme_starts_with_the_two_commands() -> None:
    commands = re.findall(r"^    (\S.*)$", TEXT, re.MULTILINE)
    assert commands[:2] == [
        "pip install -c .ci/constraints.txt -e . && ptxspec generate",
        "pip install -c .ci/constraints.txt -e '.[test]' && pytest",
    ]
    run_by_ci = (ROOT / ".ci/steps.py").read_text("utf-8").replace(" --quiet", "")
    assert all(command in run_by_ci for command in commands[:2])


@pytest.mark.parametrize("path", [README, MANUAL / "linting.md"], ids=lambda p: p.stem)
def test_hooks_that_are_shown_are_there(path: Path) -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    shown = set(re.findall(r"id: ([\w-]+)", path.read_text("utf-8")))
    assert shown and shown <= hooks


def test_the_readme_counts_right() -> None:
    spec = specification()
    variants = sum(len(i.variants) for i in spec.instructions.values())
    assert f"{variants:,} variants of {len(spec.instructions)} opcodes" in TEXT
    assert f"on {len(spec.targets)} targets" in TEXT


def test_python_prints_what_the_readme_shows() -> None:
    shown = "".join(re.findall(r"^```pycon\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE))
    test = doctest.DocTestParser().get_doctest(shown, {}, README.name, README.name, 0)
    said = io.StringIO()
    assert test.examples and not doctest.DocTestRunner(verbose=False).run(test, out=said.write).failed, said.getvalue()


def test_the_readme_is_read_in_five_minutes_and_leads_on() -> None:
    assert len(TEXT.splitlines()) <= 200
    for link in re.findall(r"\]\((?!https:)([^)#]+)", TEXT):
        assert (ROOT / link).is_file(), link

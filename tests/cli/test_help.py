"""--help: every command shows examples, and they can be given as they stand."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest
from helpers import ROOT
from ptxspec.__main__ import main
from ptxspec.cli.help import EXAMPLES
from ptxspec.cli.main import COMMANDS, parser_of, readable

SHOWN = [
    (command, example) for command, examples in EXAMPLES.items() for example in examples if "COMMAND" not in example
]
# Those that answer at once, and need nothing but the database.
QUICK = ("list", "query", "diff", "targets", "versions")


def arguments(example: str) -> list[str]:
    """What stands behind `ptxspec`, without pipes and files."""
    command = next(part for part in example.split("|") if "ptxspec" in part)
    return shlex.split(re.split(r" [<>] ", command)[0])[1:]


def test_every_command_has_examples() -> None:
    assert list(EXAMPLES) == ["", *COMMANDS]
    for command, example in SHOWN:
        assert not command or f"ptxspec {command}" in example


@pytest.mark.parametrize(("command", "example"), SHOWN, ids=[example for _, example in SHOWN])
def test_an_example_can_be_given(capsys: pytest.CaptureFixture[str], command: str, example: str) -> None:
    given = readable(arguments(example))
    assert parser_of(given).parse_args(given).run
    if given[0] in QUICK:
        assert main([*given, "--root", str(ROOT)]) in (0, 1)
        assert capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_every_argument_is(capsys: pytest.CaptureFixture[str], command: str) -> None:
    told = []
    for way in ([command, "--help"], ["help", command]):
        with pytest.raises(SystemExit) as done:
            main(way)
        assert done.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] and all(f"\n  {example}\n" in told[0] for example in EXAMPLES[command])
    (commands,) = (a for a in parser_of([command])._actions if isinstance(a, argparse._SubParsersAction))
    assert all(a.help for a in commands.choices[command]._actions)


def test_the_root_may_stand_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for way in (["--root", str(ROOT), "query", "add.f32"], ["query", "add.f32", "--root", str(ROOT)]):
        assert main(way) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
    for way in (["--root", "/nowhere", "query", "add.f32"], ["query", "add.f32", "--root", "/nowhere"]):
        assert main(way) == 2
        assert "/nowhere" in capsys.readouterr().err


def test_a_value_for_an_option_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["eval", "add.f32", "1", "2", "--trace=al"])
    assert (
        done.value.code == 2 and "unknown option '--trace=al'; did you mean '--trace=all'?" in capsys.readouterr().err
    )

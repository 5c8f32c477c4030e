"""Nothing that a command prints steers the terminal, whatever it was given."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ptxspec.cli.main import COMMANDS, main, parser_of

# A title, a cleared screen, a colour, a bell, a carriage return, C1's introducer, and text from right to left.
HOSTILE = "add.f3\033]0;x\a\033[2J\033[31m\r\x9b2J\u202e\x7f"
# What is needed before an option is looked at.
NEEDED = {
    "query": ["add.f32"], "show": ["add"], "eval": ["add.f32", "1", "2"], "compare": ["add.f32", "add.rn.f32"],
    "sweep": ["neg.f16", "--against", "neg.f16"], "vectors": ["add.f32"], "completion": ["bash"],
    "diff": ["--ptx", "8.5..8.6"], "build": ["nope"],
}  # fmt: skip


def actions() -> Iterator[tuple[str, str]]:
    """Each command with each of its options that takes a text, and with its operand, which has no name."""
    for command in COMMANDS:
        (commands,) = parser_of([command])._subparsers._group_actions  # type: ignore[union-attr]
        for action in commands.choices[command]._actions:  # type: ignore[index, union-attr]
            if action.nargs != 0 and not isinstance(action, argparse._HelpAction):
                yield command, next(iter(action.option_strings), "")


@pytest.mark.parametrize(("command", "option"), dict.fromkeys(actions()), ids=str)
@pytest.mark.sampled(12)
def test_what_is_given_is_shown_and_not_obeyed(
    command: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HOSTILE.encode())))
    needed = NEEDED.get(command, [])
    given = [*(needed if option not in needed else ()), option, HOSTILE] if option else [HOSTILE]
    with contextlib.suppress(SystemExit):
        main([command, *given])
    for text in capsys.readouterr():
        assert is_harmless(text)


def test_what_is_read_is_shown_and_not_obeyed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = f"ptxas error : Feature 'max.f32 {HOSTILE} with 3 input operands' requires .target sm_100 or higher\n"
    name = f"{HOSTILE}.ptx"
    Path(name).write_text(f"{HOSTILE} %f1, %f2, %f3; // ptxspec: ignore[{HOSTILE}]\n")
    Path("rows").write_text("1 \033]0;x\u202e\n")
    for command, stdin in (
        (["explain"], log), (["lint", "."], ""), (["eval", "--file", name], ""),
        (["eval", "add.f32", "--batch", "rows"], ""), (["compare", f"{{ add.f32 %d, {HOSTILE}; }}", name], ""),
    ):  # fmt: skip
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        assert main(command) in (0, 1, 2)
        out, err = capsys.readouterr()
        assert is_harmless(out) and is_harmless(err) and r"\x1b]0;x" in out + err, command


def test_json_is_json_and_has_the_text_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", HOSTILE, "--format", "json"]) == 1
    out = capsys.readouterr().out
    assert is_harmless(out) and json.loads(out)["variant"] == HOSTILE


def test_on_a_terminal_colours_are_ours_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["query", HOSTILE]) == 1
    out = capsys.readouterr().out
    assert out.startswith("\033[31;1mno\033[0m: ") and r"\x1b[31m" in out
    assert is_harmless(out.removeprefix("\033[31;1mno\033[0m"))


def is_harmless(text: str) -> bool:
    return all(c.isprintable() or c in "\n\t" for c in text)

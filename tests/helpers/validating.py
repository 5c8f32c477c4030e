"""Assertions on what `ptxspec validate` says of a specification with mistakes."""

from __future__ import annotations

import re

from helpers.project import Project, Result

ADD, MAX, MUL = (f"spec/instructions/{opcode}.yaml" for opcode in ("add", "max", "mul"))
TYPES, MODIFIERS, TARGETS = "spec/types.yaml", "spec/modifiers.yaml", "spec/targets.yaml"


def expect_error(project: Project, result: Result, place: str, message: str, help: str = "") -> None:
    """One error, at this place, with its line and a caret below; `message` and `help` are parts of the texts."""
    assert result.code == 1, result
    assert result.out == ""
    head, *rest = result.err.splitlines()
    assert rest[-1] == "1 error", result.err
    assert head.startswith(f"{place}: error: "), head
    assert message in head
    assert help in "\n".join(rest)
    path, line, column = place.rsplit(":", 2)
    lines = (project.root / path).read_text("utf-8-sig").splitlines()
    assert rest[0] == "    " + lines[int(line) - 1].replace("\t", " ")
    assert re.fullmatch(r" +\^+", rest[1]) and rest[1].index("^") == 3 + int(column)


# The file, what is replaced, by what (« stands before the mistake), a part of the message, a part of the help.
Mistake = tuple[str, str, str, str, str]


def expect_mistake(project: Project, mistake: Mistake) -> None:
    path, old, new, message, help = mistake
    if path != MAX:
        (project.root / MAX).unlink()
    project.edit(path, old, new)
    at = project.place(path, "«")
    project.edit(path, "«", "")
    expect_error(project, project.run("validate"), at, message, help)

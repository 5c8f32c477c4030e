"""A copy of the specification to edit, and the command line to run on it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import pytest
from ptxspec.__main__ import main

from helpers import ROOT

SPEC = ROOT / "spec"
INSTRUCTIONS = SPEC / "instructions"
OPCODES = ("add", "mul", "min", "max")
# Of spec/, what all need: the rest may be missing.
NEEDED = (
    "assembler.yaml", "examples", "functions.yaml", "instructions", "modifiers.yaml", "observed", "outside.yaml",
    "published.yaml", "special_registers.yaml", "targets.yaml", "types.yaml", "units", "units.yaml", "words.yaml",
)  # fmt: skip
OBSERVED = ("judged", "recordings.yaml")
_RECIPES = re.compile(r"^(?:instead|missing):\n(?:(?: .*)?\n)*", re.MULTILINE)


def copied(to: Path, opcodes: Container[str] = OPCODES, own_templates: bool = False) -> Path:
    """The repository's spec/ with few opcodes, nothing known of units, without the recipes, which are made of others,
    and without what no opcode needs: `bring` adds it. What hardly a test edits is the repository's own, behind a link:
    copying it took longer than most tests."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        if Path(folder) == SPEC / "units":
            return {n for n in names if n.endswith(".yaml")}
        if Path(folder) in (INSTRUCTIONS, SPEC / "observed/judged"):
            return {n for n in names if Path(n).stem not in opcodes}
        wanted = {SPEC: NEEDED, SPEC / "observed": OBSERVED}.get(Path(folder))
        return {n for n in names if n not in wanted} if wanted else set()

    shutil.copytree(SPEC, to / "spec", ignore=left_out, copy_function=shutil.copyfile)
    (to / "spec/schema").symlink_to(SPEC / "schema", target_is_directory=True)
    if own_templates:
        shutil.copytree(ROOT / "templates", to / "templates", ignore=shutil.ignore_patterns("__pycache__"))
    else:
        (to / "templates").symlink_to(ROOT / "templates", target_is_directory=True)
    for path in (to / "spec/instructions").iterdir():
        path.write_text(without_recipes(path.read_text("utf-8")), "utf-8")
    return to


def bring(root: Path, *paths: str) -> None:
    """Copy files or folders of the repository to such a copy."""
    for path in paths:
        copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copyfile
        copy(ROOT / path, root / path)


def again(root: Path, to: Path) -> Path:
    """A copy of such a copy, with what was generated from it."""
    return Path(shutil.copytree(root, to, symlinks=True, copy_function=shutil.copyfile))


def without_recipes(text: str) -> str:
    return _RECIPES.sub("", text)


def declare(root: Path, name: str, **sections: str) -> None:
    """Add entries to sections of a file of spec/, a line or more each, but for what is declared there."""
    path = root / "spec" / name
    text = path.read_text("utf-8")
    added = []
    for section, lines in sections.items():
        assert text.count(f"\n{section}:\n") == 1, (name, section)
        head, _, rest = text.partition(f"\n{section}:\n")
        body = re.split(r"\n(?=\w)", rest, maxsplit=1)[0]
        known = set(_names(body))
        entries = re.split(r"^(?=  [\w\"-]+:)", lines.strip("\n") + "\n", flags=re.MULTILINE)
        new = [e for e in entries if e and _names(e)[0] not in known]
        added += [_names(e)[0] for e in new]
        text = f"{head}\n{section}:\n{''.join(new)}{rest}"
    path.write_text(text, "utf-8")
    # What the specification declares is no name of other instructions any more.
    path = root / "spec/assembler.yaml"
    others = path.read_text("utf-8")
    for entry in added:
        others = re.sub(rf"(?<=[\s\[]){entry},\s", "", others, count=1)
    path.write_text(others, "utf-8")


def _names(entries: str) -> list[str]:
    return re.findall(r"^  ([\w\"-]+):", entries, re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """The result of a command: its exit code and what it printed."""

    code: int
    out: str
    err: str


class Project:
    """A folder with spec/ and templates/ of its own."""

    def __init__(self, root: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capture = capture

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that occurs once."""
        text = (self.root / path).read_text("utf-8")
        assert text.count(old) == 1, f"{path} has {text.count(old)} of {old!r}"
        self.write(path, text.replace(old, new))

    def bring(self, *paths: str) -> None:
        bring(self.root, *paths)

    def write(self, path: str, text: str | bytes) -> None:
        data = text if isinstance(text, bytes) else text.encode()
        (self.root / path).write_bytes(data)

    def place(self, path: str, text: str, line: str = "") -> str:
        """`path:line:column` of a text: the only one in the file, or in the only line that holds `line`."""
        lines = (self.root / path).read_text("utf-8").splitlines()
        found = [(i, s) for i, s in enumerate(lines, 1) if text in s and line in s]
        assert len(found) == 1, f"{path} has {text!r} in {len(found)} lines"
        return f"{path}:{found[0][0]}:{found[0][1].index(text) + 1}"

    def run(self, command: str, *arguments: str | Path) -> Result:
        """Run a command on this project, in this process."""
        self._capture.readouterr()
        try:
            code = main([command, "--root", str(self.root), *map(str, arguments)])
        except SystemExit as e:
            code = int(e.code or 0)
        captured = self._capture.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Result(code, captured.out, captured.err)

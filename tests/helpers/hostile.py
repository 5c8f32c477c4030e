"""Specifications of strangers: a text of theirs in the place of every text and beside every name that a file has.

Files are walked as they are parsed, so that a field nobody has thought of is attacked too. What is refused is dropped,
and the rest tried again, until the specification is read."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ptxspec.check.checking import check
from ptxspec.diagnostics import Diagnostic
from ptxspec.read.positioned import load
from ptxspec.specification import read_all

# A file's name below the root, and the path of a text or, behind `NAME`, of a mapping that is given one more name.
Field = tuple[str, tuple[str | int, ...]]
NAME = "another name"
# The name of a file that is there only if something of a stranger's ran.
CANARY = "CANARY"


def snapshot(folder: Path, without: Container[str] = ()) -> dict[str, tuple[int, bytes]]:
    """All files of a folder, but for some below it, with their kinds and what they hold."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if name.parts[0] in without:
            continue
        mode = path.lstat().st_mode
        inside = os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[name.as_posix()] = (mode, inside)
    return found


def walk(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        yield (*at, NAME)
        for key, inner in value.items():
            yield from walk(inner, (*at, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from walk(inner, (*at, i))
    elif isinstance(value, str):
        yield at


def general(field: Field) -> tuple[str, ...]:
    """The field without the places in lists: what is written alike is read alike."""
    file, at = field
    folder = file.rpartition("/")[0]
    kind = folder if folder.count("/") else file
    return (kind, *("*" if isinstance(k, int) else k for k in at))


@dataclass
class Stranger:
    """A root whose files are written again with a stranger's texts."""

    root: Path

    def __post_init__(self) -> None:
        paths = sorted(p for p in (self.root / "spec").rglob("*.yaml") if p.is_file())
        self.files = {p.relative_to(self.root).as_posix(): load(p, self.root).data for p in paths}
        self.fields: list[Field] = [(file, at) for file, data in self.files.items() for at in walk(data)]

    def keep(self, each: int) -> None:
        """Attack no more than so many fields of a kind."""
        counts: Counter[tuple[str, ...]] = Counter()
        kept = []
        for field in self.fields:
            counts[general(field)] += 1
            if counts[general(field)] <= each:
                kept.append(field)
        self.fields = kept

    def put(self, payload: Callable[[Field], str]) -> tuple[list[Field], list[Diagnostic]]:
        """Put a text into every field, and drop those that are refused: the fields that are left, and what was said.
        Nothing is refused for another reason than a field."""
        left, said = list(self.fields), []
        while True:
            self.write({field: payload(field) for field in left})
            reading = read_all(self.root)
            wrong = list(reading.diagnostics)
            if reading.spec is not None and not wrong:
                wrong = list(check(reading.spec)[1])
            said += wrong
            if not wrong:
                return left, said
            dropped = {field for d in wrong for field in self._at(d)} & set(left)
            # A name in a list of another file may be what does not fit.
            dropped = dropped or {(file, at) for file, at in left if isinstance(at[-1], int)}
            assert dropped, wrong[0]
            left = [field for field in left if field not in dropped]

    def write(self, texts: dict[Field, str]) -> None:
        self._lines: dict[tuple[str, int], list[Field]] = {}
        for file, data in self.files.items():
            lines: list[str] = []
            self._emit(file, data, (), 0, texts, lines)
            (self.root / file).write_text("\n".join(lines) + "\n", "utf-8")

    def _at(self, d: Diagnostic) -> list[Field]:
        """The fields in the line of a complaint; where there are none, those of the nearest part around it."""
        number = d.mark.line
        while number > 0:
            if found := self._lines.get((d.path, number)):
                return found
            number -= 1
        return [f for f in self.fields if f[0] == d.path]

    def _emit(
        self, file: str, value: Any, at: tuple[str | int, ...], depth: int, texts: dict[Field, str], to: list[str]
    ) -> None:
        blanks = "  " * depth
        entries: list[tuple[str, Any, tuple[str | int, ...]]] = []
        if isinstance(value, dict):
            entries = [(f"{json.dumps(k)}:", v, (*at, k)) for k, v in value.items()]
            added: Field = (file, (*at, NAME))
            if added in texts and value:
                name, first = json.dumps(texts[added], ensure_ascii=False), next(iter(value))
                self._lines.setdefault((file, len(to) + 1), []).append(added)
                entries.insert(0, (f"{name}:", value[first], (NAME,)))
        elif isinstance(value, list):
            entries = [("-", v, (*at, i)) for i, v in enumerate(value)]
        for head, inner, where in entries:
            field: Field = (file, where)
            if isinstance(inner, (dict, list)):
                empty = {dict: " {}", list: " []"}[type(inner)] * (not inner)
                to.append(f"{blanks}{head}{empty}")
                if inner:
                    self._emit(file, inner, where, depth + 1, texts, to)
            elif isinstance(inner, bool):
                to.append(f"{blanks}{head} {str(inner).lower()}")
            elif field in texts:
                self._lines.setdefault((file, len(to) + 1), []).append(field)
                to.append(f"{blanks}{head} {json.dumps(texts[field], ensure_ascii=False)}")
            elif inner and not file.startswith("spec/observed/"):
                # As a block, which semantics must be.
                to.append(f"{blanks}{head} |2{'' if inner.endswith(chr(10)) else '-'}")
                to.extend(f"{blanks}  {line}" if line else "" for line in inner.rstrip("\n").split("\n"))
            else:
                to.append(f"{blanks}{head} {json.dumps(inner, ensure_ascii=False)}")

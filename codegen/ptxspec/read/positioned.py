"""YAML text -> nested dicts, lists and strings that remember the place of each value.

YAML 1.1 would turn `.NaN`, `-0.0`, `8.10` and `no` into something else, so only `true` and `false` are resolved here:
every other scalar stays the text that was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..diagnostics import Diagnostic, Mark, SpecError, display_path
from ..files import why_unreadable

Where = tuple[str | int, ...]

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_BYTES = 1 << 19
_MAX_DEPTH = 32
_TOO_DEEP = f"nested more than {_MAX_DEPTH} deep"
_START = Mark(1, 1)
# YAML ends a line at these, Python and editors do not: line numbers would depend on the reader.
_SEPARATOR = re.compile("[\x85\u2028\u2029]")
# Invisible characters, and those that a terminal, a page or a compiler might obey: control characters, changes of the
# direction of writing, and characters without width.
HIDDEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# The pieces of a flow collection; brackets in quotes and comments open nothing.
_PIECE = re.compile(r"""[\[\]{}]|"(?:\\.|[^"\\])*"|'[^']*'|#[^\n]*|[^\s\[\]{},]+|[\s,]""", re.DOTALL)
_UNSEEN = "it is not seen, and may change how the text around it is read; leave it out"


@dataclass(frozen=True)
class Document:
    """A YAML file as data. `marks` has the place of every value by its path of keys and indices; `keys` the place of
    every mapping key; `blocks` the place of the first character of literal blocks."""

    path: Path
    name: str
    lines: tuple[str, ...]
    data: Any
    marks: dict[Where, Mark]
    keys: dict[Where, Mark]
    blocks: dict[Where, Mark]

    def error(self, where: Where, message: str, help: str = "", *, key: bool = False, inside: str = "") -> Diagnostic:
        """Return a diagnostic at the value (or its key) of `where`; `inside` narrows it to that name in the value's
        line."""
        mark = self.keys.get(where) if key else None
        mark = mark or self.marks.get(where) or Mark(1, 1)
        if inside:
            left = r"(?<!\w)" if inside[0].isalnum() else ""
            if found := re.compile(rf"{left}{re.escape(inside)}(?!\w)").search(self.line(mark.line), mark.column - 1):
                mark = Mark(mark.line, found.start() + 1, len(inside))
        return self.at(mark, message, help)

    def error_at(self, where: Where, start: int, length: int, message: str, help: str = "") -> Diagnostic:
        """Return a diagnostic at a part of the text at `where`."""
        mark = self.marks[where]
        quoted = self.line(mark.line)[mark.column - 1 : mark.column] in ("'", '"')
        if start + length <= mark.length:
            mark = Mark(mark.line, mark.column + quoted + start, length)
        return self.at(mark, message, help)

    def at(self, mark: Mark, message: str, help: str = "") -> Diagnostic:
        return Diagnostic(self.name, mark, message, help, self.line(mark.line))

    def line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


def load(path: Path, root: Path) -> Document:
    """Read one YAML file. Raises SpecError with a position for anything that is not plain, small, UTF-8 YAML."""
    name = display_path(path, root)

    def fail(message: str, help: str = "", mark: Mark = _START, source: str = "") -> SpecError:
        return SpecError([Diagnostic(name, mark, message, help, source)])

    if why := why_unreadable(path, root):
        raise fail(f"cannot read the file: {why}")
    try:
        with path.open("rb") as f:
            raw = f.read(_MAX_BYTES + 1)
    except OSError as e:
        raise fail(f"cannot read the file: {e.strerror or e}") from None
    if len(raw) > _MAX_BYTES:
        raise fail(f"the file is larger than {_MAX_BYTES} bytes", "a specification file holds one opcode; split it")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        before = raw[: e.start]
        column = len(before.rsplit(b"\n", 1)[-1].decode("utf-8", "replace")) + 1
        mark = Mark(before.count(b"\n") + 1, column)
        raise fail(f"not UTF-8: byte 0x{raw[e.start]:02x} cannot be read", "save the file as UTF-8", mark) from None
    lines = tuple(text.splitlines())
    if separator := _SEPARATOR.search(text):
        mark = _mark_at(text, separator.start())
        code = f"U+{ord(separator[0]):04X}"
        raise fail(
            f"the line separator {code} is not used in a specification", "break the line", mark, lines[mark.line - 1]
        )
    if hidden := HIDDEN.search(text):
        mark = _mark_at(text, hidden.start())
        raise fail(_cannot_stand(hidden[0]), _UNSEEN, mark, lines[mark.line - 1])
    try:
        return _build(path, name, lines, text)
    except yaml.YAMLError as e:
        mark, said = _problem(e, text)
        if mark.line > len(lines):
            # The parser was still waiting when the file ended: show its last line.
            mark = Mark(max(1, len(lines)), len(lines[-1]) + 1 if lines else 1)
        source = lines[mark.line - 1] if lines else ""
        raise fail(f"not valid YAML: {said}", "", mark, source) from None


def _cannot_stand(character: str) -> str:
    return f"the character U+{ord(character):04X} cannot stand in it"


def _problem(e: yaml.YAMLError, text: str) -> tuple[Mark, str]:
    """Return where the parser stopped, and what it says."""
    if isinstance(e, yaml.MarkedYAMLError) and e.problem_mark:
        mark: Any = e.problem_mark
        return Mark(mark.line + 1, mark.column + 1), str(e.problem or e.context)
    # A character that YAML forbids. It is searched for, because the parser may count its place in other units.
    found = next((i for i, c in enumerate(text) if not (c.isprintable() or c in "\t\r\n")), 0)
    return _mark_at(text, found), _cannot_stand(text[found])


def _mark_at(text: str, index: int) -> Mark:
    # A letter stands in for the character, which may itself end a line.
    lines = f"{text[:index]}x".splitlines()
    return Mark(len(lines), len(lines[-1]))


def _build(path: Path, name: str, lines: tuple[str, ...], text: str) -> Document:
    marks: dict[Where, Mark] = {}
    keys: dict[Where, Mark] = {}
    blocks: dict[Where, Mark] = {}
    errors: list[Diagnostic] = []
    root: list[Any] = []
    # One entry per open collection: [container, its path, the key that waits for its value or None].
    stack: list[list[Any]] = [[root, (), None]]

    def complain(mark: Mark, message: str, help: str = "") -> None:
        source = lines[mark.line - 1] if mark.line <= len(lines) else ""
        errors.append(Diagnostic(name, mark, message, help, source))

    def place(value: Any, mark: Mark) -> Where:
        container, at, key = top = stack[-1]
        if isinstance(container, dict):
            if key is None:
                if not isinstance(value, str):
                    complain(mark, "a key must be plain text")
                    value = str(mark)
                elif value in container:
                    first = keys[(*at, value)]
                    complain(mark, f"duplicate key '{value}'", f"it is already given in line {first.line}")
                    value = f"{value} (again)"
                keys[(*at, value)] = mark
                top[2] = value
                return (*at, value)
            where: Where = (*at, key)
            container[key] = value
            top[2] = None
        else:
            where = (*at, len(container)) if at or len(stack) > 1 else ()
            container.append(value)
        marks[where] = mark
        return where

    for event in _events(text):
        if isinstance(event, Mark):
            complain(event, _TOO_DEEP)
            break
        start: Any = event.start_mark
        end: Any = event.end_mark
        mark = Mark(start.line + 1, start.column + 1)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            complain(mark, "anchors and aliases are not used in a specification", "write the value out")
            break
        if isinstance(event, yaml.ScalarEvent):
            value: Any = event.value
            is_key = _is_key(stack)
            # Written as an escape, which the text of the file does not show.
            if event.style == '"' and (hidden := HIDDEN.search(value) or re.search("\r", value)):
                complain(mark, _cannot_stand(hidden[0]), _UNSEEN)
            if not event.style and value in ("true", "false") and not is_key:
                value = value == "true"
            same_line = end.line == start.line
            length = max(1, end.column - start.column) if same_line else 1
            where = place(value, Mark(mark.line, mark.column, length))
            if is_key:
                continue
            if event.style == "|" and isinstance(value, str):
                blocks[where] = _block_start(lines, mark.line, value)
            elif not event.style and same_line:
                blocks[where] = mark
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            if len(stack) > _MAX_DEPTH:
                complain(mark, _TOO_DEEP)
                break
            value = {} if isinstance(event, yaml.MappingStartEvent) else []
            where = place(value, mark)
            stack.append([value, where, None])
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent) and root:
            complain(mark, "a second document in the file", "one file holds one document")
            break
    if not root and not errors:
        errors.append(Diagnostic(name, Mark(1, 1), "the file is empty"))
    if errors:
        raise SpecError(errors)
    return Document(path, name, lines, root[0], marks, keys, blocks)


def _events(text: str) -> Iterator[yaml.Event | Mark]:
    """Yield the parser's events. If it stops after brackets that are nested too deep, the place of the first one comes
    last: the parser reads to the end of a line before it reports anything, and some releases have their own limit."""
    end = depth = flow = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            yield event
            mark: Any = event.end_mark
            end = mark.index
            if isinstance(event, yaml.CollectionStartEvent):
                depth, flow = depth + 1, flow + bool(flow or event.flow_style)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth, flow = depth - 1, max(0, flow - 1)
    except yaml.MarkedYAMLError as e:
        place = _deep_bracket(text[: e.problem_mark.index], end, depth, bool(flow)) if e.problem_mark else None
        if place is None:
            raise
        yield _mark_at(text, place)


def _deep_bracket(text: str, index: int, depth: int, flow: bool) -> int | None:
    """Return the place of the first bracket after `index`, at this depth, that opens one level too many; or None."""
    # Outside of brackets a text may contain some, and only what begins with one is a collection.
    if not flow and not re.compile(r"[\s:?-]*[\[{]").match(text, index):
        return None
    for piece in _PIECE.finditer(text, index):
        depth += (piece[0] in "[{") - (piece[0] in "]}")
        if depth > _MAX_DEPTH:
            return piece.start()
    return None


def _is_key(stack: list[list[Any]]) -> bool:
    container, _, key = stack[-1]
    return isinstance(container, dict) and key is None


def _block_start(lines: tuple[str, ...], header: int, value: str) -> Mark:
    """Return where a literal block's text begins: the parser reports the `|`, and strips the indentation."""
    first = next((t for t in value.split("\n") if t.strip()), "")
    blank = value.split("\n").index(first) if first else 0
    number = header + 1 + blank
    raw = lines[number - 1] if number <= len(lines) else ""
    return Mark(header + 1, len(raw) - len(raw.lstrip()) - (len(first) - len(first.lstrip())) + 1)

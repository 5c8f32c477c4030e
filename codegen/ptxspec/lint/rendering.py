"""The formats of findings: for people, scripts, code scanning and GitHub. All are written as findings come in."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..diagnostics import visible
from ..ptx.complaints import ERROR, NOTE, WARNING
from ..terminal import unpainted
from .findings import Finding
from .sarif import sarif

# A function that paints a text in some styles.
Paint = Callable[..., str]

_INDENT = " " * 6
_STYLES = {ERROR: ("red", "bold"), WARNING: ("yellow", "bold"), NOTE: ("cyan", "bold")}


def plain(text: str, *styles: str) -> str:
    return text


def text(findings: Iterable[Finding], paint: Paint = plain, width: int | None = None) -> Iterator[str]:
    """Yield the lines of findings for people: file:line:column with the message, the source line with carets, the other
    messages, and the help. All but the source line are wrapped to the width."""
    for f in findings:
        place = paint(f"{visible(f.file)}:{f.line}:{f.column}:", "bold")
        style = _STYLES[f.severity]
        first = f"{place} {paint(f'{f.severity}:', *style)} {visible(f.message)} {paint(f'[{f.code}]', 'dim')}"
        yield _wrapped(first, width)
        source = f.source if f.source.isprintable() else "".join(c if c.isprintable() else " " for c in f.source)
        if source:
            yield f"    {source}\n    {paint(_carets(f, len(source)), *style)}\n"
        if f.also:
            yield _wrapped(f"    {paint('also:', 'bold')} {visible('; '.join(f.also))}", width)
        if f.help:
            yield _wrapped(f"    {paint('help:', 'green', 'bold')} {visible(f.help)}", width)


def _wrapped(line: str, width: int | None) -> str:
    """Return a line broken at blanks. Colours take no columns."""
    if width is None:
        return f"{line}\n"
    lines, used = [""], 0
    for word in re.split(r"(?<=\S) ", line):
        length = len(unpainted(word))
        if used and used + 1 + length > width:
            lines.append(f"{_INDENT}{word}")
            used = len(_INDENT) + length
        else:
            lines[-1] += f" {word}" if used else word
            used += length + bool(used)
    return "\n".join([*lines, ""])


def _carets(f: Finding, length: int) -> str:
    carets = [" "] * length
    for at, count in ((f.at, f.length), *f.marks):
        carets[at : at + count] = "^" * max(1, min(count, length - at))
    return "".join(carets).rstrip()


def found(findings: Iterable[Finding]) -> str:
    """Return the number of findings: "1 error, 2 warnings"."""
    return severities(Counter(f.severity for f in findings))


def severities(counts: Mapping[str, int]) -> str:
    """Return the numbers of findings by severity as text: "1 error, 2 warnings"."""
    return ", ".join(f"{n:,} {what}{'s' * (n != 1)}" for what in _STYLES if (n := counts.get(what, 0)))


def as_json(findings: Iterable[Finding], paint: Paint = plain) -> Iterator[str]:
    """Yield the text of a plain array, one finding a line."""
    yield "["
    separator = "\n"
    for f in findings:
        yield separator + "  " + json.dumps(f.as_json())
        separator = ",\n"
    yield "\n]\n" if separator == ",\n" else "]\n"


def github(findings: Iterable[Finding], paint: Paint = plain) -> Iterator[str]:
    """Yield one workflow command a line. GitHub resolves files from the top of the repository, wherever the command
    runs."""
    top = os.environ.get("GITHUB_WORKSPACE")
    inside = os.path.relpath(os.getcwd(), top) if top else "."
    for f in findings:
        command = {ERROR: "error", WARNING: "warning", NOTE: "notice"}[f.severity]
        end = f",endColumn={f.column + f.length - 1}" if f.at + f.length <= len(f.source) else ""
        place = (
            f"file={_property(_from_top(f.file, inside))},line={f.line},col={f.column}{end},title={_property(f.code)}"
        )
        yield f"::{command} {place}::{_escaped(f.text)}\n"


def _from_top(file: str, inside: str) -> str:
    return file if inside.startswith("..") or os.path.isabs(file) else Path(inside, file).as_posix()


def _escaped(text: str) -> str:
    # GitHub's log interprets escape sequences, as a terminal does.
    return "%0A".join(visible(line).replace("%", "%25") for line in text.split("\n"))


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: dict[str, Callable[[Iterable[Finding], Paint], Iterator[str]]] = {
    "text": text,
    "json": as_json,
    "sarif": lambda findings, paint: sarif(findings),
    "github": github,
}

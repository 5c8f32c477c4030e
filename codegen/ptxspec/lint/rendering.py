"""Findings as text for people, as JSON, as SARIF 2.1.0 for code scanning, and as the commands that GitHub's actions
show beside the lines. All write as they go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ..ptx.complaints import ERROR, NOTE, WARNING
from .findings import CODES, Finding

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text(findings: Iterable[Finding]) -> Iterator[str]:
    """file:line:column, what is wrong, the line with carets, what else is, and the way out; at the end a count."""
    count = {ERROR: 0, WARNING: 0, NOTE: 0}
    for f in findings:
        count[f.severity] += 1
        yield f"{f.file}:{f.line}:{f.column}: {f.severity}: {f.message} [{f.code}]\n"
        source = f.source.replace("\t", " ").replace("\0", " ")
        if source:
            yield f"    {source}\n    {_carets(f, len(source))}\n"
        if f.also:
            yield f"    also: {'; '.join(f.also)}\n"
        if f.help:
            yield f"    help: {f.help}\n"
    counted = [f"{n} {what}{'s' * (n != 1)}" for what, n in count.items() if n]
    if counted:
        yield ", ".join(counted) + "\n"


def _carets(f: Finding, length: int) -> str:
    carets = [" "] * length
    for at, count in ((f.at, f.length), *f.marks):
        carets[at : at + count] = "^" * max(1, min(count, length - at))
    return "".join(carets).rstrip()


def as_json(findings: Iterable[Finding]) -> Iterator[str]:
    """A plain array, one finding a line."""
    yield "["
    separator = "\n"
    for f in findings:
        yield separator + "  " + json.dumps(f.as_json())
        separator = ",\n"
    yield "\n]\n" if separator == ",\n" else "]\n"


def sarif(findings: Iterable[Finding]) -> Iterator[str]:
    """One run; each code is a rule."""
    rules = [
        {"id": code, "shortDescription": {"text": text}, "fullDescription": {"text": text}, "help": {"text": text}}
        for code, text in CODES.items()
    ]
    driver = {"name": "ptxspec", "rules": rules}
    yield f'{{"$schema": "{_SARIF}", "version": "2.1.0", "runs": [{{"tool": {{"driver": {json.dumps(driver)}}}, '
    yield '"columnKind": "unicodeCodePoints", "results": ['
    index = {code: i for i, code in enumerate(CODES)}
    separator = "\n"
    for f in findings:
        yield separator + json.dumps(_result(f, index[f.code]))
        separator = ",\n"
    yield "\n]}]}\n"


def _result(f: Finding, rule: int) -> dict[str, Any]:
    region = {"startLine": f.line, "startColumn": f.column}
    # What is meant may go on in the next line; only within one is the end column known.
    if f.at + f.length <= len(f.source):
        region["endColumn"] = f.column + f.length
    return {
        "ruleId": f.code,
        "ruleIndex": rule,
        "level": f.severity,
        "message": {"text": ". ".join(filter(None, (f.message, *f.also, f.help)))},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(f.file)}, "region": region}}],
    }


def _uri(file: str) -> str:
    """Relative paths stay relative, so that code scanning finds them in the repository."""
    path = PurePath(file)
    if path.is_absolute():
        return path.as_uri()
    return quote(path.as_posix())


def github(findings: Iterable[Finding]) -> Iterator[str]:
    """One workflow command a line."""
    for f in findings:
        command = {ERROR: "error", WARNING: "warning", NOTE: "notice"}[f.severity]
        end = f",endColumn={f.column + f.length - 1}" if f.at + f.length <= len(f.source) else ""
        place = f"file={_property(f.file)},line={f.line},col={f.column}{end},title={_property(f.code)}"
        yield f"::{command} {place}::{_escaped(f.text)}\n"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: dict[str, Callable[[Iterable[Finding]], Iterator[str]]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "github": github,
}

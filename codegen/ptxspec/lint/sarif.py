"""Findings as SARIF 2.1.0, which code scanning reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ..release import release
from .findings import CODES, Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the text of one run; each code is a rule."""
    rules = [
        {"id": code, "shortDescription": {"text": text}, "fullDescription": {"text": text}, "help": {"text": text}}
        for code, text in CODES.items()
    ]
    known = {"version": number, "semanticVersion": number} if (number := release()) else {}
    driver = {"name": "ptxspec", **known, "rules": rules}
    yield f'{{"$schema": "{_SCHEMA}", "version": "2.1.0", "runs": [{{"tool": {{"driver": {json.dumps(driver)}}}, '
    yield '"columnKind": "unicodeCodePoints", "results": ['
    index = {code: i for i, code in enumerate(CODES)}
    separator = "\n"
    for f in findings:
        yield separator + json.dumps(_result(f, index[f.code]))
        separator = ",\n"
    yield "\n]}]}\n"


def _result(f: Finding, rule: int) -> dict[str, Any]:
    region = {"startLine": f.line, "startColumn": f.column}
    # The finding may continue on the next line; the end column is only known within a line.
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
    """Return a file's URI. Relative paths remain relative, so that code scanning finds them in the repository. Names
    are bytes, which need not be text."""
    path = PurePath(file)
    if path.is_absolute():
        return path.as_uri()
    return quote(os.fsencode(path.as_posix()))

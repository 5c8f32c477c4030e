"""What copies of the repository have in common is read once for a process: documents, schemas and templates.

A test edits one file of many. The others have the same bytes and names in every copy, so that what was read of them
once is right again; what has a mistake is read every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import CodeType
from typing import Any

import jinja2
import pytest
from ptxspec.diagnostics import Diagnostic, display_path
from ptxspec.read import positioned, schema


def remember(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(positioned, "load", _documents(positioned.load))
    patch.setattr(schema, "check", _right_ones(schema.check))
    patch.setattr(jinja2.Environment, "compile", _templates(jinja2.Environment.compile))


def _documents(load: Callable[[Path, Path], positioned.Document]) -> Callable[[Path, Path], positioned.Document]:
    known: dict[tuple[str, bytes], positioned.Document] = {}

    def once(path: Path, root: Path) -> positioned.Document:
        if not path.is_file():
            return load(path, root)
        key = display_path(path, root), path.read_bytes()
        if key not in known:
            known[key] = load(path, root)
        return replace(known[key], path=path)

    return once


def _right_ones(check: Callable[..., list[Diagnostic]]) -> Callable[..., list[Diagnostic]]:
    right: set[tuple[object, ...]] = set()

    def once(document: positioned.Document, folder: Path, kind: str) -> list[Diagnostic]:
        schemas = tuple(p.read_bytes() for p in sorted(folder.glob("*.json")))
        key = kind, document.name, document.lines, schemas
        found = [] if key in right else check(document, folder, kind)
        if not found:
            right.add(key)
        return found

    return once


def _templates(compile: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[tuple[str, str | None], CodeType] = {}

    def once(environment: jinja2.Environment, source: str, name: str | None = None, *rest: Any, **options: Any) -> Any:
        key = source, name
        if key not in known:
            known[key] = compile(environment, source, name, *rest, **options)
        return known[key]

    return once

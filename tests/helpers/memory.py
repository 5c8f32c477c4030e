"""A memory of what copies of the repository have in common, which is read and checked once for a process: documents,
what they say together, instructions and their programs, schemas, guides, templates and modules of emulators.

A test edits one file of many. The others have the same bytes and names in every copy, so that what was once read of
them stays right; a file that has a mistake is read every time.
"""

from __future__ import annotations

import compileall
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

import jinja2
import pytest
from ptxspec import specification
from ptxspec.catalog import Catalog
from ptxspec.check import checking
from ptxspec.check.checking import Checked
from ptxspec.diagnostics import Diagnostic, display_path
from ptxspec.emit.products.manual import site
from ptxspec.model import Instruction, Judgement, Spec, UnitModel
from ptxspec.read import link, positioned, schema
from ptxspec.read.context import Context
from ptxspec.read.positioned import Document
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.resolve import Meanings

K = TypeVar("K")
V = TypeVar("V")
# What is read of documents and declarations alone.
_READERS = ("functions", "judgements", "outside")
# More than a session's tests read again and again; programs that make files by the thousand must not fill the memory.
_MOST = 1000


class _Known(dict[K, V]):
    """A dictionary that is emptied when it grows too large."""

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= _MOST:
            self.clear()
        super().__setitem__(key, value)


def remember(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(positioned, "load", _documents(positioned.load))
    patch.setattr(schema, "check", _right_ones(schema.check))
    patch.setattr(schema, "_validator", _validators(schema._validator.__wrapped__))
    patch.setattr(link, "_shared", _what_all_need(link._shared))
    patch.setattr(link, "read_model", _models(link.read_model))
    patch.setattr(link, "read_instruction", _instructions(link.read_instruction))
    for name in _READERS:
        patch.setattr(link, f"read_{name}", _of_documents(getattr(link, f"read_{name}")))
    patch.setattr(specification, "judged", _judged(specification.judged))
    patch.setattr(checking, "check_instruction", _programs(checking.check_instruction))
    patch.setattr(checking, "check_functions", _right_functions(checking.check_functions))
    patch.setattr(site, "document", lru_cache(_MOST)(site.document))
    patch.setattr(jinja2.Environment, "compile", _templates(jinja2.Environment.compile))
    patch.setattr(SourceFileLoader, "source_to_code", _modules(SourceFileLoader.source_to_code))
    # Copies need no bytecode: their modules are remembered. The test of it asks a process of its own.
    patch.setattr(compileall, "compile_dir", lambda *arguments, **options: True)


def _documents(load: Callable[[Path, Path], positioned.Document]) -> Callable[[Path, Path], positioned.Document]:
    known: _Known[tuple[str, bytes], positioned.Document] = _Known()

    def once(path: Path, root: Path) -> positioned.Document:
        if not path.is_file():
            return load(path, root)
        key = display_path(path, root), path.read_bytes()
        if key not in known:
            known[key] = load(path, root)
        return replace(known[key], path=path)

    return once


def _right_ones(check: Callable[..., list[Diagnostic]]) -> Callable[..., list[Diagnostic]]:
    right: _Known[tuple[object, ...], None] = _Known()

    def once(document: positioned.Document, folder: Path, kind: str) -> list[Diagnostic]:
        key = kind, document.name, document.lines, _schemas_of(folder)
        found = [] if key in right else check(document, folder, kind)
        if not found:
            right[key] = None
        return found

    return once


def _validators(make: Callable[[Path, str], Any]) -> Callable[[Path, str], Any]:
    known: _Known[object, Any] = _Known()

    def once(folder: Path, kind: str) -> Any:
        key = kind, _schemas_of(folder)
        if key not in known:
            known[key] = make(folder, kind)
        return known[key]

    return once


def _schemas_of(folder: Path) -> object:
    """Return a key that tells schemas apart: copies of a project have the repository's, behind a link."""
    if folder.is_symlink():
        return folder.resolve()
    return tuple((p.name, p.read_bytes()) for p in sorted(folder.glob("*.json")))


def _what_all_need(
    shared: Callable[[Mapping[str, Document], Context], Spec | None],
) -> Callable[[Mapping[str, Document], Context], Spec | None]:
    known: _Known[object, tuple[Spec, dict[str, Any]]] = _Known()

    def once(documents: Mapping[str, Document], context: Context) -> Spec | None:
        key = tuple((kind, d.name, d.lines) for kind, d in documents.items())
        if key not in known:
            before = len(context.errors)
            spec = shared(documents, context)
            if spec is None or len(context.errors) > before:
                return spec
            known[key] = spec, {name: value for name, value in vars(context).items() if name != "errors"}
        spec, found = known[key]
        vars(context).update(found)
        return spec

    return once


def _of_documents(read: Callable[..., V]) -> Callable[..., V]:
    """Remember what a reader returns for the same documents and declarations. Mistakes are found every time."""
    known: _Known[object, tuple[V, Any]] = _Known()

    def once(*arguments: Any) -> V:
        errors: list[Diagnostic] = next((a.errors for a in arguments if isinstance(a, Context)), [])
        key = tuple(map(_identity, arguments))
        if key not in known:
            before = len(errors)
            found = read(*arguments)
            if len(errors) > before:
                return found
            # With the arguments, so that no others get their identities.
            known[key] = found, [[*vars(a).values()] if isinstance(a, Context) else a for a in arguments]
        return known[key][0]

    return once


def _identity(argument: Any) -> object:
    """Return a key that is equal for arguments that mean the same to a reader."""
    if isinstance(argument, str):
        return argument
    if isinstance(argument, Document):
        return argument.name, argument.lines
    if isinstance(argument, Mapping):
        return tuple((name, _identity(d)) for name, d in argument.items())
    if isinstance(argument, Context):
        return tuple(id(value) for name, value in vars(argument).items() if name != "errors")
    if isinstance(argument, Meanings):
        return id(argument.types)
    # A catalogue is that of the targets and versions in the context.
    return None if argument is None or isinstance(argument, Catalog) else id(argument)


def _right_functions(check: Callable[[Compiler], list[Diagnostic]]) -> Callable[[Compiler], list[Diagnostic]]:
    right: _Known[object, Spec] = _Known()

    def once(compiler: Compiler) -> list[Diagnostic]:
        key = id(compiler.spec.functions), id(compiler.spec.types)
        found = [] if key in right else check(compiler)
        if not found:
            right[key] = compiler.spec
        return found

    return once


def _instructions(read: Callable[..., Instruction | None]) -> Callable[..., Instruction | None]:
    # With what it rests on, so that no other gets its identity.
    known: _Known[object, tuple[Instruction, Spec]] = _Known()

    def once(
        document: Document, context: Context, spec: Spec, meanings: Meanings, spelling: str | None = None
    ) -> Instruction | None:
        # Of what all need everything is new where one of it is. Functions and units are read behind it.
        basis = (
            id(spec.types),
            frozenset(spec.functions.names),
            tuple((u.name, id(u.format)) for u in spec.units.values()),
        )
        key = basis, document.path.name, document.name, document.lines, spelling
        if key not in known:
            before = len(context.errors)
            found = read(document, context, spec, meanings, spelling)
            if found is None or len(context.errors) > before:
                return found
            known[key] = found, spec
        return known[key][0]

    return once


def _models(read: Callable[..., UnitModel | None]) -> Callable[..., UnitModel | None]:
    known: _Known[object, tuple[UnitModel, Spec, dict[str, str]]] = _Known()

    def once(
        doc: Document, within: tuple[str, str], spec: Spec, sources: dict[str, str], errors: list[Diagnostic]
    ) -> UnitModel | None:
        tables = [p.read_bytes() for p in sorted(doc.path.parent.glob("*.txt"))]
        key = doc.name, doc.lines, within, id(spec.formats), *tables
        if key not in known:
            before, added = len(errors), dict[str, str]()
            found = read(doc, within, spec, added, errors)
            sources.update(added)
            if found is None or len(errors) > before:
                return found
            known[key] = found, spec, added
        found, _, added = known[key]
        sources.update(added)
        return found

    return once


_HARDWARE: list[object] = []


def _hardware(spec: Spec) -> int:
    """A number for what units compute, and where this is followed."""
    found = spec.units, spec.published
    if found not in _HARDWARE:
        _HARDWARE.append(found)
    return _HARDWARE.index(found)


def _judged(judge: Callable[..., Instruction]) -> Callable[..., Instruction]:
    known: _Known[object, tuple[Instruction, object]] = _Known()

    def once(
        instruction: Instruction, judgements: Sequence[Judgement], compiler: Compiler, spelling: str | None = None
    ) -> Instruction:
        key = id(instruction), id(judgements), _hardware(compiler.spec), spelling
        if key not in known:
            found = judge(instruction, judgements, compiler, spelling)
            known[key] = found, (instruction, judgements)
        return known[key][0]

    return once


def _programs(
    check: Callable[[Compiler, Instruction], tuple[Checked, list[Diagnostic]]],
) -> Callable[[Compiler, Instruction], tuple[Checked, list[Diagnostic]]]:
    known: _Known[object, tuple[Checked, Instruction]] = _Known()

    def once(compiler: Compiler, instruction: Instruction) -> tuple[Checked, list[Diagnostic]]:
        # An instruction is one of the specification that it was read with. What units compute is fitted later.
        key = id(instruction), _hardware(compiler.spec)
        if key not in known:
            checked, errors = check(compiler, instruction)
            if errors:
                return checked, errors
            known[key] = checked, instruction
        return known[key][0], []

    return once


def _templates(compile: Callable[..., Any]) -> Callable[..., Any]:
    known: _Known[tuple[str, str | None], CodeType] = _Known()

    def once(environment: jinja2.Environment, source: str, name: str | None = None, *rest: Any, **options: Any) -> Any:
        key = source, name
        if key not in known:
            known[key] = compile(environment, source, name, *rest, **options)
        return known[key]

    return once


def _modules(compile: Callable[..., CodeType]) -> Callable[..., CodeType]:
    """Emulators of many copies have most modules in common."""
    known: _Known[tuple[bytes, str], CodeType] = _Known()

    def once(loader: SourceFileLoader, data: bytes, path: str, **options: Any) -> CodeType:
        key = bytes(data), Path(path).name
        if key not in known:
            known[key] = compile(loader, data, path, **options)
        return known[key]

    return once

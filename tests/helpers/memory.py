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
from ptxspec.check import checking
from ptxspec.check.checking import Checked
from ptxspec.diagnostics import Diagnostic, display_path
from ptxspec.emit.products.manual import site
from ptxspec.model import Evidence, Functions, Instruction, Judgement, MachineEvidence, Spec, UnitModel
from ptxspec.read import link, positioned, schema
from ptxspec.read.context import Context
from ptxspec.read.positioned import Document
from ptxspec.semantics.compile import Compiler
from ptxspec.semantics.resolve import Meanings

Judgements = Mapping[str, Sequence[Judgement]]
K = TypeVar("K")
V = TypeVar("V")
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
    patch.setattr(schema, "_validator", _validators(schema._validator))
    patch.setattr(link, "_shared", _what_all_need(link._shared))
    patch.setattr(link, "read_model", _models(link.read_model))
    patch.setattr(link, "read_functions", _functions(link.read_functions))
    patch.setattr(link, "read_evidence", _evidence(link.read_evidence))
    patch.setattr(link, "read_machine_code", _machine_code(link.read_machine_code))
    patch.setattr(link, "read_instruction", _instructions(link.read_instruction))
    patch.setattr(link, "read_judgements", _judgements(link.read_judgements))
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


def _functions(read: Callable[..., Functions]) -> Callable[..., Functions]:
    known: _Known[object, tuple[Functions, Meanings]] = _Known()

    def once(document: Document | None, context: Context, meanings: Meanings) -> Functions:
        key = id(meanings.types), document and (document.name, document.lines)
        if key not in known:
            before = len(context.errors)
            found = read(document, context, meanings)
            if len(context.errors) > before:
                return found
            known[key] = found, meanings
        return known[key][0]

    return once


def _evidence(read: Callable[[Document | None], Evidence | None]) -> Callable[[Document | None], Evidence | None]:
    known: _Known[object, Evidence | None] = _Known()

    def once(document: Document | None) -> Evidence | None:
        key = document and (document.name, document.lines)
        if key not in known:
            known[key] = read(document)
        return known[key]

    return once


def _machine_code(
    read: Callable[[Document | None, Context], MachineEvidence | None],
) -> Callable[[Document | None, Context], MachineEvidence | None]:
    known: _Known[object, tuple[MachineEvidence | None, object]] = _Known()

    def once(document: Document | None, context: Context) -> MachineEvidence | None:
        key = id(context.targets), document and (document.name, document.lines)
        if key not in known:
            before = len(context.errors)
            found = read(document, context)
            if len(context.errors) > before:
                return found
            known[key] = found, context.targets
        return known[key][0]

    return once


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


def _judgements(read: Callable[[Document | None], Judgements]) -> Callable[[Document | None], Judgements]:
    known: _Known[object, Judgements] = _Known()

    def once(document: Document | None) -> Judgements:
        key = document and document.lines
        if key not in known:
            known[key] = read(document)
        return known[key]

    return once


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

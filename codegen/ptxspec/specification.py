"""A specification that is read, compiled and checked. What did not change since the last time is not read again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from . import cache
from .check.checking import Checked, check
from .check.judged import judged
from .diagnostics import Diagnostic, SpecError
from .model import INSTRUCTIONS, JUDGED, Spec
from .read.link import ReadResult, read_changed, read_files
from .recipes.linking import link
from .roots import PACKAGE
from .semantics.compile import Compiler

# The modules and folders of ptxspec that decide what is read, and those that besides these decide what is
# generated. An edit elsewhere makes nothing stale.
READ_BY = (
    "basis", "cache", "catalog", "check", "diagnostics", "files", "literals", "matrices", "model", "read", "recipes",
    "roots", "semantics", "specification",
)  # fmt: skip
GENERATED_BY = (
    "compact", "emit", "examples", "lint/findings", "native", "notebook", "ptx", "query", "rewrite",
)  # fmt: skip
# Packages of others that decide it too.
_PACKAGES = ("Jinja2", "MarkupSafe", "PyYAML", "jsonschema", "markdown-it-py", "mpmath")


@dataclass(frozen=True)
class Specification:
    """A specification with the results of its check. `spec` is None if a file that all others need is wrong; `checked`
    are the instructions that are right, and `files` the files that were looked at, by their names below the root."""

    spec: Spec | None
    checked: Sequence[Checked]
    diagnostics: Sequence[Diagnostic]
    files: Sequence[str]

    def right(self) -> Spec:
        """Return the specification. Raises SpecError with all that is wrong with it."""
        if self.spec is None or self.diagnostics:
            raise SpecError(list(self.diagnostics))
        return self.spec


@dataclass(frozen=True)
class SourceDigests:
    """The digests of what a root's products are made from. `instructions` has those of instruction files with the
    judgements on them, by the files' names; `shared` is of all else that is read, with the code that reads it;
    `generator` is of the code that generates, and `templates` has those of the folders of templates."""

    shared: str
    instructions: Mapping[str, str]
    generator: str
    templates: Mapping[str, str]

    @property
    def whole(self) -> str:
        named = (f"{n} {d}" for digests in (self.instructions, self.templates) for n, d in sorted(digests.items()))
        return _of(self.shared, self.generator, *named)


@dataclass(frozen=True)
class _Kept:
    spec: Spec
    checked: Sequence[Checked]
    files: Sequence[str]
    instructions: Mapping[str, str]


def read(root: Path) -> Spec:
    """Return the specification of a root. Raises SpecError with all that is wrong with its files."""
    now = digests(root)
    kept = _kept(root, now)
    if kept is not None and kept.instructions == now.instructions:
        return kept.spec
    reading = read_all(root)
    if reading.diagnostics or reading.spec is None:
        raise SpecError(reading.diagnostics)
    return reading.spec


def read_all(root: Path, spelling: str | None = None) -> ReadResult:
    """Return what can be read of a specification: all of it, or what the variants of one spelling need."""
    return _completed(read_files(root, spelling), spelling)[0]


def load(root: Path) -> Specification:
    """Return the specification of a root, checked. Everything that is wrong is among the diagnostics."""
    now = digests(root)
    kept = _kept(root, now)
    if kept is None:
        found = _checked(read_files(root))
    elif kept.instructions == now.instructions:
        return Specification(kept.spec, kept.checked, (), kept.files)
    else:
        same = {n for n, d in now.instructions.items() if kept.instructions.get(n) == d}
        known = {n: c for c in kept.checked if f"{(n := c.instruction.opcode)}.yaml" in same}
        found = _checked(read_changed(root, kept.spec, same, kept.files), kept.spec, known)
    # Somebody may have edited a file after its digest was taken.
    if found.spec is not None and not found.diagnostics and digests(root) == now:
        cache.keep(_name(root), now.shared, _Kept(found.spec, found.checked, found.files, now.instructions))
    return found


def _kept(root: Path, now: SourceDigests) -> _Kept | None:
    found: _Kept | None = cache.read(_name(root), now.shared)
    return found


def _name(root: Path) -> str:
    return f"specification {root.resolve()}"


def _checked(
    reading: ReadResult, before: Spec | None = None, known: Mapping[str, Checked] = MappingProxyType({})
) -> Specification:
    """Return what was read, checked. `known` are the opcodes that are the same in the specification before."""
    checked: list[Checked] = []
    errors: list[Diagnostic] = []
    reading, compiler = _completed(reading, None, before, known)
    if reading.spec is not None:
        checked, errors = check(reading.spec, compiler, before, known)
    return Specification(reading.spec, checked, [*reading.diagnostics, *errors], reading.files)


def _completed(
    reading: ReadResult, spelling: str | None = None, before: Spec | None = None, same: Container[str] = ()
) -> tuple[ReadResult, Compiler | None]:
    """Return what was read, with the claims of variants and what to write instead of them, and the compiler that has
    their programs. A reading with errors is returned as it is."""
    spec = reading.spec
    if spec is None or reading.diagnostics:
        return reading, None
    compiler = Compiler(spec)
    claiming = {n: judged(spec.instructions[n], spec.judgements.get(n, ()), compiler, spelling) for n in reading.new}
    spec, wrong = replace(spec, instructions={**spec.instructions, **claiming}), list[Diagnostic]()
    if spelling is None:
        instead, missing, wrong = link(spec, before, same)
        spec = replace(spec, instead=instead, missing=missing)
    return replace(reading, spec=spec, diagnostics=sorted(set(wrong))), compiler


def digests(root: Path) -> SourceDigests:
    """Return the digests of what is read below a root, and of the code that reads it and generates."""
    own, shapes = _below(root, "spec"), _below(root, "templates")
    instructions = {n.removeprefix(INSTRUCTIONS): d for n, d in own.items() if n.startswith(INSTRUCTIONS)}
    opcodes = {n: _of(d, own.get(JUDGED + n, "")) for n, d in instructions.items()}
    apart = {folder + n for n in instructions for folder in (INSTRUCTIONS, JUDGED)}
    rest = [f"{n} {d}" for n, d in own.items() if n not in apart]
    folders: dict[str, list[str]] = {}
    for name, digest in shapes.items():
        folders.setdefault(name.split("/")[1], []).append(f"{name} {digest}")
    templates = {folder: _of(*every) for folder, every in folders.items()}
    # The names of pages decide which opcodes are possible.
    return SourceDigests(_of(_code(READ_BY), *shapes, *rest), opcodes, _code(GENERATED_BY), templates)


def _below(root: Path, name: str) -> dict[str, str]:
    """Return the digests of the files in a folder, and of what is no file there. It, and a folder in it, may be a
    link."""
    top = os.fspath(root / name)
    linked = [e.path for e in os.scandir(top) if e.is_symlink() and e.is_dir()] if os.path.isdir(top) else []
    paths = sorted(os.path.join(at, file) for f in (top, *linked) for at, _, files in os.walk(f) for file in files)
    start = len(top) - len(name)
    return {p[start:].replace(os.sep, "/"): _digest(p) + " link" * os.path.islink(p) for p in paths}


@lru_cache
def _code(names: Sequence[str]) -> str:
    """Return the digest of modules and folders of this package, with the versions of the packages that they use."""
    paths = sorted(p for n in names for p in (PACKAGE / f"{n}.py", *(PACKAGE / n).rglob("*.py")) if p.is_file())
    code = [f"{p.relative_to(PACKAGE).as_posix()} {_digest(p)}" for p in paths]
    return _of(sys.version, *(f"{n} {importlib.metadata.version(n)}" for n in _PACKAGES), *code)


def _digest(path: str | Path) -> str:
    if not os.path.isfile(path):
        return "no file"
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:  # whoever reads it says so
        return "unreadable"


def _of(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()

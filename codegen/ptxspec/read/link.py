"""Files -> model: every file is read and checked, and all errors are reported at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..diagnostics import Diagnostic, Mark, SpecError, display_path
from ..model import JUDGED, Judgement, RegisteredRecording, Spec
from ..semantics.resolve import Meanings
from . import positioned, schema
from .assembler import read_assembler
from .context import Context
from .functions import read_functions
from .instruction import read_instruction
from .llvm import read_intrinsics, read_lowered
from .messages import read_messages
from .modifiers import check_stages, read_groups, read_implied, read_modifiers
from .observed import (
    read_calls,
    read_evidence,
    read_judgements,
    read_machine_code,
    read_matrix_code,
    read_recordings,
    read_speed,
)
from .outside import read_outside
from .peers import read_peers
from .positioned import Document
from .published import read_published
from .special_registers import read_special_registers
from .targets import read_naming, read_targets, read_versions
from .tensor import FILES as TENSOR, read_tensor
from .types import read_formats, read_nan_rules, read_types
from .units import read_model, read_units
from .words import read_group_titles, read_topics, read_words

_SHARED = ("types", "modifiers", "targets", "assembler", "special_registers", "units")
_OBSERVED = (
    "calls", "evidence", "intrinsics", "machine_code", "matrix_code", "peers", "recordings", "speed",
    "tensor_cores", "triton",
)  # fmt: skip
# The files that all others need.
SHARED = frozenset(f"spec/{name}.yaml" for name in _SHARED)
# Functions of other languages, the manual's words, tools' messages, PTX outside the database, and names of LLVM and
# MLIR. They may be missing.
_TOLD = ("functions", "words", "messages", "outside", "llvm", "mlir", "triton")
# Long files that one spelling does not need.
_LONG = (
    "calls", "evidence", "intrinsics", "llvm", "machine_code", "matrix_code", "messages", "mlir", "outside", "peers",
    "speed", "tensor_cores", "triton",
)  # fmt: skip
# Files that have the schema of another one.
_LIKE = {"intrinsics": "calls", "triton": "calls"}
_TOLD_LIKE = {"triton": "llvm"}
_OF_NO_RESULT = frozenset(f"spec/{name}.yaml" for name in (*_TOLD, *(f"tensor/{name}" for name in TENSOR)))
# The names that Windows takes for a device, whatever the suffix.
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))})


@dataclass
class ReadResult:
    """The result of reading: `spec` is None if a file that all others need is wrong. `files` are those looked at, each
    by its name below the root, and `new` the opcodes whose files were read."""

    spec: Spec | None
    diagnostics: list[Diagnostic]
    files: tuple[str, ...]
    new: frozenset[str] = frozenset()


def read_files(root: Path, spelling: str | None = None) -> ReadResult:
    """Read every file of `root`/spec as far as possible. With a spelling, only what its variants need is read, and the
    digests of the other opcodes' files are taken."""
    files = _Files(root)
    shared = {name: files.document(files.folder / f"{name}.yaml", name) for name in _SHARED}
    published = files.optional(files.folder / "published.yaml", "published")
    long = frozenset(_LONG if spelling else ())
    observed = {
        name: files.optional(files.folder / "observed" / f"{name}.yaml", _LIKE.get(name, name))
        for name in _OBSERVED
        if name not in long
    }
    told = {
        name: files.optional(files.folder / f"{name}.yaml", _TOLD_LIKE.get(name, name))
        for name in _TOLD
        if name not in long
    }
    tensor = {
        name: files.optional(files.folder / "tensor" / f"{name}.yaml", f"tensor_{name}")
        for name in (() if spelling else TENSOR)
    }
    opcode = spelling and spelling.partition(".")[0]
    instructions = list(files.instructions(lambda path: opcode in (None, path.stem)))
    judgements = files.judgements(instructions)
    models = list(files.models())
    context = Context(files.errors)
    spec = None
    complete = {name: doc for name, doc in shared.items() if doc is not None}
    if len(complete) == len(_SHARED):
        spec = _shared(complete, context)
    if spec is not None:
        meanings = _meanings(spec)
        spec = _with_models(models, spec, context, files.sources)
        spec = replace(spec, functions=read_functions(told["functions"], context, meanings))
        cores = read_tensor(tensor, observed.get("tensor_cores"), context, spec.catalog)
        machine = read_matrix_code(observed.get("matrix_code"), cores.forms, context)
        spec = replace(spec, tensor=replace(cores, machine=machine))
        spec = replace(spec, outside=read_outside(told.get("outside"), context, spec.catalog))
        spec = replace(
            spec,
            group_titles=read_group_titles(told["words"]),
            questions=read_topics(told["words"], "questions", "ask"),
            topics=read_topics(told["words"], "topics", "title"),
        )
        read_ones = [read_instruction(doc, context, spec, meanings, spelling) for doc in instructions]
        spec = replace(
            spec,
            instructions={i.opcode: i for i in read_ones if i is not None},
            judgements=judgements,
            evidence=read_evidence(observed.get("evidence")),
            speed=read_speed(observed.get("speed"), context),
            peers=read_peers(observed.get("peers"), context),
            calls=read_calls(observed.get("calls"), context),
            signatures=(*read_intrinsics(told.get("llvm"), context), *read_intrinsics(told.get("triton"), context)),
            intrinsics=read_calls(observed.get("intrinsics"), context),
            triton=read_calls(observed.get("triton"), context),
            machine=read_machine_code(observed.get("machine_code"), context),
            recordings=read_recordings(observed["recordings"], context),
            messages=read_messages(told.get("messages"), context),
            lowered=read_lowered(told.get("mlir"), context),
        )
        spec = _of_all(spec, files, context, published, None if spelling else told["words"])
    return ReadResult(spec, sorted(set(files.errors)), files.every(), frozenset(spec.instructions if spec else ()))


def read_changed(root: Path, known: Spec, same: Collection[str], looked_at: Iterable[str]) -> ReadResult:
    """Read the instruction files that changed since the specification was read: all but the `same`. Other files have
    not changed; `looked_at` are all files of that time."""
    files = _Files(root)
    context = Context(
        files.errors, known.types, known.modifiers, {**known.groups, **known.type_groups}, known.targets, known.versions
    )
    meanings, bare = _meanings(known), replace(known, instructions={})
    found = {n: i for n, i in known.instructions.items() if f"{n}.yaml" in same}
    documents = list(files.instructions(lambda path: path.name not in same))
    new = [i for doc in documents if (i := read_instruction(doc, context, bare, meanings)) is not None]
    gone = {path for n, i in known.instructions.items() if n not in found for path in (i.path, _judged(n))}
    judgements = {n: js for n, js in known.judgements.items() if n in found} | files.judgements(documents)
    found |= {i.opcode: i for i in new}
    files.sources = {n: d for n, d in known.sources.items() if n not in gone} | files.sources
    files.names += [n for n in looked_at if n not in gone]
    # What these say about instructions may be wrong now.
    published, words = (files.optional(files.folder / f"{n}.yaml", n) for n in ("published", "words"))
    spec = replace(known, instructions=dict(sorted(found.items())), judgements=judgements, instead={})
    spec = _of_all(spec, files, context, published, words)
    return ReadResult(spec, sorted(set(files.errors)), files.every(), frozenset(i.opcode for i in new))


def _of_all(spec: Spec, files: _Files, context: Context, published: Document | None, words: Document | None) -> Spec:
    """Return the specification with what depends on all instructions."""
    spec = replace(spec, sources=dict(sorted(files.sources.items())))
    spec = replace(spec, published=read_published(published, spec, context))
    return replace(spec, words=read_words(words, spec, context)) if words else spec


@dataclass
class _Files:
    """Finds and loads the files below a root. `sources` are the digests of those that could be read."""

    root: Path
    errors: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / "spec"

    def document(self, path: Path, kind: str) -> Document | None:
        self.names.append(display_path(path, self.root))
        try:
            doc = positioned.load(path, self.root)
        except SpecError as e:
            self.errors.extend(e.diagnostics)
            return None
        self.sources[doc.name] = _of_lines(doc.lines)
        found = schema.check(doc, self.folder / "schema", kind)
        self.errors.extend(found)
        return None if found else doc

    def optional(self, path: Path, kind: str) -> Document | None:
        return self.document(path, kind) if path.exists() else None

    def every(self) -> tuple[str, ...]:
        """Return the names of all files that were looked at."""
        return tuple(sorted({*self.names, *self.sources}))

    def instructions(self, is_read: Callable[[Path], bool]) -> Iterator[Document]:
        """Yield the documents of the instruction files that are read; take the digests of the others."""
        folder = self.folder / "instructions"
        paths = list(self.named(folder, (".yaml",), "an instruction file is called OPCODE.yaml"))
        if not paths:
            where = display_path(folder, self.root)
            self.errors.append(Diagnostic(where, Mark(1, 1), "no instruction files here", "add one, as in add.yaml"))
        self.sources |= {display_path(p, self.root): d for p in paths if not is_read(p) and (d := _digest(p))}
        pages = self.pages()
        for path in filter(is_read, paths):
            if doc := self.document(path, "instruction"):
                if (name := doc.data["opcode"]) in pages:
                    message, help = f"no opcode can be called '{name}'", "the manual has a page of that name"
                    self.errors.append(doc.error(("opcode",), message, help))
                elif name in _DEVICES:
                    message, help = f"no opcode can be called '{name}'", "Windows has no files of that name"
                    self.errors.append(doc.error(("opcode",), message, help))
                yield doc

    def judgements(self, instructions: Iterable[Document]) -> dict[str, tuple[Judgement, ...]]:
        """Return the judgements on the opcodes of instruction files that have any."""
        folder = self.root / JUDGED
        list(self.named(folder, (".yaml",), "the judgements on an opcode are in OPCODE.yaml"))
        opcodes = [doc.path.stem for doc in instructions]
        documents = {n: self.optional(self.root / _judged(n), "judged") for n in opcodes}
        return {n: read_judgements(n, doc) for n, doc in documents.items() if doc is not None}

    def models(self) -> Iterator[Document]:
        kinds = (".yaml", ".txt", ".md")
        for path in self.named(self.folder / "units", kinds, "what was recorded of a unit is called NAME.yaml"):
            if path.suffix == ".yaml" and (doc := self.document(path, "unit")):
                yield doc

    def named(self, folder: Path, suffixes: tuple[str, ...], rule: str) -> Iterator[Path]:
        """Yield the files of a folder that have one of the suffixes; report the others."""
        for path in sorted(p for p in folder.glob("*") if not p.name.startswith(".")):
            if not path.name.isprintable():
                message = "the name of this file has a character that is not seen"
                self.errors.append(Diagnostic(display_path(path, self.root), Mark(1, 1), message, "rename it"))
            elif path.suffix in suffixes:
                yield path
            else:
                help = f"{rule}: rename it to {path.stem}.yaml, or move it away"
                where = display_path(path, self.root)
                self.errors.append(Diagnostic(where, Mark(1, 1), "this file would be ignored", help))

    def pages(self) -> set[str]:
        """Return the names of the manual's pages that are not about an opcode: they have their own templates."""
        folder = self.root / "templates" / "manual"
        return {p.name.partition(".")[0] for p in (*folder.glob("*.html.j2"), *folder.glob("guides/*.md.j2"))}


def is_observed(name: str) -> bool:
    """Return whether no variant's result depends on a file of spec/, named from the root."""
    return name in _OF_NO_RESULT or name.startswith("spec/observed/")


def _judged(opcode: str) -> str:
    return f"{JUDGED}{opcode}.yaml"


def read_registered(root: Path, spec: Spec) -> tuple[RegisteredRecording, ...]:
    """Return the recordings registered now: some may have been added since the specification was read. Raises
    SpecError."""
    files = _Files(root)
    path = files.folder / "observed" / "recordings.yaml"
    found = read_recordings(files.optional(path, "recordings"), Context(files.errors, targets=spec.targets))
    if files.errors:
        raise SpecError(files.errors)
    return found


def _of_lines(lines: Iterable[str]) -> str:
    """Return the digest of a file, whatever its line ends."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _digest(path: Path) -> str | None:
    """Return the digest of a file without parsing it; None if it is unreadable or not text."""
    try:
        return _of_lines(path.read_bytes().decode("utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError):
        return None


def _shared(docs: Mapping[str, Document], context: Context) -> Spec | None:
    """Return the content of the files that all others need; None if they are wrong, because each error would be found
    again in every file that depends on them."""
    before = len(context.errors)
    types, modifiers, targets, units = (docs[name] for name in ("types", "modifiers", "targets", "units"))
    formats, rules = read_formats(types, context), read_nan_rules(types, context)
    context.types = read_types(types, context, formats, rules)
    context.versions = read_versions(targets, context)
    context.targets = read_targets(targets, context, context.versions)
    context.modifiers = read_modifiers(modifiers, context, formats)
    groups = context.groups = read_groups(modifiers, context, context.modifiers, "modifier")
    type_groups = read_groups(types, context, context.types, "type")
    context.groups = {**groups, **type_groups}
    spec = Spec(
        formats=formats,
        nan_rules=rules,
        types=context.types,
        modifiers=context.modifiers,
        groups=groups,
        type_groups=type_groups,
        implied=read_implied(modifiers, context),
        targets=context.targets,
        versions=context.versions,
        instructions={},
        evidence=None,
        sources={},
        assembler=read_assembler(docs["assembler"], context),
        special_registers=read_special_registers(docs["special_registers"], context),
        naming=read_naming(targets, context),
    )
    for name in units.data["units"]:
        context.free(units, ("units", name), name)
    spec = replace(spec, units=read_units(units, spec, context.errors))
    check_stages(context, _meanings(spec), rules)
    return spec if len(context.errors) == before else None


def _meanings(spec: Spec) -> Meanings:
    return Meanings(spec.formats, spec.types, spec.modifiers, spec.groups, spec.targets, spec.units)


def _with_models(models: list[Document], spec: Spec, context: Context, sources: dict[str, str]) -> Spec:
    """Return the specification with the models of its units from the files of units/."""
    for file in models:
        within = context.within(file, ("within",), file.data["within"])
        model = read_model(file, within, spec, sources, context.errors) if within else None
        if model is None:
            continue
        first, last = (spec.targets[t].order for t in model.within)
        here = [t.name for t in spec.targets.values() if first <= t.order <= last]
        if twice := [t for t in here if spec.model(model.unit, t)]:
            context.errors.append(file.error(("within",), f"another file has {model.unit} of {twice[0]} already"))
            continue
        unit = spec.units[model.unit]
        spec = replace(spec, units={**spec.units, unit.name: replace(unit, models=(*unit.models, model))})
    return spec

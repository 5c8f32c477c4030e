"""The pages about the use of this project: templates/manual/guides, written once as Markdown and also published as
HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from ....basis import KINDS
from ....check import claims
from ....diagnostics import PtxspecError, display_path
from ....files import why_unreadable
from ....lint.findings import GROUPS
from ....model import Instruction, Spec, Variant
from ....read.positioned import HIDDEN
from ...parts import Parts
from ...text import Files, read
from .forms import Writer
from .site import GUIDES, Site

OVERVIEW = "guide"
# Notations of variants, by their claim and the targets on which they have it.
Followed: TypeAlias = Mapping[tuple[str, tuple[str, ...]], Sequence[str]]


@dataclass(frozen=True)
class Guide:
    """A page of the guide, as in the overview."""

    name: str
    title: str
    summary: str


@dataclass(frozen=True)
class Example:
    """A file of PTX. Its first line is a comment that describes it."""

    name: str
    path: str
    title: str
    text: str


def emit(spec: Spec, followed: Followed, root: Path, site: Site) -> Files:
    """Return the guides, and the page that lists them. `followed` are the variants for which the emulator follows a
    published model."""
    examples = [_example(path, root) for path in sorted((root / "spec" / "examples").glob("*.ptx"))]
    values = {
        "claims": claims.CLAIMS,
        "codes": GROUPS,
        "basis": KINDS,
        "followed": [(claim, targets, forms) for (claim, targets), forms in followed.items()],
        "published": spec.published,
        "recordings": spec.recordings,
        "speed": spec.speed,
        "examples": examples,
        "special": spec.special_registers,
        "catalog": spec.catalog,
        "observed": spec.assembler.observed,
    }
    made_from = {"running": [e.path for e in examples], "special-registers": ["spec/special_registers.yaml"]}
    files: Files = {}
    guides = []
    for name in GUIDES:
        written, found = site.guide(name, made_from.get(name, []), values)
        files |= written
        guides.append(Guide(name, found.title, found.summary))
    overview, _ = site.guide(OVERVIEW, [], {"guides": guides})
    return files | overview


def followed(spec: Spec, write: Writer, parts: Parts) -> Followed:
    """Return the variants for which the emulator follows a published model."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for n, i in spec.instructions.items():
        for where, forms in parts.of("followed", n, "", partial(_followed, spec, write, i)).items():
            found.setdefault(where, []).extend(forms)
    return found


def _followed(spec: Spec, write: Writer, instruction: Instruction) -> Followed:
    """Return an opcode's variants that follow a model, as notations, by their claim and targets."""
    found: dict[tuple[str, tuple[str, ...]], list[Variant]] = {}
    for v in instruction.variants:
        for targets, claim, _ in claims.followed(spec, v):
            found.setdefault((claim or v.claim, tuple(targets)), []).append(v)
    return {where: [form for f in write(vs) for form in f.whole] for where, vs in found.items()}


def _example(path: Path, root: Path) -> Example:
    name = display_path(path, root)
    if why := why_unreadable(path, root):
        raise PtxspecError(f"{name}:1:1: error: cannot be read: {why}")
    text = read(path, name)
    if hidden := HIDDEN.search(text):
        before = text[: hidden.start()].split("\n")
        place = f"{len(before)}:{len(before[-1]) + 1}"
        raise PtxspecError(f"{name}:{place}: error: the character U+{ord(hidden[0]):04X} cannot stand in it")
    title = text.partition("\n")[0]
    if not title.startswith("// "):
        raise PtxspecError(f"{name}:1:1: error: an example begins with a comment that says what it computes")
    return Example(path.stem, name, title.removeprefix("// ").rstrip("."), text)

"""The model -> the manual: a page per opcode as HTML and as Markdown, and an index of both."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ....catalog import targets_text
from ....check.checking import Checked
from ....model import Spec
from ...parts import NONE, Parts
from ...text import Files, Templates
from . import (
    availability,
    calling,
    catalog,
    differences,
    functions,
    guides,
    history,
    home,
    opcode,
    peers,
    readers,
    releases,
    search,
    speed,
    tensor,
)
from .families import families
from .forms import Writer
from .opcode.recipes import Offered
from .site import PageAnchors, Site

MACHINE_CODE = "spec/observed/machine_code.yaml"


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the files of generated/manual."""
    files: Files = {}
    instructions = [c.instruction for c in checked]
    write = Writer(spec)
    site = Site(spec, templates, [i.opcode for i in instructions])

    def keep(part: str, opcode: str, make: Callable[[], Files]) -> None:
        def made() -> tuple[Files, dict[str, PageAnchors]]:
            found = make()
            return found, _places(found, site)

        own, places = parts.of(part, opcode, "manual", made)
        files.update(own)
        site.places |= places

    for c in checked:
        keep("manual", c.instruction.opcode, partial(_opcode, spec, c, write, site))
    rows = families(spec, write, parts)
    files |= availability.emit(spec, rows, site) | history.emit(spec, write, parts, site)
    keep("releases", NONE, partial(releases.emit, spec, site))
    callers = calling.callers(spec, checked, parts)
    followed = guides.followed(spec, write, parts)
    digest = hashlib.sha256(repr(followed).encode()).hexdigest()
    keep(f"guides {digest}", NONE, partial(guides.emit, spec, followed, templates.root, site))
    files |= functions.emit(callers, site)
    files |= differences.emit(spec, checked, write, parts, site)
    if spec.speed is not None:
        keep("speed", NONE, partial(speed.emit, spec.speed, site))
    if spec.peers is not None:
        keep("peers", NONE, partial(peers.emit, spec.peers, len(spec.recordings), site))
    if spec.tensor.forms:
        keep("tensor cores", NONE, partial(tensor.emit, spec, site))
    files |= home.emit(spec, instructions, site)
    files |= search.emit(spec, write, templates, site, parts, callers)
    return (
        files | readers.emit(spec, site, files, templates, parts) | site.shared() | catalog.emit(spec, rows, templates)
    )


def _opcode(spec: Spec, checked: Checked, write: Writer, site: Site) -> Files:
    """Return the pages of an opcode."""
    i = checked.instruction
    values: dict[str, Any] = {"targets_text": targets_text, "newest": spec.newest}
    values |= opcode.values(opcode.About(spec, checked, write))
    sources = ["spec/types.yaml", "spec/modifiers.yaml", "spec/assembler.yaml", i.path]
    sources.append("spec/functions.yaml")
    sources += ["spec/observed/evidence.yaml"] * bool(spec.evidence)
    sources += [MACHINE_CODE] * bool(spec.machine and i.opcode in spec.machine.opcodes)
    files = site.page(i.opcode, sources, values, template="instruction")
    if apart := values["apart"]:
        offered, headed = _by_result(values["recipes"])
        code = values["machine_code"]
        own = {"recipes": offered, "headed": headed, "machine_code": code and replace(code, folded=False)}
        for s in (s for s in opcode.SECTIONS if s.id in apart):
            files |= site.part(f"{i.opcode}.{s.id}", sources, {**values, **own, "s": s})
    return files


def _places(files: Files, site: Site) -> dict[str, PageAnchors]:
    """Return the places in some pages that links may lead to."""
    return {n: site.places[n] for path in files if (n := path.removeprefix("manual/")) in site.places}


def _by_result(offered: Sequence[Offered]) -> tuple[list[Offered], dict[str, str]]:
    """Return recipes sorted by the type of their result, and the id of the first recipe of each type. Recipes of one
    type keep their order; entries without an example come last."""
    types = {o.id: o.example.variant.type_names[0] for o in offered if o.example and not o.nowhere}
    order = {name: n for n, name in enumerate(dict.fromkeys(types.values()))}
    found = sorted(offered, key=lambda o: order.get(types.get(o.id, ""), len(order)))
    headed: dict[str, str] = {}
    for o in found:
        if o.id in types and types[o.id] not in headed.values():
            headed[o.id] = types[o.id]
    return found, headed

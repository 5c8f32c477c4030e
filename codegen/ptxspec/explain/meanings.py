"""The meaning of a message: the one change that fixes it, the reason, and alternatives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..catalog import PtxVersion
from ..catalog.likeness import suggest
from ..query.database import Database, Variant
from .surroundings import Surroundings

# For GPUs from sm_100 on, newer releases of Triton have a ptxas of its own.
TRITON = (
    "the environment variable TRITON_PTXAS_PATH makes Triton use another ptxas, and TRITON_PTXAS_BLACKWELL_PATH "
    "another ptxas-blackwell"
)


class Meaning(NamedTuple):
    """The meaning of a message. `change` fixes it; `others` are alternatives, shown on request. If the change is a
    newer target or PTX version, these are `target` and `ptx`, so that it can be merged with that of other messages;
    `ptx` is None if an unknown version may be required. `lacking` are the variants that the message means, as far as
    they are known. `few`: the message is about something that only few targets have; the change names these, or leaves
    it to the reader to find them if it is a `guess`. `known` is false if `change` says that nothing is known."""

    change: str
    why: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    target: str = ""
    ptx: str | None = ""
    lacking: tuple[Variant, ...] = ()
    few: bool = False
    guess: bool = False
    known: bool = True


NOT_OURS = Meaning("this message is not about an instruction in this database", known=False)


NO_VERSION = "the PTX version that it requires there is unknown here; ptxas names it if .version is too old"


def floors(db: Database, target: str, ptx: str | None, *why: str) -> Meaning:
    """Return the change to a newer target, a newer PTX version, or both, with the reasons."""
    if not target:
        return Meaning(f"write .version {db.versions.get(ptx or '', ptx)} or newer", why, ptx=ptx)
    change = f"compile for {target} or newer (-arch={target}; .target {target} in PTX)"
    if target not in db.targets:
        # It may be newer than the database, and cannot be merged with others.
        return Meaning(change, (*why, f"{target} is unknown to this database"))
    if ptx:
        return Meaning(f"{change} with .version {db.versions[ptx]} or newer", why, target=target, ptx=ptx)
    return Meaning(change, (*why, NO_VERSION), target=target, ptx=ptx)


def together(db: Database, meanings: Iterable[Meaning]) -> Meaning:
    """Return the change that satisfies the needs of all meanings. If that may take an unknown version, the change names
    a version only if the assembler itself asked for one: then it asked for everything that is lacking."""
    meanings = list(meanings)
    targets = [m.target for m in meanings if m.target]
    target = max(targets, key=lambda t: db.targets[t].order) if targets else ""
    versions = [m.ptx for m in meanings if m.ptx]
    is_told = all(m.ptx is not None for m in meanings) or any(m.ptx and not m.target for m in meanings)
    ptx = None
    if versions and is_told:
        ptx = max(versions + ([db.targets[target].ptx] if target else []), key=lambda v: db.versions[v].order)
    why = dict.fromkeys(w for m in meanings for w in m.why if w != NO_VERSION)
    others = dict.fromkeys(o for m in meanings for o in m.others)
    lacking = dict.fromkeys(v for m in meanings for v in m.lacking)
    return floors(db, target, ptx, *why)._replace(others=tuple(others), lacking=tuple(lacking))


def compilers(db: Database, target: str) -> str:
    """Return the CUDA releases that compile for a target: "CUDA 12.8 or newer", "CUDA 8.0 or newer, before 13.0"."""
    t = db.targets[target]
    if not t.cuda:
        return f"a CUDA release that supports PTX {t.ptx}"
    return f"CUDA {t.cuda} or newer" + (f", before {t.gone}" if t.gone else "")


def compiler_for(db: Database, target: str, what: str) -> Meaning:
    """Return the meaning of a compiler that does not know a target."""
    t = db.targets.get(target)
    if t is None:
        near = suggest(target, db.targets) or f"the newest is {db.catalog.newest_target}"
        return Meaning(f"write an existing target; {near}", ("`ptxspec targets` lists them, with their GPUs",))
    why = [f"{t.name} was introduced in PTX {db.versions[t.ptx]}: this {what} is older or no longer supports it"]
    if t.gone:
        why.append(f"CUDA {t.gone} and newer do not compile for it")
    older = [o for o in db.targets.values() if o.nvcc and not o.base and o.order < t.order and _earlier(o.cuda, t.cuda)]
    others = []
    if older and not (t.gone or t.base):
        number = older[-1].name.removeprefix("sm_")
        others.append(
            f"keep this {what}, and compile PTX for an older target that it supports, as in -gencode "
            f"arch=compute_{number},code=compute_{number}: the driver compiles that for the GPU"
        )
    return Meaning(f"use {what} of {compilers(db, t.name)}", tuple(why), tuple(others))


def version_too_new(db: Database, wanted: str, known: str, tool: str, around: Surroundings) -> Meaning:
    """Return the meaning of a .version that a PTX compiler does not read."""
    version = db.versions.get(wanted)
    if version is None:
        first, *_, last = db.versions
        near = suggest(wanted, db.versions) or f"known PTX versions are {first} to {last}"
        return Meaning(near, (f"PTX {wanted} is unknown to this database; a newer ptxas may support it",))
    older = f"write .version {known} if the file uses nothing newer: `ptxspec lint --ptx {known}` shows what does"
    has = f"it supports PTX up to {db.versions[known]}" if known in db.versions else f"it supports PTX up to {known}"
    release = f"CUDA {version.cuda}" if version.cuda else f"PTX {version.version}"
    if tool == "JIT" and around.nvjitlink:
        change = f"install nvJitLink of {release} or newer, which supports .version {wanted}"
        why = [f"nvJitLink compiles this PTX and is older than the compiler that wrote it: {has}"]
    elif tool == "JIT":
        windows = f", {version.windows} on Windows" if version.windows else ""
        driver = f"driver {version.linux} or newer{windows} ({release})" if version.linux else f"a driver of {release}"
        change = f"install {driver}, which supports .version {wanted}"
        why = [f"the driver compiles this PTX and is older than the compiler that wrote it: {has}"]
    else:
        change = f"install {release} or newer, whose ptxas supports .version {wanted}"
        why = [f"this ptxas is older than the compiler that wrote the PTX: {has}"]
    if around.triton and tool != "JIT":
        why.append(TRITON)
    return Meaning(change, (*why, f"or {older}"))


def unsupported_version(db: Database, around: Surroundings) -> Meaning:
    """Return the meaning of PTX that the driver does not read."""
    wrote, has = _newest_of(db, around.compiler), _newest_of(db, around.driver)
    change = "install the driver of the CUDA release that wrote the PTX, or a newer one: `ptxspec versions` lists them"
    why = ["the PTX was written by a newer CUDA release than the driver's, whose compiler does not support it"]
    if wrote is not None:
        if wrote.linux:
            change = f"install driver {wrote.linux} or newer, which supports the PTX of CUDA {around.compiler}"
        why.append(f"CUDA {around.compiler} writes .version {wrote.version}")
    if has is not None:
        why.append(f"the driver is that of CUDA {around.driver} and supports PTX up to {has.version}")
    older = f"CUDA {around.driver}" if has is not None else "the CUDA release that nvidia-smi shows, or an older one"
    return Meaning(
        change,
        tuple(why),
        (
            f"compile with {older}",
            "also compile machine code for the GPU, as in -gencode arch=compute_90,code=sm_90: the driver then has "
            "nothing to compile",
        ),
    )


def _newest_of(db: Database, cuda: str) -> PtxVersion | None:
    """Return the newest PTX version of a CUDA release."""
    return next((v for v in reversed(db.versions.values()) if v.cuda and cuda and not _earlier(cuda, v.cuda)), None)


def _earlier(one: str, other: str) -> bool:
    """Return whether a CUDA release came before another."""
    return [int(x) for x in one.split(".")] < [int(x) for x in other.split(".")] if one and other else False

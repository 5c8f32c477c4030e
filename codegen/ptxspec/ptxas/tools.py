"""The messages of compilers about targets and PTX versions that they do not know: ptxas, nvcc, NVRTC, nvJitLink,
clang."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ..query.database import Database
from .meanings import Meaning, compiler_for, version_too_new
from .messages import Surroundings

# The database, the tool that spoke where that is known, and what else the log tells.
Answer = Callable[[Database, str, Surroundings], Meaning]


def of_tool(text: str) -> Answer | None:
    """Return the answer to a message, if it is one of these."""
    for pattern, answer in _FORMS:
        m = re.search(pattern, text)
        if m:
            return partial(answer, m)
    return None


def _version(m: re.Match[str], db: Database, tool: str, around: Surroundings) -> Meaning:
    return version_too_new(db, m["version"], m["known"] or db.catalog.newest_version, tool, around)


def _target(m: re.Match[str], db: Database, tool: str, around: Surroundings) -> Meaning:
    name = re.sub("^compute_", "sm_", m["target"])
    what = "a clang that goes with" if tool == "clang" else "a compiler"
    found = compiler_for(db, name, "clang" if tool == "clang" else tool or "compiler")
    if tool == "clang" and name in db.targets:
        why = f"{name} came with PTX {db.versions[db.targets[name].ptx]}: this clang is older, or has dropped it"
        return found._replace(change=f"use {what} {compilers_of(found)}", why=(why, *found.why[1:]), others=())
    if around.triton and name in db.targets:
        triton = "Triton takes the ptxas that the environment variable TRITON_PTXAS_PATH names before its own"
        return found._replace(why=(*found.why, triton))
    return found


def compilers_of(meaning: Meaning) -> str:
    """Return the CUDA releases in a change that names some."""
    return meaning.change.partition(" of ")[2]


def _nvrtc(m: re.Match[str], db: Database, tool: str, around: Surroundings) -> Meaning:
    """Return the meaning of NVRTC's complaint about a target. It does not name the target; its options do, where the
    log has them."""
    if around.targets:
        return compiler_for(db, around.targets[-1], "NVRTC")
    return Meaning(
        "use the NVRTC of a CUDA release that compiles for the GPU: `ptxspec targets` lists the releases",
        ("NVRTC does not know the target that -arch names: it is older than the GPU, or has dropped it",),
    )


def _clang_window(m: re.Match[str], db: Database, tool: str, around: Surroundings) -> Meaning:
    found = f", and finds CUDA {m['installed']}" if m["installed"] else ""
    return Meaning(
        f"point clang to a CUDA from {m['first']} to {m['last']} by --cuda-path",
        (f"clang compiles for {m['target']} with these releases only{found}",),
        ("name a newer GPU by --cuda-gpu-arch",),
    )


def _feature(m: re.Match[str], db: Database, tool: str, around: Surroundings) -> Meaning:
    version = f"{m['ptx'][:-1]}.{m['ptx'][-1]}"
    named = db.versions.get(version, version)
    return Meaning(f"use an LLVM that knows PTX {named}, or ask it for an older version", ("this LLVM is older",))


_FORMS: tuple[tuple[str, Callable[[re.Match[str], Database, str, Surroundings], Meaning]], ...] = (
    (r"Unsupported \.version (?P<version>\d+\.\d+)(?:; current version is '(?P<known>[\d.]+)')?", _version),
    (r"Value '(?P<target>[^']*)' is not defined for option 'gpu-name'", _target),
    (r"[Uu]nsupported (?:CUDA )?gpu architecture:? *'?(?P<target>\w+)'?", _target),
    (r"unknown target CPU '(?P<target>sm_\w+)'", _target),
    (r"'(?P<target>sm_\w+)' is not a recognized processor", _target),
    (r"'\+ptx(?P<ptx>\d+)' is not a recognized feature", _feature),
    (
        r"GPU arch (?P<target>sm_\w+) is supported by CUDA versions between (?P<first>[\d.]+) and (?P<last>[\d.]+)"
        r"(?: \(inclusive\))?(?:, but installation at \S+ is (?P<installed>[\d.]*))?",
        _clang_window,
    ),
    (r"invalid value for --gpu-architecture", _nvrtc),
)

"""Advice if the GPU of a log is too old for the code: another type, or a recipe. No newer target helps there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..catalog.explaining import RECIPE, recipe_told, recipes
from ..query.database import Database, Variant
from .meanings import NO_VERSION, Meaning
from .surroundings import Surroundings

# The most variants for which an answer contains a recipe, and the most types to use instead.
_FEW, _TYPES = 2, 2


def of_one(names: Iterable[str]) -> str:
    return " or ".join(names)


def of_all(names: Iterable[str]) -> str:
    return " and ".join(names)


def on_gpu(db: Database, m: Meaning, around: Surroundings) -> Meaning:
    """Return a meaning adapted to the GPUs of a log or, if it names none, to the targets that it compiles for."""
    if not m.target:
        return m
    older = [t for t in around.gpus or around.targets if db.targets[t].order < db.targets[m.target].order]
    if not older:
        return m._replace(why=(*m.why, *(f"the log's GPU, {g}, has it" for g in around.gpus)))
    change, why = instead(db, m.lacking, older[0])
    if around.gpus and len(older) == len(around.gpus):
        newer = f"the log's GPU is {of_all(older)}: no option and no CUDA release adds to it what {m.target} introduced"
        ptx = f" with .version {db.versions[m.ptx]} or newer" if m.ptx else ""
        others = (f"run it on {m.target} or a newer GPU, compiled for that GPU{ptx}", *m.others)
        return Meaning(change, (newer, *(w for w in m.why if w != NO_VERSION), *why), others)
    if around.gpus:
        newer_ones = of_one(g for g in around.gpus if g not in older)
        some = f"{newer_ones} has it and {of_one(older)} does not: choose one with CUDA_VISIBLE_DEVICES"
        return m._replace(why=(*m.why, some))
    guard = f"keep {of_all(older)}, and guard the code with #if __CUDA_ARCH__ >= {_macro(db, m.target)}"
    if_so = f"the log compiles for {of_all(older)}; if the GPU is no newer, a newer target does not help: {change}"
    return m._replace(why=(*m.why, if_so, *why), others=(*m.others, guard))


def _macro(db: Database, target: str) -> str:
    return f"{(db.catalog.plain(target) or target).removeprefix('sm_')}0"


def instead(db: Database, lacking: Sequence[Variant], gpu: str) -> tuple[str, tuple[str, ...]]:
    """Return what to write instead of variants that a GPU lacks, and further notes."""
    missing = [v for v in lacking if not db.catalog.takes(v.requires, gpu)]
    mended = [v for v in missing if any(r.works for r in recipes(db, v, gpu, None))]
    if mended and len(missing) <= _FEW:
        recipe = recipe_told(db, mended[0], gpu, None).removeprefix(RECIPE)
        return f"on {gpu} write the recipe for {mended[0].spelling}: {recipe}", ()
    of_some = f"there is a proved recipe for {len(mended)} of {len(missing)} instructions that may be meant: "
    why = (f"{of_some}`ptxspec query {mended[0].spelling} --target {gpu}`",) if mended else ()
    types = dict.fromkeys(t for v in missing for t in v.types if t in db.floats and not _has(db, missing, t, gpu))
    # A type of 8 bits or fewer is there for its size, and a larger one does not replace it.
    formats, about = db.data["formats"], db.data["types"]
    types = {t: None for t in types if not mended or formats[about[t]["format"]]["width"] > 8}
    others = {t: found for t in types if (found := list(_others(db, missing, t, gpu)))}
    if others:
        told = "; ".join(f"for .{t} use {of_one(found)}" for t, found in others.items())
        return f"use another type on {gpu}: {told}", ("results differ: the types have other precision or range", *why)
    if mended:
        return f"on {gpu} write a recipe: `ptxspec query {mended[0].spelling} --target {gpu}` has one", why
    return f"use code written for {gpu}, such as a library's kernel for that GPU", ()


def _has(db: Database, missing: Sequence[Variant], type: str, gpu: str) -> bool:
    """Return whether a GPU has variants with a type, of the opcodes of missing variants."""
    of = (v for opcode in {v.opcode for v in missing} for v in db.opcodes[opcode].variants)
    return any(type in v.types and db.catalog.takes(v.requires, gpu) for v in of)


def _others(db: Database, missing: Sequence[Variant], type: str, gpu: str) -> Iterator[str]:
    """Yield the types that a GPU has to replace a type that it lacks: with as many lanes, and as wide or wider, the
    narrowest first; each with the range that is lost."""
    about, formats = db.data["types"], db.data["formats"]
    own = formats[about[type]["format"]]
    found = 0
    for other in sorted(db.floats, key=lambda t: about[t]["width"]):
        has = formats[about[other]["format"]]
        if other == type or about[other]["lanes"] != about[type]["lanes"] or has["width"] < max(own["width"], 16):
            continue
        written = {(v.opcode, tuple(other if t == type else t for t in v.types)) for v in missing if type in v.types}
        there = (w for opcode, types in sorted(written) for w in db.opcodes[opcode].by_types.get(types, ()))
        if found < _TYPES and any(db.catalog.takes(w.requires, gpu) for w in there):
            found += 1
            yield f".{other}{f' (numbers up to {_largest(has):g})' if has['bias'] < own['bias'] else ''}"


def _largest(format: Mapping[str, Any]) -> float:
    """Return the largest number of a format of IEEE 754."""
    return float((2 - 2.0 ** -format["fraction_bits"]) * 2.0 ** format["bias"])

"""spec/targets.yaml -> PTX versions and targets, in their orders, and their names."""

from __future__ import annotations

import re
from typing import Any

from ..catalog import Product, PtxVersion, Target
from ..model import Naming
from .context import Context
from .positioned import Document


def read_versions(doc: Document, context: Context) -> dict[str, PtxVersion]:
    found: dict[str, PtxVersion] = {}
    for i, v in enumerate(doc.data["ptx"]):
        if v["version"] in found:
            context.errors.append(doc.error(("ptx", i, "version"), f"PTX {v['version']} is listed twice"))
        _source(doc, context, ("ptx", i), v)
        about = (v.get(name, "") for name in ("cuda", "listed", "linux", "windows", "source"))
        found[v["version"]] = PtxVersion(v["version"], i, *about)
    return found


def read_targets(doc: Document, context: Context, versions: dict[str, PtxVersion]) -> dict[str, Target]:
    found: dict[str, Target] = {}
    for i, t in enumerate(doc.data["targets"]):
        where = ("targets", i)
        if t["name"] in found:
            context.errors.append(doc.error((*where, "name"), f"{t['name']} is listed twice"))
        context.known(doc, (*where, "ptx"), t["ptx"], versions, "PTX version")
        if "base" in t:
            context.known(doc, (*where, "base"), t["base"], found, "target")
        cuda = "" if t.get("unlisted") else t.get("cuda") or _first_release(versions, t["ptx"])
        found[t["name"]] = Target(t["name"], i, t["ptx"], t.get("base", ""), t.get("kind", ""), cuda=cuda)
    families = _families(doc, context, found)
    for i, name in enumerate(doc.data.get("nvcc", [])):
        context.known(doc, ("nvcc", i), name, found, "target")
    compiled = set(doc.data.get("nvcc", []))
    gone, architectures = _gone(doc, context, found, compiled), _architectures(doc, context, found)
    return {
        t.name: t._replace(
            family=families.get(t.base, ""),
            nvcc=bool(compiled & {t.name, t.base}),
            gone=gone.get(t.base or t.name, ""),
            architecture=architectures.get(t.base or t.name, ""),
        )
        for t in found.values()
    }


def read_naming(doc: Document, context: Context) -> Naming:
    """Read the names of GPUs. The targets must be known."""
    products: list[Product] = []
    for i, row in enumerate(doc.data.get("products", [])):
        context.known(doc, ("products", i, "target"), row["target"], context.targets, "target")
        _source(doc, context, ("products", i), row)
        for j, name in enumerate(row["names"]):
            product = Product(name, row["target"], row["source"])
            if any(p[:2] == product[:2] for p in products):
                message = f"{name} is listed twice for {row['target']}"
                context.errors.append(doc.error(("products", i, "names", j), message))
            products.append(product)
    words = doc.data.get("naming", {})
    foreign = {str(maker): str(pattern) for maker, pattern in words.get("foreign", {}).items()}
    patterns: list[tuple[tuple[str | int, ...], str]] = []
    patterns += [(("editions", j), p) for j, p in enumerate(words.get("editions", []))]
    patterns += [(("foreign", maker), p) for maker, p in foreign.items()]
    for where, pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as e:
            context.errors.append(doc.error(("naming", *where), f"not a pattern: {e}"))
    architectures = {a["names"][0]: tuple(a["names"][1:]) for a in doc.data.get("architectures", [])}
    brands, series, editions = (tuple(words.get(kind, ())) for kind in ("brands", "series", "editions"))
    return Naming(
        products=tuple(products),
        architectures={name: others for name, others in architectures.items() if others},
        brands=brands,
        series=series,
        editions=editions,
        foreign=foreign,
        sources={name: (s["title"], s["url"]) for name, s in doc.data.get("sources", {}).items()},
    )


def _first_release(versions: dict[str, PtxVersion], ptx: str) -> str:
    """Return the CUDA release that brought a PTX version, or the next one if none did."""
    order = versions[ptx].order if ptx in versions else 0
    return next((v.cuda for v in versions.values() if v.order >= order and v.cuda), "")


def _source(doc: Document, context: Context, where: tuple[str | int, ...], row: dict[str, Any]) -> None:
    if "source" in row:
        context.known(doc, (*where, "source"), row["source"], doc.data.get("sources", {}), "source")


def _gone(doc: Document, context: Context, targets: dict[str, Target], compiled: set[str]) -> dict[str, str]:
    """Return the first CUDA release that no longer compiles for a target, by target."""
    found: dict[str, str] = {}
    for i, row in enumerate(doc.data.get("gone", [])):
        _source(doc, context, ("gone", i), row)
        for j, name in enumerate(row["targets"]):
            at = ("gone", i, "targets", j)
            context.known(doc, at, name, targets, "target")
            if name in compiled:
                context.errors.append(doc.error(at, f"nvcc compiles for {name}", "it is not gone"))
            if name in found:
                context.errors.append(doc.error(at, f"{name} is listed twice"))
            found[name] = row["cuda"]
    return found


def _architectures(doc: Document, context: Context, targets: dict[str, Target]) -> dict[str, str]:
    """Return the names of architectures by their targets."""
    found: dict[str, str] = {}
    for i, row in enumerate(doc.data.get("architectures", [])):
        _source(doc, context, ("architectures", i), row)
        for j, name in enumerate(row["targets"]):
            at = ("architectures", i, "targets", j)
            context.known(doc, at, name, targets, "target")
            if name in found:
                context.errors.append(doc.error(at, f"{name} is {found[name]} already"))
            found[name] = row["names"][0]
    return found


def _families(doc: Document, context: Context, targets: dict[str, Target]) -> dict[str, str]:
    """Return the names of families by the bases of their members."""
    found: dict[str, str] = {}
    for i, family in enumerate(doc.data.get("families", [])):
        first = ""
        for j, base in enumerate(family):
            at = ("families", i, j)
            if not context.known(doc, at, base, targets, "target"):
                continue
            kind = next((t.name for t in targets.values() if t.base == base and t.kind == "family"), "")
            first = first or kind
            if not kind:
                context.errors.append(
                    doc.error(at, f"{base} has no family-specific target", "a family is of targets that have one")
                )
            if base in found:
                context.errors.append(doc.error(at, f"{base} is in another family already"))
            found[base] = first
    return found

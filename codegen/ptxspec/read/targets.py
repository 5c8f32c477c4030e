"""spec/targets.yaml -> PTX versions and targets, in their orders."""

from __future__ import annotations

from ..catalog import PtxVersion, Target
from .context import Context
from .positioned import Document


def read_versions(doc: Document, context: Context) -> dict[str, PtxVersion]:
    found: dict[str, PtxVersion] = {}
    for i, v in enumerate(doc.data["ptx"]):
        if v["version"] in found:
            context.errors.append(doc.error(("ptx", i, "version"), f"PTX {v['version']} is listed twice"))
        found[v["version"]] = PtxVersion(v["version"], i, v.get("cuda", ""))
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
        found[t["name"]] = Target(t["name"], i, t["ptx"], t.get("base", ""), t.get("kind", ""))
    families = _families(doc, context, found)
    for i, name in enumerate(doc.data.get("nvcc", [])):
        context.known(doc, ("nvcc", i), name, found, "target")
    compiled = set(doc.data.get("nvcc", []))
    return {
        t.name: t._replace(family=families.get(t.base, ""), nvcc=bool(compiled & {t.name, t.base}))
        for t in found.values()
    }


def _families(doc: Document, context: Context, targets: dict[str, Target]) -> dict[str, str]:
    """The names of families by the bases of their members."""
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
                context.errors.append(doc.error(at, f"{base} has no f kind", "a family is of targets that have one"))
            if base in found:
                context.errors.append(doc.error(at, f"{base} is in another family already"))
            found[base] = first
    return found

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
    return found

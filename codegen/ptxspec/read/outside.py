"""spec/outside.yaml -> the opcodes of PTX that have no file here, and forms that the files of others do not list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..catalog import Catalog, Limit, Requirement
from ..catalog.outside import Outside, OutsideForm, OutsideOperands
from ..model import Beyond
from .context import Context, words
from .positioned import Document, Where
from .requirements import expanded


def read_outside(doc: Document | None, context: Context, catalog: Catalog) -> Beyond:
    if doc is None:
        return Beyond()
    opcodes, statements = {}, {}
    for opcode, about in doc.data["opcodes"].items():
        number = str(about.get("section", ""))
        if number and number not in doc.data["sections"]:
            context.errors.append(doc.error(("opcodes", opcode, "section"), f"section {number} has no title"))
        section = f"{number}, {words(doc.data['sections'].get(number, ''))}" if number else ""
        forms = []
        for i, form in enumerate(about.get("forms", ())):
            where: Where = ("opcodes", opcode, "forms", i)
            if are_known(doc, where, form, context):
                forms.append(OutsideForm(str(form.get("for", "")), requirement(form, catalog)))
                statements[opcode, forms[-1].pattern] = words(form["statement"])
        opcodes[opcode] = Outside(
            opcode, section, words(about["summary"]), tuple(forms), _places(about.get("operands", {}))
        )
    return Beyond(opcodes, statements)


def _places(operands: Mapping[str, Any]) -> OutsideOperands:
    vectors = tuple(map(int, operands.get("vectors", ())))
    return OutsideOperands(**{**operands, "vectors": vectors}) if operands else OutsideOperands()


def are_known(doc: Document, where: Where, form: Mapping[str, Any], context: Context) -> bool:
    """Return whether the targets and PTX versions of a form exist; report those that do not."""
    on, ends = form.get("on", {}), form.get("ends", {})
    targets = [((*where, "target"), form["target"])] if "target" in form else []
    targets += [((*where, key, t), t) for key in ("on", "ends") for t in form.get(key, ())]
    targets += [((*where, "without", i), t) for i, t in enumerate(form.get("without", ()))]
    versions = [((*where, "ptx"), form["ptx"])] if "ptx" in form else []
    versions += [((*where, "on", t), v) for t, v in on.items()] + [((*where, "ends", t), v) for t, v in ends.items()]
    found = [context.known(doc, at, str(t), context.targets, "target") for at, t in targets]
    found += [context.known(doc, at, str(v), context.versions, "PTX version") for at, v in versions]
    return all(found)


def requirement(form: Mapping[str, Any], catalog: Catalog) -> Requirement:
    """Return what a form needs. `without`: newer targets that do not have it; `ends`: the last PTX version of a target
    and of those after it."""

    def later(*versions: str) -> str:
        return max(versions, key=lambda v: catalog.versions[v].order)

    floors = {t: later(ptx, catalog.targets[t].ptx) for t, ptx in expanded(form.get("on", {}).items(), catalog)}
    if missing := form.get("without"):
        newer = [t for t in catalog.targets.values() if t.order >= catalog.targets[form["target"]].order]
        floors = {t.name: later(form["ptx"], t.ptx) for t in newer if t.name not in missing}
    if floors:
        lowest = min(floors.values(), key=lambda v: catalog.versions[v].order)
        return Requirement(lowest, next(iter(floors)), on=tuple(floors.items()))
    limits = tuple(Limit(t, catalog.newest_target, None, until) for t, until in form.get("ends", {}).items())
    return Requirement(form["ptx"], form["target"], within=limits)

"""spec/published.yaml -> models of the hardware that others published, and the targets on which they compared them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model import Inferred, PublishedModel, PublishedResults, Spec
from .context import Context, words
from .positioned import Document


def read_published(doc: Document | None, spec: Spec, context: Context) -> dict[str, PublishedModel]:
    """Return the published models by their names; none without the file."""
    found = {}
    for name, m in doc.data["models"].items() if doc else ():
        assert doc is not None
        reports = []
        for i, r in enumerate(m["reports"]):
            at = ("models", name, "reports", i)
            unit, spelling = r.get("unit", ""), r["variant"]
            if unit and unit not in spec.units:
                context.errors.append(doc.error((*at, "unit"), f"unknown unit '{unit}'"))
            instruction = spec.instructions.get(spelling.partition(".")[0])
            # A specification may have only some of the instructions: nothing is known of the others.
            if instruction and all(v.spelling != spelling for v in instruction.variants):
                context.errors.append(doc.error((*at, "variant"), f"unknown variant '{spelling}'"))
            within = [context.within(doc, (*at, "within", k), text) for k, text in enumerate(r["within"])]
            targets = _targets(spec, within)
            reports.append(PublishedResults(r["results"], spelling, unit, targets))
        found[name] = PublishedModel(
            name, words(m["author"]), m["source"], m["commit"], words(m["licence"]), words(m["judged"]),
            words(m["equal"]), m["evidence"], tuple(reports), tuple(_inferred(doc, name, m, spec, context)),
        )  # fmt: skip
    return found


def _inferred(doc: Document, name: str, model: Mapping[str, Any], spec: Spec, context: Context) -> Iterator[Inferred]:
    for i, d in enumerate(model.get("inferred", ())):
        at = ("models", name, "inferred", i)
        if d["unit"] not in spec.units:
            context.errors.append(doc.error((*at, "unit"), f"unknown unit '{d['unit']}'"))
        within = [context.within(doc, (*at, "within", k), text) for k, text in enumerate(d["within"])]
        yield Inferred(d["unit"], _targets(spec, within), d["source"], words(d["told"]))


def _targets(spec: Spec, ranges: Sequence[tuple[str, str] | None]) -> tuple[str, ...]:
    return tuple(t for t in spec.targets if any(w and spec.is_within(t, w) for w in ranges))

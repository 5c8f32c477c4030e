"""The page of an opcode, section by section.

A section has an id, a title, and two templates, templates/manual/opcode/<id>.html.j2 and .md.j2; it leaves itself out
where it writes nothing. Where it has a module here, templates find what `section` gives under the id, with `_` for `-`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .. import ledger
from . import accuracy, availability, examples, machine_code, recipes, semantics, specials, syntax, trying, variants
from .about import About


class Section(NamedTuple):
    id: str
    title: str
    make: Callable[[About], object] | None = None


SECTIONS: Sequence[Section] = (
    Section("syntax", "Syntax", syntax.section),
    Section("availability", "Where is it available?", availability.section),
    Section("try", "Try it", trying.section),
    Section("semantics", "What it computes", semantics.section),
    Section("specials", "NaN, zero, subnormal, infinity", specials.section),
    Section("accuracy", "Accuracy and claims", accuracy.section),
    Section("recipes", "Where it is missing", recipes.section),
    Section("examples", "Examples", examples.section),
    Section("machine-code", "Machine code", machine_code.section),
    Section("variants", "Variants", variants.section),
    Section("notes", "Notes"),
    Section("requirements", "Requirements"),
    Section("ledger", "Where ptxas and the manual differ", lambda a: ledger.rows(a.spec, a.instruction, a.write)),
    Section("sources", "Sources"),
)


def values(about: About) -> Mapping[str, object]:
    """What the templates of a page read."""
    made = {s.id.replace("-", "_"): s.make(about) for s in SECTIONS if s.make}
    return {"i": about.instruction, "sections": SECTIONS, **made}


__all__ = ["SECTIONS", "About", "Section", "values"]

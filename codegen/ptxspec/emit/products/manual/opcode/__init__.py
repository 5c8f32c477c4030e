"""The page of an opcode, section by section.

A section that would fill a page has one of its own, which the opcode's page leads to.

A section has an id, a title, and two templates, templates/manual/opcode/<id>.html.j2 and .md.j2; it leaves itself out
where it writes nothing. Where it has a module here, templates find what `section` gives under the id, with `_` for `-`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from . import (
    accuracy,
    availability,
    comparisons,
    differences,
    examples,
    machine_code,
    recipes,
    semantics,
    specials,
    syntax,
    trying,
    variants,
)
from .about import About


class Section(NamedTuple):
    """`size` is the number of entries that a section has, where it may stand on a page of its own."""

    id: str
    title: str
    make: Callable[[About], object] | None = None
    size: Callable[[About], int] | None = None


SECTIONS: Sequence[Section] = (
    Section("syntax", "Syntax", syntax.section),
    Section("comparisons", "Comparisons", comparisons.section),
    Section("availability", "Where is it available?", availability.section),
    Section("try", "Try it", trying.section),
    Section("semantics", "What it computes", semantics.section),
    Section("specials", "NaN, zero, subnormal, infinity", specials.section),
    Section("accuracy", "Accuracy and claims", accuracy.section),
    Section("recipes", "Where it is missing", recipes.section, recipes.size),
    Section("examples", "Examples", examples.section),
    Section("machine-code", "Machine code", machine_code.section, machine_code.size),
    Section("variants", "Variants", variants.section),
    Section("notes", "Notes"),
    Section("requirements", "Requirements"),
    Section("differences", "Where ptxas and the manual differ", differences.section),
    Section("sources", "Sources"),
)


# A section with more entries than this has a page of its own.
LARGE = 100


def values(about: About) -> Mapping[str, object]:
    """Return the values that the templates of a page read. `apart` has the file names of the sections on pages of their
    own."""
    made = {s.id.replace("-", "_"): s.make(about) for s in SECTIONS if s.make}
    name = about.instruction.opcode
    apart = {s.id: f"{name}.{s.id}.html" for s in SECTIONS if s.size and s.size(about) > LARGE}
    return {"i": about.instruction, "sections": SECTIONS, "apart": apart, **made}


__all__ = ["SECTIONS", "About", "Section", "values"]

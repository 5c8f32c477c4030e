"""The page of an opcode, section by section.

A long section has a page of its own, to which the opcode's page links.

A section has an id, a title, and two templates, templates/manual/opcode/<id>.html.j2 and .md.j2; it is left out if
these write nothing. If a section has a module here, the result of the module's `section` is a variable of the
templates, with the id as its name and `_` for `-`.
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
    """A section of the page. `size` returns the number of its entries if it may have a page of its own."""

    id: str
    title: str
    make: Callable[[About], object] | None = None
    size: Callable[[About], int] | None = None


SECTIONS: Sequence[Section] = (
    Section("syntax", "Syntax", syntax.section),
    Section("comparisons", "Comparisons", comparisons.section),
    Section("availability", "Availability", availability.section),
    Section("try", "Try it", trying.section),
    Section("semantics", "Semantics", semantics.section),
    Section("specials", "Special values", specials.section),
    Section("accuracy", "Accuracy and claims", accuracy.section),
    Section("recipes", "Recipes", recipes.section, recipes.size),
    Section("examples", "Examples", examples.section),
    Section("machine-code", "Machine code", machine_code.section, machine_code.size),
    Section("variants", "Variants", variants.section),
    Section("notes", "Notes"),
    Section("requirements", "Requirements"),
    Section("differences", "Differences from NVIDIA's manual", differences.section),
    Section("sources", "Sources"),
)


# A section with more entries has a page of its own.
LARGE = 100


def values(about: About) -> Mapping[str, object]:
    """Return the values that the templates of a page read. `apart` has the file names of the sections with pages of
    their own."""
    made = {s.id.replace("-", "_"): s.make(about) for s in SECTIONS if s.make}
    name = about.instruction.opcode
    apart = {s.id: f"{name}.{s.id}.html" for s in SECTIONS if s.size and s.size(about) > LARGE}
    return {"i": about.instruction, "sections": SECTIONS, "apart": apart, **made}


__all__ = ["SECTIONS", "About", "Section", "values"]

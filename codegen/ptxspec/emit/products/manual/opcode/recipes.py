"""What a page says of recipes: each with the variants that it is for, and ready to paste for the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....grounds import Grounds
from .....model import Instead, Recipe, Spec, Variant
from .....recipes.inline import inline_assembly
from ..forms import Writer
from .about import About


@dataclass(frozen=True)
class Example:
    """A recipe for one variant, from where on it works."""

    variant: Variant
    ptx: str
    cuda: str


@dataclass(frozen=True)
class Entry:
    """A recipe, or why there is none: then `none` says so. `text` is it as the file writes it, for all `forms`;
    `requires` are the targets and versions from which it works, which may depend on the variant."""

    forms: Sequence[str]
    requires: Sequence[str]
    differs: str
    rests_on: Grounds
    text: str = ""
    example: Example | None = None
    none: str = ""


def section(about: About) -> list[Entry]:
    """In the order of the file; those that would say the same of no variant are left out."""
    spec, write, instruction = about.spec, about.write, about.instruction
    found = []
    for recipe in instruction.recipes:
        if recipe.none:
            variants = [v for v in instruction.variants if recipe.selector.matches(v)]
            found.append(Entry(write.whole(variants), (), "", recipe.rests_on, none=recipe.none))
            continue
        made = [(v, x) for v in instruction.variants for x in spec.instead.get(v, ()) if x.recipe is recipe]
        if made:
            found.append(_entry(spec, write, recipe, made))
    return found


def _entry(spec: Spec, write: Writer, recipe: Recipe, made: Sequence[tuple[Variant, Instead]]) -> Entry:
    variant, instead = made[0]
    return Entry(
        forms=write.whole(v for v, _ in made),
        requires=list(dict.fromkeys(spec.catalog.text(x.requires) for _, x in made)),
        differs=recipe.differs,
        rests_on=recipe.rests_on,
        text=recipe.code.text.strip(),
        example=Example(variant, instead.ptx, inline_assembly(variant, instead)),
    )

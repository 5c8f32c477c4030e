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

    id: str
    forms: Sequence[str]
    requires: Sequence[str]
    differs: str
    rests_on: Grounds
    text: str = ""
    example: Example | None = None
    none: str = ""


def section(about: About) -> list[Entry]:
    """In the order of the file; those that would say the same of no variant are left out."""
    spec, write = about.spec, about.write
    found = []
    for id, recipe, variants in _placed(about):
        if recipe.none:
            found.append(Entry(id, write.whole(variants), (), "", recipe.rests_on, none=recipe.none))
        else:
            made = [(v, x) for v in variants for x in spec.instead[v] if x.recipe is recipe]
            found.append(_entry(spec, write, id, recipe, made))
    return found


def anchors(about: About) -> dict[Variant, list[tuple[str, bool]]]:
    """For each variant the ids of its recipes, and of why there is none: that it is such a one stands behind it."""
    found: dict[Variant, list[tuple[str, bool]]] = {}
    for id, recipe, variants in _placed(about):
        for v in variants:
            found.setdefault(v, []).append((id, bool(recipe.none)))
    return found


def _placed(about: About) -> list[tuple[str, Recipe, list[Variant]]]:
    """The recipes that are for some variant, with these and an id: it names the first of them."""
    every = about.instruction.variants
    helped: dict[int, list[Variant]] = {}
    for v in every:
        for x in about.spec.instead.get(v, ()):
            helped.setdefault(id(x.recipe), []).append(v)
    found: list[tuple[str, Recipe, list[Variant]]] = []
    for recipe in about.instruction.recipes:
        given = helped.get(id(recipe), [])
        variants = [v for v in every if recipe.selector.matches(v)] if recipe.none else given
        if variants:
            name = f"recipe-{variants[0].spelling}"
            taken = sum(id == name or id.startswith(f"{name}-") for id, _, _ in found)
            found.append((f"{name}-{taken + 1}" if taken else name, recipe, variants))
    return found


def _entry(spec: Spec, write: Writer, id: str, recipe: Recipe, made: Sequence[tuple[Variant, Instead]]) -> Entry:
    variant, instead = made[0]
    return Entry(
        id=id,
        forms=write.whole(v for v, _ in made),
        requires=list(dict.fromkeys(spec.catalog.text(x.requires) for _, x in made)),
        differs=recipe.differs,
        rests_on=recipe.rests_on,
        text=recipe.code.text.strip(),
        example=Example(variant, instead.ptx, inline_assembly(variant, instead)),
    )

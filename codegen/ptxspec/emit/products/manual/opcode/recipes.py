"""The recipes on a page, each with its variants, and ready to paste for the first one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .....basis import Basis
from .....model import Instead, RecipeEntry, Spec, Variant
from .....query.inline import inline_assembly
from .....recipes.inline import asm_operands
from ..forms import Writer
from .about import About

# The meanings of a recipe's `differs`; empty for a recipe that computes the same.
DIFFERS = {
    "nothing": "",
    "NaN bits": "the bits of a NaN",
    "within bound": "the result, within the error bound in NVIDIA's manual",
}


@dataclass(frozen=True)
class Example:
    """A recipe for one variant, ready to paste."""

    variant: Variant
    ptx: str
    cuda: str


@dataclass(frozen=True)
class Works:
    """Variants for which a recipe has the same requirements. `operands` is set if the spelling alone does not
    distinguish them from others."""

    forms: Sequence[str]
    operands: int | None
    requires: str


@dataclass(frozen=True)
class Offered:
    """A recipe, or the reason why there is `none`. `text` is the recipe in the file if it `works` for several variants.
    `nowhere`: its spellings do not exist in PTX."""

    id: str
    works: Sequence[Works]
    differs: str
    basis: Basis
    text: str = ""
    example: Example | None = None
    none: str = ""
    nowhere: bool = False


def section(about: About) -> list[Offered]:
    """Return the entries in the order of the file, without those that apply to no variant. Spellings that do not exist
    in PTX come last."""
    spec, write = about.spec, about.write
    found = []
    for id, recipe, variants in _placed(about):
        if recipe.none:
            works = _works(write, ((v, "") for v in variants))
            found.append(Offered(id, works, "", recipe.basis, none=recipe.none))
        else:
            made = [(v, x) for v in variants for x in spec.instead[v] if x.recipe is recipe]
            found.append(_entry(spec, write, id, recipe, made))
    for entry in about.instruction.missing:
        made = [(v, x) for v in entry.variants for x in spec.missing[v] if x.recipe is entry.recipe]
        if made:
            id = f"missing-{made[0][0].spelling}"
            found.append(replace(_entry(spec, write, id, entry.recipe, made), nowhere=True))
    return found


def size(about: About) -> int:
    """Return twice the number of recipes, because each is shown in PTX and in CUDA."""
    return 2 * sum(not r.none for r in about.instruction.recipes)


def anchors(about: About) -> dict[Variant, list[tuple[str, str]]]:
    """Return the ids of each variant's recipes with their requirements, which are empty for an entry with the reason
    why there is no recipe."""
    spec, found = about.spec, dict[Variant, list[tuple[str, str]]]()
    for id, recipe, variants in _placed(about):
        for v in variants:
            needs = (spec.catalog.text(x.requires) for x in spec.instead.get(v, ()) if x.recipe is recipe)
            found.setdefault(v, []).append((id, next(needs, "")))
    return found


def _placed(about: About) -> list[tuple[str, RecipeEntry, list[Variant]]]:
    """Return the recipes that apply to some variant, with their variants and an id that names the first of these."""
    every = about.instruction.variants
    helped: dict[int, list[Variant]] = {}
    for v in every:
        for x in about.spec.instead.get(v, ()):
            helped.setdefault(id(x.recipe), []).append(v)
    found: list[tuple[str, RecipeEntry, list[Variant]]] = []
    for recipe in about.instruction.recipes:
        given = helped.get(id(recipe), [])
        variants = [v for v in every if recipe.selector.matches(v)] if recipe.none else given
        if variants:
            name = f"recipe-{variants[0].spelling}"
            taken = sum(id == name or id.startswith(f"{name}-") for id, _, _ in found)
            found.append((f"{name}-{taken + 1}" if taken else name, recipe, variants))
    return found


def _works(write: Writer, made: Iterable[tuple[Variant, str]]) -> list[Works]:
    found: dict[tuple[int | None, str], list[Variant]] = {}
    for v, requires in made:
        found.setdefault((write.operands(v), requires), []).append(v)
    return [Works(write.whole(alike), operands, requires) for (operands, requires), alike in found.items()]


def _entry(spec: Spec, write: Writer, id: str, recipe: RecipeEntry, made: Sequence[tuple[Variant, Instead]]) -> Offered:
    variant, instead = made[0]
    return Offered(
        id=id,
        works=_works(write, ((v, spec.catalog.text(x.requires)) for v, x in made)),
        differs=f"the result, without a target or on a target before {recipe.since}"
        if recipe.since
        else DIFFERS[recipe.differs],
        basis=recipe.basis,
        text="\n".join([*_names(recipe), recipe.code.text.strip()]) if len(made) > 1 else "",
        example=Example(variant, instead.ptx, inline_assembly(instead.ptx, asm_operands(variant, instead))),
    )


def _names(recipe: RecipeEntry) -> Iterable[str]:
    """Return comments with the values of each `$name` in a recipe's text."""
    return [
        f"// ${name}: {', '.join(f'{x} of .{of}' for of, x in values.items())}" for name, values in recipe.where.items()
    ]

"""The existing variants and where they are available, as data for the manual's scripts. catalog.js documents how it
uses the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from ....catalog import Requirement, Target
from ....model import Spec
from ...text import Files, Templates, as_lines
from .families import Family

PATH = "catalog.data.js"


def emit(spec: Spec, rows: Mapping[str, Sequence[Family]], templates: Templates) -> Files:
    every = [family for found in rows.values() for family in found]
    recipes = [i for found in spec.instead.values() for i in found]
    requirements = {spec.catalog.text(r): r for r in [f.requires for f in every] + [i.requires for i in recipes]}
    data = {
        "groups": {name: list(members) for name, members in spec.notation.items()},
        "types": list(spec.types),
        "called": called(spec),
        "targets": [
            {"name": t.name, "ptx": t.ptx, "base": t.base, "products": products(spec, t)}
            for t in spec.targets.values()
        ],
        "versions": [{"ptx": p.version, "cuda": p.cuda} for p in spec.versions.values()],
        "requirements": {
            text: runs(versions(spec, r, t) for t in spec.targets.values()) for text, r in sorted(requirements.items())
        },
        "opcodes": {
            opcode: {
                "summary": spec.instructions[opcode].summary,
                "rows": [
                    [
                        f.forms.whole, f.forms.operands, spec.catalog.text(f.requires), f.claim,
                        f.hazards, f.claims,
                    ]
                    for f in found
                ],
            }
            for opcode, found in rows.items()
        },
    }  # fmt: skip
    sources = ["spec/targets.yaml", "spec/types.yaml", "spec/modifiers.yaml", "spec/words.yaml", "spec/instructions/"]
    return {f"manual/{PATH}": templates.render(f"manual/{PATH}.j2", sources, "// {}", data=as_lines(data))}


def versions(spec: Spec, r: Requirement, target: Target) -> tuple[str, str | None] | None:
    """Return the first and the last PTX version that support a variant on a target and also the target itself; the last
    is None if all later ones do. Return None if no version does."""
    if not spec.catalog.takes(r, target.name):
        return None
    first, last = spec.catalog.window(r, target.name)
    return max(first, target.ptx, key=lambda ptx: spec.versions[ptx].order), last


def called(spec: Spec) -> dict[str, list[str]]:
    """Return the modifiers and types that everyday words mean, and those that a width means: fp16 is f16, fp8 is every
    signed format of 8 bits."""
    dotted = {word: [m[1:] for m in meanings if m[0] == "."] for word, meanings in spec.words.items()}
    found: dict[str, list[str]] = {word: names for word, names in dotted.items() if names}
    for t in spec.types.values():
        if t.kind.format is None or not t.kind.format.signed:
            continue
        width = t.kind.format.width
        if width <= 8 or t.name.partition("x")[0] == f"f{width}":
            found.setdefault(f"fp{width}", []).append(t.name)
    return found


def products(spec: Spec, target: Target) -> list[str]:
    """Return the names of the GPUs with a target, the best known first. An architecture- or family-specific target has
    those of its base."""
    return [p.name for p in spec.naming.products if p.target == (target.base or target.name)]


def runs(found: Iterable[tuple[str, str | None] | None]) -> list[tuple[str | int | None, ...]]:
    """Return the first version of each run of targets, or None if they have none, the number of these targets and, if
    there is one, the last version."""
    told = ((*(window or (None, None)), len(list(same))) for window, same in groupby(found))
    return [(first, count, last) if last else (first, count) for first, last, count in told]

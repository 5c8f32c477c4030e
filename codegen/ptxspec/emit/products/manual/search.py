"""The data of the manual's search besides the catalogue: search.data.js, for the scripts search.*.js, which document
how they use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ....catalog import Requirement
from ....model import CallEvidence, Instruction, Spec, Variant
from ...parts import NONE, Parts
from ...text import Files, Templates, as_lines
from .called import functions
from .catalog import called
from .entries import Entries
from .forms import Forms, Writer
from .site import Site

PATH = "search.data.js"


def emit(
    spec: Spec, write: Writer, templates: Templates, site: Site, parts: Parts, callers: Mapping[str, Sequence[str]]
) -> Files:
    found = Entries(spec, site.places, callers)
    multiplying = {f.spelling.partition(".")[0] for f in spec.tensor.forms}
    data = {
        "naming": {
            "brands": spec.naming.brands,
            "series": spec.naming.series,
            "editions": spec.naming.editions,
            "architectures": dict(spec.naming.architectures),
            "architecture": [t.architecture for t in spec.targets.values()],
        },
        "called": called(spec),
        "words": _words(spec),
        "otherTypes": spec.assembler.other_types,
        "assembler": spec.assembler.observed,
        "opcodes": {
            n: parts.of("search", n, "", partial(_opcode, spec, write, i)) for n, i in spec.instructions.items()
        },
        "entries": found.entries(),
        "functions": parts.of("functions", NONE, "", partial(_functions, spec)),
        "outside": {
            o.opcode: [
                o.section, o.summary, spec.catalog.text(r) if (r := o.requires((), spec.catalog)) else "",
                *(["tensor-cores.html"] if o.opcode in multiplying else []),
            ]
            for o in spec.outside.opcodes.values() if o.opcode not in spec.instructions
        },
        "sections": {name: places.headings for name, places in site.places.items()},
    }  # fmt: skip
    names = ("targets", "types", "modifiers", "functions", "words", "outside", "special_registers", "observed/calls")
    sources = [f"spec/{name}.yaml" for name in names]
    sources.append("spec/instructions/")
    return {f"manual/{PATH}": templates.render(f"manual/{PATH}.j2", sources, "// {}", data=as_lines(data))}


def _functions(spec: Spec) -> dict[str, Any]:
    others = [e for e in (spec.intrinsics, spec.triton) if e and spec.calls]
    return functions(spec.calls or CallEvidence("", (), ()), others, spec.lowered)


def _words(spec: Spec) -> dict[str, list[str]]:
    """Return the instructions that everyday words mean, some with modifiers."""
    found = {word: [m for m in meanings if m[0] != "."] for word, meanings in spec.words.items()}
    return {word: spellings for word, spellings in found.items() if spellings}


def _recipes(spec: Spec, instruction: Instruction) -> dict[tuple[Requirement, str], list[Variant]]:
    """Return the variants of an instruction with recipes, by the recipe's requirement and difference."""
    found: dict[tuple[Requirement, str], list[Variant]] = {}
    for v in instruction.variants:
        for instead in spec.instead.get(v, ()):
            found.setdefault((instead.requires, instead.promise), []).append(v)
    return found


def _opcode(spec: Spec, write: Writer, instruction: Instruction) -> dict[str, object]:
    """Return the number of operands of most variants and the exceptions, the spellings that are available nowhere,
    other instructions of the same name, and the variants with recipes."""
    most = Counter(v.operands for v in instruction.variants).most_common(1)[0][0]
    others: dict[int, list[Variant]] = {}
    for v in instruction.variants:
        if v.operands != most:
            others.setdefault(v.operands, []).append(v)
    crashes: dict[str, list[Variant]] = {}
    for v in instruction.variants:
        if v.crash:
            crashes.setdefault(v.crash, []).append(v)
    given = {
        "counts": [[write.whole(vs), n] for n, vs in others.items()],
        "crashes": [[*_forms(f), text] for text, vs in crashes.items() for f in write(vs)],
        "refused": write.whole(instruction.refused),
        "recipes": [
            [*_forms(f), spec.catalog.text(needs), differs]
            for (needs, differs), vs in _recipes(spec, instruction).items()
            for f in write(vs)
        ],
        "otherModifiers": list(instruction.other_modifiers),
        "emptyTypes": list(instruction.empty_types),
    }
    elsewhere = None if instruction.elsewhere is None else [".".join(form) for form in instruction.elsewhere]
    return {"operands": most, "elsewhere": elsewhere, **{name: x for name, x in given.items() if x}}


def _forms(forms: Forms) -> tuple[list[str], int | None]:
    return [forms.opcode + text for text in forms.texts], forms.operands

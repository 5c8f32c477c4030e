"""Facts of spec/ by another key, in a file that a program wrote from spec/ itself (339fca33).

noted.yaml is a witness: on 2026-11-22 its sections were read against sources that nobody here wrote; its head says
which, and what was not found there. Whoever changes spec/ changes it by hand, from the source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.repository import specification
from ptxspec.model import Note, Selector, Spec, Variant

SPEC = specification()
NOTED: dict[str, Any] = yaml.load(Path(__file__).with_name("noted.yaml").read_text("utf-8"), Loader=yaml.BaseLoader)


def types(spec: Spec) -> dict[str, str]:
    """A type's registers, its constraint, and what holds it in CUDA C++ and Triton."""
    return {
        t.name: " ".join(
            filter(
                None, [f"{t.lanes} in {t.registers}", t.constraint, f"{t.in_languages.cuda} / {t.in_languages.triton}"]
            )
        )
        for t in spec.types.values()
    }


def registers(spec: Spec) -> dict[str, str]:
    found = defaultdict(list)
    for i in spec.instructions.values():
        for type_, name in i.registers.items():
            found[f"{type_}: {name}"].append(i.opcode)
    return {key: " ".join(sorted(opcodes)) for key, opcodes in found.items()}


def releases(spec: Spec) -> dict[str, str]:
    return {
        v.version: ", ".join(filter(None, [v.cuda, v.listed and f"listed {v.listed}", v.linux, v.windows]))
        for v in spec.versions.values()
    }


def targets(spec: Spec) -> dict[str, str]:
    """Return what compiles for each target, and from which release to which."""
    return {
        t.name: f"PTX {t.ptx}, CUDA {t.cuda or '?'} to {t.gone or 'now'}, {'nvcc' if t.nvcc else 'no nvcc'}, "
        f"family of {t.family or 'none'}"
        for t in spec.targets.values()
    }


def special_operands(spec: Spec) -> dict[str, str]:
    """The format of a unit that is known, and its results where the manual's tables of corner cases have them."""
    return {
        u.name: " | ".join(dict.fromkeys(" ".join([u.format.name, *_hexadecimal(m.special)]) for m in u.models))
        for u in spec.units.values()
        if u.models
    }


def _hexadecimal(values: Mapping[str, int]) -> list[str]:
    return [f"{name} {bits:#x}" for name, bits in values.items()]


def notes(spec: Spec) -> dict[str, str]:
    """Return, for each paragraph that rests on a page, the number of variants that it is about, with one from the
    beginning, the middle and the end, and what it says of them."""
    return paragraphs(spec, paged=True)


def paragraphs(spec: Spec, *, paged: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for i in spec.instructions.values():
        for n in i.notes:
            if bool(n.basis.section or n.basis.ieee754) == paged:
                flags = " open" * bool(n.open) + " loose" * n.loose
                found[f"{i.opcode}: {_beginning(n, found, i.opcode)}"] = about(n.selector, i.variants) + flags
    return found


def intrinsics(spec: Spec) -> dict[str, str]:
    found: dict[str, str] = {}
    for i in spec.instructions.values():
        for intrinsic in i.intrinsics:
            modifiers, types_, operands = intrinsic.form
            key = f"{i.opcode} {'.'.join([*sorted(modifiers), *types_])}/{operands}"
            called = ": ".join(filter(None, [intrinsic.target, intrinsic.call]))
            found[key] = "; ".join(filter(None, [found.get(key), called]))
    return found


def modifiers(spec: Spec) -> dict[str, str]:
    """Return which modifiers approximate, on which types one acts if not on all, and which random bits round a lane."""
    found = {f".{m.name}": "approximates" for m in spec.modifiers.values() if m.approximate}
    for i in spec.instructions.values():
        for modifier, types_ in i.acts_on.items():
            found[f"{i.opcode} .{modifier} acts on"] = " ".join(types_)
        for n, lanes in enumerate(i.lane_bits):
            found[f"{i.opcode} lane bits {n}"] = f"{about(lanes.selector, i.variants)}, {lanes.lanes}"
    return found


def elsewhere(spec: Spec) -> dict[str, str]:
    """Types of an opcode that are not described here."""
    return {i.opcode: " ".join(".".join(e) for e in i.elsewhere or ()) for i in spec.instructions.values()}


def means(spec: Spec) -> dict[str, str]:
    """Return the modifiers that spellings without them stand for."""
    return {
        f"{i.opcode} {n}": f"{about(m.selector, (*i.variants, *i.refused))}: {' '.join(m.modifiers)}"
        for i in spec.instructions.values()
        for n, m in enumerate(i.means)
    }


def target_options(spec: Spec) -> dict[str, str]:
    return dict.fromkeys(spec.assembler.target_options, "taken")


def functions(spec: Spec) -> dict[str, str]:
    """Return what each function of another language is made of."""
    found: dict[str, list[str]] = defaultdict(list)
    for kind in ("defined", "executed", "compiled"):
        for f in getattr(spec.functions, kind):
            about = {
                n: x for n, x in vars(f).items() if n not in ("name", "semantics", "open", "mark", "type", "calls")
            }
            about |= {"reference": f.reference.name}
            about |= {"semantics": f.semantics.text} if hasattr(f, "semantics") else {}
            about |= {"open": [(o.when.text, o.why) for o in f.open]} if hasattr(f, "open") else {}
            about |= {"type": f.type.name} if hasattr(f, "type") else {}
            found[f"{f.name} {kind}"].append(str(about))
    return {name: " | ".join(every) for name, every in found.items()}


def requirements(spec: Spec) -> dict[str, str]:
    """Of each requirement that the manual or the assembler has, how many variants, and some of them."""
    found: dict[str, list[str]] = defaultdict(list)
    for i in spec.instructions.values():
        for v in (*i.variants, *i.refused):
            manual = spec.catalog.text(v.manual) if v.manual else "not listed"
            needs = "refused" if v in i.refused else spec.catalog.text(v.requires)
            found[f"{i.opcode}: {manual}; ptxas: {needs}"].append(f"{v.spelling}/{v.operands}")
    return {key: _some(own) for key, own in found.items()}


def _beginning(n: Note, before: dict[str, str], opcode: str) -> str:
    text = n.text[:60].strip()
    return text if f"{opcode}: {text}" not in before else f"{text} ({len(before)})"


def about(selector: Selector, variants: tuple[Variant, ...]) -> str:
    return _some([f"{v.spelling}/{v.operands}" for v in variants if selector.matches(v)])


def _some(own: list[str]) -> str:
    own = sorted(own)
    return f"{len(own)}: " + ", ".join(dict.fromkeys(own[k] for k in (0, len(own) // 2, -1))) if own else "0"


WITNESSED = (
    requirements,
    notes,
    registers,
    types,
    modifiers,
    elsewhere,
    means,
    releases,
    targets,
    target_options,
    functions,
    intrinsics,
    special_operands,
)


def _differing(table: Callable[[Spec], dict[str, str]], noted: dict[str, str]) -> dict[str, tuple[str, str]]:
    got = {k: " ".join(v.split()) for k, v in table(SPEC).items()}
    return {k: (got.get(k, ""), noted.get(k, "")) for k in {**got, **noted} if got.get(k) != noted.get(k)}


def test_a_target_with_a_letter_is_of_the_one_without() -> None:
    """a is for an architecture and f for a family, in the manual's description of .target."""
    letters = {"a": "architecture", "f": "family"}
    for t in SPEC.targets.values():
        assert (t.base, t.kind) == ((t.name[:-1], letters[t.name[-1]]) if t.name[-1] in letters else ("", ""))


@pytest.mark.parametrize("table", WITNESSED)
def test_what_was_read_against_a_source_is_the_same(table: Callable[[Spec], dict[str, str]]) -> None:
    assert _differing(table, NOTED[table.__name__]) == {}


def test_each_section_is_looked_at() -> None:
    assert [*NOTED] == [t.__name__ for t in WITNESSED]

"""Facts that no assembler and no arithmetic shows, noted a second time: in noted.yaml they are ordered by another key
than in spec/, as a reader of NVIDIA's pages meets them. Whoever changes one of the two has to look at the source again.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.repository import specification
from ptxspec.model import Note, Selector, Spec, Variant
from ptxspec.model.hazards import HazardRule

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


def words(spec: Spec) -> dict[str, str]:
    found = defaultdict(list)
    for word, meanings in spec.words.items():
        for meaning in meanings:
            found[meaning].append(word)
    return {meaning: ", ".join(sorted(every)) for meaning, every in found.items()}


def products(spec: Spec) -> dict[str, str]:
    found = defaultdict(list)
    for p in spec.naming.products:
        found[p.name].append(p.target)
    for name, targets in spec.naming.architectures.items():
        found[name] += targets
    return {name: " ".join(targets) for name, targets in found.items()}


def naming(spec: Spec) -> dict[str, str]:
    n = spec.naming
    return {key: " ".join(sorted(getattr(n, key))) for key in ("brands", "series", "editions")}


def releases(spec: Spec) -> dict[str, str]:
    return {
        v.version: ", ".join(filter(None, [v.cuda, v.listed and f"listed {v.listed}", v.linux, v.windows]))
        for v in spec.versions.values()
    }


def targets(spec: Spec) -> dict[str, str]:
    """What compiles for a target, and from which release to which."""
    return {
        t.name: f"PTX {t.ptx}, CUDA {t.cuda or '?'} to {t.gone or 'now'}, {'nvcc' if t.nvcc else 'no nvcc'}, "
        f"family of {t.family or 'none'}"
        for t in spec.targets.values()
    }


def published(spec: Spec) -> dict[str, str]:
    return {
        f"{r.variant} on {target}": f"{name}: {r.results} {r.unit or 'no unit'}"
        for name, p in spec.published.items()
        for r in p.reports
        for target in r.targets
    }


def units(spec: Spec) -> dict[str, str]:
    """What fitting expects of a unit."""
    return {
        u.name: str([u.format.name, u.function, str(u.argument), u.exponent, u.precision, dict(u.special), u.segments,
                     u.words, [tuple(vars(c).values()) for c in u.cores]])
        for u in spec.units.values()
    }  # fmt: skip


def notes(spec: Spec) -> dict[str, str]:
    """How many variants a paragraph is about, with one from the beginning, the middle and the end, and what it says of
    them."""
    found = {}
    for i in spec.instructions.values():
        for n in i.notes:
            flags = " open" * bool(n.open) + " loose" * n.loose
            found[f"{i.opcode}: {_beginning(n, found, i.opcode)}"] = _about(n.selector, i.variants) + flags
        for n1, h in enumerate(i.hazards):
            found[f"{i.opcode} hazard {n1}"] = f"{_about(h.selector, i.variants)} {_proof(h)}"
        for j in i.judged:
            key = f"{i.opcode} judged by {j.by}"
            found[key] = "; ".join(filter(None, [found.get(key), _about(j.selector, i.variants)]))
        for n2, f in enumerate(i.folding):
            found[f"{i.opcode} folding {n2}"] = _about(f.selector, i.variants)
        for n3, a in enumerate(i.accuracy):
            found[f"{i.opcode} accuracy {n3}"] = f"{_about(a.selector, i.variants)}, exceeded: {a.exceeded}"
        for n4, c in enumerate(i.compared):
            found[f"{i.opcode} compared {n4}"] = f"{_about(c.selector, i.variants)}, {c.functions}, {c.differs}"
        for n5, lanes in enumerate(i.lane_bits):
            found[f"{i.opcode} lane bits {n5}"] = f"{_about(lanes.selector, i.variants)}, {lanes.lanes}"
        for n6, r in enumerate(i.recipes):
            key = f"{i.opcode} recipe {n6}"
            found[key] = f"{_about(r.selector, i.variants)}; {r.differs}"
        for n7, p in enumerate(i.hardware):
            units_ = " ".join(p.units)
            found[f"{i.opcode} machine code {n7}"] = f"{_about(p.selector, i.variants)}: {units_} {p.within or ''}"
        for intrinsic in i.intrinsics:
            modifiers, types_, operands = intrinsic.form
            key = f"{i.opcode} intrinsic {'.'.join([*sorted(modifiers), *types_])}/{operands}"
            called = ": ".join(filter(None, [intrinsic.target, intrinsic.call]))
            found[key] = "; ".join(filter(None, [found.get(key), called]))
        acting = {m: " ".join(f) for m, f in i.acts_on.items()}
        if acting:
            found[f"{i.opcode} acts on"] = str(acting)
    return found


def forms(spec: Spec) -> dict[str, str]:
    """What ptxas takes of an opcode beside its variants; the sweeps ask it."""
    found = {}
    for i in spec.instructions.values():
        found[f"{i.opcode} elsewhere"] = " ".join(".".join(e) for e in i.elsewhere or ())
        found[f"{i.opcode} empty types"] = " ".join(i.empty_types)
        found[f"{i.opcode} other modifiers"] = " ".join(i.other_modifiers)
        for n, r in enumerate(i.operand_rules):
            rules = [f"{t}: {' '.join(x)}" for m in (r.registers, r.constants) for t, x in m.items()]
            found[f"{i.opcode} operands {n}"] = f"{_about(r.selector, i.variants)}; {'; '.join(rules)}"
        for n, t in enumerate(i.tolerated):
            found[f"{i.opcode} tolerated {n}"] = f"{t.text} {'crash' * t.crash} {len(t.forms)}"
        for n, m in enumerate(i.means):
            found[f"{i.opcode} means {n}"] = f"{_about(m.selector, i.variants)}: {' '.join(m.modifiers)}"
    return found


def assembler(spec: Spec) -> dict[str, str]:
    return {name: str(value) for name, value in vars(spec.assembler).items() if not name.startswith("_")}


def functions(spec: Spec) -> dict[str, str]:
    """What functions of other languages are made of."""
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


def _proof(h: HazardRule) -> str:
    p = h.proof
    shown = f"drops {sorted(p.drops)} adds {sorted(p.adds)} holds {p.holds} lacks {p.lacks} folds {p.folds} {p.unknown}"
    return f"on {h.hazard.first or 'all'} to {h.hazard.last or 'all'} {h.hazard.on}, {shown}"


def _beginning(n: Note, before: dict[str, str], opcode: str) -> str:
    text = n.text[:60].strip()
    return text if f"{opcode}: {text}" not in before else f"{text} ({len(before)})"


def _about(selector: Selector, variants: tuple[Variant, ...]) -> str:
    return _some([f"{v.spelling}/{v.operands}" for v in variants if selector.matches(v)])


def _some(own: list[str]) -> str:
    own = sorted(own)
    return f"{len(own)}: " + ", ".join(dict.fromkeys(own[k] for k in (0, len(own) // 2, -1))) if own else "0"


TABLES = {
    f.__name__: f
    for f in (
        types,
        registers,
        words,
        products,
        naming,
        releases,
        targets,
        published,
        units,
        notes,
        forms,
        assembler,
        functions,
        requirements,
    )
}


@pytest.mark.parametrize("table", TABLES)
def test_what_is_noted_twice_is_the_same(table: str) -> None:
    got, noted = TABLES[table](SPEC), NOTED[table]
    assert sorted(got) == sorted(noted)
    assert {k: (got[k], noted[k]) for k in got if " ".join(got[k].split()) != noted[k]} == {}


if __name__ == "__main__":
    print("# What spec/ says too, by other keys: test_noted_twice.py reads it, and writes it as a program.")
    print(
        yaml.safe_dump(
            {t: {k: " ".join(v.split()) for k, v in sorted(f(SPEC).items())} for t, f in TABLES.items()},
            width=120,
            sort_keys=False,
            allow_unicode=True,
        )
    )

"""The facts that were chosen here or observed in ptxas alone: nothing else may tell that a mutant of them is wrong."""

from __future__ import annotations

from collections import defaultdict

from ptxspec.model import Spec
from ptxspec.model.hazards import HazardRule
from spec.test_noted_twice import about, paragraphs


def products(spec: Spec) -> dict[str, str]:
    found = defaultdict(list)
    for p in spec.naming.products:
        found[p.name].append(p.target)
    for name, others in spec.naming.architectures.items():
        found[name] += others
    return {name: " ".join(targets) for name, targets in found.items()}


def published(spec: Spec) -> dict[str, str]:
    return {
        f"{r.variant} on {target}": f"{name}: {r.results} {r.unit or 'no unit'}"
        for name, p in spec.published.items()
        for r in p.reports
        for target in r.targets
    }


def other_notes(spec: Spec) -> dict[str, str]:
    return paragraphs(spec, paged=False)


def ours(spec: Spec) -> dict[str, str]:
    """Return the facts about variants that we observed in ptxas and wrote ourselves."""
    found: dict[str, str] = {}
    for i in spec.instructions.values():
        for n, h in enumerate(i.hazards):
            found[f"{i.opcode} hazard {n}"] = f"{about(h.selector, i.variants)} {_proof(h)}"
        for n, f in enumerate(i.folding):
            found[f"{i.opcode} folding {n}"] = about(f.selector, i.variants)
        for n, a in enumerate(i.accuracy):
            found[f"{i.opcode} accuracy {n}"] = f"{about(a.selector, i.variants)}, exceeded: {a.exceeded}"
        for n, c in enumerate(i.compared):
            found[f"{i.opcode} compared {n}"] = f"{about(c.selector, i.variants)}, {c.functions}, {c.differs}"
        for n, r in enumerate(i.recipes):
            found[f"{i.opcode} recipe {n}"] = f"{about(r.selector, i.variants)}; {r.differs}"
        for n, p in enumerate(i.hardware):
            units = " ".join(p.units)
            found[f"{i.opcode} machine code {n}"] = f"{about(p.selector, i.variants)}: {units} {p.within or ''}"
    return found


def forms(spec: Spec) -> dict[str, str]:
    """Return the forms of an opcode that ptxas takes beside its variants; the sweeps ask it about them."""
    found = {}
    for i in spec.instructions.values():
        found[f"{i.opcode} empty types"] = " ".join(i.empty_types)
        found[f"{i.opcode} other modifiers"] = " ".join(i.other_modifiers)
        if i.vectors_elsewhere:
            found[f"{i.opcode} vectors"] = "elsewhere"
        for n, r in enumerate(i.operand_rules):
            rules = [f"{t}: {' '.join(x)}" for m in (r.registers, r.constants) for t, x in m.items()]
            found[f"{i.opcode} operands {n}"] = f"{about(r.selector, i.variants)}; {'; '.join(rules)}"
        for n, t in enumerate(i.tolerated):
            found[f"{i.opcode} tolerated {n}"] = f"{t.text} {'crash' * t.crash} {len(t.forms)}"
    return found


def assembler(spec: Spec) -> dict[str, str]:
    return {
        name: str(value)
        for name, value in vars(spec.assembler).items()
        if not name.startswith("_") and name != "target_options"
    }


def _proof(h: HazardRule) -> str:
    p = h.proof
    shown = f"drops {sorted(p.drops)} adds {sorted(p.adds)} holds {p.holds} lacks {p.lacks} folds {p.folds} {p.unknown}"
    return f"on {h.hazard.first or 'all'} to {h.hazard.last or 'all'} {h.hazard.on}, {shown}"


TABLES = (products, published, other_notes, ours, forms, assembler)


def differing(spec: Spec, original: Spec) -> str:
    """The first table that is another one."""
    return next((t.__name__ for t in TABLES if t(spec) != t(original)), "")

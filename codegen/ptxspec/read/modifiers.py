"""spec/modifiers.yaml -> modifiers, their groups, and those that targets imply."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from ..diagnostics import SpecError
from ..model import Code, FixedPoint, Format, Implied, Modifier, NanRule
from ..semantics.resolve import Meanings, assigned_in, names_read, resolve
from .context import Context, words
from .positioned import Document


def read_modifiers(doc: Document, context: Context, formats: Mapping[str, Format | FixedPoint]) -> dict[str, Modifier]:
    return {name: _modifier(doc, context, name, m, formats) for name, m in doc.data["modifiers"].items()}


def _modifier(
    doc: Document, context: Context, name: str, m: dict[str, Any], formats: Mapping[str, Format | FixedPoint]
) -> Modifier:
    where = ("modifiers", name)
    if name in context.types or name in formats:
        context.errors.append(doc.error(where, f"'{name}' is the name of a type", key=True))
    context.free(doc, where, name)
    round_, changes = m.get("round", {}), m.get("changes", {})
    return Modifier(
        name=name,
        summary=words(m["summary"]),
        basis=context.basis(doc, where, m),
        mode=round_.get("mode"),
        ftz=bool(round_.get("ftz", False)),
        approximate=bool(m.get("approximate", False)),
        raw=context.code(doc, (*where, "raw"), m.get("raw")),
        operand=context.code(doc, (*where, "operand"), m.get("operand")),
        result=context.code(doc, (*where, "result"), m.get("result")),
        override=context.code(doc, (*where, "override"), m.get("override")),
        round_place=f"{doc.name}:{doc.keys[*where, 'round'].line}" if round_ else "",
        changed_operands=tuple(changes.get("operands", ())),
        changed_results=tuple(changes.get("results", ())),
    )


def read_groups(doc: Document, context: Context, choice: Mapping[str, object], what: str) -> dict[str, tuple[str, ...]]:
    """Return the groups of modifiers, or of types."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, names in doc.data.get("groups", {}).items():
        where = ("groups", name)
        # A member that is unknown is reported here, and not again wherever the group is used.
        members = [n for i, n in enumerate(names) if context.known(doc, (*where, i), n, choice, what)]
        if name in context.modifiers or name in context.types or name in context.groups:
            context.errors.append(doc.error(where, f"'{name}' is a modifier, a type or another group too", key=True))
        context.free(doc, where, name)
        groups[name] = tuple(members)
    return groups


def read_implied(doc: Document, context: Context) -> tuple[Implied, ...]:
    found = []
    for i, m in enumerate(doc.data.get("implied", [])):
        where = ("implied", i)
        known = context.known(doc, (*where, "modifier"), m["modifier"], context.modifiers, "modifier")
        within = context.within(doc, (*where, "within"), m["within"])
        selector = context.selector(doc, (*where, "for"), m["for"], "")
        if within and known:
            found.append(Implied(m["modifier"], selector, within, m["section"]))
    return tuple(found)


def check_stages(context: Context, meanings: Meanings, rules: Mapping[str, NanRule]) -> None:
    """Report errors in the code around bodies that do not depend on the body."""
    for rule in rules.values():
        _stage(context, meanings, rule.code, {"d"})
    for m in context.modifiers.values():
        # `override` sees what `raw` assigned, and d as the stages between have changed it.
        seen = assigned_in(m.raw) if m.raw else frozenset[str]()
        _stage(context, meanings, m.raw, names_read(m.override) - {"d"} if m.override else frozenset())
        _stage(context, meanings, m.operand, {"x"})
        _stage(context, meanings, m.result, {"d"})
        _stage(context, meanings, m.override, {"d"}, seen)


def _stage(
    context: Context, meanings: Meanings, code: Code | None, used: Set[str], seen: frozenset[str] = frozenset()
) -> None:
    """Check code that acts around a body. Only its assignments to the names `used` have an effect."""
    if code is None:
        return
    try:
        resolve(code, meanings, seen)
    except SpecError as e:
        context.errors += e.diagnostics
        return
    if assigned_in(code).isdisjoint(used):
        help = f"assign {' or '.join(sorted(used))}" if used else "no `override` reads what it assigns"
        context.errors.append(code.error(code.start, "this stage assigns nothing that is used", help))

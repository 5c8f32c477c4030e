"""The changes between two states of generated/data, in terms of variants."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

# The other parts of an opcode's file, besides its variants, in words.
_REST = {
    "semantics": "semantics", "hardware": "semantics on some targets", "corner_cases": "tables", "accuracy": "accuracy",
    "recipes": "recipes", "missing": "recipes", "none": "recipes",
}  # fmt: skip


class _Variant(NamedTuple):
    requires: Mapping[str, Any]
    manual: Mapping[str, Any] | None
    claim: str
    program: str


def told(opcode: str, before: str, after: str) -> list[str]:
    """Return the changes in an opcode's file, one per line. A missing file is an empty text."""
    try:
        return _told(opcode, *(json.loads(text) if text else None for text in (before, after)))
    except (ValueError, LookupError, TypeError):  # another version wrote it, or somebody edited it
        return [f"{opcode}: made anew"]


def _told(opcode: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> list[str]:
    if old is None or new is None:
        count = sum(len(data["variants"]) for data in (old, new) if data)
        return [f"{opcode}: {'new' if new else 'gone'}, {_counted(count, 'variant')}"]
    earlier, later = _variants(old), _variants(new)
    lines = [_of(opcode, later.keys() - earlier.keys(), "new"), _of(opcode, earlier.keys() - later.keys(), "gone")]
    changed: dict[str, list[str]] = {}
    for v in later:
        for what in _differences(earlier[v], later[v]) if v in earlier else ():
            changed.setdefault(what, []).append(v)
    lines += [_of(opcode, variants, what) for what, variants in changed.items()]
    lines = [line for line in lines if line]
    if not lines:
        parts = dict.fromkeys(_REST.get(key, "text") for key in new if new[key] != old.get(key))
        lines = [f"{opcode}: {' and '.join(parts) or 'layout of the file'}"]
    return lines


def _variants(data: Mapping[str, Any]) -> dict[str, _Variant]:
    """Return the variants by modifiers, types and number of operands."""
    requirements, found = data["requirements"], {}
    for names, signature, known, *program in data["variants"]:
        _, requires, claim, *more = data["classes"][known]
        manual = (more[0] if more else {}).get("manual", requires)
        key = f"{names} {len(data['signatures'][signature][2])}"
        found[key] = _Variant(
            requirements[requires], None if manual is None else requirements[manual],
            data["claims"][claim][0], program[0] if program else "",
        )  # fmt: skip
    return found


def _differences(old: _Variant, new: _Variant) -> Iterator[str]:
    if old.requires != new.requires:
        yield _arrows(old.requires, new.requires)
    elif old.manual != new.manual:
        yield "what the manual says it needs"
    if old.program and old.program != new.program:
        yield "semantics"
    if old.claim != new.claim:
        yield f"{old.claim} -> {new.claim}"


def _arrows(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return a variant's requirement before and after, on each axis that differs."""
    axes = {"ptx": "PTX {}", "target": "{}", "until": "until PTX {}"}
    differ = [axis for axis in axes if old[axis] != new[axis]]
    said = [f"{axes[axis].format(old[axis] or 'any')} -> {new[axis] or 'any'}" for axis in differ]
    return ", ".join(said) or "what it needs on some targets"


def _of(opcode: str, variants: Collection[str], what: str) -> str:
    if not variants:
        return ""
    if len(variants) == 1:
        (only,) = variants
        return f"{opcode}.{only.partition(' ')[0]}: {what}"
    return f"{_counted(len(variants), 'variant')} of {opcode}: {what}"


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"

"""Conditions on variants for `list --where`, such as "type=bf16 and target=sm_90 and not target=sm_80"."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from ..diagnostics import PtxspecError, unknown
from .database import Database, Variant

Condition = Callable[[Variant], bool]

_TERM = re.compile(r"(?P<key>[\w-]+)\s*=\s*(?:'(?P<quoted>[^']*)'|(?P<value>[\w.:]+))")
_EXAMPLE = 'as in "type=bf16 and target=sm_90 and not target=sm_80"'
_NESTED = 200


def where(db: Database, text: str, ptx: str | None = None) -> Condition:
    """Return the condition that a text states. A target has a variant if it supports it in the given PTX version, or in
    any without one.

    Raises PtxspecError for a text that is no condition, and for an unknown key or value."""
    terms: list[Condition] = []

    def named(m: re.Match[str]) -> str:
        terms.append(_term(db, m["key"], m["value"] if m["quoted"] is None else m["quoted"], ptx))
        return f" _{len(terms) - 1} "

    rest = _TERM.sub(named, text)
    if wrong := re.search(r"[^\s()\w]", rest):
        raise PtxspecError(
            f"--where: unexpected '{wrong[0]}'; a condition has key=value, and, or, not and parentheses, {_EXAMPLE}"
        )
    try:
        # The words have the same precedence as in Python.
        tree = ast.parse(" ".join(rest.split()), mode="eval").body
        return _read(tree, terms, _NESTED)
    except (SyntaxError, RecursionError, MemoryError):
        raise PtxspecError(f"--where: '{text}' is not a valid condition; write one {_EXAMPLE}") from None


def _read(tree: ast.expr, terms: list[Condition], deep: int) -> Condition:
    if not deep:
        raise RecursionError
    if isinstance(tree, ast.BoolOp):
        of = any if isinstance(tree.op, ast.Or) else all
        parts = [_read(part, terms, deep - 1) for part in tree.values]
        return lambda v: of(part(v) for part in parts)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        negated = _read(tree.operand, terms, deep - 1)
        return lambda v: not negated(v)
    if isinstance(tree, ast.Name) and re.fullmatch(r"_\d+", tree.id) and int(tree.id[1:]) < len(terms):
        return terms[int(tree.id[1:])]
    word = tree.id if isinstance(tree, ast.Name) else ast.unparse(tree)
    raise PtxspecError(f"--where: '{word}' does not have the form key=value, {_EXAMPLE}")


def _term(db: Database, key: str, value: str, ptx: str | None) -> Condition:
    """Return the condition that a key has a value."""
    value = value.lstrip(".")
    if key == "target":
        target = db.target(value)
        return lambda v: db.takes(v, target, ptx)
    if key == "operands":
        if not value.isdecimal():
            raise PtxspecError(f"--where: operands={value}: expected a number, as in operands=2")
        return lambda v: v.operands == int(value)
    values, has = {
        "opcode": (db.opcodes, lambda v: v.opcode == value),
        "type": (db.types, lambda v: value in v.types),
        "result": (db.types, lambda v: v.result == value),
        "modifier": (db.modifiers, lambda v: value in v.modifiers),
        "claim": ({v.claim: "" for v in db.variants}, lambda v: v.claim == value),
        "hazard": (("yes", "no"), lambda v: bool(v.hazards) == (value == "yes")),
    }.get(key, ((), None))
    if has is None:
        if key == "ptx":
            raise PtxspecError(f"--where: a condition has no PTX version; use the option --ptx {value}")
        keys = ("target", "type", "result", "opcode", "modifier", "operands", "claim", "hazard")
        raise PtxspecError(f"--where: {unknown('key', key, keys)}")
    if value not in values:
        raise PtxspecError(f"--where: {unknown(key, value, values)}")
    return has

"""Similar names: the known name that is meant by an unknown one."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable

# PTX's own exponential and logarithm are those of base two.
_MATHEMATICS = frozenset(dir(math)) - {"exp2", "log2"}


def nearest(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Return the known names most like `name`, the best first; empty if there is none. A mere number is like no
    name."""
    if name.isdigit():
        return []
    import difflib  # most commands are given known names only

    folded: dict[str, str] = {}
    for k in known:
        folded.setdefault(k.lower(), k)
    name = name.lower()

    def likeness(k: str) -> tuple[float, int]:
        # Of two names that are equally similar, the one with the same beginning is better: sm_53 for sm_54, not sm_75.
        same_start = next((i for i, (x, y) in enumerate(zip(k, name, strict=False)) if x != y), min(len(k), len(name)))
        return difflib.SequenceMatcher(None, k, name).ratio(), same_start

    matches = difflib.get_close_matches(name, folded, n=max(1, len(folded)), cutoff=0.6)
    return [folded[m] for m in sorted(matches, key=likeness, reverse=True)[:count]]


def are_near(one: str, other: str) -> bool:
    """Return whether two names differ in one letter, which is wrong, added or missing."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    if len(longer) == len(shorter):
        return len(one) > 2 and sum(a != b for a, b in zip(one, other, strict=True)) == 1
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))


def suggest(name: str, known: Iterable[str], prefix: str = "", otherwise: str = "") -> str:
    """Return help for an unknown name: the nearest known one, or `otherwise`, or the list of known names if it is
    short."""
    known = list(known)
    found = nearest(name, known)
    if found:
        return f"did you mean '{prefix}{found[0]}'?"
    if not otherwise and 0 < len(known) <= 24:
        return "known: " + ", ".join(prefix + k for k in known)
    return otherwise


def known_range(known: Iterable[str]) -> str:
    """Return help for a name that is none of many ordered ones."""
    first, *_, last = known
    return f"known: {first} to {last}"


def in_other_letters(name: str, known: Iterable[str]) -> str:
    """Return the known name that differs from an unknown one in case only; empty if there is none."""
    known = list(known)
    same = [k for k in known if k.lower() == name.lower()] if name not in known else []
    return same[0] if same else ""


def is_other_function(name: str, opcodes: Container[str]) -> bool:
    """Return whether a name is that of a mathematical function, such as exp or coshf. An opcode that is spelled alike
    computes something else."""
    names = {name.lower(), name.lower().removesuffix("f")}
    return not names.isdisjoint(_MATHEMATICS) and not any(n in opcodes for n in names)

"""Names of targets: as ptxas calls them, by their compute capability, or as their GPUs and the architecture are called:
sm_90a, compute_90, 9.0, H100, "RTX 4090", hopper, native."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..catalog import Product
from ..catalog.likeness import known_range, nearest, suggest
from ..diagnostics import PtxspecError
from .database import Database

NATIVE = "native"
_SHOWN = 3


def target(db: Database, text: str) -> str:
    """The target that is meant. Raises PtxspecError where there is none, or more than one."""
    found = targets(db, text)
    if len(found) > 1:
        called = _called(db, text)
        listed = [f"{t} ({names})" if (names := _examples(called.get(t) or _sold(db, t))) else t for t in found]
        raise PtxspecError(f"'{text}' is more than one target: {', '.join(listed)}; name one of them")
    return found[0]


def targets(db: Database, text: str) -> list[str]:
    """Return all targets that may be meant, in their order. Raises PtxspecError where there is none."""
    name = _spelled(text)
    if name in db.targets:
        return [name]
    if text.strip().lower() == NATIVE:
        return native(db)
    found = _called(db, text)
    if not found:
        raise PtxspecError(_unknown(db, text, name))
    return sorted(found, key=lambda t: db.targets[t].order)


def spelled(db: Database, text: str) -> str:
    """A target as a file names it, where no GPU's name will do. Raises PtxspecError."""
    name = _spelled(text)
    if name not in db.targets:
        raise PtxspecError(_unknown(db, text, name))
    return name


def native(db: Database) -> list[str]:
    """The targets of the GPUs that the driver shows. Raises PtxspecError where it shows none."""
    from ..native import capabilities

    found = []
    for major, minor in capabilities():
        name = f"sm_{major}{minor}"
        if name not in db.targets:
            raise PtxspecError(f"the driver shows a GPU of compute capability {major}.{minor}, which is not known here")
        found.append(name)
    return list(dict.fromkeys(found))


def products(db: Database, target: str) -> list[Product]:
    """Return the products of a target, the best known first; an architecture- or family-specific target has those of
    its base."""
    plain = db.catalog.plain(target)
    return [p for p in _products(db) if p.target == plain]


def sold_as(db: Database, target: str, whole: bool) -> str:
    """The products of a target, or a few of them."""
    return ", ".join(_sold(db, target)) if whole else _examples(_sold(db, target))


def meaning(db: Database) -> dict[str, str]:
    """Return what may be said for targets besides their names, in full or short, each with the targets that it
    means."""
    called = [*(p.name for p in _products(db)), *_loosely(db), *(t.architecture for t in db.targets.values())]
    return {name: ", ".join(targets(db, name)) for name in dict.fromkeys(filter(None, called))}


def _sold(db: Database, target: str) -> list[str]:
    return [p.name for p in products(db, target)]


def _examples(names: Sequence[str]) -> str:
    """A few of some names."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _products(db: Database) -> Iterator[Product]:
    return (Product(*row) for row in db.data.get("products", ()))


def _spelled(text: str) -> str:
    match = re.fullmatch(r"(?:sm_|compute_)(\d+[af]?)|(\d+)\.(\d)([af]?)", text.strip(), re.IGNORECASE)
    if match is None:
        return text
    return (f"sm_{match[1]}" if match[1] else f"sm_{match[2]}{match[3]}{match[4]}").lower()


def _unknown(db: Database, text: str, name: str) -> str:
    for maker, pattern in db.data.get("naming", {}).get("foreign", {}).items():
        if re.fullmatch(pattern, " ".join(text.split()), re.IGNORECASE):
            return f"'{text}' is a GPU of {maker}, and no target of PTX, which NVIDIA's GPUs run"
    digits = re.match(r"\s*(?:sm|compute)?_?\d", text, re.IGNORECASE)
    if digits is None:
        architectures = {t.architecture: "" for t in db.targets.values() if t.architecture}
        called = nearest(text, [*(p.name for p in _products(db)), *_loosely(db), *architectures])
        if called:
            return f"unknown target '{text}'; did you mean '{called[0]}'?"
        return f"unknown target '{text}'; `ptxspec targets` lists those that are known, and what their GPUs are called"
    near = suggest(f"sm_{text}" if text[:1].isdigit() else name, db.targets, otherwise=known_range(db.targets))
    return f"unknown target '{text}'; {near}"


def _loosely(db: Database) -> list[str]:
    """The products' names without the words that may be left out."""
    words = _Words.of(db)
    return [" ".join(w for w in p.name.split() if w.lower() not in words.brands) for p in _products(db)]


# Names


class _Words(NamedTuple):
    """Words that may be left out of a name or stand behind it. `editions` is a pattern."""

    brands: frozenset[str]
    series: frozenset[str]
    editions: re.Pattern[str]

    @classmethod
    def of(cls, db: Database) -> _Words:
        naming: Mapping[str, Any] = db.data.get("naming", {})
        brands, series = (frozenset(w.lower() for w in naming.get(kind, ())) for kind in ("brands", "series"))
        return cls(brands, series, re.compile("|".join(naming.get("editions", ())) or r"(?!)", re.IGNORECASE))


def _called(db: Database, text: str) -> Mapping[str, list[str]]:
    """The targets that a name may mean, with the products of that name; of an architecture there are none. What is
    written in full means that alone. The words behind it are left out one by one until something is called so."""
    words, asked = _Words.of(db), _split(text)
    complete, loose = _index(db)
    while asked:
        found = complete.get("".join(asked)) or loose.get("".join(w for w in asked if w not in words.brands))
        if found:
            return found
        if not words.editions.fullmatch(asked[-1]):
            break
        asked = asked[:-1]
    return {}


def _split(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())


_Index = dict[str, dict[str, list[str]]]


@lru_cache(maxsize=1)
def _index(db: Database) -> tuple[_Index, _Index]:
    """The targets by all names written in full, and by those without the words that may be left out."""
    complete, loose, words = _Index(), _Index(), _Words.of(db)
    for t in db.targets.values():
        if t.architecture and not t.base:
            for name in (t.architecture, *db.data["naming"]["architectures"].get(t.architecture, ())):
                complete.setdefault("".join(_split(name)), {})[t.name] = []
    for product in _products(db):
        parts = _split(product.name)
        complete.setdefault("".join(parts), {}).setdefault(product.target, []).append(product.name)
        for short in set(_shortened([w for w in parts if w not in words.brands], words)):
            loose.setdefault(short, {}).setdefault(product.target, []).append(product.name)
    return complete, loose


def _shortened(parts: list[str], words: _Words) -> Iterable[str]:
    """A name without its series, without its edition, and without both."""
    for no_series, no_edition in itertools.product((False, True), repeat=2):
        left = [
            w
            for w in parts
            if not (no_series and w in words.series) and not (no_edition and words.editions.fullmatch(w))
        ]
        if left:
            yield "".join(left)

"""Names of targets: as ptxas calls them, by their compute capability, or as their GPUs and the architecture are called:
sm_90a, compute_90, 9.0, H100, "RTX 4090", hopper."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from . import Catalog, Product
from .likeness import known_range, nearest, suggest

_SHOWN = 3


class UnknownTargetNameError(LookupError):
    """The error for a name that means no target, or more than one."""


class Named:
    """The targets and the names of their GPUs; `data` has `products` and `naming`."""

    def __init__(self, catalog: Catalog, data: Mapping[str, Any]) -> None:
        self.catalog, self.data = catalog, data


def target(named: Named, text: str) -> str:
    """Return the target that a text names. Raises UnknownTargetNameError."""
    return only(named, text, targets(named, text))


def only(named: Named, text: str, found: Sequence[str]) -> str:
    """Return the only target that a name can mean. Raises UnknownTargetNameError if there are several."""
    if len(found) > 1:
        of = called(named, text)
        listed = [f"{t} ({names})" if (names := _examples(of.get(t) or _sold(named, t))) else t for t in found]
        raise UnknownTargetNameError(f"'{text}' means several targets: {', '.join(listed)}; name one of them")
    return found[0]


def targets(named: Named, text: str) -> list[str]:
    """Return all targets that a text can mean, in their order. Raises UnknownTargetNameError if there is none."""
    every, name = named.catalog.targets, _spelled(text)
    if name in every:
        return [name]
    found = called(named, text)
    if not found:
        raise UnknownTargetNameError(_unknown(named, text, name))
    return sorted(found, key=lambda t: every[t].order)


def spelled(named: Named, text: str) -> str:
    """Return a target that a file names, where the name of a GPU is not allowed. Raises UnknownTargetNameError."""
    name = _spelled(text)
    if name not in named.catalog.targets:
        raise UnknownTargetNameError(_unknown(named, text, name))
    return name


def products(named: Named, target: str) -> list[Product]:
    """Return the products of a target, the best known first; an architecture- or family-specific target has those of
    its base."""
    plain = named.catalog.plain(target)
    return [p for p in _products(named) if p.target == plain]


def sold_as(named: Named, target: str, whole: bool) -> str:
    """Return the names of a target's products, or of a few of them."""
    return ", ".join(_sold(named, target)) if whole else _examples(_sold(named, target))


def meaning(named: Named) -> dict[str, str]:
    """Return all other names of targets, in full or short, each with the targets that it means."""
    called = [
        *(p.name for p in _products(named)),
        *_loosely(named),
        *(t.architecture for t in named.catalog.targets.values()),
    ]
    return {name: ", ".join(targets(named, name)) for name in dict.fromkeys(filter(None, called))}


def _sold(named: Named, target: str) -> list[str]:
    return [p.name for p in products(named, target)]


def _examples(names: Sequence[str]) -> str:
    """Return the first few of some names."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _products(named: Named) -> Iterator[Product]:
    return (Product(*row) for row in named.data.get("products", ()))


def _spelled(text: str) -> str:
    match = re.fullmatch(r"(?:sm_|compute_)(\d+[af]?)|(\d+)\.(\d)([af]?)", text.strip(), re.IGNORECASE)
    if match is None:
        return text
    return (f"sm_{match[1]}" if match[1] else f"sm_{match[2]}{match[3]}{match[4]}").lower()


def _unknown(named: Named, text: str, name: str) -> str:
    for maker, pattern in named.data.get("naming", {}).get("foreign", {}).items():
        if re.fullmatch(pattern, " ".join(text.split()), re.IGNORECASE):
            return f"'{text}' is a GPU of {maker}; only NVIDIA's GPUs run PTX"
    digits = re.match(r"\s*(?:sm|compute)?_?\d", text, re.IGNORECASE)
    if digits is None:
        architectures = {t.architecture: "" for t in named.catalog.targets.values() if t.architecture}
        near = nearest(text, [*(p.name for p in _products(named)), *_loosely(named), *architectures])
        if near:
            return f"unknown target '{text}'; did you mean '{near[0]}'?"
        return f"unknown target '{text}'; `ptxspec targets` lists the known targets and GPUs"
    every = named.catalog.targets
    meant = suggest(f"sm_{text}" if text[:1].isdigit() else name, every, otherwise=known_range(every))
    return f"unknown target '{text}'; {meant}"


def _loosely(named: Named) -> list[str]:
    """Return the products' names without the words that can be left out."""
    words = _Words.of(named)
    return [" ".join(w for w in p.name.split() if w.lower() not in words.brands) for p in _products(named)]


# Names


class _Words(NamedTuple):
    """Words that may be left out of a name or follow it. `editions` is a pattern."""

    brands: frozenset[str]
    series: frozenset[str]
    editions: re.Pattern[str]

    @classmethod
    def of(cls, named: Named) -> _Words:
        naming: Mapping[str, Any] = named.data.get("naming", {})
        brands, series = (frozenset(w.lower() for w in naming.get(kind, ())) for kind in ("brands", "series"))
        return cls(brands, series, re.compile("|".join(naming.get("editions", ())) or r"(?!)", re.IGNORECASE))


def called(named: Named, text: str) -> Mapping[str, list[str]]:
    """Return the targets that a name may mean, each with its products of that name; an architecture has none. A full
    name means nothing else. Words at the end are left out one by one until something has that name."""
    words, asked = _Words.of(named), _split(text)
    complete, loose = _index(named)
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
def _index(named: Named) -> tuple[_Index, _Index]:
    """Return the targets by all names written in full, and by those without the words that may be left out."""
    complete, loose, words = _Index(), _Index(), _Words.of(named)
    for t in named.catalog.targets.values():
        if t.architecture and not t.base:
            for name in (t.architecture, *named.data["naming"]["architectures"].get(t.architecture, ())):
                complete.setdefault("".join(_split(name)), {})[t.name] = []
    for product in _products(named):
        parts = _split(product.name)
        complete.setdefault("".join(parts), {}).setdefault(product.target, []).append(product.name)
        for short in set(_shortened([w for w in parts if w not in words.brands], words)):
            loose.setdefault(short, {}).setdefault(product.target, []).append(product.name)
    return complete, loose


def _shortened(parts: list[str], words: _Words) -> Iterable[str]:
    """Yield a name without its series, without its edition, and without both."""
    for no_series, no_edition in itertools.product((False, True), repeat=2):
        left = [
            w
            for w in parts
            if not (no_series and w in words.series) and not (no_edition and words.editions.fullmatch(w))
        ]
        if left:
            yield "".join(left)

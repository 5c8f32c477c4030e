"""The catalogue: targets, PTX versions and requirements, and the one decision whether a target supports a variant.

known.py       what exists, by its names: opcodes with their variants, types and modifiers
outside.py     the opcodes of PTX that are not among these, and what they need
special.py     the special registers
explaining.py  why an instruction does not exist or is not available, and what to write
likeness.py    the known name that is meant by an unknown one
names.py       names of targets

Queries begin here, and ptxemu has a copy of this folder: it imports the standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")


class ByName(dict[str, T]):
    """A dictionary of things by their names, whose representation is one line."""

    def __repr__(self) -> str:
        return f"<{len(self)} by name: {named(self)}>"


def named(names: Iterable[str]) -> str:
    """Return the first and the last of some names."""
    first, *rest = names = list(names) or [""]
    return " to ".join([first, *rest[-1:]])


class Target(NamedTuple):
    """A target. `order` is the place by which requirements compare; `ptx` is the first PTX version that knows the
    target. An architecture- or family-specific target has a `base`, and may have a `family`, which has the name of its
    oldest family-specific target. `nvcc` compiles for it.

    `cuda` is the first CUDA release that knows it, and `gone` the first that no longer compiles for it; empty if that
    is unknown or did not happen. `architecture` is NVIDIA's name for it."""

    name: str
    order: int
    ptx: str
    base: str = ""
    kind: str = ""
    family: str = ""
    nvcc: bool = False
    cuda: str = ""
    gone: str = ""
    architecture: str = ""

    @property
    def capability(self) -> str:
        """The compute capability: "9.0" for sm_90a."""
        digits = self.name.removeprefix("sm_").rstrip("af")
        return f"{digits[:-1]}.{digits[-1]}"


class PtxVersion(NamedTuple):
    """A PTX version. `cuda` is the release that brought it, empty if none did. `listed` is the release in NVIDIA's
    table if that one never existed. `linux` and `windows` are the oldest drivers that read the version, if `source` has
    them."""

    version: str
    order: int
    cuda: str = ""
    listed: str = ""
    linux: str = ""
    windows: str = ""
    source: str = ""

    def __str__(self) -> str:
        return f"{self.version} (CUDA {self.cuda})" if self.cuda else self.version


class Product(NamedTuple):
    """A name under which GPUs of a target are sold, with its source."""

    name: str
    target: str
    source: str


class Limit(NamedTuple):
    """A requirement that holds on some targets only: those from `first` to `last` in target order."""

    first: str
    last: str
    ptx: str | None
    until: str | None

    def text(self, newest: str) -> str:
        """ "from sm_20 on until PTX 3.1", without a comma. `newest` is the newest target."""
        versions = [f"since PTX {self.ptx}"] * bool(self.ptx) + [f"until PTX {self.until}"] * bool(self.until)
        return " ".join([targets_text(self.first, self.last, newest), *versions])


class Requirement(NamedTuple):
    """The lowest PTX version and target that support a variant, and the last PTX version that does.

    If `on` is given, only the targets in it support the variant, each from its own PTX version on; `target` is then the
    oldest of them, and `ptx` the lowest of their versions."""

    ptx: str
    target: str
    until: str | None = None
    within: tuple[Limit, ...] = ()
    on: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the requirement as a dictionary, as in the commands' JSON."""
        found: dict[str, Any] = {"ptx": self.ptx, "until": self.until, "target": self.target}
        if self.within:
            found["within"] = [limit._asdict() for limit in self.within]
        if self.on:
            found["on"] = [{"target": target, "ptx": ptx} for target, ptx in self.on]
        return found


class Hazard(NamedTuple):
    """A hazard: what the machine code of a variant does instead of what the variant says. It holds on the targets from
    `first` to `last`, on those of `on` from their PTX versions on, or if neither is given on all that support the
    variant."""

    text: str
    first: str = ""
    last: str = ""
    on: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"text": self.text}
        if self.first:
            found |= {"first": self.first, "last": self.last}
        if self.on:
            found["on"] = [{"target": target, "ptx": ptx} for target, ptx in self.on]
        return found


class Refusal(NamedTuple):
    """A reason why a variant is not available: a code of queries and lint, and the PTX version, target or targets that
    are the bound."""

    code: str
    bound: str


def targets_text(first: str, last: str, newest: str) -> str:
    """Return a range of targets in words. One that ends with the newest target includes those to come."""
    if first == last:
        return f"on {first}"
    return f"from {first} on" if last == newest else f"from {first} to {last}"


def requirement_of(data: Mapping[str, Any]) -> Requirement:
    """Return the requirement that `Requirement.as_json` wrote."""
    within = tuple(Limit(w["first"], w["last"], w["ptx"], w["until"]) for w in data.get("within", ()))
    on = tuple((o["target"], o["ptx"]) for o in data.get("on", ()))
    return Requirement(data["ptx"], data["target"], data["until"], within, on)


def hazard_of(data: Mapping[str, Any]) -> Hazard:
    """Return the hazard that `Hazard.as_json` wrote."""
    on = tuple((o["target"], o["ptx"]) for o in data.get("on", ()))
    return Hazard(data["text"], data.get("first", ""), data.get("last", ""), on)


class Hazardous(Protocol):
    """A variant with its hazards, if any are known."""

    @property
    def requires(self) -> Requirement: ...
    @property
    def hazards(self) -> tuple[Hazard, ...]: ...


class Catalog:
    """All targets and PTX versions in their order, and what a requirement means among them."""

    def __init__(self, targets: Iterable[Target], versions: Iterable[PtxVersion]) -> None:
        self.targets = ByName({t.name: t for t in targets})
        self.versions = ByName({v.version: v for v in versions})
        self._taken: dict[tuple[Requirement, str | None, str | None], bool] = {}
        self._current: dict[Requirement, bool] = {}

    @property
    def newest_target(self) -> str:
        return next(reversed(self.targets))

    @property
    def newest_version(self) -> str:
        return next(reversed(self.versions))

    def refusals(self, r: Requirement, target: str | None = None, ptx: str | None = None) -> list[Refusal]:
        """Return why a target does not support a variant in a PTX version; empty if it does. If one of the two is None,
        some target or some version must support it."""
        order = self._order
        floor, until = self.window(r, target)
        found = []
        if target is not None:
            if r.on and all(target != t for t, _ in r.on):
                found.append(Refusal("target-specific", " or ".join(self.siblings(r, target)) or self.on_text(r)))
            elif self.targets[target].order < self.targets[r.target].order:
                found.append(Refusal("target-too-old", r.target))
            if until is not None and order(until) < max(order(self.targets[target].ptx), order(floor)):
                found.append(Refusal("target-too-new", until))
        if ptx is not None:
            if order(ptx) < order(floor):
                # An older version than the target's own would not do.
                own = floor if target is None else max(floor, self.targets[target].ptx, key=order)
                found.append(Refusal("ptx-too-old", own))
            if until is not None and order(ptx) > order(until):
                found.append(Refusal("ptx-too-new", until))
            if target is not None and not self.knows(target, ptx):
                found.append(Refusal("target-unknown", self.targets[target].ptx))
            if target is None and not found and not any(self.takes(r, t, ptx) for t in self.targets):
                found.append(Refusal("target-too-old", r.target))
        return found

    def hazards(self, v: Hazardous, target: str | None = None, ptx: str | None = None) -> list[Hazard]:
        """Return the hazards of a variant that hold on a target in a PTX version; if no target is named, all of
        them."""
        return [h for h in v.hazards if target is None or self._holds(h, target, ptx)]

    def hazard_text(self, v: Hazardous, target: str | None = None, ptx: str | None = None) -> str | None:
        """Return what the machine code of a variant does instead, on a target or on any; None if it does what the
        variant says."""
        said = [self._where(h, target) + h.text for h in self.hazards(v, target, ptx)]
        return " ".join(said) or None

    def is_safe(self, v: Hazardous, target: str | None = None, ptx: str | None = None) -> bool:
        """Return whether the machine code of a variant does there what the variant says, so that it may be recommended.
        If no target is named, the newest that supports the variant decides."""
        if target is None and v.hazards:
            target = next((t for t in reversed(self.targets) if self.takes(v.requires, t, ptx)), None)
        return not self.hazards(v, target, ptx)

    def _holds(self, h: Hazard, target: str, ptx: str | None) -> bool:
        if h.on and all(t != target or (ptx and self._order(ptx) < self._order(floor)) for t, floor in h.on):
            return False
        if not h.first:
            return True
        first, here, last = (self.targets[t].order for t in (h.first, target, h.last))
        return first <= here <= last

    def _where(self, h: Hazard, target: str | None) -> str:
        """Return where a hazard holds, as the beginning of a sentence for somebody who named no target."""
        if target is not None or not (h.first or h.on):
            return ""
        names = ", ".join(t for t, _ in h.on)
        where = f"on {names}" if h.on else targets_text(h.first, h.last, self.newest_target)
        return f"{where[0].upper()}{where[1:]}: "

    def plain(self, target: str | None) -> str | None:
        """Return a target without its kind, as GPUs are named: sm_90 of sm_90a."""
        return target and (self.targets[target].base or target)

    def own_kind(self, target: str, ptx: str) -> str:
        """Return the target to compile for if only `target` needs to run the code: its architecture-specific target, if
        that PTX version knows one."""
        own = (t.name for t in self.targets.values() if t.base == target and t.kind == "architecture")
        return next((t for t in own if self.knows(t, ptx)), target)

    def takes(self, r: Requirement, target: str | None = None, ptx: str | None = None) -> bool:
        """Return whether a requirement is met: `refusals` finds nothing. Answers are cached."""
        key = (r, target, ptx)
        found = self._taken.get(key)
        if found is None:
            found = self._taken[key] = not self.refusals(r, target, ptx)
        return found

    def knows(self, target: str | None, ptx: str | None) -> bool:
        """Return whether a PTX version knows a target; true if one of the two is None."""
        return target is None or ptx is None or self._order(ptx) >= self._order(self.targets[target].ptx)

    def window(self, r: Requirement, target: str | None) -> tuple[str, str | None]:
        """Return the first and the last PTX version that a requirement allows on a target; without a last one, all from
        the first on."""
        floor, until = next((ptx for t, ptx in r.on if t == target), r.ptx), r.until
        for limit in r.within if target is not None else ():
            first, here, last = (self.targets[t].order for t in (limit.first, target or "", limit.last))
            if first <= here <= last:
                floor = max(floor, limit.ptx or floor, key=self._order)
                until = min(until or limit.until, limit.until, key=self._order) if limit.until else until
        return floor, until

    def here(self, r: Requirement, target: str) -> Requirement:
        """Return a requirement as it is on one target, which meets it."""
        floor, until = self.window(r, target)
        return Requirement(max(floor, self.targets[target].ptx, key=self._order), target, until)

    def told(self, r: Requirement, target: str | None) -> Requirement:
        """Return what to say of a requirement to somebody who names a target: the requirement on that target, or the
        general one if no target is named or another one is needed."""
        return self.here(r, target) if target is not None and self.takes(r, target) else r

    def together(self, requirements: Iterable[Requirement]) -> Requirement | None:
        """Return the requirement that combines several; None if no target and PTX version meet it."""
        every = list(dict.fromkeys(requirements))
        targets = self.targets
        ptx = max((r.ptx for r in every), key=self._order)
        target = max((r.target for r in every), key=lambda t: targets[t].order)
        until = min((r.until for r in every if r.until), key=self._order, default=None)
        within = tuple(dict.fromkeys(limit for r in every for limit in r.within))
        on: tuple[tuple[str, str], ...] = ()
        if any(r.on for r in every):
            here = [t for t in targets if all(self.takes(r, t) for r in every)]
            on = tuple((t, max((self.window(r, t)[0] for r in every), key=self._order)) for t in here)
            target, ptx = (on[0][0], min((p for _, p in on), key=self._order)) if on else (target, ptx)
        found = Requirement(ptx, target, until, within, on)
        # The newest support most: one of them answers at once.
        some = (self.takes(found, t, v) for t in reversed(targets) for v in reversed(self.versions))
        return found if any(some) else None

    def is_current(self, r: Requirement) -> bool:
        """Return whether the newest PTX version supports a variant on some target that nvcc compiles for."""
        if r not in self._current:
            newest = self.newest_version
            self._current[r] = any(t.nvcc and self.takes(r, t.name, newest) for t in self.targets.values())
        return self._current[r]

    def first_version(self, r: Requirement) -> str:
        """Return the first PTX version that has a variant: it must also know the target that the variant needs."""
        # The versions of `on` know their targets.
        return r.ptx if r.on else max(r.ptx, self.targets[r.target].ptx, key=self._order)

    def runs(self, r: Requirement) -> list[tuple[str, str]]:
        """Return the targets that support a variant in some PTX version, each run of them as its first and its last."""
        found: list[tuple[str, str]] = []
        before = None
        for t in self.targets:
            if self.takes(r, t):
                found = [*found[:-1], (found[-1][0], t)] if found and found[-1][1] == before else [*found, (t, t)]
            before = t
        return found

    def family(self, name: str) -> list[Target]:
        """Return the targets that run code for a family-specific target: itself, and every architecture- or
        family-specific target of its family that is not older."""
        base = self.targets[name].base
        own = (t for t in self.targets.values() if t.family and t.family == self.targets[name].family)
        return [t for t in own if self.targets[t.base].order >= self.targets[base].order]

    def text(self, r: Requirement) -> str:
        """Return a requirement in a few words: "sm_80, PTX 7.0 to 8.2", or "sm_100a from PTX 8.6; sm_100f family from
        PTX 8.8"."""
        if r.on:
            parts = [self.on_text(r), *[f"until PTX {r.until}"] * bool(r.until)]
        else:
            parts = [f"{r.target}, PTX {r.ptx}" + (f" to {r.until}" if r.until else "")]
        return "; ".join([*parts, *(limit.text(self.newest_target) for limit in r.within)])

    def on_text(self, r: Requirement) -> str:
        """Return the targets of `on` in a few words, with what a family has in common said once."""
        floors, families, said = dict(r.on), dict[str, list[str]](), set[str]()
        for name, ptx in r.on:
            if name in said or self.targets[name].kind != "family":
                continue
            members = {t.name: max(ptx, t.ptx, key=self._order) for t in self.family(name)}
            # A member may have it sooner by itself, as sm_100a has what came to its family later.
            if all(m in floors and self._order(floors[m]) <= self._order(v) for m, v in members.items()):
                families.setdefault(ptx, []).append(name)
                said |= {m for m, v in members.items() if floors[m] == v}
        alone = dict[str, list[str]]()
        for name, ptx in r.on:
            if name not in said:
                alone.setdefault(ptx, []).append(name)
        found = []
        for ptx in sorted({*alone, *families}, key=self._order):
            if ptx in alone:
                found.append(f"{', '.join(alone[ptx])} from PTX {ptx}")
            if ptx in families:
                word = "families" if len(families[ptx]) > 1 else "family"
                found.append(f"{', '.join(families[ptx])} {word} from PTX {ptx}")
        return "; ".join(found)

    def siblings(self, r: Requirement, target: str, ptx: str | None = None) -> list[str]:
        """Return the targets of a target's base that support a variant which only few targets support."""
        base = self.targets[target].base or target
        return [t for t, _ in r.on if base in (t, self.targets[t].base) and self.takes(r, t, ptx)]

    def _order(self, version: str) -> int:
        return self.versions[version].order

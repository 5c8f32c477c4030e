"""The database as programs ask it: what exists, on which target, from which PTX version on.

It reads generated/data, an opcode's file when that opcode is asked about, and imports nothing but the standard library:
a query starts quickly, however many opcodes there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from ..catalog import Catalog, Hazard, PtxVersion, Requirement, Target, hazard_of, requirement_of
from ..check.claims import basis_text, bound
from ..diagnostics import PtxspecError, known_range, unknown
from ..ptx.elsewhere import is_elsewhere
from .recording import Recording
from .variant import Source, Variant

__all__ = ["SCHEMA", "Data", "Database", "Opcode", "Opened", "Source", "Variant", "names_of"]

SCHEMA = 9


class Data(NamedTuple):
    """The content of generated/data: ptxspec.json, and the files of the opcodes by their names."""

    shared: Mapping[str, Any]
    opcodes: Mapping[str, Mapping[str, Any]]


class Opcode:
    """An opcode; `data` is what its file says, and is read when it is first asked for."""

    def __init__(self, name: str, summary: str, read: Callable[[], Opened]) -> None:
        self.name = name
        self.summary = summary
        self._read = read

    def __repr__(self) -> str:
        return f"<Opcode {self.name}: {self.summary}>"

    @cached_property
    def _opened(self) -> Opened:
        return self._read()

    @property
    def data(self) -> Mapping[str, Any]:
        return self._opened.data

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self._opened.variants

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All modifiers and types of its variants, in the order in which they first stand."""
        return names_of(self.variants)

    @cached_property
    def by_types(self) -> dict[tuple[str, ...], list[Variant]]:
        """Its variants by the sequences of types that their spellings end in."""
        found: dict[tuple[str, ...], list[Variant]] = {}
        for v in self.variants:
            found.setdefault(v.types, []).append(v)
        return found

    @cached_property
    def types(self) -> tuple[tuple[str, ...], ...]:
        """The sequences of types that its spellings end in."""
        return tuple(self.by_types)

    @cached_property
    def names_by_types(self) -> dict[tuple[str, ...], frozenset[str]]:
        """The modifiers and types of the variants that end in each of these sequences."""
        return {types: frozenset(n for v in of for n in v.names) for types, of in self.by_types.items()}

    @cached_property
    def _by_key(self) -> dict[tuple[frozenset[str], tuple[str, ...]], list[Variant]]:
        found: dict[tuple[frozenset[str], tuple[str, ...]], list[Variant]] = {}
        for v in sorted(self.variants, key=lambda v: v.operands):
            found.setdefault((v.modifiers, v.types), []).append(v)
        return found

    def spelled(self, modifiers: frozenset[str], types: tuple[str, ...]) -> list[Variant]:
        """The variants of one spelling, those with the fewest operands first."""
        return self._by_key.get((modifiers, types), [])


class Opened(NamedTuple):
    """An opcode's file and the variants in it."""

    data: Mapping[str, Any]
    variants: tuple[Variant, ...]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        if found["schema"] != SCHEMA:
            raise ValueError(f"schema {found['schema']} is not known")
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise PtxspecError(f"{path}: not a database: {e}; run `ptxspec generate`") from None
    return found


class Database:
    """All opcodes and variants, targets and PTX versions. `data` is what ptxspec.json says."""

    def __init__(self, data: Mapping[str, Any], opcode: Callable[[str], Mapping[str, Any]]) -> None:
        self.data = data
        self.catalog = Catalog(
            (
                Target(order=i, **{name: x for name, x in t.items() if x is not None})
                for i, t in enumerate(data["targets"])
            ),
            (
                PtxVersion(order=i, **{name: x for name, x in v.items() if x is not None})
                for i, v in enumerate(data["ptx"])
            ),
        )
        self.types = frozenset(data["types"])
        self.groups: Mapping[str, Sequence[str]] = data["groups"]
        self.modifiers = frozenset(data["modifiers"])
        self._recordings = {r["path"]: Recording(**r) for r in data["recordings"]}
        self.opcodes = {
            name: Opcode(name, about["summary"], partial(self._open, name, opcode))
            for name, about in data["opcodes"].items()
        }
        self.other_types = frozenset(data["assembler"]["other_types"])

    @classmethod
    def read(cls, path: Path) -> Self:
        """The database in a ptxspec.json and the files beside it. Raises PtxspecError where one cannot be read."""
        return cls(_read(path), lambda opcode: _read(path.parent / "opcodes" / f"{opcode}.json"))

    @property
    def targets(self) -> dict[str, Target]:
        """The targets by name, as "sm_90a", in the order by which requirements compare."""
        return self.catalog.targets

    @property
    def versions(self) -> dict[str, PtxVersion]:
        """PTX versions by name, as "8.6", the oldest first."""
        return self.catalog.versions

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """All variants: the files of all opcodes are read for it."""
        return tuple(v for o in self.opcodes.values() for v in o.variants)

    def _open(self, opcode: str, read: Callable[[str], Mapping[str, Any]]) -> Opened:
        data = read(opcode)
        requirements = [requirement_of(r) for r in data["requirements"]]
        classes = [self._known(data, requirements, i) for i in range(len(data["classes"]))]
        signatures = [self._signature(s) for s in data["signatures"]]
        modifiers: dict[str, frozenset[str]] = {"": frozenset()}
        found = []
        for names, signature, known, _ in data["variants"]:
            types, shape = signatures[signature]
            written = names[: -len(types)]
            if written not in modifiers:
                modifiers[written] = frozenset(written[:-1].split("."))
            found.append(Variant._make((f"{opcode}.{names}", opcode, modifiers[written], *shape, *classes[known])))
        return Opened(data, tuple(found))

    def _signature(self, signature: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
        """The types that a spelling ends in, as it has them, and a variant's fields from `types` on to `operands`."""
        types, result, written, *more = signature
        sources = tuple(Source(x) if isinstance(x, str) else Source(*x) for x in written)
        lanes, second = (more[0].get("result_registers", 1), more[0].get("second")) if more else (1, None)
        kind, operands = self.data["types"][result]["sort"], sum(source.registers for source in sources)
        return types, (tuple(types.split(".")), kind, result, lanes, second, sources, operands)

    def _known(self, data: Mapping[str, Any], requirements: Sequence[Requirement], place: int) -> tuple[Any, ...]:
        """Return what all variants of a class have in common: their fields from `requires` on."""
        _, requires, in_claims, *more = data["classes"][place]
        rest = more[0] if more else {}
        notes = [data["notes"][i] for i in rest.get("notes", ())]
        marked = [(text, marks[0]) for text, _, _, *marks in notes if marks]
        claim, *judges = data["claims"][in_claims]
        manual = rest.get("manual", requires)
        bounds = (data["accuracy"][i] for i in rest.get("accuracy", ()))
        rests_on = basis_text(
            claim=claim,
            listed=manual is not None,
            bounds=[bound(a["bound"], a["kind"], a.get("range", ""), a["section"]) for a in bounds],
            judges=judges,
            open=[marks["open"] for _, marks in marked if "open" in marks],
            since=rest.get("since", ""),
        )
        return (
            requirements[requires],
            None if manual is None else requirements[manual],
            claim,
            rests_on,
            tuple((self._recordings[path], found) for path, found in rest.get("recorded", {}).items()),
            tuple(rest.get("means", ())),
            tuple(hazard_of(data["hazards"][i]) for i in rest.get("hazards", ())),
            tuple(text for text, marks in marked if "loose" in marks),
            " ".join(data["crashes"][i]["text"] for i in rest.get("crashes", ())) or None,
            place,
        )

    # Names

    def target(self, text: str) -> str:
        """A target as ptxas spells it, or what its GPUs are called: see `names`. Raises PtxspecError."""
        from .names import target

        return text if text in self.targets else target(self, text)

    def ptx_version(self, text: str) -> str:
        """A PTX version such as 8.6. Raises PtxspecError for one that does not exist."""
        if text not in self.versions:
            raise PtxspecError(unknown("PTX version", text, self.versions, known_range(self.versions)))
        return text

    def split(self, names: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
        """The modifiers among the names of a spelling, and its types in their order."""
        names = list(names)
        return [n for n in names if n not in self.types], tuple(n for n in names if n in self.types)

    def find(self, opcode: str, names: Iterable[str], operands: int | None) -> Variant | None:
        """The variant with these modifiers, in any order, and these types, in theirs; the one with the fewest operands
        where they are not told."""
        modifiers, types = self.split(names)
        if opcode not in self.opcodes or len(set(modifiers)) < len(modifiers):
            return None
        same = self.opcodes[opcode].spelled(frozenset(modifiers), types)
        return next((v for v in same if operands in (None, v.operands)), None)

    def known_of(self, v: Variant) -> dict[str, Any]:
        """Return what all variants of a variant's class share: the NaN rule by its name, places in the lists of the
        opcode's file, and the rest that the file says of the class."""
        nan, _, _, *more = self.opcodes[v.opcode].data["classes"][v.known]
        return {"nan": nan, **(more[0] if more else {})}

    def stands_for(self, v: Variant) -> Variant | None:
        """The longer spelling that a variant is short for."""
        same = self.opcodes[v.opcode].spelled(v.modifiers.union(v.means), v.types) if v.means else []
        return next((w for w in same if w.operands == v.operands), None)

    def refused(self, opcode: str, names: Iterable[str]) -> Mapping[str, Any] | None:
        """Return what is known of a spelling that the manual lists and the assembler takes nowhere."""
        listed = self.opcodes[opcode].data["assembler"]["refused"] if opcode in self.opcodes else []
        wanted = sorted(names)
        return next((r for r in listed if sorted(r["variant"].split(".")[1:]) == wanted), None)

    def form(self, opcode: str, *names: str) -> str:
        """An opcode with its types alone, in their order."""
        return ".".join((opcode, *(n for n in names if n in self.types or n in self.other_types)))

    def is_elsewhere(self, opcode: str, names: Iterable[str]) -> bool:
        """Return whether an opcode of the database has other instructions with these types, of which nothing is known
        here: those that its file names, or where it names none, all that it does not describe."""
        about = self.opcodes[opcode]
        return is_elsewhere(
            tuple(names), about.data["assembler"], lambda n: n in self.types or n in self.other_types, about.types
        )

    def is_other_type(self, name: str) -> bool:
        """Return whether a name is a type that instructions outside of the database have: it is not declared, or no
        float."""
        return name in self.other_types or (name in self.types and self.data["types"][name]["sort"] != "float")

    def knows(self, name: str) -> bool:
        """Return whether a type or a modifier of any instruction has this name."""
        return name in self.types or name in self.modifiers

    # What is there

    def takes(self, v: Variant, target: str | None, ptx: str | None) -> bool:
        """Return whether the assembler makes machine code of a variant in a module of this target and PTX version; in
        any, where one of the two or both are None."""
        return v.crash is None and self.catalog.takes(v.requires, target, ptx)

    def is_advisable(self, v: Variant, target: str | None = None, ptx: str | None = None) -> bool:
        """Return whether a variant may be recommended there: without this check no recommendation is safe."""
        return v.crash is None and self.catalog.may_be_advised(v, None, target, ptx)

    def hazard(self, v: Variant, target: str | None = None, ptx: str | None = None) -> str | None:
        """Return what the machine code of a variant does instead of what it says, on a target or on any."""
        return self.catalog.hazard_text(v, target, ptx)

    def available(
        self, target: str | None = None, ptx: str | None = None, type: str | None = None, opcode: str | None = None
    ) -> list[Variant]:
        """The variants that a target takes under a PTX version, or under any where one of them is not given. `type` is
        one of those that a spelling ends in. Raises PtxspecError for what is unknown."""
        target = self.target(target) if target is not None else None
        ptx = self.ptx_version(ptx) if ptx is not None else None
        type = type.lstrip(".") if type is not None else None
        if type is not None and type not in self.types:
            raise PtxspecError(unknown("type", type, self.data["types"]))
        if opcode is not None and opcode not in self.opcodes:
            raise PtxspecError(unknown("opcode", opcode, self.opcodes))
        asked = self.opcodes.values() if opcode is None else [self.opcodes[opcode]]
        variants = (v for o in asked for v in o.variants)
        return [v for v in variants if (type is None or type in v.types) and self.takes(v, target, ptx)]

    def on(self, v: Variant, target: str | None) -> Variant:
        """The variant with its hazards and its claim on a target, and what that rests on. What is not exact is
        `measured` where every recording of that target that has the variant is equal in every bit."""
        if target is None:
            # What holds on all targets is what the variant says.
            return v
        gpu = self.catalog.plain(target)
        if v.hazards:
            v = v._replace(hazards=tuple(Hazard(h.text) for h in self.catalog.hazards(v, target)))
        here = [(r, found) for r, found in v.recorded if r.target == gpu]
        if not here or any(found != "equal" for _, found in here):
            return self._followed(v, target)
        recordings = "; ".join(str(r) for r, _ in here)
        if v.claim == "exact":
            return v._replace(rests_on=f"{v.rests_on}; equal to {recordings}")
        return v._replace(claim="measured", rests_on=recordings)

    def _followed(self, v: Variant, target: str) -> Variant:
        """The variant with the claim of the path that is followed on a target."""
        for targets, claim, told in self.data["followed"].get(f"{v.spelling} {v.operands}", ()):
            if target in targets:
                return v._replace(claim=claim, rests_on=told) if claim else v._replace(rests_on=f"{v.rests_on}; {told}")
        return v

    def diff_ptx(self, old: str, new: str) -> tuple[list[Variant], list[Variant]]:
        """Variants that a newer PTX version has and an older one lacks, and the other way round."""
        return self._difference((None, self.ptx_version(old)), (None, self.ptx_version(new)))

    def diff_target(self, old: str, new: str) -> tuple[list[Variant], list[Variant]]:
        """Variants that one target has (under any PTX version) and the other lacks, and the other way round."""
        return self._difference((self.target(old), None), (self.target(new), None))

    def _difference(
        self, old: tuple[str | None, str | None], new: tuple[str | None, str | None]
    ) -> tuple[list[Variant], list[Variant]]:
        both = [(v, self.takes(v, *old), self.takes(v, *new)) for v in self.variants]
        gained = [v for v, before, now in both if now and not before]
        return gained, [v for v, before, now in both if before and not now]


def names_of(variants: Iterable[Variant]) -> tuple[str, ...]:
    """All modifiers and types of some variants, in the order in which they first stand."""
    return tuple(dict.fromkeys(n for v in variants for n in v.spelling.split(".")[1:]))

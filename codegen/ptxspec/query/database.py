"""The database for programs: which variants exist, on which targets, from which PTX version on.

It reads generated/data, and an opcode's file only for questions about that opcode. It imports the standard library
only. Both make a query start quickly, however many opcodes there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from ..catalog import ByName, Catalog, Hazard, PtxVersion, Requirement, Target, hazard_of, requirement_of
from ..catalog.known import Known, Opcode as AnyOpcode, Recipe, filled
from ..catalog.likeness import known_range
from ..catalog.names import Named
from ..catalog.outside import Outside, OutsideForm, OutsideOperands
from ..catalog.special import SpecialRegister
from ..check.claims import basis_text, bound
from ..diagnostics import PtxspecError, unknown
from .inline import as_function, inline_assembly
from .names import target as target_named
from .recording import Recording
from .variant import Many, SourceOperand, Variant

__all__ = ["SCHEMA", "Data", "Database", "Opcode", "Opened", "SourceOperand", "Variant"]

SCHEMA = 11


class Data(NamedTuple):
    """The content of generated/data: ptxspec.json, the files of the opcodes, and `other` files by name."""

    shared: Mapping[str, Any]
    opcodes: Mapping[str, Mapping[str, Any]]
    other: Callable[[str], Mapping[str, Any]]


class Opcode(AnyOpcode[Variant]):
    """An opcode. `data` is the content of its file, which is read at the first use."""

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

    @property
    def assembler(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.data["assembler"]
        return found

    def known_of(self, v: Variant) -> dict[str, Any]:
        """Return the facts that all variants of a variant's class share: the NaN rule by its name, indices into the
        lists of the opcode's file, and the other facts in the file."""
        nan, _, _, *more = self.data["classes"][v.known]
        return {"nan": nan, **(more[0] if more else {})}

    def recipes(self, v: Variant) -> list[Recipe]:
        return [self._recipe(place, v.spelling) for place in self.known_of(v).get("instead", ())]

    @cached_property
    def missing(self) -> Mapping[str, list[Recipe]]:
        found = self.data.get("missing", {})
        return {spelling: [self._recipe(place, spelling) for place in places] for spelling, places in found.items()}

    def _recipe(self, place: int, spelling: str) -> Recipe:
        template, operands, needs, differs = self.data["recipes"][place]
        ptx = filled(template, spelling)
        requires = requirement_of(self.data["requirements"][needs])
        found = Recipe(requires, differs, ptx, inline_assembly(ptx, operands))
        is_function = found.is_long and found.cuda
        return found._replace(function=as_function(spelling, found.cuda, operands)) if is_function else found

    def why_no_recipe(self, v: Variant) -> str:
        reasons = self.data.get("none", ())
        return " ".join(reasons[i][0] for i in self.known_of(v).get("none", ()))


class Opened(NamedTuple):
    """An opcode's file and the variants in it."""

    data: Mapping[str, Any]
    variants: tuple[Variant, ...]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
        if found["schema"] != SCHEMA:
            raise ValueError(f"schema {found['schema']} is not supported")
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise PtxspecError(f"{path} is not a database: {e}; run `ptxspec generate`") from None
    return found


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version such as 12.4; empty if a text is no version."""
    parts = text.split(".")
    return tuple(map(int, parts)) if all(p.isdecimal() and p.isascii() for p in parts) else ()


class Database(Named, Known[Variant]):
    """All opcodes and variants, targets and PTX versions. `data` is the content of ptxspec.json."""

    opcodes: Mapping[str, Opcode]
    lists = "ptxspec list"
    lacks = "; this database does not describe it"

    def __init__(
        self,
        data: Mapping[str, Any],
        opcode: Callable[[str], Mapping[str, Any]],
        other: Callable[[str], Mapping[str, Any]],
    ) -> None:
        self._other = other
        catalog = Catalog(
            (
                Target(order=i, **{name: x for name, x in t.items() if x is not None})
                for i, t in enumerate(data["targets"])
            ),
            (
                PtxVersion(order=i, **{name: x for name, x in v.items() if x is not None})
                for i, v in enumerate(data["ptx"])
            ),
        )
        super().__init__(catalog, data)
        # A type without registers is a name of an operand in this database, and does not exist in PTX.
        self.types = frozenset(name for name, t in data["types"].items() if t["registers"] != "none")
        self.floats = frozenset(name for name, about in data["types"].items() if about["sort"] == "float")
        self.groups: Mapping[str, Sequence[str]] = data["groups"]
        self.modifiers = {name: about["summary"] for name, about in data["modifiers"].items()}
        self._recordings = {r["path"]: Recording(**r) for r in data["recordings"]}
        self.opcodes = ByName(
            {
                name: Opcode(name, about["summary"], partial(self._open, name, opcode))
                for name, about in data["opcodes"].items()
            }
        )
        self.other_types = frozenset(data["assembler"]["other_types"])

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the database in a ptxspec.json and the files beside it. Raises PtxspecError if one cannot be read."""
        folder = path.parent
        return cls(
            _read(path),
            lambda opcode: _read(folder / "opcodes" / f"{opcode}.json"),
            lambda name: _read(folder / f"{name}.json"),
        )

    @cached_property
    def calls(self) -> Mapping[str, Any]:
        """The PTX that nvcc generates for functions of CUDA C++."""
        return self._other("calls")

    @cached_property
    def machine_code(self) -> Mapping[str, Any]:
        """The machine code that ptxas generates for variants."""
        return self._other("machine_code")

    @cached_property
    def tensor(self) -> Mapping[str, Any]:
        """The facts about instructions that multiply matrices."""
        return self._other("tensor")

    @cached_property
    def special_registers(self) -> Mapping[str, SpecialRegister]:
        """The special registers by name, without fields."""
        rows = (
            SpecialRegister(
                text, tuple(bits), fields, requirement_of(requires), requirement_of(*manual or [requires]), summary
            )
            for text, bits, fields, summary, requires, *manual in self.data["special_registers"]
        )
        return {name: r for r in rows for name in r.names}

    @cached_property
    def outside(self) -> dict[str, Outside]:
        """The PTX outside the database, by opcode: opcodes without variants here, and other forms of those with
        variants."""
        return {
            opcode: Outside(
                opcode,
                section,
                summary,
                tuple(OutsideForm(p, requirement_of(r)) for p, r in forms),
                OutsideOperands(**operands),
            )
            for opcode, (section, summary, operands, *forms) in self._other("outside")["opcodes"].items()
        }

    @cached_property
    def other_opcodes(self) -> tuple[str, ...]:
        """The opcodes of PTX that have no variants here."""
        return tuple(name for name in self.outside if name not in self.opcodes)

    @property
    def targets(self) -> dict[str, Target]:
        """The targets by name, such as "sm_90a", in the order in which requirements compare them."""
        return self.catalog.targets

    @property
    def versions(self) -> dict[str, PtxVersion]:
        """The PTX versions by name, such as "8.6", the oldest first."""
        return self.catalog.versions

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """All variants, for which the files of all opcodes are read."""
        return Many(v for o in self.opcodes.values() for v in o.variants)

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
        return Opened(data, Many(found))

    def _signature(self, signature: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the text of the types that a spelling ends in, and a variant's fields from `types` to `operands`."""
        types, result, written, *more = signature
        sources = tuple(SourceOperand(x) if isinstance(x, str) else SourceOperand(*x) for x in written)
        lanes, second = (more[0].get("result_registers", 1), more[0].get("second")) if more else (1, None)
        kind, operands = self.data["types"][result]["sort"], sum(source.registers for source in sources)
        return types, (tuple(types.split(".")), kind, result, lanes, second, sources, operands)

    def _known(self, data: Mapping[str, Any], requirements: Sequence[Requirement], place: int) -> tuple[Any, ...]:
        """Return the fields that all variants of a class share, from `requires` on."""
        _, requires, in_claims, *more = data["classes"][place]
        rest = more[0] if more else {}
        notes = [data["notes"][i] for i in rest.get("notes", ())]
        marked = [(text, marks[0]) for text, _, _, *marks in notes if marks]
        claim, *judges = data["claims"][in_claims]
        manual = rest.get("manual", requires)
        bounds = (data["accuracy"][i] for i in rest.get("accuracy", ()))
        basis = basis_text(
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
            basis,
            tuple((self._recordings[path], found) for path, found in rest.get("recorded", {}).items()),
            tuple(rest.get("means", ())),
            tuple(hazard_of(data["hazards"][i]) for i in rest.get("hazards", ())),
            tuple(text for text, marks in marked if "loose" in marks),
            " ".join(data["crashes"][i]["text"] for i in rest.get("crashes", ())) or None,
            place,
        )

    # Names

    def target(self, text: str) -> str:
        """Return a target by its own name, or by the name of a GPU: see `names`. Raises PtxspecError."""
        return text if text in self.targets else target_named(self, text)

    def ptx_version(self, text: str) -> str:
        """Return a PTX version such as 8.6. Raises PtxspecError for one that does not exist."""
        if text not in self.versions:
            if release := self._of_release(text):
                reads = f"CUDA {text} supports PTX up to {release}: --ptx {release}"
                raise PtxspecError(f"{text} is a CUDA release, not a PTX version; {reads}")
            if (major := f"{text}.0") in self.versions:
                raise PtxspecError(f"unknown PTX version '{text}'; did you mean '{major}'?")
            raise PtxspecError(unknown("PTX version", text, self.versions, known_range(self.versions)))
        return text

    def _of_release(self, text: str) -> str:
        """Return the newest PTX version that a CUDA release supports; empty if there is no such release, or its number
        is that of a PTX version as well."""
        releases = {_numbers(v.cuda): v.version for v in self.versions.values() if v.cuda}
        asked = _numbers(text)
        if len(asked) > 3 or not _numbers(self.catalog.newest_version)[:1] < asked[:1] <= max(releases)[:1]:
            return ""
        within = [version for release, version in releases.items() if release <= (*asked, 0)]
        return within[-1] if (*asked, 0)[:2] <= max(releases) else ""

    # Variants

    def available(
        self, target: str | None = None, ptx: str | None = None, type: str | None = None, opcode: str | None = None
    ) -> list[Variant]:
        """Return the variants that a target supports in a PTX version; without a target or a PTX version, any will do.
        `type` is one of those that a spelling ends in. Raises PtxspecError for an unknown name."""
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
        """Return the variant with its hazards and its claim on a target, and the basis of that claim. A claim that is
        not exact becomes `measured` if the variant is bit for bit equal in all recordings of that target that include
        it."""
        if target is None:
            # The variant itself has what applies to all targets.
            return v
        gpu = self.catalog.plain(target)
        if v.hazards:
            v = v._replace(hazards=tuple(Hazard(h.text) for h in self.catalog.hazards(v, target)))
        here = [(r, found) for r, found in v.recorded if r.target == gpu]
        if not here or any(found != "equal" for _, found in here):
            return self._followed(v, target)
        recordings = "; ".join(str(r) for r, _ in here)
        if v.claim == "exact":
            return v._replace(basis=f"{v.basis}; equal to {recordings}")
        return v._replace(claim="measured", basis=recordings)

    def _followed(self, v: Variant, target: str) -> Variant:
        """Return the variant with the claim of the path that is followed on a target."""
        for targets, claim, told in self.data["followed"].get(f"{v.spelling} {v.operands}", ()):
            if target in targets:
                return v._replace(claim=claim, basis=told) if claim else v._replace(basis=f"{v.basis}; {told}")
        return v

    def diff_ptx(self, old: str, new: str) -> tuple[list[Variant], list[Variant]]:
        """Return the variants that a newer PTX version has and an older one lacks, and the reverse."""
        return self._difference((None, self.ptx_version(old)), (None, self.ptx_version(new)))

    def diff_target(self, old: str, new: str) -> tuple[list[Variant], list[Variant]]:
        """Return the variants that one target has in any PTX version and the other lacks, and the reverse."""
        return self._difference((self.target(old), None), (self.target(new), None))

    def _difference(
        self, old: tuple[str | None, str | None], new: tuple[str | None, str | None]
    ) -> tuple[list[Variant], list[Variant]]:
        both = [(v, self.takes(v, *old), self.takes(v, *new)) for v in self.variants]
        gained = [v for v, before, now in both if now and not before]
        return gained, [v for v, before, now in both if before and not now]

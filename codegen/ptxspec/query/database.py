"""The database as programs ask it: which variant exists, on which target, from which PTX version on.

It reads ptxspec.json and imports nothing but the standard library, so that a query starts quickly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics import PtxspecError, nearest, suggest, unknown

if TYPE_CHECKING:
    from ..lint.findings import Finding

_SPELLING = re.compile(r"\w+(\.[\w:]+)*")


class Limit(NamedTuple):
    """A requirement that holds only on the targets from `first` to `last`, in target order."""

    first: str
    last: str
    ptx: str | None
    until: str | None


class Requires(NamedTuple):
    """The oldest PTX version and target that take a variant, and the last PTX version that does."""

    ptx: str
    until: str | None
    target: str
    within: tuple[Limit, ...] = ()

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"ptx": self.ptx, "until": self.until, "target": self.target}
        if self.within:
            found["within"] = [limit._asdict() for limit in self.within]
        return found


class Recording(NamedTuple):
    """What a GPU returned: the folder below the root that holds it, and what it was recorded on and with."""

    path: str
    gpu: str
    target: str
    driver: str
    compiler: str
    date: str

    def __str__(self) -> str:
        return f"{self.gpu} ({self.target}), driver {self.driver}, {self.compiler}, {self.date}: {self.path}"


class Variant(NamedTuple):
    """One complete spelling with its number of source operands. `manual` is None where NVIDIA's manual does not list
    it; verdicts follow `requires`, which is what the assembler was seen to require. `claim` says how faithful the
    emulator is, wherever no target is named, and `rests_on` why; `recorded` has for each recording of the variant how
    the emulator stands to it: "equal", "inside" (of the manual's bound) or "unequal". `means` is the spelling that it
    is short for."""

    spelling: str
    operands: int
    type: str
    requires: Requires
    manual: Requires | None
    claim: str
    rests_on: str
    recorded: tuple[tuple[Recording, str], ...]
    means: str | None

    @property
    def opcode(self) -> str:
        return self.spelling.partition(".")[0]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.spelling.split(".")[1:])

    def __str__(self) -> str:
        return f"{self.spelling} ({self.operands} operand{'s' * (self.operands != 1)})"


class Opcode(NamedTuple):
    name: str
    summary: str
    variants: tuple[Variant, ...]


class Target(NamedTuple):
    """`order` is the place by which requirements compare; `ptx` is the first PTX version that knows the target."""

    name: str
    order: int
    ptx: str


class Reason(NamedTuple):
    """Why a variant does not exist or is not available. `code` is stable, the message is for people."""

    code: str
    message: str


class Verdict(NamedTuple):
    """The answer to a query. `exists`: some PTX version takes it on some target; `available`: where it was asked."""

    variant: str
    operands: int | None
    exists: bool
    available: bool
    requires: Requires | None
    manual: Requires | None
    means: str | None
    claim: str | None
    reasons: tuple[Reason, ...]
    nearest: tuple[Variant, ...]

    @property
    def outside(self) -> bool:
        """It does not exist here, and whether PTX has it is not known: the database is about some opcodes and types."""
        return any(r.code in ("not-in-database", "unknown-opcode") for r in self.reasons)

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "variant": self.variant,
            "operands": self.operands,
            "exists": self.exists,
            "available": self.available,
            "requires": self.requires.as_json() if self.requires else None,
            "manual": self.manual.as_json() if self.manual else None,
            "reasons": [r._asdict() for r in self.reasons],
            "nearest": [{"variant": v.spelling, "operands": v.operands} for v in self.nearest],
        }


class Distance(NamedTuple):
    """How far a variant is from what was asked, the weightiest first. `ended`: the newest PTX version does not take it;
    `wrong`: names too many or too few, and `lost` those of them that were asked for."""

    ended: bool
    wrong: int
    lost: int
    other_type: bool
    operands: int


def read(path: Path) -> Database:
    """The database in a ptxspec.json. Raises PtxspecError for one that cannot be read."""
    try:
        return Database(json.loads(path.read_text("utf-8")))
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror}; run `ptxspec generate`") from None
    except (ValueError, KeyError, TypeError) as e:
        raise PtxspecError(f"{path}: not a database: {e}; run `ptxspec generate`") from None


class Database:
    """All opcodes and variants, targets and PTX versions."""

    def __init__(self, data: dict[str, Any]) -> None:
        if data["schema"] != 3:
            raise ValueError(f"schema {data['schema']} is not known")
        self.data = data
        self.ptx: dict[str, int] = {v["version"]: i for i, v in enumerate(data["ptx"])}
        self.cuda: dict[str, str | None] = {v["version"]: v["cuda"] for v in data["ptx"]}
        self.targets = {t["name"]: Target(t["name"], i, t["ptx"]) for i, t in enumerate(data["targets"])}
        self.newest = next(reversed(self.targets))
        self.recordings = {r["path"]: Recording(**r) for r in data["recordings"]}
        self.variants = tuple(_variant(v, self.recordings) for v in data["variants"])
        self._by_key: dict[tuple[str, frozenset[str]], list[Variant]] = {}
        by_opcode: dict[str, list[Variant]] = {name: [] for name in data["opcodes"]}
        for v in self.variants:
            self._by_key.setdefault((v.opcode, v.names), []).append(v)
            by_opcode[v.opcode].append(v)
        assembler = data["assembler"]
        self.other_types = frozenset(assembler["other_types"])
        self._other_forms = {f"{o}.{t}" for o, types in assembler["other_forms"].items() for t in types}
        self._empty_types = {o: frozenset(types) for o, types in assembler["empty_types"].items()}
        self.mixed_forms = {self.form(*spelling.split(".")) for spelling, _ in assembler["mixed"]["spellings"]}
        self._offered: dict[tuple[str, str | None, str | None], list[tuple[Variant, frozenset[str], bool]]] = {}
        self.opcodes = {n: Opcode(n, data["opcodes"][n]["summary"], tuple(vs)) for n, vs in by_opcode.items()}

    def target(self, text: str) -> str:
        """A target as ptxas spells it; compute_90 and 9.0 are understood too. Raises PtxspecError."""
        match = re.fullmatch(r"(?:sm_|compute_)(\d+[af]?)|(\d+)\.(\d)([af]?)", text.strip())
        name = text if match is None else f"sm_{match[1]}" if match[1] else f"sm_{match[2]}{match[3]}{match[4]}"
        if name not in self.targets:
            near = suggest(f"sm_{text}" if text[:1].isdigit() else name, self.targets, otherwise=_range(self.targets))
            raise PtxspecError(f"unknown target '{text}'; {near}")
        return name

    def ptx_version(self, text: str) -> str:
        """A PTX version such as 8.6. Raises PtxspecError for one that does not exist."""
        if text not in self.ptx:
            raise PtxspecError(unknown("PTX version", text, self.ptx, _range(self.ptx)))
        return text

    def variant(self, spelling: str, operands: int | None = None) -> Variant:
        """A variant by its spelling, modifiers in any order; the one with the fewest operands unless told.

        Raises PtxspecError for a spelling that does not exist."""
        verdict = self.query(spelling, operands)
        found = self._find(spelling, operands)
        if found is None:
            raise PtxspecError("; ".join(r.message for r in verdict.reasons))
        return found

    def _find(self, spelling: str, operands: int | None) -> Variant | None:
        opcode, *names = spelling.strip().split(".")
        if len(set(names)) < len(names):
            return None
        return self.find(opcode, frozenset(names), operands)

    def find(self, opcode: str, names: frozenset[str], operands: int | None) -> Variant | None:
        """The variant with these modifiers and type; the one with the fewest operands where they are not told."""
        same = self._by_key.get((opcode, names), [])
        fitting = [v for v in same if operands in (None, v.operands)]
        return min(fitting, key=lambda v: v.operands, default=None)

    def on(self, v: Variant, target: str | None) -> Variant:
        """The variant with its claim on a target, and what that rests on. What is not exact is `measured` where every
        recording of that target that has the variant is equal in every bit."""
        here = [(r, found) for r, found in v.recorded if r.target == target]
        if not here or any(found != "equal" for _, found in here):
            return v
        recordings = "; ".join(str(r) for r, _ in here)
        if v.claim == "exact":
            return v._replace(rests_on=f"{v.rests_on}; equal to {recordings}")
        return v._replace(claim="measured", rests_on=recordings)

    def takes(self, variant: Variant, target: str, ptx: str) -> bool:
        """Whether the assembler takes a variant in a module of this target and PTX version."""
        return not self.refusals(variant, target, ptx)

    def available(
        self, target: str | None = None, ptx: str | None = None, type: str | None = None, opcode: str | None = None
    ) -> list[Variant]:
        """The variants that a target takes under a PTX version, or under any where one of them is not given."""
        target = self.target(target) if target is not None else None
        ptx = self.ptx_version(ptx) if ptx is not None else None
        if type is not None and type.lstrip(".") not in self.data["types"]:
            raise PtxspecError(unknown("type", type.lstrip("."), self.data["types"]))
        if opcode is not None and opcode not in self.opcodes:
            raise PtxspecError(unknown("opcode", opcode, self.opcodes))
        return [
            v
            for v in self.variants
            if (type is None or v.type == type.lstrip("."))
            and (opcode is None or v.opcode == opcode)
            and self.anywhere(v, target, ptx)
        ]

    def anywhere(self, v: Variant, target: str | None, ptx: str | None) -> bool:
        """Whether some target takes a variant under some PTX version, where one of the two or both are not given."""
        if target is None and ptx is None:
            return True
        if target is not None and ptx is not None:
            return self.takes(v, target, ptx)
        targets = [target] if target is not None else list(self.targets)
        versions = [ptx] if ptx is not None else list(self.ptx)
        return any(self.takes(v, t, p) for t in targets for p in versions)

    def query(
        self, spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
    ) -> Verdict:
        """Whether a variant exists and is available, with the reasons why not and the nearest that are.

        Raises PtxspecError for an unknown target or PTX version."""
        target = self.target(target) if target is not None else None
        ptx = self.ptx_version(ptx) if ptx is not None else None
        found = self._find(spelling, operands)
        if found is None:
            reasons = self.why_not(spelling, operands)
            refused = self._refused(spelling)
            return Verdict(
                spelling,
                operands,
                False,
                False,
                None,
                _requires(refused["manual"]) if refused else None,
                refused["means"] if refused else None,
                None,
                reasons,
                self._nearest(spelling, operands, target, ptx),
            )
        available = self.anywhere(found, target, ptx)
        reasons = () if available else self.refusals(found, target, ptx)
        nearest = () if available else self._nearest(spelling, found.operands, target, ptx)
        return Verdict(
            found.spelling,
            found.operands,
            True,
            available,
            found.requires,
            found.manual,
            found.means,
            self.on(found, target).claim,
            reasons,
            nearest,
        )

    # Why a variant is refused

    def refusals(self, v: Variant, target: str | None, ptx: str | None) -> tuple[Reason, ...]:
        """What a variant needs that the target or PTX version does not have; empty where it is taken."""
        r, reasons = v.requires, []
        floor, until = r.ptx, r.until
        if target is not None:
            order = self.targets[target].order
            for limit in r.within:
                if self.targets[limit.first].order <= order <= self.targets[limit.last].order:
                    floor = max(floor, limit.ptx or floor, key=self.ptx.__getitem__)
                    until = min(until or limit.until, limit.until, key=self.ptx.__getitem__) if limit.until else until
            if order < self.targets[r.target].order:
                reasons.append(Reason("target-too-old", f"{v} needs {r.target} or newer; {target} is older"))
            if until is not None and self.ptx[self.targets[target].ptx] > self.ptx[until]:
                message = f"{v} ended with PTX {until}, before {target} came with {self.targets[target].ptx}"
                reasons.append(Reason("target-too-new", message))
        if ptx is not None:
            if self.ptx[ptx] < self.ptx[floor]:
                reasons.append(Reason("ptx-too-old", f"{v} needs PTX {self._release(floor)} or newer; {ptx} is older"))
            if until is not None and self.ptx[ptx] > self.ptx[until]:
                reasons.append(Reason("ptx-too-new", f"{v} ended with PTX {self._release(until)}; {ptx} is newer"))
        pair = self.pair(target, ptx)
        return (*reasons, pair) if pair is not None else tuple(reasons)

    def pair(self, target: str | None, ptx: str | None) -> Reason | None:
        """What says that a PTX version does not know a target, so that nothing is available there."""
        if target is None or ptx is None or self.ptx[ptx] >= self.ptx[self.targets[target].ptx]:
            return None
        came = self._release(self.targets[target].ptx)
        return Reason("target-unknown", f"PTX {ptx} does not know {target}, which came with PTX {came}")

    def _release(self, version: str) -> str:
        cuda = self.cuda[version]
        return f"{version} (CUDA {cuda})" if cuda else version

    def why_not(self, spelling: str, operands: int | None) -> tuple[Reason, ...]:
        """What is wrong with a spelling that does not exist."""
        opcode, *names = spelling.strip().split(".")
        about = self.opcodes.get(opcode)
        if not _SPELLING.fullmatch(spelling.strip()):
            example = (about.variants if about else self.variants)[0].spelling
            return (Reason("syntax", f"a spelling is names with a dot between, as in {example}, without operands"),)
        outside = self._outside(opcode, names)
        if outside is not None:
            return (outside,)
        if about is None:
            return (Reason("unknown-opcode", unknown("opcode", opcode, self.opcodes)),)
        same = self._by_key.get((opcode, frozenset(names)), [])
        repeated = [n for i, n in enumerate(names) if n in names[:i]]
        if repeated:
            return (Reason("repeated-modifier", f".{repeated[0]} stands twice"),)
        if same:
            counts = " or ".join(str(v.operands) for v in same)
            return (Reason("operand-count", f"{same[0].spelling} takes {counts} source operands, not {operands}"),)
        refused = self._refused(spelling)
        if refused is not None:
            manual, short = _requires(refused["manual"]), f" as {refused['means']}" if refused["means"] else ""
            versions = f"PTX {manual.ptx} {f'to {manual.until}' if manual.until else 'on'}"
            message = f"the manual has {refused['variant']}{short}, from {manual.target} on and in {versions}"
            observed = self.data["opcodes"][opcode]["assembler"]["observed"]
            return (Reason("refused-by-assembler", f"{message}; {observed} takes it nowhere"),)
        types = [n for n in names if n in self.data["types"] or n in self.other_types]
        has = list(dict.fromkeys(v.type for v in about.variants))
        if len(types) != 1 or types[0] not in has:
            listed = _listed(has)
            strange = [n for n in names if not self._knows(n)]
            if strange and not types:
                near = suggest(strange[0], _names(about.variants), ".", f"{opcode} has {listed}")
                return (Reason("unknown-type", f"unknown type or modifier '.{strange[0]}'; {near}"),)
            what = f"no .{types[0]}" if len(types) == 1 else "one type in each spelling"
            return (Reason("illegal-type", f"{opcode} has {what}; it has {listed}"),)
        typed = [v for v in about.variants if v.type == types[0]]
        reasons = []
        modifiers = [n for n in names if n != types[0]]
        known = [n for n in _names(typed) if n != types[0]]
        for n in modifiers:
            if n not in known:
                message = f"{opcode}.{types[0]} has no .{n}; it has {_listed(known) or 'no modifiers'}"
                meant = [] if self._knows(n) else nearest(n, known)
                if meant:
                    message += f"; did you mean '.{meant[0]}'?"
                reasons.append(Reason("illegal-modifier" if self._knows(n) else "unknown-modifier", message))
        return tuple(reasons) or (self._combination(opcode, modifiers, types[0], typed, operands),)

    def _refused(self, spelling: str) -> dict[str, Any] | None:
        """What is known of a spelling that the manual lists and the assembler takes nowhere."""
        opcode, *names = spelling.strip().split(".")
        listed = self.data["opcodes"][opcode]["assembler"]["refused"] if opcode in self.opcodes else []
        return next((r for r in listed if sorted(r["variant"].split(".")[1:]) == sorted(names)), None)

    def _outside(self, opcode: str, names: list[str]) -> Reason | None:
        """What says that a spelling is none of this database's, so that nothing is known of it."""
        other = next((n for n in names if n in self.other_types), None)
        types = [n for n in names if n in self.data["types"]]
        if other is not None and (opcode not in self.opcodes or self.is_elsewhere(opcode, names)):
            message = f".{other} is a type of other sections of PTX"
            if opcode in self.opcodes:
                has = dict.fromkeys(v.type for v in self.opcodes[opcode].variants)
                message += f"; here {opcode} has {_listed(has)}"
        elif self.form(opcode, *names) in self.mixed_forms:
            message = f".{' and .'.join(types)} together are a mixed-precision form, which is in another section of PTX"
        else:
            return None
        return Reason("not-in-database", message)

    def form(self, opcode: str, *names: str) -> str:
        """An opcode with its types alone, in their order."""
        return ".".join((opcode, *(n for n in names if n in self.data["types"] or n in self.other_types)))

    def is_elsewhere(self, opcode: str, names: Iterable[str]) -> bool:
        """Whether other sections of PTX have a form with these types, of which nothing is known here."""
        names = tuple(names)
        empty = self._empty_types.get(opcode, frozenset())
        return self.form(opcode, *names) in self._other_forms or not empty.isdisjoint(names)

    def _knows(self, name: str) -> bool:
        return name in self.data["types"] or name in self.data["modifiers"]

    def _combination(
        self, opcode: str, modifiers: list[str], type: str, typed: list[Variant], operands: int | None
    ) -> Reason:
        """Every name is fine by itself: one is missing, or two exclude each other."""
        wanted = frozenset((*modifiers, type))
        larger = [v for v in typed if v.names > wanted and operands in (None, v.operands)]
        if larger:
            fewest = min(len(v.names - wanted) for v in larger)
            missing = list(
                dict.fromkeys(n for v in larger for n in sorted(v.names - wanted) if len(v.names - wanted) == fewest)
            )
            listed = " or ".join(f".{n}" for n in missing) if fewest == 1 else _listed(missing)
            spelled = ".".join((opcode, *modifiers, type))
            return Reason("missing-modifier", f"{spelled} lacks {listed}")
        for i, one in enumerate(modifiers):
            for other in modifiers[i + 1 :]:
                if not any({one, other} <= v.names for v in typed):
                    return Reason("excluding-modifiers", f".{one} and .{other} exclude each other in {opcode}.{type}")
        counts = sorted({v.operands for v in typed})
        return Reason(
            "illegal-combination",
            f"{opcode}.{type} does not take {' '.join('.' + m for m in modifiers)} together"
            + (f" with {operands} operands" if operands and len(counts) > 1 else ""),
        )

    # What comes nearest

    def _nearest(self, spelling: str, operands: int | None, target: str | None, ptx: str | None) -> tuple[Variant, ...]:
        opcode, *names = spelling.split(maxsplit=1)[0].split(".") if spelling.strip() else [""]
        if self._outside(opcode, names):
            return ()
        if opcode not in self.opcodes:
            near = nearest(opcode, self.opcodes)
            if not near:
                return ()
            opcode = near[0]
        return tuple(v for _, v in self.ranked(opcode, names, operands, target, ptx)[:3])

    def ranked(
        self, opcode: str, names: Iterable[str], operands: int | None, target: str | None, ptx: str | None
    ) -> list[tuple[Distance, Variant]]:
        """The variants of an opcode that are available there, those first that are most like what was asked."""
        offered = self._offered.get((opcode, target, ptx))
        if offered is None:
            found = [v for v in self.opcodes[opcode].variants if self.anywhere(v, target, ptx)]
            newest = ptx or next(reversed(self.ptx))
            known = [t.name for t in self.targets.values() if self.ptx[t.ptx] <= self.ptx[newest]]
            offered = [(v, v.names, not self.takes(v, target or known[-1], newest)) for v in found]
            self._offered[opcode, target, ptx] = offered
        asked = self._meant(opcode, names)

        def distance(v: Variant, has: frozenset[str], ended: bool) -> Distance:
            off = abs(v.operands - operands) if operands is not None else 0
            return Distance(ended, len(asked ^ has), len(asked - has), v.type not in asked, off)

        ranked = [(distance(v, has, ended), v) for v, has, ended in offered]
        return sorted(ranked, key=lambda r: (r[0], r[1].operands))

    def _meant(self, opcode: str, names: Iterable[str]) -> frozenset[str]:
        """The names, with those that are unknown replaced as the reasons suggest."""
        variants = self.opcodes[opcode].variants
        names = list(names)
        strange = [n for n in names if not self._knows(n)]
        if not strange:
            return frozenset(names)
        typed = [v for v in variants if v.type in names]
        pools = (_names(typed), _names(variants))
        meant = {n: next((near[0] for pool in pools if (near := nearest(n, pool))), n) for n in strange}
        return frozenset(meant.get(n, n) for n in names)

    def lint(
        self, text: str, target: str | None = None, ptx: str | None = None, language: str = "ptx", file: str = "<text>"
    ) -> list[Finding]:
        """What ptxas would say of PTX, or of the PTX in a program (`language` is "ptx", "c++" or "python").

        `target` and `ptx` take the place of the module's own. Raises PtxspecError for unknown ones."""
        from ..lint.linter import Linter
        from ..lint.windows import chunks

        return list(Linter(self, target, ptx).lint(chunks(text), file, language))

    def diff_ptx(self, old: str, new: str) -> tuple[list[Variant], list[Variant]]:
        """Variants that a newer PTX version has and an older one lacks, and the other way round."""
        one, two = self.available(ptx=old), self.available(ptx=new)
        return [v for v in two if v not in one], [v for v in one if v not in two]

    def diff_target(self, old: str, new: str) -> tuple[list[Variant], list[Variant]]:
        """Variants that one target has (under any PTX version) and the other lacks, and the other way round."""
        one, two = self.available(target=old), self.available(target=new)
        return [v for v in two if v not in one], [v for v in one if v not in two]


def _names(variants: Iterable[Variant]) -> list[str]:
    return list(dict.fromkeys(n for v in variants for n in v.spelling.split(".")[1:]))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f".{n}" for n in names)


def _range(known: Iterable[str]) -> str:
    first, *_, last = known
    return f"known: {first} to {last}"


def _requires(r: dict[str, Any]) -> Requires:
    within = tuple(Limit(w["first"], w["last"], w["ptx"], w["until"]) for w in r.get("within", ()))
    return Requires(r["ptx"], r["until"], r["target"], within)


def _variant(v: dict[str, Any], recordings: dict[str, Recording]) -> Variant:
    manual = _requires(v["manual"]) if v["manual"] else None
    recorded = tuple((recordings[path], found) for path, found in v["recorded"].items())
    requires = _requires(v["requires"])
    rests_on, means = v["rests_on"], v["means"]
    return Variant(v["variant"], v["operands"], v["type"], requires, manual, v["claim"], rests_on, recorded, means)

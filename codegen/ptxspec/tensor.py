"""Answers about instructions that multiply matrices, from generated/data/tensor.json: a form's requirement, its
registers, how a target computes its sums, and the basis of that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from . import terminal
from .catalog.explaining import place, unmet
from .diagnostics import PtxspecError
from .matrices.choices import BASES, Choices, choices_of
from .matrices.forms import Form, first_about, form_named, forms_of
from .matrices.rows import NOT_RECORDED, RECORDED, Recorded, Row, claim, in_words, row_of
from .model import FixedPoint, Format, Kind, Type
from .model.tensor import ElementPosition, MatrixCode, SuppliedRegister, TensorLayout, named_for, register_type
from .query.answers import requirement
from .query.database import Database
from .query.lists import wrapped
from .query.verdicts import Verdict, here_as_json

_SHAPE = re.compile(r"m\d+n\d+k\d+")
_NAME = 9


class Sums(NamedTuple):
    """The sum that some targets compute with a form, in words; the claim about it, and the basis of the claim."""

    targets: tuple[str, ...]
    how: str
    claim: str
    basis: str

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "targets": list(self.targets)}


class FormFacts(NamedTuple):
    """The answer to a question about a form: the verdict, the place of the elements in a lane, and the constants that
    the form accepts. The sums and the machine code are those of the targets that have the form, or of the one that was
    named."""

    verdict: Verdict
    form: Form | None = None
    sums: tuple[Sums, ...] = ()
    lanes: Mapping[str, str] = MappingProxyType({})
    constants: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    machine: tuple[MatrixCode, ...] = ()
    assembler: str | None = None

    def as_json(self, db: Database) -> dict[str, Any]:
        """Return what `ptxspec query --format json` prints, as a dictionary."""
        v, f = self.verdict, self.form
        registers = {name: {"count": n, "type": type} for name, n, type in _registers(f)} if f else None
        return {
            "schema": 1,
            "form": v.variant,
            "exists": v.exists,
            "available": v.available,
            "requires": v.requires.as_json() if v.requires else None,
            "here": here_as_json(db, v.here) if v.here else None,
            "listed": f.listed if f else None,
            "computes": f.computes if f else None,
            "registers": registers,
            "lanes": dict(self.lanes),
            "constants": {name: list(choices) for name, choices in self.constants.items()},
            "sums": [s.as_json() for s in self.sums],
            "machine": [{**c._asdict(), "targets": list(c.targets)} for c in self.machine],
            "assembler": self.assembler,
            "reasons": [{"code": r.code, "message": r.message} for r in v.reasons],
            "help": v.help or None,
        }


class Cores(NamedTuple):
    """The content of tensor.json. `rows` are those of sums, `recorded` the recordings. `elements` and `packed` are bits
    of elements; `metadata` and `scales` are layouts, like `layouts`. `groups` has the number of elements in a group of
    a sparse A, by the bits of an element. `choices` are the constants that forms accept, and `unsigned` the scale types
    that are another type without its sign. `machine` is the machine code that an assembler generates for forms on some
    targets, by spelling."""

    forms: tuple[Form, ...]
    rows: tuple[Row, ...]
    recorded: tuple[Recorded, ...]
    elements: Mapping[str, int]
    packed: Mapping[str, Mapping[str, int]]
    layouts: tuple[TensorLayout, ...]
    metadata: tuple[SuppliedRegister, ...]
    scales: Mapping[str, SuppliedRegister]
    groups: Mapping[str, int]
    choices: Choices
    unsigned: Mapping[str, str]
    machine: Mapping[str, Sequence[Any]]
    assembled: Sequence[str]
    assembler: str | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Cores:
        machine = data["machine"]
        return cls(
            forms_of(data),
            tuple(Row(**_arguments(r)) for r in data["rows"]),
            tuple(Recorded(**s) for s in data["recorded"]),
            data["elements"],
            data["packed"],
            tuple(
                TensorLayout(
                    {name: ElementPosition(*at) for name, at in x["places"].items()},
                    tuple(x["shapes"]),
                    tuple(x["inputs"]),
                    product=x["product"] or "",
                )
                for x in data["layouts"]
            ),
            tuple(SuppliedRegister(**_arguments(x)) for x in data["metadata"]),
            {matrix: SuppliedRegister(**_arguments(x)) for matrix, x in data["scales"].items()},
            data["groups"],
            choices_of(data["choices"]),
            data["unsigned"],
            {spelling: machine["ways"][n] for spelling, *_, n in data["forms"] if n is not None},
            machine["targets"],
            machine["assembler"],
        )

    def bits(self, f: Form, of: str) -> int:
        """Return the bits of an element of a type in a register of a form."""
        return self.packed.get(f.kind, {}).get(of) or self.elements[of]

    def lanes(self, f: Form) -> dict[str, str]:
        """Return the places of a lane's elements of A, B and C, and of metadata and scales, as formulas in words; empty
        if they are unknown."""
        if not f.computes:
            return {}
        layout = first_about(f, self.layouts)
        found = {}
        apart = {"a": f.orders[0], "b": f.orders[1], "c": f.types[3]}
        for name, t in zip("abc", f.types[1:], strict=True):
            registers, per = f.size[0] // 8 if name == "a" else 1, max(1, 32 // self.bits(f, t))
            place = layout.places.get(f"{name}_{apart[name]}") or layout.places[name]
            formulas = (place.row, place.column)
            row, column = (re.sub(r"\bR\b", str(registers), re.sub(r"\bE\b", str(per), x)) for x in formulas)
            found[name] = f"row {row}, column {column}"
        if layout.product:
            found["product"] = layout.product
        if f.is_sparse:
            g, of = first_about(f, self.metadata), self.groups[str(self.bits(f, f.types[1]))]
            found["a"] += f" of the stored elements ({of // 2} of each {of})"
            found["metadata"] = f"row {g.row}, group {g.column}, four bits from 4 * i on; {_chosen(g, 'selector')}"
        for matrix, g in self.scales.items() if f.is_scaled else ():
            at = f"row {g.row}, column {g.column}, byte byte-id-{matrix} + i"
            found[f"scale_{matrix}"] = f"{at}; {_chosen(g, f'thread-id-{matrix}')}"
        return found

    def code(self, f: Form, targets: Iterable[str], db: Database) -> Iterator[MatrixCode]:
        """Yield the machine code of a form with the targets that share it. The recording of one kind of each
        architecture holds for all kinds."""
        plain = {db.targets[t].base or t for t in targets}
        for on, instructions, others in self.machine.get(f.spelling, ()):
            names = (self.assembled[n] for n in on)
            if here := tuple(p for t in names if (p := db.targets[t].base or t) in plain):
                yield MatrixCode(here, {named_for(f, name): n for name, n in instructions.items()}, others)

    def sums(self, f: Form, targets: Iterable[str], db: Database) -> Iterator[Sums]:
        """Yield how targets compute the sums of a form. Targets that compute alike are together."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for plain in dict.fromkeys(db.targets[t].base or t for t in targets):
            row = row_of(f, plain, self.rows)
            if row is not None:
                told = (in_words(row, f, self.bits(f, f.types[1])), *claim(row, f, plain, self.recorded))
            else:
                told = ("", "unspecified", "no source says how this target computes it")
            found.setdefault(told, []).append(plain)
        yield from (Sums(tuple(on), *told) for told, on in found.items())


def _chosen(g: SuppliedRegister, constant: str) -> str:
    """Return a text that names the lanes that provide a register, and the basis of that."""
    lanes = "of all lanes" if g.chosen.isdigit() else f"of lanes with {g.chosen} == {constant}"
    return f"{lanes}; basis: {BASES[g.basis]}"


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(x) if isinstance(x, list) else x for name, x in row.items()}


def named(db: Database, text: str) -> Cores | None:
    """Return the facts about matrix instructions if a text begins with a shape of matrices or with the opcode of such
    an instruction; otherwise None."""
    opcode = text.strip().partition(".")[0]
    if _SHAPE.fullmatch(opcode) is None and opcode not in db.data["matrices"]:
        return None
    return Cores.of(db.tensor)


def named_in(data: Path, text: str) -> Cores | None:
    """Return the same from the file of a database; None if it cannot be read, so that what does not need it goes on."""
    try:
        return named(Database.read(data), text)
    except PtxspecError:
        return None


def query(db: Database, cores: Cores, text: str, target: str | None, ptx: str | None) -> FormFacts:
    """Return whether a form exists that is named by its spelling or in short, and the facts about it. Raises
    PtxspecError for an unknown PTX version."""
    ptx = db.ptx_version(ptx) if ptx is not None else None
    try:
        f = form_named(text, cores.forms, cores.elements)
    except ValueError as e:
        return FormFacts(Verdict(text.strip(), None, False, False, help=str(e), asked=(target, ptx)))
    reasons = tuple(unmet(db, f.spelling, f.requires, target, ptx))
    here = db.catalog.here(f.requires, target) if target and db.catalog.takes(f.requires, target) else None
    on = [target] if target else [t for t in db.targets if db.catalog.takes(f.requires, t)]
    sums = tuple(cores.sums(f, on, db)) if f.computes and not reasons else ()
    machine = tuple(cores.code(f, on, db)) if not reasons else ()
    verdict = Verdict(
        f.spelling, None, True, not reasons, f.requires, here, f.requires if f.listed else None,
        claim=sums[0].claim if target and sums else None, basis=sums[0].basis if target and sums else None,
        reasons=reasons, asked=(target, ptx),
    )  # fmt: skip
    return FormFacts(
        verdict, f, sums, cores.lanes(f), cores.choices.of(f), machine, cores.assembler if machine else None
    )


def types(db: Database, cores: Cores, f: Form) -> dict[str, Type]:
    """Return the types of single elements of A, B, C and D, and of scales, by ptxemu.mma's names for them."""
    formats = db.data["formats"]
    found = {name: _type(of, formats.get(of)) for name, of in zip("dabc", f.types, strict=True)}
    if f.is_scaled:
        of = f.scale_type
        about = {**formats[cores.unsigned[of]], "signed": False} if of in cores.unsigned else formats[of]
        found |= dict.fromkeys(("scale_a", "scale_b"), _type(of, about))
    return found


def _type(name: str, about: Mapping[str, Any] | None) -> Type:
    if about is None or "exponent_bits" not in about:
        width = about["width"] if about else 1
        fixed = FixedPoint(name, width, bool(about and about["signed"]), 0)
        return Type(name, Kind("integer", width, fixed=fixed), 1, max(width, 4), None, "", "", "")
    f = Format(
        name, about["exponent_bits"], about["fraction_bits"], about["bias"], about["nans"],
        int(about["canonical_nan"], 16), about["overflow"], about["signed"], about["zero"], about["subnormals"],
        about["infinity"], about["container"], about["shift"],
    )  # fmt: skip
    return Type(name, Kind("float", f.width, f), 1, f.container, None, "", "", "")


def steps(
    emulator: ModuleType, f: Form, types: Mapping[str, Type], operands: Mapping[str, list[int]], target: str
) -> Any:
    """Return how a target computes one element from the bits of operands by name. This calls ptxemu.mma_steps and
    raises the same errors."""
    import numpy as np

    elements_of = import_module(f"{emulator.__name__}.tensor").elements_of
    given = {name: elements_of(np.array(bits, np.uint64), types[name].name) for name, bits in operands.items()}
    row, column, c = (given.pop(name) for name in "abc")
    return emulator.mma_steps(f.spelling, row, column, c[0], target=target, **given)


def as_text(db: Database, found: FormFacts) -> str:
    """Return the text of `query`."""
    verdict, f = found.verdict, found.form
    target, ptx = verdict.asked
    asked = place(target, ptx)
    if f is None:
        return "\n".join(wrapped(f"no: {verdict.help}", "", "  ", terminal.lines_width()))
    head = "yes" if verdict.available else "no"
    lines = [f"{head}: {f}{' is not available' * (not verdict.available)}{f' on {asked}' if asked else ''}"]
    lines += [line for r in verdict.reasons for line in wrapped(r.message, "  ", "  ")]
    if verdict.here and target:
        lines += _named("here", f"{requirement(db, verdict.here, target)} on {target}")
    lines += _named("requires", requirement(db, f.requires))
    if not f.listed:
        lines += _named("manual", "NVIDIA's manual does not list it")
    lines += _named("registers", ", ".join(f"{name} {n} {type}" for name, n, type in _registers(f)))
    for name, where in found.lanes.items():
        lines += _named(name, where)
    if found.lanes:
        lines += _named(
            "",
            "g is lane // 4, t is lane % 4, i counts a lane's elements, r its registers, j the elements of a register",
        )
    if found.constants:
        every = (f"{name} {', '.join(map(str, choices))}" for name, choices in found.constants.items())
        lines += _named("constants", "; ".join(every))
    if not f.computes:
        lines += _named("computes", "nothing: the assembler generates no operation for it")
    for c in found.machine:
        lines += _named("machine", c.text if target else f"{', '.join(c.targets)}: {c.text}")
    if found.machine:
        lines += _named("", f"generated by {found.assembler}")
    by_how: dict[str, list[Sums]] = {}
    for s in found.sums:
        by_how.setdefault(s.how, []).append(s)
    for how, alike in by_how.items():
        targets = ", ".join(t for s in alike for t in s.targets)
        if how:
            lines += _named("sums", how if target else f"{targets}: {how}")
        for s in alike:
            on = "" if target else f"{', '.join(s.targets)}: "
            lines += _named("claim", f"{on}{s.claim}: {s.basis}")
    if any(s.claim == RECORDED for s in found.sums):
        lines += _named("", NOT_RECORDED)
    return "\n".join(lines)


def page(db: Database, cores: Cores, manual: Path, name: str) -> str:
    """Return the manual's page, or the facts about one form, as Markdown. Raises PtxspecError."""
    if any(_SHAPE.fullmatch(part) for part in name.split(".")):
        found = query(db, cores, name, None, None)
        if found.form is None:
            raise PtxspecError(found.verdict.help)
        return f"# {found.form}\n\n```\n{as_text(db, found)}\n```"
    try:
        return manual.read_text("utf-8").partition("\n\n")[2].rstrip("\n")
    except OSError as e:
        raise PtxspecError(f"{manual}: {e.strerror}; run `ptxspec generate`") from None


def _registers(f: Form) -> list[tuple[str, int, str]]:
    """Return the registers of D, A, B and C, and those of metadata and scales, each with their number and type."""
    found = [(name, n, f".{register_type(t)}") for name, n, t in zip("dabc", f.registers, f.types, strict=True)]
    besides = ["metadata"] * f.is_sparse + ["scale_a", "scale_b"] * f.is_scaled
    return found + [(name, 1, ".b32") for name in besides]


def _named(name: str, text: str) -> list[str]:
    return wrapped(text, f"  {name:{_NAME}}  ", " " * (_NAME + 4), terminal.lines_width())

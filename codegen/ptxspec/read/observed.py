"""spec/observed/ -> what machines found out about the specification. No result depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..matrices.forms import Form
from ..model import (
    Becomes,
    CallEvidence,
    CompiledCall,
    Evidence,
    Judgement,
    Key,
    MachineCode,
    MachineEvidence,
    MachineForms,
    ManualDifference,
    RegisteredRecording,
    Speed,
    SpeedTable,
)
from ..model.tensor import MatrixCode, MatrixEvidence, named_for
from .context import Context, words
from .notation import NotationError, expand
from .positioned import Document, Where


def read_evidence(doc: Document | None) -> Evidence | None:
    if doc is None:
        return None
    d = doc.data
    differences = tuple(
        ManualDifference(e["variant"], int(e["operands"]), words(e["manual"]), words(e["assembler"]))
        for e in d.get("differences") or ()
    )
    pairs, variants, spellings = (int(d[name]) for name in ("pairs", "variants", "spellings"))
    return Evidence(words(d["assembler"]), pairs, variants, spellings, d["asked"], differences)


def read_machine_code(doc: Document | None, context: Context) -> MachineEvidence | None:
    """Read the machine code. Notations of variants that the specification no longer has are accepted: a test checks all
    of them."""
    if doc is None:
        return None
    d = doc.data
    for i, name in enumerate(d["targets"]):
        context.known(doc, ("targets", i), name, context.targets, "target")
    every, opcodes = list(d["targets"]), {}
    for opcode, entries in d["opcodes"].items():
        found = []
        for i, e in enumerate(entries):
            at = ("opcodes", opcode, i)
            for k, text in enumerate(e["for"]):
                if text.partition(".")[0].partition("{")[0] != opcode:
                    message, help = f"'{text}' is no notation of {opcode}", f"a notation here begins with {opcode}"
                    context.errors.append(doc.error((*at, "for", k), message, help))
            codes = []
            for k, c in enumerate(e["code"]):
                on = [
                    n
                    for run in c["on"].split()
                    if (names := _run(doc, (*at, "code", k, "on"), run, every, context))
                    for n in names
                ]
                codes.append(
                    MachineCode(tuple(on), int(c["count"]), int(c.get("beyond", 0)), c["text"].replace("\n", " "))
                )
            found.append(MachineForms(tuple(e["for"]), int(e["operands"]), tuple(codes)))
        opcodes[opcode] = tuple(found)
    return MachineEvidence(words(d["assembler"]), words(d["disassembler"]), tuple(d["targets"]), d["asked"], opcodes)


def read_matrix_code(doc: Document | None, forms: Iterable[Form], context: Context) -> MatrixEvidence | None:
    """Read the machine code of forms of mma. Forms that the specification no longer has are skipped: a test checks all
    of them."""
    if doc is None:
        return None
    d, known = doc.data, {f.spelling: f for f in forms}
    for i, name in enumerate(d["targets"]):
        context.known(doc, ("targets", i), name, context.targets, "target")
    every, found = list(d["targets"]), {}
    for i, e in enumerate(d["forms"]):
        where: Where = ("forms", i)
        code = [
            (tuple(n for run in on.split() for n in _run(doc, (*where, "code", on), run, every, context)),
             {name: int(n) for name, n in counts.items()})
            for on, counts in e["code"].items()
        ]  # fmt: skip
        for k, text in enumerate(e["for"]):
            opcode, _, names = text.partition(".")
            try:
                spellings = [".".join((opcode, *spelled)) for spelled in expand(f".{names}", {})]
            except NotationError as error:
                context.errors.append(doc.error((*where, "for", k), str(error), error.help))
                continue
            for f in (known[s] for s in spellings if s in known):
                found[f.spelling] = tuple(
                    MatrixCode(on, {named_for(f, n): x for n, x in c.items() if n != "others"}, c.get("others", 0))
                    for on, c in code
                )
    return MatrixEvidence(words(d["assembler"]), words(d["disassembler"]), tuple(every), found)


def read_calls(doc: Document | None, context: Context) -> CallEvidence | None:
    """Read what a compiler made of calls."""
    if doc is None:
        return None
    d = doc.data
    for i, name in enumerate(d["targets"]):
        context.known(doc, ("targets", i), name, context.targets, "target")
    every, found = list(d["targets"]), []
    known: dict[str, tuple[tuple[Becomes, ...], tuple[Becomes, ...]]] = {}

    def becomes(where: Where, some: Mapping[str, Any]) -> Iterator[Becomes]:
        for on, what in some.items():
            targets = [
                n for run in on.split() if (names := _run(doc, (*where, on), run, every, context)) for n in names
            ]
            text = words(what)
            yield Becomes(tuple(targets), *((int(text), "") if text.isdecimal() else (count(text), text)))

    def count(ptx: str) -> int:
        return sum(not s.lstrip().startswith(".reg") for s in ptx.split(";")[:-1])

    for header, calls in d["calls"].items():
        for call, c in calls.items():
            at = ("calls", header, call)
            if "as" in c and c["as"] not in known:
                doc_error = doc.error((*at, "as"), f"no call before is '{c['as']}'", "write `becomes` for this one")
                context.errors.append(doc_error)
            both = (tuple(becomes((*at, n), c.get(n) or {})) for n in ("becomes", "fast"))
            known[call] = known[c["as"]] if c.get("as") in known else (next(both), next(both))
            found.append(CompiledCall(call, words(c["gives"]), header, int(c.get("low", 0)), *known[call]))
    return CallEvidence(words(d["compiler"]), tuple(every), tuple(found))


def _run(doc: Document, where: Where, text: str, every: list[str], context: Context) -> list[str]:
    """Return the targets of `sm_75..sm_90a`, from the first to the last of them in a list, or the one that is named."""
    first, _, last = text.partition("..")
    if not all(context.known(doc, where, name, every, "target") for name in (first, last or first)):
        return []
    found = every[every.index(first) : every.index(last or first) + 1]
    if not found:
        message, help = f"'{text}' names no target", f"in the list of targets {last} stands before {first}"
        context.errors.append(doc.error(where, message, help))
    return found


def read_judgements(opcode: str, doc: Document) -> tuple[Judgement, ...]:
    """Return the judgements on an opcode's variants. If a variant no longer has a judged program, somebody should judge
    it again. Judgements of variants that the specification no longer has mean nothing."""
    return tuple(
        Judgement(by, opcode + names, program)
        for judges, programs in doc.data["judges"].items()
        for program, spellings in programs.items()
        for names in spellings.split()
        for by in judges.split(", ")
    )


def read_speed(doc: Document | None, context: Context) -> Speed | None:
    if doc is None:
        return None
    tables = []
    for i, t in enumerate(doc.data["tables"]):
        for j, row in enumerate(t["rows"]):
            if len(row) != len(t["columns"]):
                message = f"{len(row)} cells under {len(t['columns'])} columns"
                context.errors.append(doc.error(("tables", i, "rows", j), message, 'an empty cell is written as ""'))
        rows = tuple(tuple(map(words, row)) for row in t["rows"])
        tables.append(SpeedTable(words(t["title"]), words(t["note"]), tuple(map(words, t["columns"])), rows))
    machine = {words(name): words(value) for name, value in doc.data["machine"].items()}
    return Speed(words(doc.data["command"]), doc.data["date"], machine, tuple(tables))


def read_recordings(doc: Document | None, context: Context) -> tuple[RegisteredRecording, ...]:
    """Read the recordings. Variants that the specification no longer has are accepted."""
    if doc is None:
        return ()
    return tuple(
        RegisteredRecording(
            path=words(r["path"]),
            gpu=words(r["gpu"]),
            target=r["target"],
            driver=words(r["driver"]),
            compiler=words(r["compiler"]),
            date=str(r["date"]),
            equal=_keys(r["equal"]),
            inside=_keys(r["inside"]),
            unequal=_keys(r["unequal"]),
        )
        for i, r in enumerate(doc.data["recordings"])
        if context.known(doc, ("recordings", i, "target"), r["target"], context.targets, "target")
    )


def _keys(entries: list[Mapping[str, Any]]) -> frozenset[Key]:
    return frozenset((e["variant"], int(e["operands"])) for e in entries)

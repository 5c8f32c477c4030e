"""Mutants: one small change of the text of one file of spec/, with its place. A mutant is known by its line before and
after, so that its name stays what it is where lines move."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from helpers import ROOT
from ptxspec.read import positioned
from ptxspec.read.positioned import Document

from mutation import exchanges
from mutation.exchanges import Exchange

SPEC = ROOT / "spec"
# What machines write, units/ among it, is held against its own evidence by other tests. Of our
# own choices only a copy of them could tell: words.yaml, messages.yaml, how GPUs are named, and what a recording keeps.
SHARED = ("types", "modifiers", "targets", "assembler", "functions", "published", "units")
_CHOSEN = {"brands", "editions", "cores"}
_CODE = ("semantics", "code", "raw", "operand", "result", "override", "when")
_SELECTORS = ("for", "has", "lacks", "result", "source")


@dataclass(frozen=True)
class Mutant:
    """`path` is below spec/. `nth`: which of the lines that are alike."""

    path: str
    line: int
    operator: str
    before: str
    after: str
    nth: int

    @property
    def key(self) -> str:
        place = f" (line {self.nth} of these)" if self.nth > 1 else ""
        return f"{self.path}{place}: {self.before.strip()}  =>  {self.after.strip() or 'no line'}"

    @property
    def rank(self) -> str:
        return hashlib.sha256(self.key.encode()).hexdigest()

    @property
    def text(self) -> str:
        """The whole file, with the mutant in it."""
        lines = (SPEC / self.path).read_text("utf-8").splitlines()
        return "\n".join([*lines[: self.line - 1], self.after, *lines[self.line :]]) + "\n"

    def __str__(self) -> str:
        return f"spec/{self.path}:{self.line}: {self.operator}: {self.before.strip()}  =>  {self.after.strip()}"


Where = tuple[str | int, ...]
Found = Iterator[Exchange]


@cache
def _orders() -> tuple[list[str], list[str]]:
    data = positioned.load(SPEC / "targets.yaml", ROOT).data
    return [t["name"] for t in data["targets"]], [p["version"] for p in data["ptx"]]


def _stepped(text: str, order: list[str], operator: str) -> Found:
    for m in re.finditer(r"sm_\w+|\d+\.\d+", text):
        if m[0] in order:
            place = order.index(m[0])
            for other in (place - 1, place + 1):
                if 0 <= other < len(order):
                    yield Exchange(operator, *m.span(), order[other])


def _of_instruction(names: tuple[str, ...], text: str, is_result: bool) -> Found:
    last, targets, versions = names[-1], *_orders()
    if last in ("ptx", "until") and "requires" in names:
        yield from _stepped(text, versions, "ceiling" if last == "until" else "PTX version")
    elif last == "on" or names[-2:-1] == ("on",):
        yield from _stepped(text, versions, "PTX version")
    elif last in ("target", "within") and "semantics" not in names:
        yield from _stepped(text, targets, "target")
    elif "corner_cases" in names:
        # Rows are checks of the semantics, and so may be other ones that are true: those of other operands, or the same
        # of fewer or more variants. What they say of results must be found wrong.
        if last == "rows" and is_result:
            yield from exchanges.in_cell(text)
    elif (last == "shown" and is_result) or (last in ("operand", "result") and "exceeded" in names):
        yield from (e._replace(operator="figure") for e in exchanges.in_number(text))
    elif last == "syntax":
        # Of what exists nowhere, fewer spellings are less advice, and nothing wrong.
        if "missing" not in names:
            yield from exchanges.in_syntax(text)
    elif "accuracy" in names and last == "bound":
        yield from exchanges.in_bound(text)
    elif "accuracy" in names and last == "range":
        yield from exchanges.in_range(text)
    elif "accuracy" in names and last == "kind":
        other = {"absolute": "relative", "relative": "absolute", "ulp": "ulp from the rounded result"}
        yield Exchange("kind of a bound", 0, len(text), other.get(text, "ulp"))
    elif last in _SELECTORS:
        yield from exchanges.in_notation(text)
    elif "registers" in names and text.lstrip(".") in ("f16", "f16x2", "bf16", "bf16x2", "b32", "pred", "b16", "f64"):
        start = len(text) - len(text.lstrip("."))
        yield Exchange("register", start, len(text), "b32" if text.lstrip(".") != "b32" else "f16x2")
    elif last == "rule":
        yield Exchange("NaN rule", 0, len(text), "canonical" if text != "canonical" else "unchanged")
    elif last == "modifiers" and "means" in names:
        yield from exchanges.in_notation(text)
    elif last == "differs" and "instead" in names:
        yield Exchange("what differs", 0, len(text), "NaN bits" if text != "NaN bits" else "within bound")
    elif names[:1] == ("lane_bits",) and re.fullmatch(r"\d+\.\.\d+", text):
        yield from exchanges.constants(text)
    elif last == "call":
        yield from exchanges.in_code(text)


def _of_shared(kind: str, names: tuple[str, ...], text: str) -> Found:
    last, targets, versions = names[-1], *_orders()
    whole = (0, len(text))
    if kind == "types":
        yield from _of_types(names, text)
    elif kind == "modifiers":
        if last == "mode":
            rounding = {"roundTiesToEven": "roundTiesToAway", "roundTowardZero": "roundTowardNegative"}
            yield Exchange("another rounding", *whole, rounding.get(text, "roundTiesToEven"))
        elif last == "within":
            yield from _stepped(text, targets, "target")
        elif last in ("for", "modifier"):
            yield Exchange("another modifier", *whole, {".f32": ".f64"}.get(text, "sat"))
    elif kind == "targets" and last in ("ptx", "base", "target"):
        yield from _stepped(text, versions if last == "ptx" else targets, "PTX version" if last == "ptx" else "target")
    elif kind == "targets" and last in ("cuda", "linux", "windows", "listed"):
        yield from exchanges.in_number(text)
    elif kind == "targets" and last == "kind":
        yield Exchange("kind of a target", *whole, "family" if text == "architecture" else "architecture")
    elif kind == "targets" and last in ("families", "nvcc", "targets"):
        yield from _stepped(text, targets, "target")
    elif kind == "published" and last in ("within", "variant", "unit", "results"):
        yield from _stepped(text, targets, "target")
        yield from exchanges.in_notation(text)
    elif kind == "units":
        if "special" in names:
            yield from (e._replace(operator="figure of a unit") for e in exchanges.in_number(text))
        elif last in ("function", "format"):
            other = {"f32": "f16", "f16": "bf16", "bf16": "f16", "f64": "f32"}
            yield Exchange("figure of a unit", *whole, other.get(text, "exp2" if text != "exp2" else "log2"))
    elif kind == "functions":
        if last in ("ptx", "ftz"):
            yield from (e for e in exchanges.in_ptx(text))
            yield from exchanges.in_notation(text)
        elif "functions" in names and text.startswith("."):
            yield from exchanges.in_notation(text)
    elif (kind == "assembler" and "registers" in names) or "constraints" in names:
        yield Exchange("register", *whole, "b32" if text != "b32" else "b64")


def _of_types(names: tuple[str, ...], text: str) -> Found:
    section, last = names[0], names[-1]
    whole = (0, len(text))
    if section == "formats":
        if re.fullmatch(r"\d+|0x\w+", text):
            yield from exchanges.constants(text)
        elif text in ("none", "nan", "largest", "signed", "unsigned"):
            other = {"nan": "largest", "largest": "nan", "signed": "unsigned", "unsigned": "signed"}
            if text in other:
                yield Exchange("format", *whole, other[text])
    elif section == "types" and last in ("lanes", "lane_bits", "bits"):
        yield Exchange("lane count", *whole, str(int(text) * 2))
    elif section == "types" and last in ("constraint", "registers"):
        other = {"h": "r", "r": "l", "l": "r", "f": "r", "d": "l"}
        start = len(text) - len(text.lstrip("."))
        yield Exchange("register", start, len(text), other.get(text) or ("b32" if text != ".b32" else "b64"))
    elif section == "types" and last in ("format", "nan"):
        yield Exchange("format", *whole, {"f16": "bf16", "bf16": "f16", "canonical": "payload"}.get(text, "f16"))
    elif section == "languages" and last == "triton":
        yield Exchange("type of a language", *whole, "float32" if text != "float32" else "float16")
    elif section == "languages" and last == "cuda":
        yield Exchange("type of a language", *whole, "float" if text != "float" else "double")


def _exchanges(doc: Document, kind: str) -> Iterator[tuple[int, Exchange]]:
    """With the number of the line; places count in the line."""
    for where, mark in doc.marks.items():
        names = tuple(str(k) for k in where if isinstance(k, str))
        value = _value(doc, where)
        if isinstance(value, dict | list) or not names or not _CHOSEN.isdisjoint(names):
            continue
        line = doc.line(mark.line)
        text = str(value).lower() if isinstance(value, bool) else value
        is_code = names[-1] in _CODE and where in doc.blocks and "exceeded" not in names and "for" not in names
        if is_code or (names[-1] == "ptx" and "instead" in names and where in doc.blocks):
            start = doc.blocks[where]
            one = exchanges.in_code if is_code else exchanges.in_ptx
            for number, column in _lines(doc, start.line, start.column, "\n" in text or line.rstrip().endswith("|")):
                for e in one(doc.line(number)[column - 1 :]):
                    yield number, e._replace(start=e.start + column - 1, end=e.end + column - 1)
            continue
        column = mark.column - 1
        column += line[column : column + 1] in ("'", '"')
        if line[column : column + len(text)] != text:
            continue
        if text in ("true", "false") and (where[0] != "corner_cases" or where[-1] == len(_value(doc, where[:-1])) - 1):
            yield mark.line, Exchange("flag", column, column + len(text), "false" if text == "true" else "true")
            continue
        is_result = isinstance(where[-1], int) and not isinstance(_value(doc, where[:-1]), dict)
        is_result = is_result and where[-1] == len(_value(doc, where[:-1])) - 1  # type: ignore[arg-type]
        found = _of_instruction(names, text, is_result) if kind == "instructions" else _of_shared(kind, names, text)
        for e in found:
            if text[e.start : e.end] != e.new:
                yield mark.line, e._replace(start=e.start + column, end=e.end + column)
    yield from _entries(doc, kind)


def _value(doc: Document, where: Where) -> object:
    value = doc.data
    for key in where:
        value = value[key]
    return value


def _lines(doc: Document, first: int, column: int, block: bool) -> Iterator[tuple[int, int]]:
    if not block:
        yield first, column
        return
    for number in range(first, len(doc.lines) + 1):
        line = doc.line(number)
        if line.strip() and len(line) - len(line.lstrip()) < column - 1:
            return
        if line.strip():
            yield number, column


# Keys whose entry may be left out, and lists of which an element may be.
_LEFT_OUT = r"for|target|ptx|until|within|lacks|operands|types|open|loose|crash|unlisted|nan|ftz"
_LISTS = {
    "elsewhere", "empty_types", "other_modifiers", "repeatable", "leading", "ignored", "crashing", "constants",
    "named_integers", "registers", "constraints", "groups", "copied", "acts_on", "families", "nvcc", "targets", "names",
    "other_types", "target_options", "formats", "for",
}  # fmt: skip


def _entries(doc: Document, kind: str) -> Iterator[tuple[int, Exchange]]:
    """Entries of mappings, and elements of lists, that are left out."""
    for where, mark in doc.keys.items():
        line, key = doc.line(mark.line), str(where[-1])
        if not re.fullmatch(_LEFT_OUT, key) or not _CHOSEN.isdisjoint(where) or where[0] == "corner_cases":
            continue
        if re.match(rf"\s+{key}: \S", line) and where in doc.marks and doc.marks[where].line == mark.line:
            value = line.partition(": ")[2]
            if value[0] not in "|>" and value.count("{") == value.count("}") and value.count("[") == value.count("]"):
                yield mark.line, Exchange(f"no {key}", mark.column - 1, len(line), f"# {line.strip()}")
        elif m := re.compile(rf"{key}: (?:\"[^\"]*\"|\[[^\]]*\]|\{{[^}}]*\}}|[^,}}]+),?\s*").match(
            line, mark.column - 1
        ):
            yield mark.line, Exchange(f"no {key}", *m.span(), "")
    for where, mark in doc.marks.items():
        if not where or where[0] == "corner_cases" or not isinstance(where[-1], int) or _LISTS.isdisjoint(where):
            continue
        if not _CHOSEN.isdisjoint(where):
            continue
        value, line = _value(doc, where), doc.line(mark.line)
        m = re.compile(r"\"?[^\],\"]+\"?,?\s*").match(line, mark.column - 1)
        if m and isinstance(value, str) and line[: mark.column - 1].strip() != "-":
            yield mark.line, Exchange("element dropped", *m.span(), "")


def of(path: Path) -> list[Mutant]:
    """All mutants of a file."""
    doc = positioned.load(path, ROOT)
    kind = path.stem if path.parent == SPEC else path.parent.name
    name = path.relative_to(SPEC).as_posix()
    seen: set[tuple[int, str]] = set()
    alike: Counter[str] = Counter()
    nth = {}
    for number, line in enumerate(doc.lines, 1):
        alike[line.strip()] += 1
        nth[number] = alike[line.strip()]
    found = []
    for number, e in _exchanges(doc, kind):
        before = doc.line(number)
        after = before[: e.start] + e.new + before[e.end :]
        if after == before or (number, after) in seen:
            continue
        seen.add((number, after))
        found.append(Mutant(name, number, e.operator, before, after, nth[number]))
    return found


def files() -> list[Path]:
    shared = [SPEC / f"{name}.yaml" for name in SHARED]
    return [*shared, *sorted((SPEC / "instructions").glob("*.yaml"))]


def every() -> list[Mutant]:
    return [m for path in files() for m in of(path)]


def sample(mutants: list[Mutant], count: int, key: Callable[[Mutant], object] | None = None) -> list[Mutant]:
    """So many of them, from each file and each operator some. Which they are changes little where others come or go."""
    strata: dict[object, list[Mutant]] = defaultdict(list)
    for m in mutants:
        strata[(m.path, m.operator) if key is None else key(m)].append(m)
    for members in strata.values():
        members.sort(key=lambda m: m.rank)
    # The first of each, then the second of each; among the last of these, chance decides.
    turns = [(place, m.rank, m) for members in strata.values() for place, m in enumerate(members)]
    return [m for _, _, m in sorted(turns, key=lambda t: t[:2])[:count]]

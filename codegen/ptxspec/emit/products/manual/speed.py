"""The model -> the manual's page about speed: charts of the measured ratios, and all figures in tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....model import Speed, SpeedTable
from ...text import Files
from .site import Site

PATH = "spec/observed/speed.yaml"
# The beginnings of the heads of columns with ratios, and the prefix of those of the kernels in C.
_RATIO, _ACCELERATED = "x ", "C "
_FIGURE = re.compile(r"(\d+(?:\.\d+)?)(?: \((\d+(?:\.\d+)?)\))?")
# The heads of columns in words, with their units.
_HEADS = {
    "family": "Group of variants",
    "variants": "Variants in the group",
    "slowest": "Slowest variant",
    "ns": "Time per element (ns)",
    "x add": "Time relative to numpy.add",
    "median": "Median time relative to numpy.add",
    "x own": "Largest time relative to NumPy's function",
    "x SoftFloat": "Largest time relative to SoftFloat",
    "specials": "Largest time on special values relative to ordinary ones",
    "call": "Call",
    "\N{MICRO SIGN}s": "Time per call (\N{MICRO SIGN}s)",
    "function": "Of that, the function itself (\N{MICRO SIGN}s)",
    "x numpy.add": "Time relative to numpy.add",
    "what": "Measurement",
    "measured": "Result",
}
# The columns of a table whose rows were measured in different ways.
_ALONE, _RELATIVE = ("measured", "at most"), ("ratio", "against", "ratio at most")
_NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class Bar:
    """One ratio, drawn from 1 to the right if it is larger. Places are percentages of the width; `aim` is that of the
    aim, None without one."""

    series: str
    text: str
    left: float
    width: float
    aim: float | None


@dataclass(frozen=True)
class Chart:
    """The ratios of one column, with and without C, by the cells of the first column. The head of that column is
    `label`. `marks` are the axis's numbers, each with its place."""

    title: str
    note: str
    label: str
    series: Sequence[str]
    marks: Sequence[tuple[str, float]]
    rows: Sequence[tuple[str, Sequence[Bar]]]


@dataclass(frozen=True)
class Part:
    """Some columns of a table, with their heads in words. `gaps`: in some cells nothing was measured."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def gaps(self) -> bool:
        return any(_NOTHING in row for row in self.rows)


@dataclass(frozen=True)
class Shown:
    """A table: a note on all of it, notes on columns by their heads, its charts, and its columns in parts."""

    table: SpeedTable
    anchor: str
    note: str
    heads: Mapping[str, str]
    charts: Sequence[Chart]
    parts: Sequence[Part]


def emit(speed: Speed, site: Site) -> Files:
    """Return manual/speed, as HTML and as Markdown."""
    return site.page("speed", [PATH], {"speed": speed, "shown": [_shown(t) for t in speed.tables]})


def _shown(table: SpeedTable) -> Shown:
    note, heads = _explained(table)
    ratios = [c for c in table.columns if c.startswith(_RATIO)]
    charts = [c for head in ratios if (c := _chart(table, head, heads.get(head, "")))]
    anchor = table.title.lower().replace(" ", "-")
    return Shown(table, anchor, note, {_words(h): text for h, text in heads.items()}, charts, _parts(table))


def _words(head: str) -> str:
    plain = head.removeprefix(_ACCELERATED)
    return _HEADS.get(plain, plain) + (", in C" if plain != head else "")


def _parts(table: SpeedTable) -> list[Part]:
    """Return a table's columns by subject: NumPy alone, C, and other libraries, whose columns have their names."""
    if set(table.columns) > {*_ALONE, *_RELATIVE}:
        return [_apart(table)]
    first, *others = table.columns
    in_c = [c for c in others if c.startswith(_ACCELERATED)]
    own = [c for c in others if c in _HEADS or c.startswith(_RATIO)]
    peers = [c for c in others if c not in in_c and c not in own]
    if not own:
        return [_part(table, "", [first, *peers])]
    found = [_part(table, "With NumPy alone" if in_c else "", [first, *own])]
    found += [_part(table, "With the kernels in C", [first, *in_c])] * bool(in_c)
    return found + [_libraries(table, peers)] * bool(peers)


def _part(table: SpeedTable, title: str, columns: Sequence[str]) -> Part:
    places = [table.columns.index(c) for c in columns]
    heads = [_words(c.removeprefix(_ACCELERATED)) for c in columns]
    return Part(title, heads, [[row[at] or _NOTHING for at in places] for row in table.rows])


def _libraries(table: SpeedTable, columns: Sequence[str]) -> Part:
    """Return a row for each group and each library with results in it."""
    rows = []
    for row in table.rows:
        for name in columns:
            if cell := row[table.columns.index(name)]:
                time, _, wrong = cell.partition(", ")
                rows.append([row[0], name, time, wrong or _NOTHING])
    heads = [_words(table.columns[0]), "Library", "Median time per element (ns)", "Results that differ from MPFR's"]
    return Part("Other libraries", heads, rows)


def _apart(table: SpeedTable) -> Part:
    """Return the measurements of each row, absolute and relative, with the maximum that each should have."""
    rows = []
    for row in table.rows:
        cell = dict(zip(table.columns, row, strict=True))
        ratio = f"{cell['ratio']} relative to {cell['against']}" if cell["ratio"] else ""
        aims = (cell["at most"], cell["ratio at most"] and f"{cell['ratio at most']} relative to {cell['against']}")
        results, wanted = ([x for x in some if x] for some in ((cell["measured"], ratio), aims))
        rows.append([row[0], "; ".join(results) or _NOTHING, "; ".join(wanted) or "none"])
    return Part("", [_words(table.columns[0]), _words("measured"), "Aim: at most"], rows)


def _explained(table: SpeedTable) -> tuple[str, dict[str, str]]:
    """Return the parts of a note: its sentences on columns, which begin with `'head':`, and the rest."""
    quoted = "|".join(re.escape(c) for c in table.columns)
    first, *parts = re.split(rf"'({quoted})': ", table.note)
    heads = {head: text[0].upper() + text[1:].strip() for head, text in zip(parts[::2], parts[1::2], strict=True)}
    return first.strip(), heads


def _chart(table: SpeedTable, head: str, note: str) -> Chart | None:
    columns = [(name, table.columns.index(c)) for name, c in _series(head) if c in table.columns]
    found = {row[0]: [(name, _figure(row[at])) for name, at in columns] for row in table.rows}
    numbers = [n for figures in found.values() for _, f in figures if f for n in f[1:] if n]
    if not numbers:
        return None
    least, most = min(*numbers, 1), max(*numbers, 1)
    scale = _Scale(least, most)
    rows = [
        (label, [_bar(scale, name, *f) for name, f in figures if f])
        for label, figures in found.items()
        if any(f for _, f in figures)
    ]
    return Chart(_words(head), note, _words(table.columns[0]), [name for name, _ in columns], scale.marks, rows)


def _series(head: str) -> Iterable[tuple[str, str]]:
    return ("NumPy", head), ("C", _ACCELERATED + head)


def _figure(cell: str) -> tuple[str, float, float | None] | None:
    """Return a cell's text, its number, and the aim in parentheses."""
    found = _FIGURE.fullmatch(cell)
    return (cell, float(found[1]), float(found[2]) if found[2] else None) if found and float(found[1]) else None


def _bar(scale: _Scale, series: str, text: str, number: float, aim: float | None) -> Bar:
    one, here = scale.place(1), scale.place(number)
    return Bar(series, text, min(one, here), max(abs(here - one), 0.4), None if aim is None else scale.place(aim))


class _Scale:
    """A logarithmic scale between two numbers, with marks at 1, 2, 5, 10 and so on."""

    def __init__(self, least: float, most: float) -> None:
        self._from, self._to = math.log10(least) - 0.06, math.log10(most) + 0.06
        powers = range(math.floor(self._from), math.ceil(self._to) + 1)
        numbers = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        self.marks = [(f"{n:g}", self.place(n)) for n in numbers if self._from <= math.log10(n) <= self._to]

    def place(self, number: float) -> float:
        return round(100 * (math.log10(number) - self._from) / (self._to - self._from), 2)

"""The model -> the manual's page about speed: charts of the ratios that were measured, and the tables whole."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....model import Speed, SpeedTable
from ...text import Files
from .site import Site

PATH = "spec/observed/speed.yaml"
# How the heads of columns with ratios begin, and what stands before that where the emulator has a C compiler.
_RATIO, _ACCELERATED = "x ", "C "
_FIGURE = re.compile(r"(\d+(?:\.\d+)?)(?: \((\d+(?:\.\d+)?)\))?")


@dataclass(frozen=True)
class Bar:
    """One ratio from 1 on, to the right where it is larger; places are percentages of the width. `aim` is the place of
    what is aimed at, None where nothing is."""

    series: str
    text: str
    left: float
    width: float
    aim: float | None


@dataclass(frozen=True)
class Chart:
    """The ratios of one column and of its accelerated twin, by what stands in the first column, whose head is `label`.
    `marks` are the axis's: each a number with its place."""

    title: str
    note: str
    label: str
    series: Sequence[str]
    marks: Sequence[tuple[str, float]]
    rows: Sequence[tuple[str, Sequence[Bar]]]


@dataclass(frozen=True)
class Shown:
    """A table: what is to be known of all of it, of columns by their heads, and its charts."""

    table: SpeedTable
    anchor: str
    note: str
    heads: Mapping[str, str]
    charts: Sequence[Chart]


def emit(speed: Speed, site: Site) -> Files:
    return site.page("speed", [PATH], {"speed": speed, "shown": [_shown(t) for t in speed.tables]})


def _shown(table: SpeedTable) -> Shown:
    note, heads = _explained(table)
    ratios = [c for c in table.columns if c.startswith(_RATIO)]
    charts = [c for head in ratios if (c := _chart(table, head, heads.get(head, "")))]
    return Shown(table, table.title.lower().replace(" ", "-"), note, heads, charts)


def _explained(table: SpeedTable) -> tuple[str, dict[str, str]]:
    """Return a note taken apart: its sentences on columns, each as `'head': ...`, and the rest."""
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
    title, names = f"Ratio to {head.removeprefix(_RATIO)}", [name for name, _ in columns]
    return Chart(title, note, table.columns[0], names, scale.marks, rows)


def _series(head: str) -> Iterable[tuple[str, str]]:
    return ("NumPy", head), ("C", _ACCELERATED + head)


def _figure(cell: str) -> tuple[str, float, float | None] | None:
    """Return a cell's text, its number, and what stands in parentheses: the aim."""
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

"""The page of the functions that semantics calls: the descriptions in the table, and the opcodes that call them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....semantics import functions
from ....semantics.functions import TABLE, Function
from ...text import Files
from .site import Site


@dataclass(frozen=True)
class Paragraph:
    """Text, or the rows of a table: names with their meanings."""

    text: str
    rows: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Documented:
    """A function with its description. `call` is its signature, `kinds` the kinds of its operands and result, and
    `written` its form as an operator; `opcodes` call it."""

    function: Function
    call: str
    kinds: str
    written: str
    opcodes: Sequence[str]


@dataclass(frozen=True)
class Chapter:
    id: str
    title: str
    entries: Sequence[Documented]


def emit(callers: Mapping[str, Sequence[str]], site: Site) -> Files:
    """Return the files of manual/functions. `callers` are the opcodes that call each function."""
    values = {"chapters": _chapters(callers), "about": [*map(_paragraph, functions.__doc__.split("\n\n"))][1:]}
    return site.page("functions", ["spec/types.yaml", "spec/modifiers.yaml", "spec/instructions/"], values)


def _chapters(callers: Mapping[str, Sequence[str]]) -> list[Chapter]:
    """Return the functions by the kind of their result, in the table's order."""
    found: dict[tuple[str, str], list[Documented]] = {}
    for f in TABLE.values():
        entry = Documented(f, _call(f), _kinds(f), _operator(f), callers[f.name])
        found.setdefault(_chapter(f), []).append(entry)
    return [Chapter(id, title, entries) for (id, title), entries in found.items()]


def _chapter(f: Function) -> tuple[str, str]:
    if f.is_static:
        return "about-formats", "Facts about formats"
    if f.rounds:
        return "arithmetic", "Arithmetic with one rounding"
    if f.result == "bool":
        return "comparisons", "Tests and comparisons"
    if f.result in ("bits", "integer", "whole"):
        return "bitwise", "Bits and integers"
    return "without-rounding", "Functions without rounding"


def _call(f: Function) -> str:
    names = [*f.names]
    for place in range(len(names) - f.optional, len(names)):
        names[place] = f"[{names[place]}]"
    return f"{f.name}({', '.join(names)})"


def _kinds(f: Function) -> str:
    return f"{', '.join(f.parameters)} \N{RIGHTWARDS ARROW} {f.result}"


def _operator(f: Function) -> str:
    """Return a function in the notation of its operator: before one operand, between two, or among three with a
    condition in the middle."""
    if not f.operator:
        return ""
    names = f.names[: len(f.names) - f.optional]
    if len(names) == 1:
        sign = f.operator.removeprefix("unary ")
        return f"{sign}{' ' * sign.isalpha()}{names[0]}"
    if len(names) == 2:
        return f"{names[0]} {f.operator} {names[1]}"
    test, then, other = names
    first, second = f.operator.split()
    return f"{then} {first} {test} {second} {other}"


def _paragraph(text: str) -> Paragraph:
    """Return a paragraph of the language's description. Indented lines are a table: each row is a name and, after two
    spaces, its meaning."""
    lines = text.strip("\n").split("\n")
    if not lines[0].startswith("  "):
        return Paragraph(" ".join(lines))
    rows: list[list[str]] = []
    for line in lines:
        name, *meaning = re.split(r"\s{2,}", line.strip(), maxsplit=1)
        if meaning:
            rows.append([name, meaning[0]])
        elif line.startswith("   ") and rows:
            rows[-1][1] += " " + name
        else:
            rows.append([name, ""])
    return Paragraph("", rows)

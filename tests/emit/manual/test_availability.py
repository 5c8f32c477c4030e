"""The matrix of availability says what queries say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from helpers.manual import FOLDER, Matrix, Row, parts, shown
from helpers.node import printed
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from ptxspec.catalog import Target

SPEC = specification()
DB = database()
EVERY = [v for v in DB.variants if not v.crash]
ORDER = {p: i for i, p in enumerate(SPEC.versions)}


@cache
def matrix() -> Matrix:
    return Matrix(FOLDER)


def said(row: Row, target: Target) -> tuple[str, list[int]] | None:
    """The PTX versions of a row on a target: a kind of which nothing is said takes what its base takes."""
    column = matrix().columns.index(target.base or target.name)
    found = parts(row.cells[column])
    return found.get(target.name.removeprefix(target.base) if target.base else "") or found.get("")


def takes(row: Row, target: Target, ptx: str) -> bool:
    first, _, last = (said(row, target) or ("", []))[0].partition("\N{EN DASH}")
    return bool(first) and max(ORDER[first], ORDER[target.ptx]) <= ORDER[ptx] <= ORDER[last or ptx]


def test_the_matrix_has_every_variant_once_and_every_target() -> None:
    assert Counter(n for row in matrix().rows for n in row.names) == Counter(map(shown, EVERY))
    assert matrix().columns == [t.name for t in SPEC.targets.values() if not t.base][::-1]
    assert {len(row.cells) for row in matrix().rows} == {len(matrix().columns)}


@each_size
def test_the_matrix_is_what_the_queries_say(whole: bool) -> None:
    pairs = [(t, ptx) for t in SPEC.targets.values() for ptx in list(SPEC.versions)[ORDER[t.ptx] :]]
    for t, ptx in pairs if whole else spread(pairs, 40):
        found = {name for row in matrix().rows if takes(row, t, ptx) for name in row.names}
        assert found == {shown(v) for v in DB.available(target=t.name, ptx=ptx)}, (t.name, ptx)


def test_hazards_are_marked_where_they_hold_and_told() -> None:
    html = re.sub(r"</?a\b[^>]*>", "", (FOLDER / "availability.html").read_text("utf-8"))
    texts = re.findall(r"<strong>Hazard (\d+)\.</strong> (.*?)</p>", html)
    told = {int(n): text.replace("&#39;", "'") for n, text in texts}
    hazardous = {shown(v): v for v in EVERY if v.hazards}
    for t in SPEC.targets.values():
        for row in matrix().rows:
            found = said(row, t)
            marks = {told[n] for n in found[1]} if found else set()
            for v in filter(None, map(hazardous.get, row.names)):
                there = SPEC.catalog.hazards(v, t.name) if found else []
                assert marks == {h.text for h in there}, (v.spelling, t.name)
            if not any(name in hazardous for name in row.names):
                assert not marks


# What the page's scripts say, without the page

SCRIPTS = [FOLDER / f"{name}.js" for name in ("catalog.data", "catalog", "matching", "names", "verdicts")]


def node(program: str, given: object) -> Any:
    """Return what a program prints that is given the page's scripts and `given`."""
    loads = "".join(f"require({json.dumps(str(path))});" for path in SCRIPTS)
    program = f'{loads} const given = JSON.parse(require("fs").readFileSync(0, "utf-8"));' + program
    return printed(program, given)


VERDICTS = """
const named = row => ptxspec.variants[ptxspec.rows.indexOf(row)].map(v => v.spelling);
console.log(JSON.stringify([
  ptxspec.rows.map(row => [named(row)[0], row.operands]),
  given.map(([target, ptx]) => ptxspec.rows.map(row => ptxspec.verdict(row, {target, ptx}))),
]));
"""


@pytest.mark.sampled(0)
@each_size
def test_a_verdict_is_what_the_query_says(whole: bool) -> None:
    every = [(t, p) for t in ("", *SPEC.targets) for p in ("", *SPEC.versions) if t or p]
    asked = every if whole else spread(every, 60)
    rows, answers = node(VERDICTS, asked)
    variants = [DB.variant(*row) for row in rows]
    for (target, ptx), found in zip(asked, answers, strict=True):
        for v, answer in zip(variants, found, strict=True):
            place = (target or None, ptx or None)
            if not SPEC.catalog.takes(v.requires, *place):
                assert answer["kind"] == "no" and answer["text"].startswith("no"), (v.spelling, place)
            else:
                # Of no target: a hazard on any that takes the variant.
                here = (
                    [t for t in SPEC.targets if SPEC.catalog.takes(v.requires, t, place[1])] if not target else [target]
                )
                wrong = any(SPEC.catalog.hazards(v, t) for t in here)
                assert answer["kind"] == ("hazard" if wrong else "yes"), (v.spelling, place)
                assert answer["text"].startswith("yes")
            named = re.search(r"PTX ([\d.]+)( on)?", answer["text"])
            if target and named and named[2]:
                since = max(SPEC.catalog.window(v.requires, target)[0], SPEC.targets[target].ptx, key=ORDER.__getitem__)
                assert named[1] == since, (v.spelling, place)


def test_a_verdict_names_the_kinds_that_have_what_the_target_has_not() -> None:
    places = [("sm_100", ""), ("sm_100", "9.5"), ("sm_90", ""), ("sm_10", "")]
    rows, answers = node(VERDICTS, places)
    at = [name for name, _ in rows].index("add.e5m2x4.e5m2x4")
    assert [found[at]["text"] for found in answers] == ["no, but sm_100a", "no, but sm_100a", "no", "no"]
    old = [name for name, _ in rows].index("sin.f32")
    assert [found[old]["text"] for found in answers] == ["no", "no", "no", "yes, PTX 1.0 to 1.3"]


FOUND = """
console.log(JSON.stringify(given.map(([words, type]) => {
  const has = ptxspec.matcher(words, type);
  return ptxspec.variants.flat().filter(has).length;
})));
"""


def has(spelling: str, word: str) -> bool:
    return word in spelling if "." in word else any(part.startswith(word) for part in spelling.split("."))


def matching(words: Iterable[str], type: str = "") -> list[Any]:
    return [
        v
        for v in EVERY
        if all(has(v.spelling.lower(), w.lower()) for w in words) and (not type or type in v.spelling.split("."))
    ]


def test_words_begin_parts_of_a_spelling_and_with_a_dot_stand_anywhere() -> None:
    asked = [
        ([], ""), (["max", "f16", "nan"], ""), (["MAX.NaN"], ""), (["set", "eq", "f16x2"], ""), (["e2m1x2"], ""),
        (["f16"], ""), (["16"], ""), ([".f16"], ""), (["add"], "bf16"), ([], "f16"), (["xyz"], ""), (["m.f32"], ""),
    ]  # fmt: skip
    wanted = [len(matching(words, type)) for words, type in asked]
    assert node(FOUND, asked) == wanted
    assert [words for (words, _), n in zip(asked, wanted, strict=True) if n == 0] == [["16"], ["xyz"]]


def test_what_types_are_called_finds_them() -> None:
    """Nobody who looks for FP8 knows that PTX says e4m3x2."""
    fp8 = {t.name for t in SPEC.types.values() if (f := t.kind.format) and f.signed and f.width == 8}
    wanted = [v for v in EVERY if fp8 & set(v.spelling.split("."))]
    assert wanted and node(FOUND, [(["FP8"], ""), (["fp8", "zzz"], "")]) == [len(wanted), 0]


def test_what_is_meant_by_a_name() -> None:
    asked = ["h100", "RTX 4090", "GeForce RTX 4090", "sm_84", "sm_90a", "sm_99a", "sm_1000", "9", "L", "nothing"]
    wanted = ["sm_90", "sm_89", "sm_89", "sm_86", "sm_90a", "sm_100a", "sm_121", "sm_10", None, None]
    assert node("console.log(JSON.stringify(given.map(ptxspec.nearestTarget)))", asked) == wanted
    program = "console.log(JSON.stringify(given.map(ptxspec.nearestVersion)))"
    assert node(program, ["7.9", "10", "8.55", "x"]) == ["8.0", "9.5", "8.6", None]
    program = "console.log(JSON.stringify(given.map(ptxspec.usedLike)))"
    assert node(program, ["bf17", "fam", "realu", "satfinit", "zzzzzz"]) == ["bf16", "fma", "relu", "satfinite", None]

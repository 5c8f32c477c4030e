"""Every variant's kernel, a line for each family: with NumPy only, with the accelerator, and the peers beside it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
import ptxemu
import pytest
import switch as switches
from families import FAMILIES, Family, has_one_type, type_of
from helpers.grids import pairs, small, special, triples
from kernels import FIELDS, Bits, operands
from oracles.judge import expected
from oracles.mpfr import decode
from peers import installed, ways
from ptxemu import Variant
from tables import FIGURES, Table
from timing import in_turn

SCRIPT = Path(__file__).with_name("kernels.py")
# Enough for a peer that takes an element at a time.
COUNT = 1 << 13


@pytest.fixture(scope="module")
def against_softfloat() -> dict[str, list[list[float]]]:
    """The ratios to SoftFloat's time, a list for each family that has any, with the accelerator off and on."""
    return {"0": [], "1": []}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.title)
def test_family(
    family: Family, kernels_table: Table, note: Callable[[str], None], against_softfloat: dict[str, list[list[float]]]
) -> None:
    row = [family.title, str(len(family.variants))]
    for switch, target in (("0", family.target), ("1", family.accelerated_target)):
        found, said = measured(family, switch)
        if said:
            row += [""] * len(FIGURES)
            note(f"{said}")
            continue
        row += of_kernels(found, target)
        if ratios := ratios_to("softfloat", found):
            against_softfloat[switch].append(ratios)
    row += [of_peer(peer, family) for peer in installed()]
    kernels_table.rows.append(row)


@pytest.mark.parametrize(("switch", "how", "at_most"), [("0", "", "0.6"), ("1", ", accelerated", "0.1")])
@pytest.mark.parametrize(("of_family", "which"), [(geometric_mean, "each variant"), (max, "the slowest variant")])
def test_family_means(
    of_family: Callable[[list[float]], float],
    which: str,
    switch: str,
    how: str,
    at_most: str,
    against_softfloat: dict[str, list[list[float]]],
    around: Callable[..., None],
) -> None:
    families = against_softfloat[switch]
    if not families:
        pytest.skip("no family was measured against SoftFloat")
    ratio = geometric_mean(map(of_family, families))
    what = f"geometric mean over {len(families)} families, of {which} of them{how}"
    around(what, "", against="SoftFloat 3e", ratio=ratio, ratio_at_most=at_most)


def test_every_variant_is_in_one_family() -> None:
    members = [v for family in FAMILIES for v in family.variants]
    assert len(members) == len(set(members))
    assert set(members) == set(filter(has_one_type, ptxemu.variants()))


def measured(family: Family, accelerator: str) -> tuple[list[dict[str, Any]], str]:
    """Return what kernels.py prints, and the last line on standard error."""
    command = [sys.executable, SCRIPT, *(f"{v.spelling}/{v.operands}" for v in family.variants)]
    environment = switches.environment(accelerator)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.strip().rpartition("\n")[2]


def ratios_to(yardstick: str, found: list[dict[str, Any]]) -> list[float]:
    """Return the ratios of the variants that have any."""
    return [m[yardstick] for m in found if m[yardstick]]


def of_kernels(found: list[dict[str, Any]], target: float | None) -> list[str]:
    """The cells of FIGURES."""
    slowest = max(found, key=lambda m: m["add"])
    own, softfloat = ratios_to("own", found), ratios_to("softfloat", found)
    return [
        slowest["spelling"],
        f"{slowest['ns']:.2f}",
        f"{slowest['add']:.1f}" + (f" ({target:g})" if target else ""),
        f"{median(m['add'] for m in found):.1f}",
        f"{max(own):.1f}" if own else "",
        f"{max(softfloat):.2f}" if softfloat else "",
        f"{max(m['specials'] for m in found):.1f}",
    ]


def of_peer(peer: str, family: Family) -> str:
    """The nanoseconds of a result, and how many are wrong of all that were judged."""
    ns, wrong, judged = [], 0, 0
    for v, way in ways(peer, family.variants):
        columns, results = judgement(v)
        random = [way.encode(x[:COUNT]) for x in columns]
        rest = [way.encode(x[COUNT:]) for x in columns]
        with way.inside(), np.errstate(all="ignore"):
            taken = in_turn(lambda run=way.run, given=random: run(*given), rounds=3, clock=time.thread_time)
            got = [way.run(*random), way.run(*rest)]
        ns.append(median(taken[0]) / COUNT * 1e9)
        wrong += np.count_nonzero(differ(np.concatenate(list(map(way.decode, got))), results, type_of(v)))
        judged += results.size
    return f"{median(ns):.1f}, {wrong} of {judged} wrong" if ns else ""


@lru_cache(maxsize=64)
def judgement(v: Variant) -> tuple[list[Bits], Bits]:
    """Operands, random bit patterns and then a grid, and the results that are due."""
    fields = FIELDS[type_of(v)]
    edges = special(*fields)
    grid = {1: [edges], 2: pairs(edges), 3: triples(small(*fields))}[v.operands]
    random = operands(type_of(v), "random")[: v.operands]
    columns = [np.concatenate([r[:COUNT], g]) for r, g in zip(random, grid, strict=True)]
    return columns, expected(v.spelling, columns)


def differ(got: Bits, due: Bits, type_: str) -> Bits:
    if due.dtype == bool:
        return got != due
    fields = FIELDS[type_]
    return (got != due) & ~(np.isnan(decode(got, *fields)) & np.isnan(decode(due, *fields)))

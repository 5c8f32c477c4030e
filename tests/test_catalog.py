"""The one decision whether a target takes a variant, and the module that makes it."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from helpers import ROOT
from ptxspec.catalog import Catalog, Limit, PtxVersion, Requirement, Target

# Target order is a table: sm_2 came before sm_1.
TARGETS = [("sm_2", "1.0"), ("sm_1", "1.0"), ("sm_3", "2.0"), ("sm_4", "3.0")]
VERSIONS = [("1.0", "1"), ("1.9", ""), ("2.0", "2"), ("3.0", "3")]
CATALOG = Catalog(
    [Target(name, order, ptx) for order, (name, ptx) in enumerate(TARGETS)],
    [PtxVersion(version, order, cuda) for order, (version, cuda) in enumerate(VERSIONS)],
)
REQUIREMENTS = [
    Requirement("1.0", "sm_2"),
    Requirement("1.9", "sm_1"),
    Requirement("1.0", "sm_2", until="1.9"),
    Requirement("2.0", "sm_3", until="2.0"),
    Requirement("1.0", "sm_2", within=(Limit("sm_1", "sm_3", None, "2.0"),)),
    Requirement("1.0", "sm_2", within=(Limit("sm_3", "sm_4", "3.0", None), Limit("sm_2", "sm_2", None, "1.0"))),
    Requirement("1.0", "sm_2", within=(Limit("sm_3", "sm_3", "3.0", "2.0"),)),
]


def taken(r: Requirement, target: str, ptx: str) -> bool:
    """The same by counting: no step of it as the catalogue takes it."""
    targets, versions = list(CATALOG.targets), list(CATALOG.versions)
    here, now = targets.index(target), versions.index(ptx)
    within = [w for w in r.within if targets.index(w.first) <= here <= targets.index(w.last)]
    bounds = [(r.ptx, r.until), *((w.ptx, w.until) for w in within)]
    return (
        here >= targets.index(r.target)
        and now >= versions.index(CATALOG.targets[target].ptx)
        and all(first is None or now >= versions.index(first) for first, _ in bounds)
        and all(last is None or now <= versions.index(last) for _, last in bounds)
    )


@pytest.mark.parametrize("r", REQUIREMENTS, ids=str)
def test_a_target_takes_what_no_bound_is_against(r: Requirement) -> None:
    targets, versions = list(CATALOG.targets), list(CATALOG.versions)
    for t, v in itertools.product(targets, versions):
        assert CATALOG.takes(r, t, v) == taken(r, t, v) == (not CATALOG.refusals(r, t, v))
    for t in targets:
        assert CATALOG.takes(r, t) == any(taken(r, t, v) for v in versions) == (not CATALOG.refusals(r, t))
    for v in versions:
        assert CATALOG.takes(r, ptx=v) == any(taken(r, t, v) for t in targets) == (not CATALOG.refusals(r, ptx=v))
    assert CATALOG.is_current(r) == taken(r, "sm_4", "3.0")


@pytest.mark.parametrize(
    ("r", "target", "ptx", "refusals"),
    [
        (Requirement("2.0", "sm_3"), "sm_1", "1.0", [("target-too-old", "sm_3"), ("ptx-too-old", "2.0")]),
        (Requirement("1.0", "sm_2", until="1.9"), "sm_1", "2.0", [("ptx-too-new", "1.9")]),
        (Requirement("1.0", "sm_2", until="1.9"), "sm_3", None, [("target-too-new", "1.9")]),
        (Requirement("1.0", "sm_2"), "sm_4", "2.0", [("target-unknown", "3.0")]),
        (Requirement("1.0", "sm_4"), None, "2.0", [("target-too-old", "sm_4")]),
    ],
)
def test_a_refusal_names_the_bound(r: Requirement, target: str | None, ptx: str | None, refusals: list[object]) -> None:
    assert CATALOG.refusals(r, target, ptx) == refusals


def test_windows_runs_and_words() -> None:
    r = Requirement("1.0", "sm_1", until="3.0", within=(Limit("sm_3", "sm_4", "2.0", None),))
    assert CATALOG.window(r, "sm_1") == ("1.0", "3.0") and CATALOG.window(r, "sm_3") == ("2.0", "3.0")
    assert CATALOG.runs(r) == [("sm_1", "sm_4")]
    assert CATALOG.runs(REQUIREMENTS[6]) == [("sm_2", "sm_1"), ("sm_4", "sm_4")]
    assert CATALOG.first_version(Requirement("1.0", "sm_3")) == "2.0"
    assert r.text("sm_4") == "sm_1, PTX 1.0 to 3.0; from sm_3 on since PTX 2.0"
    assert str(CATALOG.versions["2.0"]) == "2.0 (CUDA 2)" and str(CATALOG.versions["1.9"]) == "1.9"


def test_ptxemu_carries_a_copy() -> None:
    own = (ROOT / "codegen/ptxspec/catalog.py").read_text("utf-8")
    copy = (ROOT / "generated/python/ptxemu/catalog.py").read_text("utf-8")
    assert copy.partition("\n")[2] == own
    assert "codegen/ptxspec/catalog.py; do not edit" in copy.partition("\n")[0]


@pytest.mark.parametrize(
    ("module", "never"),
    [
        ("ptxspec.catalog", {"json", "dataclasses", "ptxspec.model", "ptxspec.diagnostics"}),
        ("ptxspec.query.verdicts", {"dataclasses", "ptxspec.lint", "ptxspec.model", "yaml", "numpy"}),
        ("ptxspec.lint.linter", {"ptxspec.api", "ptxspec.model", "yaml", "numpy"}),
    ],
)
def test_knowledge_flows_one_way(module: str, never: set[str]) -> None:
    code = f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert module in loaded and not never & {*loaded}

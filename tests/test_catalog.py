"""The one decision whether a target takes a variant, and the module that makes it."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from helpers import ROOT
from ptxspec.catalog import Catalog, Limit, PtxVersion, Requirement, Target, requirement_of

# Target order is a table: sm_2 came before sm_1. What is written for sm_3f runs on sm_4a and sm_4f, too.
TARGETS = [
    Target("sm_2", 0, "1.0"),
    Target("sm_1", 1, "1.0", nvcc=True),
    Target("sm_3", 2, "2.0", nvcc=True),
    Target("sm_3a", 3, "2.0", "sm_3", "architecture", "sm_3f", nvcc=True),
    Target("sm_3f", 4, "3.0", "sm_3", "family", "sm_3f", nvcc=True),
    Target("sm_4", 5, "3.0"),
    Target("sm_4a", 6, "3.0", "sm_4", "architecture", "sm_3f"),
    Target("sm_4f", 7, "3.0", "sm_4", "family", "sm_3f"),
]
VERSIONS = [("1.0", "1"), ("1.9", ""), ("2.0", "2"), ("3.0", "3")]
CATALOG = Catalog(
    TARGETS,
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
    Requirement("2.0", "sm_3a", on=(("sm_3a", "2.0"), ("sm_3f", "3.0"), ("sm_4a", "3.0"), ("sm_4f", "3.0"))),
    Requirement("3.0", "sm_4a", on=(("sm_4a", "3.0"),)),
    Requirement("1.0", "sm_1", until="2.0", on=(("sm_1", "1.0"), ("sm_3a", "2.0"))),
    Requirement("2.0", "sm_3a", within=(Limit("sm_3", "sm_3f", "3.0", None),), on=(("sm_3a", "2.0"),)),
]


def taken(r: Requirement, target: str, ptx: str) -> bool:
    """The same by counting: no step of it as the catalogue takes it."""
    targets, versions = list(CATALOG.targets), list(CATALOG.versions)
    here, now = targets.index(target), versions.index(ptx)
    within = [w for w in r.within if targets.index(w.first) <= here <= targets.index(w.last)]
    bounds = [(r.ptx, r.until), *((w.ptx, w.until) for w in within)]
    bounds += [(first, None) for t, first in r.on if t == target]
    return (
        (any(t == target for t, _ in r.on) if r.on else here >= targets.index(r.target))
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
    assert CATALOG.is_current(r) == any(taken(r, t, "3.0") for t in ("sm_1", "sm_3", "sm_3a", "sm_3f"))


@pytest.mark.parametrize(
    ("r", "target", "ptx", "refusals"),
    [
        (Requirement("2.0", "sm_3"), "sm_1", "1.0", [("target-too-old", "sm_3"), ("ptx-too-old", "2.0")]),
        (Requirement("1.0", "sm_2", until="1.9"), "sm_1", "2.0", [("ptx-too-new", "1.9")]),
        (Requirement("1.0", "sm_2", until="1.9"), "sm_3", None, [("target-too-new", "1.9")]),
        (Requirement("1.0", "sm_2"), "sm_4", "2.0", [("target-unknown", "3.0")]),
        (Requirement("1.0", "sm_4"), None, "2.0", [("target-too-old", "sm_4")]),
        (
            REQUIREMENTS[7],
            "sm_3",
            "1.9",
            [("target-specific", "sm_3a or sm_3f"), ("ptx-too-old", "2.0"), ("target-unknown", "2.0")],
        ),
        (REQUIREMENTS[7], "sm_1", None, [("target-specific", "sm_3a from PTX 2.0; sm_3f family from PTX 3.0")]),
        (REQUIREMENTS[7], "sm_3f", "2.0", [("ptx-too-old", "3.0"), ("target-unknown", "3.0")]),
        (REQUIREMENTS[7], None, "1.9", [("ptx-too-old", "2.0")]),
        (REQUIREMENTS[8], "sm_3a", None, [("target-specific", "sm_4a from PTX 3.0")]),
    ],
)
def test_a_refusal_names_the_bound(r: Requirement, target: str | None, ptx: str | None, refusals: list[object]) -> None:
    assert CATALOG.refusals(r, target, ptx) == refusals


def test_windows_runs_and_words() -> None:
    r = Requirement("1.0", "sm_1", until="3.0", within=(Limit("sm_3", "sm_4", "2.0", None),))
    assert CATALOG.window(r, "sm_1") == ("1.0", "3.0") and CATALOG.window(r, "sm_3") == ("2.0", "3.0")
    assert CATALOG.runs(r) == [("sm_1", "sm_4f")]
    assert CATALOG.runs(REQUIREMENTS[6]) == [("sm_2", "sm_1"), ("sm_3a", "sm_4f")]
    assert CATALOG.first_version(Requirement("1.0", "sm_3")) == "2.0"
    assert CATALOG.text(r) == "sm_1, PTX 1.0 to 3.0; from sm_3 to sm_4 since PTX 2.0"
    assert CATALOG.first_version(REQUIREMENTS[7]) == "2.0"
    assert str(CATALOG.versions["2.0"]) == "2.0 (CUDA 2)" and str(CATALOG.versions["1.9"]) == "1.9"


def test_a_family_is_the_kinds_of_its_base_and_of_later_ones() -> None:
    assert [t.name for t in CATALOG.family("sm_3f")] == ["sm_3a", "sm_3f", "sm_4a", "sm_4f"]
    assert [t.name for t in CATALOG.family("sm_4f")] == ["sm_4a", "sm_4f"]


def test_a_gpu_is_called_after_no_kind_and_compiled_for_as_its_own() -> None:
    assert [CATALOG.plain(t) for t in ("sm_1", "sm_3a", "sm_4f", None)] == ["sm_1", "sm_3", "sm_4", None]
    assert CATALOG.own_kind("sm_3", "2.0") == "sm_3a" and CATALOG.own_kind("sm_1", "3.0") == "sm_1"
    # A PTX version before the kind's.
    assert CATALOG.own_kind("sm_4", "2.0") == "sm_4" and CATALOG.own_kind("sm_3a", "3.0") == "sm_3a"
    assert CATALOG.siblings(REQUIREMENTS[7], "sm_3") == ["sm_3a", "sm_3f"]
    assert CATALOG.siblings(REQUIREMENTS[7], "sm_3f", "2.0") == ["sm_3a"]
    assert CATALOG.siblings(REQUIREMENTS[7], "sm_1") == CATALOG.siblings(REQUIREMENTS[0], "sm_3") == []


@pytest.mark.parametrize(
    ("on", "text"),
    [
        ("3a 2.0, 3f 3.0, 4a 3.0, 4f 3.0", "sm_3a from PTX 2.0; sm_3f family from PTX 3.0"),
        ("3a 3.0, 3f 3.0, 4a 3.0, 4f 3.0", "sm_3f family from PTX 3.0"),
        ("4a 3.0, 4f 3.0", "sm_4f family from PTX 3.0"),
        ("3a 2.0, 4a 3.0, 4f 3.0", "sm_3a from PTX 2.0; sm_4f family from PTX 3.0"),
        # A family without one of its members is none.
        ("3f 3.0, 4a 3.0, 4f 3.0", "sm_3f from PTX 3.0; sm_4f family from PTX 3.0"),
        ("3a 2.0, 4a 3.0", "sm_3a from PTX 2.0; sm_4a from PTX 3.0"),
        ("3a 3.0, 4a 3.0", "sm_3a, sm_4a from PTX 3.0"),
    ],
)
def test_what_a_family_has_in_common_is_said_once(on: str, text: str) -> None:
    pairs = [pair.split() for pair in on.split(", ")]
    r = Requirement("2.0", "sm_3a", on=tuple((f"sm_{t}", ptx) for t, ptx in pairs))
    assert CATALOG.text(r) == text
    assert CATALOG.text(r._replace(until="3.0")) == f"{text}; until PTX 3.0"


def test_a_requirement_survives_as_json() -> None:
    assert [requirement_of(r.as_json()) for r in REQUIREMENTS] == REQUIREMENTS
    assert "on" not in REQUIREMENTS[0].as_json()
    assert REQUIREMENTS[8].as_json()["on"] == [{"target": "sm_4a", "ptx": "3.0"}]


def test_ptxemu_carries_a_copy() -> None:
    for path in (ROOT / "codegen/ptxspec/catalog").glob("*.py"):
        stamp, _, copy = (ROOT / "generated/python/ptxemu/catalog" / path.name).read_text("utf-8").partition("\n")
        assert copy == path.read_text("utf-8") and f"codegen/ptxspec/catalog/{path.name}; do not edit" in stamp


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

"""Kernels of several types, a line for each family: with NumPy only, and with the accelerator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import ptxemu
import pytest
import switch
from ptxemu import Variant
from signatures import types

SCRIPT = Path(__file__).with_name("signatures.py")
# So many variants of each family, evenly spread.
SAMPLED = 24
NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0", "ue5m3", "s2f6")


@dataclass(frozen=True)
class Family:
    """Variants of an opcode, and the most that their slowest may take with NumPy only and with the accelerator, in
    times of numpy.add on float32; `own` is that in times of NumPy's astype."""

    title: str
    opcode: str
    has: Callable[[list[str], set[str]], bool]
    target: float | None = None
    accelerated_target: float | None = None
    own: float | None = None

    @property
    def variants(self) -> list[Variant]:
        every = [v for v in ptxemu.variants() if v.spelling.startswith(f"{self.opcode}.") and self._has(v)]
        return every[:: max(1, len(every) // SAMPLED)]

    def _has(self, v: Variant) -> bool:
        return self.has(types(v), set(v.spelling.split(".")))


def any_in(names: list[str], *starts: str) -> bool:
    return any(n.startswith(starts) for n in names)


def is_integer(name: str) -> bool:
    return name[0] in "su" and name[1:].isdigit()


FAMILIES = (
    Family("conversions to and from narrow formats", "cvt",
           lambda t, n: any_in(t, *NARROW) and not n & {"rs", "scaled::n1::ue8m0"}, 15, 5),
    Family("conversions with scales and random bits", "cvt",
           lambda t, n: bool(n & {"rs", "scaled::n1::ue8m0"}), 15, 5),
    Family("conversions between floats", "cvt",
           lambda t, n: not any_in(t, *NARROW) and not any(map(is_integer, t)) and "rs" not in n, 15, 5),
    Family("conversions of integers up to 32 bits", "cvt",
           lambda t, n: any(map(is_integer, t)) and not any(x.endswith("64") and is_integer(x) for x in t), 15, 5),
    Family("conversions of integers of 64 bits", "cvt",
           lambda t, n: any(x.endswith("64") and is_integer(x) for x in t), None, None, 3),
    Family("comparisons of f32 and f64", "setp", lambda t, n: bool(n & {"f32", "f64"}), 6, 2),
    Family("comparisons of 16 bits", "setp", lambda t, n: any_in(t, "f16", "bf16"), 15, 3),
    Family("selections", "slct", lambda t, n: True),
    Family("mixed precision", "fma", lambda t, n: len(t) > 1),
)  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.title)
def test_family(family: Family, around: Callable[..., None]) -> None:
    if not family.variants:
        pytest.skip("there are none")
    for which, how, target in (("0", "", family.target), ("1", ", accelerated", family.accelerated_target)):
        found = measured(family, which)
        slowest = max(found, key=lambda m: m["add"])
        what = f"{family.title}{how}: {slowest['spelling']}, the slowest of {len(found)}"
        middle = median(m["add"] for m in found)
        around(
            what,
            f"{slowest['ns']:.2f} ns, median {middle:.1f} x",
            against="numpy.add",
            ratio=slowest["add"],
            ratio_at_most=f"{target or ''}",
        )
        for peer, name, at_most in (("own", "NumPy's astype", family.own), ("ml_dtypes", "ml_dtypes' astype", 1)):
            same = [m for m in found if m[peer]]
            if same and (at_most is not None):
                worst = max(same, key=lambda m, peer=peer: m[peer])
                limit = f"{at_most}" if peer == "own" or which == "1" else ""
                around(f"{worst['spelling']}{how}", "", against=name, ratio=worst[peer], ratio_at_most=limit)


def measured(family: Family, accelerator: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(SCRIPT), *(f"{v.spelling}/{v.operands}" for v in family.variants)]
    environment = switch.environment(accelerator)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found

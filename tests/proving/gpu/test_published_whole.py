"""The emulator has all that a published model returned, on all 2^32 operands of each function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import ptxemu
import pytest
import yaml
from helpers import ROOT
from ptxspec.proving.gpu.vectors import BLOCK, digest, encodings

PUBLISHED, LISTED = "spec/published.yaml", "spec/targets.yaml"


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


MODEL: dict[str, Any] = read(PUBLISHED)["models"]["ptx-math"]
TARGETS: list[str] = [t["name"] for t in read(LISTED)["targets"]]
CASES: dict[str, dict[str, Any]] = {r["results"]: r for r in MODEL["reports"]}


InC = Callable[..., AbstractContextManager[None]]


def case(name: str) -> Any:
    opcode = CASES[name]["variant"].partition(".")[0]
    digests = f"{MODEL['evidence']}/{name}.digests"
    return pytest.param(
        name, id=name, marks=pytest.mark.inputs(f"emulator:{opcode}", f"native:{opcode}", digests, PUBLISHED, LISTED)
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [case(name) for name in CASES])
def test_the_emulator_has_all_that_the_model_returned(name: str, in_c: InC) -> None:
    """In C that is a minute or more."""
    ends = [within.split("..") for within in CASES[name]["within"]]
    targets = [t for first, last in ends for t in TARGETS[TARGETS.index(first) : TARGETS.index(last) + 1]]
    expected = np.fromfile(ROOT / MODEL["evidence"] / f"{name}.digests", "<u8").tolist()
    assert len(expected) << 20 == 1 << 32
    differing = []
    with in_c(CASES[name]["variant"].partition(".")[0]):
        # Targets that compute the same are one.
        kernels = {k._choice[0]: k for t in targets for k in [ptxemu.compile(CASES[name]["variant"], target=t)]}
        for block, own in enumerate(expected):
            x = encodings(32, block << 20, BLOCK, 0)
            differing += [f"0x{block << 20:08x} on {k.target}" for k in kernels.values() if digest(k(x)) != own]
    assert differing == []

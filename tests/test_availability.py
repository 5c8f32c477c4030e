"""What the specification says of each variant's availability, held against a real ptxas."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ptxspec.model import Spec, Variant
from ptxspec.ptxas import find_ptxas, judge, statement, version
from ptxspec.reading import read

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def spec() -> Spec:
    return read(ROOT)


@pytest.fixture(scope="module")
def ptxas(spec: Spec) -> Path:
    found = find_ptxas()
    if found is None:
        pytest.skip("no ptxas found: install the wheel nvidia-cuda-nvcc or the CUDA toolkit")
    observed = {i.observed for i in spec.instructions.values() if i.observed}
    if f"ptxas {version(found)}" not in observed:
        pytest.skip(f"the specification records {', '.join(observed)}, and {found} is {version(found)}")
    return found


def pairs(spec: Spec) -> Iterator[tuple[str, str]]:
    """Every target with every PTX version that knows it."""
    for t in spec.targets.values():
        for v in spec.versions.values():
            if v.order >= spec.versions[t.ptx].order:
                yield t.name, v.version


def takes(spec: Spec, v: Variant, target: str, ptx: str) -> bool:
    order, here, r = spec.versions[ptx].order, spec.targets[target].order, v.requires
    if here < spec.targets[r.target].order or order < spec.versions[r.ptx].order:
        return False
    ceilings = [r.until] + [
        w.until for w in r.within if spec.targets[w.first].order <= here <= spec.targets[w.last].order
    ]
    return all(order <= spec.versions[c].order for c in ceilings if c)


def test_ptxas_takes_each_variant_exactly_where_the_specification_says(spec: Spec, ptxas: Path) -> None:
    variants = [v for i in spec.instructions.values() for v in i.variants]
    statements = [statement(v.spelling, v.operands, v.predicate) for v in variants]

    def wrong_on(pair: tuple[str, str]) -> list[str]:
        verdicts = judge(ptxas, statements, *pair)
        return [
            f"{v} on {pair[0]}, PTX {pair[1]}: {messages or 'accepted'}"
            for v, messages in zip(variants, verdicts, strict=True)
            if takes(spec, v, *pair) == bool(messages)
        ]

    with ThreadPoolExecutor(2) as pool:
        wrong = [line for lines in pool.map(wrong_on, pairs(spec)) for line in lines]
    assert not wrong, "\n".join(wrong[:40])

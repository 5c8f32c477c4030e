"""ptxspec sweep against a recording: what a GPU returned for one variant, all of it, known by value or by digest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.bench import Bench
from numpy.typing import NDArray

Array = NDArray[Any]


def swept(bench: Bench, variant: str, folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    answer = bench.project.run("sweep", variant, "--against", folder, "--format", "json", *options)
    return answer.code, json.loads(answer.out)


@pytest.mark.exhaustive
def test_what_a_gpu_returned_is_all_held_against_the_emulator(bench: Bench, recorded: Path) -> None:
    code, data = swept(bench, "add.f16", recorded)
    assert code == 0 and data["equal"] and data["results"] == {"judged": 5776 + 2048, "differ": 0, "open": 0}
    assert [(t["stream"], t["count"]) for t in data["tried"]] == [("grid", 5776), ("uniform", 1024), ("near", 1024)]
    assert data["b"]["name"] == str(recorded) and "Stand-in (sm_90)" in data["b"]["about"][0]
    # Two results, of which recordings have both.
    assert swept(bench, "testp.normal.f32", recorded)[0] == 0
    for wrong, message in (
        (("add.f16", "--target", "sm_80"), "recorded on sm_90, not on sm_80; remove --target"),
        (("add.f16@sm_80",), "recorded on sm_90, not on sm_80; remove @sm_80"),
        (("mul.f16",), "mul.f16"),
        (("add.f16", "--exhaustive"), "not all operands of add.f16 on sm_90 were recorded"),
        (("add.f32 %d, %a, %b;",), "a recording has only results of variants such as add.rn.f16"),
    ):
        answer = bench.project.run("sweep", *wrong, "--against", recorded)
        assert answer.code == 2 and message in answer.err, wrong


@pytest.mark.exhaustive
def test_what_differs_is_counted_where_it_is_known_and_told_where_it_is_not(bench: Bench, tmp_path: Path) -> None:
    def wrong(operands: Sequence[Array], results: Array) -> Array:
        """The grid has 5,776 operands, of the 1,024 of other streams 128 are kept."""
        moved = results.copy()
        moved[[3, 1000]] ^= results.dtype.type(1)
        return moved

    assert bench.device is not None
    bench.device.wrong = {"add.f16": wrong}
    bench.run("--record", tmp_path / "wrong")
    code, data = swept(bench, "add.f16", tmp_path / "wrong")
    assert code == 1 and not data["equal"]
    # Two of the grid, one of each other stream; in these something is different behind what is kept.
    assert data["results"] == {"judged": 5776 + 2 * 128, "differ": 4, "open": 0} and data["hidden"] == 2
    text = bench.project.run("sweep", "add.f16", "--against", tmp_path / "wrong").out
    assert "More results differ in 2 blocks" in text and " differ. Tried:" in " ".join(text.split())


@pytest.mark.exhaustive
def test_an_approximation_inside_of_its_bound_may_differ(bench: Bench, tmp_path: Path) -> None:
    def moved(operands: Sequence[Array], results: Array) -> Array:
        magnitude = results & np.uint32(0x7FFFFFFF)
        return np.where((magnitude > 1 << 24) & (magnitude < 0x7F000000), results ^ np.uint32(1), results)

    assert bench.device is not None
    bench.device.wrong = {"rsqrt.approx.f32": moved}
    bench.run("--record", tmp_path / "moved")
    code, data = swept(bench, "rsqrt.approx.f32", tmp_path / "moved")
    assert data["results"]["open"] > 50
    assert all(o["why"].startswith("the bound in NVIDIA's manual: 2^-22.9") and o["apart"] == 1 for o in data["open"])
    # Nobody can see how far the results are apart behind what is kept.
    assert code == 1 and not data["equal"] and data["hidden"]
    text = " ".join(bench.project.run("sweep", "rsqrt.approx.f32", "--against", tmp_path / "moved").out.split())
    assert " differ. Tried:" in text and "Whether they are within the bound is not known." in text

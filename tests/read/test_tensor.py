"""Mistakes in what is written about matrices: told by their place, and none a traceback."""

from __future__ import annotations

import pytest
from helpers.project import Project

LAYOUTS, MMA, ARITHMETIC = (f"spec/tensor/{name}.yaml" for name in ("layouts", "mma", "arithmetic"))


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        (LAYOUTS, "of: lane % 16 // 4", "of: lane % 0 // 4", "a formula is made of numbers"),
        (LAYOUTS, "column: 2 * t + i % 2", "column: open(t)", "a formula is made of numbers"),
        (LAYOUTS, "column: 2 * t + i % 2", "column: 2 * x", "a formula is made of numbers"),
        (LAYOUTS, "column: 2 * t + i % 2", "colum: 2 * t", "unknown key 'colum'"),
        (LAYOUTS, "of: lane % 16 // 4", "of: i % 4", "the names lane, g, t"),
        (LAYOUTS, "chosen: t // 2, basis: CUTLASS", "chosen: i // 2, basis: CUTLASS", "the names lane, g, t"),
        (LAYOUTS, "b: {row: i, column: g, chosen", "b: {row: j, column: g, chosen", "the names lane, g, t, i"),
        (LAYOUTS, "chosen: t, basis: guess", "chosen: t, basis: hope", "'hope'"),
        (MMA, "8: 4, 4: 8}", "8: 4}", "metadata.groups says nothing of elements of 4 bits"),
        (MMA, "8: 4, 4: 8}", "8: 3, 4: 8}", "'3'"),
        (MMA, "2X: [0, 2], 4X: [0]}", "2X: [0, 2]}", "scales.bytes says nothing of 4X"),
        (MMA, "unsigned: {ue4m3: e4m3}", "unsigned: {ue4m3: e4m4}", "unknown type 'e4m4'"),
        (MMA, "m16n8k8.row.col.f16.f16.f16.f16", "m16n8k8.f16.f16.f16.f16", "the orders of A and B"),
        (MMA, "m16n8k8.row.col.f16.f16.f16.f16", "m16n8k8.row.col.f16.f16.f16", "the types of the elements"),
        (
            MMA,
            "f32.f16.f16.f32, ptx: 6.5, target: sm_75",
            "f32.f16.f16.f32, ptx: 6.5, target: sm_76",
            "unknown target 'sm_76'",
        ),
        (MMA, "  threads: {a: [0, 1], b: [0, 1, 2, 3]}", "  threads: {a: [0, 1]}", "missing key 'b'"),
        (MMA, "e2m1: {bits: 8, shift: 2}", "e2m1: [8, 2]", "expected text or a mapping, this is a list"),
        (ARITHMETIC, "targets: [sm_70, sm_72]", "targets: [sm_70, sm_73]", "unknown target 'sm_73'"),
        (ARITHMETIC, "bits: 23, zero", "bits: many, zero", "'many' is not what belongs here"),
    ],
)
def test_a_mistake_is_told_where_it_is(project: Project, path: str, old: str, new: str, says: str) -> None:
    project.bring("spec/tensor")
    project.edit(path, old, new)
    found = project.run("validate")
    assert found.code == 1 and says in found.err and f"{path}:" in found.err and "Traceback" not in found.err

"""Results that no model of a unit has are reported, and where they do not determine it nothing is claimed."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers import repository
from helpers.made_up_recordings import record, recorded_as
from helpers.made_up_units import BITS, CORES, INFINITY, SIGN, UNITS, one, truncated
from helpers.project import Project, again
from ptxspec.evaluate import emulator
from ptxspec.gpu import vectors
from ptxspec.gpu.fit import recorded
from ptxspec.gpu.fit.fitting import fit
from ptxspec.gpu.fit.observed import emulated
from ptxspec.read.link import read
from ptxspec.roots import Root


def files(project: Project) -> set[str]:
    return {p.name for p in (project.root / "spec/units").iterdir()}


def test_one_wrong_bit_is_reported_and_not_absorbed(built: Project, tmp_path: Path) -> None:
    folder = record(built, tmp_path / "recording", one("RCP", wrong=frozenset({0x3FC12600})))
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 1
    assert "contradicted in 1 of 16 segments; the others have coefficients" in result.out
    assert re.search(
        r"segment 8: .* miss 1 of 1024 results, first for 1\.508972\d* 0x1\.824cp\+0 0x3fc12600", result.out
    )
    assert files(built) == {"README.md"}


@pytest.mark.exhaustive
def test_a_wrong_result_beyond_the_core_is_reported(built: Project, tmp_path: Path) -> None:
    # +infinity is among the special operands, and in no segment.
    folder = record(built, tmp_path / "recording", {"RCP": lambda x: 1 if x == INFINITY else UNITS["RCP"](x)})
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 1
    assert "not exact: 1 of 16716 results differ, first rcp.approx.ftz.f32 of +inf 0x7f800000:" in result.out
    assert files(built) == {"README.md"}


def test_what_no_interpolator_computes_becomes_a_table_of_differences(built: Project, tmp_path: Path) -> None:
    def correct(x: int) -> int:
        """Two units off where the place has an odd number of ones, else correctly rounded for the first bits."""
        u = UNITS["RCP"]
        if (special := u.special(x)) is not None:
            return special
        place = x >> (23 - BITS) & (1 << BITS) - 1
        # The reciprocal of 1.f lies between a half and one.
        significand = round(Fraction(2 ** (24 + BITS), 2**BITS + place)) - 2 * (place.bit_count() % 2)
        exponent = (x >> 23 & 255) - 127
        return truncated(Fraction(significand, 2**24) / Fraction(2) ** exponent * (-1 if x & SIGN else 1))

    folder = record(built, tmp_path / "recording", {"RCP": correct})
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 0, result.out + result.err
    assert re.search(r"exact: all 16716 results; a table of differences from reciprocal of \d{3} bytes", result.out)
    (name,) = files(built) - {"README.md", "RCP-sm_90.yaml"}
    assert re.fullmatch(r"RCP-sm_90-[0-9a-f]{8}\.txt", name)
    assert built.run("generate").code == 0
    again(built.root, tmp_path / "second")
    emu = emulator(Root(tmp_path / "second"))
    x = np.random.default_rng(1).integers(0, 1 << 32, 3000).astype(np.uint32)
    flushed = [int(v) & SIGN if int(v) & ~SIGN < 1 << 23 else int(v) for v in x]
    assert emu.execute("rcp.approx.ftz.f32", x, target="sm_90").tolist() == [correct(v) for v in flushed]
    second = Project(tmp_path / "second", built._capture)
    assert second.run("eval", "rcp.approx.ftz.f32", "3.25", "--target", "sm_90", "--trace").code == 0
    # Its file is part of the specification.
    table = built.root / "spec/units" / name
    table.write_text(table.read_text("ascii")[:-20], "ascii")
    broken = built.run("validate")
    assert broken.code == 1 and f"{name} cannot be read" in broken.err
    table.unlink()
    assert built.place("spec/units/RCP-sm_90.yaml", name) in built.run("validate").err


def test_a_table_holds_all_of_a_16_bit_unit(tmp_path: Path) -> None:
    """The instruction flushes subnormal operands before the unit sees them."""
    spec, spelling = repository.specification(), "ex2.approx.ftz.bf16"
    every = np.arange(1 << 16, dtype=np.uint16)
    results = ptxemu.execute(spelling, every)
    finite = (results > 0x80) & (results < 0x7F7F) & ((every & 0x7FFF) >= 0x80)
    results[finite] += (every[finite] * np.uint16(40503) >> np.uint16(14)) - np.uint16(1)
    outcome = fit(spec, spec.units["EX2_BF16"], recorded_as(tmp_path, spelling, lambda x: results[x]), ptxemu)
    assert outcome.model is not None, outcome.report
    normal = every[(every & 0x7FFF) >= 0x80]
    assert (ptxemu.unit.unit(normal, emulated(outcome.model, ptxemu)) == results[normal]).all()


def test_where_a_table_does_not_determine_the_unit_nothing_is_claimed(built: Project, tmp_path: Path) -> None:
    def logarithm(x: int) -> int:
        special = UNITS["LG2"].special(x)
        value = float(np.uint32(x).view(np.float32))
        return special if special is not None else int(np.float32(math.log2(value)).view(np.uint32))

    folder = record(built, tmp_path / "recording", {"LG2": logarithm})
    result = built.run("fit", folder, "--unit", "LG2", "--record")
    assert result.code == 1 and "sums by roundTowardNegative: results of one place differ: for " in result.out
    assert files(built) == {"README.md"}


def test_what_the_cores_do_not_show_must_be_confirmed_by_digests_of_everything(built: Project, tmp_path: Path) -> None:
    """Every second operand of the core is left out."""
    text = (built.root / "spec/units.yaml").read_text("utf-8")
    built.write("spec/units.yaml", text.replace(CORES["RCP"], "first: 0xfe000, count: 8192, shift: 10"))
    folder = record(built, tmp_path / "recording", one("RCP"))
    result = built.run("fit", folder, "--unit", "RCP", "--record")
    assert result.code == 1 and files(built) == {"README.md"}
    assert "not proven: it has all 8524 results, but 8192 places are in no recorded core" in result.out

    f32, digests = read(built.root).formats["f32"], {}
    for start in range(0, 3 << 20, 1 << 20):
        x = np.arange(start, start + (1 << 20), dtype=np.uint32)
        digests[start] = vectors.digest(x * np.uint32(3))
    assert recorded.disagreeing(lambda x: x * np.uint32(3), digests, f32) == []
    assert recorded.disagreeing(lambda x: np.where(x == 1234567, 0, x * np.uint32(3)), digests, f32) == [1 << 20]


def test_what_cannot_be_read_gets_one_line(built: Project, tmp_path: Path) -> None:
    nothing = built.run("fit", tmp_path / "nowhere")
    assert nothing.code == 2 and re.fullmatch(r"ptxspec: .*about\.json: No such file or directory\n", nothing.err)
    (tmp_path / "about.json").write_text("[")
    assert "about.json: not a recording" in built.run("fit", tmp_path).err
    folder = record(built, tmp_path / "recording", one("RCP"))
    unknown = built.run("fit", folder, "--unit", "RPC")
    assert unknown.code == 2 and "unknown unit 'RPC'; did you mean 'RCP'?" in unknown.err
    assert "SIN: not recorded: sin.approx.ftz.f32" in built.run("fit", folder, "--unit", "SIN").out
    path = folder / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert re.fullmatch(r"ptxspec: .*results\.jsonl: its digest .*\n", built.run("fit", folder, "--unit", "RCP").err)

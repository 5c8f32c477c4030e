"""What a published model returned is kept, computed anew, and never taken for a recording of a GPU."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
import ptxemu
import pytest
from helpers import ROOT
from helpers.bench import SMALL
from helpers.project import Project, again, copied
from helpers.repository import specification
from helpers.standin import StandIn
from numpy.typing import NDArray
from ptxspec.check.claims import CLAIMS
from ptxspec.cli import conformance
from ptxspec.diagnostics import PtxspecError
from ptxspec.evaluate import emulator
from ptxspec.gpu import cuda, vectors
from ptxspec.gpu.fit import published
from ptxspec.gpu.run import _exceeds
from ptxspec.query.database import Database, Variant
from ptxspec.roots import Root

EVIDENCE = ROOT / "tests/published/ptx-math"
NAMES = [p.stem for p in sorted(EVIDENCE.glob("*.digests"))]
# Zeros and subnormal numbers, ones, infinities and NaNs, of both signs, and small and large angles.
FEW = (
    0x000, 0x001, 0x007, 0x008, 0x345, 0x3DC, 0x3F8, 0x40C, 0x445, 0x4A1, 0x4FF, 0x500,
    0x7F7, 0x7F8, 0x800, 0xB80, 0xBF8, 0xC23, 0xFF8,
)  # fmt: skip


@cache
def kept() -> published.Kept:
    return published.read(EVIDENCE, specification())


def entry(name: str) -> published.Entry:
    return next(e for e in kept().entries if e.report.results == name)


def named(db: Database, spelling: str) -> Variant:
    return next(v for v in db.opcodes[spelling.partition(".")[0]].variants if v.spelling == spelling)


def differing(name: str, blocks: list[int]) -> list[str]:
    """The blocks of 2^20 encodings for which the emulator has other digests on some target."""
    e, digests = entry(name), kept().digests(entry(name))
    # Targets that compute the same are one.
    kernels = {k._function: k for t in e.report.targets for k in [ptxemu.compile(e.report.variant, target=t)]}
    assert all(k.claim == "reported" for k in kernels.values())
    found = []
    for block in blocks:
        x = vectors.encodings(32, block << 20, vectors.BLOCK, 0)
        found += [
            f"0x{block << 20:08x} on {k.target}"
            for k in kernels.values()
            if vectors.digest(k(x)) != digests[block << 20]
        ]
    return found


def test_everything_reported_is_kept() -> None:
    assert sorted(e.report.results for e in kept().entries) == sorted(NAMES)
    assert sum(p.stat().st_size for p in EVIDENCE.iterdir()) < 12_000_000


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_emulator_has_what_the_model_returned(name: str) -> None:
    assert differing(name, list(FEW[NAMES.index(name) % 3 :: 3])) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_the_emulator_has_all_that_the_model_returned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 2^32 operands. With a compiler that is a minute."""
    monkeypatch.setenv("PTXEMU_ACCELERATOR", "1")
    ptxemu.kernel._compile.cache_clear()
    assert differing(name, list(range(1 << 12))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("sqrt-sm_50",)])
def test_what_is_kept_determines_the_units(name: str) -> None:
    """Fitted anew, without a look at the digests, a unit is the one in spec/units/."""
    from ptxspec.gpu.fit.fitting import fit

    class WithoutDigests(published.Reported):
        def sweep(self, v: object) -> None:
            return None

    e, spec = entry(name), specification()
    outcome = fit(spec, spec.units[e.report.unit], WithoutDigests(kept(), e, spec), ptxemu)
    model = spec.model(e.report.unit, e.report.targets[0])
    assert model is not None
    if outcome.model is None:
        # The cores of angles have not every place.
        assert "not proven: it has all" in outcome.report[0]
    else:
        assert (outcome.model.core, outcome.model.own) == (model.core, model.own)


CHAIN = ("ex2", "rcp", "rsqrt", "sqrt", "sin", "cos", "lg2")
UNITS = {"EX2", "RCP", "RSQ", "SQRT", "SIN", "COS", "LG2"}


@pytest.mark.exhaustive
def test_a_gpu_with_published_units_is_recorded_fitted_and_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for a GPU of sm_75, beside a specification that knows nothing of its units."""
    monkeypatch.setenv("PTXEMU_ACCELERATOR", "1")
    first = Project(copied(tmp_path / "first", CHAIN), capsys)
    (first.root / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    assert first.run("generate").code == 0
    device = StandIn(ptxemu, target="sm_75")
    monkeypatch.setattr(cuda, "CudaDevice", lambda: device)
    monkeypatch.setattr(conformance.vectors, "Sizes", SMALL)
    folder = Path("tests/recordings/stand-in")
    recorded = first.run("conformance", "--record", first.root / folder)
    assert recorded.code == 0, recorded.out + recorded.err
    assert set(re.findall(r"^(\w+): exact", recorded.err, re.MULTILINE)) >= UNITS, recorded.err
    assert first.run("generate").code == 0

    again(first.root, tmp_path / "second")
    second = Project(tmp_path / "second", capsys)
    replayed = second.run("conformance", "--replay", second.root / folder)
    assert replayed.code == 0, replayed.out + replayed.err
    assert second.run("generate").code == 0
    for opcode in CHAIN:
        answer = second.run("query", f"{opcode}.approx.ftz.f32", "--target", "sm_75").out
        assert "claim   measured" in answer, answer


@pytest.mark.parametrize("variant", ["rcp", "rsqrt", "sqrt", "sin", "cos", "lg2", "ex2"])
def test_claims_say_on_which_targets_the_author_compared(variant: str) -> None:
    spec, db = specification(), Database.read(Root(ROOT).data)
    v = next(v for v in spec.instructions[variant].variants if v.spelling == f"{variant}.approx.f32")
    compared = ("sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_70", "sm_75")
    assert spec.reported_on(v) == compared
    assert spec.inferred_on(v) == ("sm_62", "sm_72")
    assert ptxemu.compile(v.spelling, target="sm_75").claim == "reported"
    for target in ("sm_62", "sm_72", "sm_80", "sm_90", None):
        assert spec.claim(v, target) == "bounded" == ptxemu.compile(v.spelling, target=target).claim
    for target in compared:
        told = db.on(named(db, v.spelling), target)
        assert told.claim == "reported" and "Benjamin Carleton" in told.rests_on and "no measurement" in told.rests_on
    assert "by inference" in db.on(named(db, v.spelling), "sm_72").rests_on
    # With .ftz nobody compared it.
    flushing = db.on(named(db, f"{variant}.approx.ftz.f32"), "sm_75")
    assert flushing.claim == "bounded" and "by inference" in flushing.rests_on
    assert "reported" in CLAIMS


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """The evidence, to be changed."""
    return Path(shutil.copytree(EVIDENCE, tmp_path / "ptx-math"))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"gpu": "NVIDIA T4"}, "it speaks of gpu, but a published model's results come from no GPU"),
        ({"recorder": "ptxspec conformance", "driver": "1"}, "it speaks of driver and recorder"),
        ({"published": "a recording"}, "published is not 'results of a published model"),
        ({"commit": "0" * 40}, "these are results of commit 0000000000000000000000000000000000000000; spec/"),
        ({"model": "another"}, "spec/published.yaml has no model 'another'"),
        ({"cores": {"tanh": []}}, "spec/published.yaml does not know the results 'tanh'"),
    ],
)  # fmt: skip
def test_provenance_that_lies_is_refused(forged: Path, change: dict[str, object], complaint: str) -> None:
    about = json.loads((forged / "about.json").read_text("utf-8"))
    (forged / "about.json").write_text(json.dumps(about | change), "utf-8")
    with pytest.raises(PtxspecError, match=re.escape(complaint)):
        published.read(forged, specification())


@pytest.mark.exhaustive
def test_results_that_are_not_those_of_the_digests_are_refused(
    forged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(forged / "rsqrt.digests", forged / "rcp.digests")
    result = Project(ROOT, capsys).run("fit", forged, "--unit", "RCP")
    assert result.code == 2
    assert "rcp.results.xz: the results from 0x3f800000 on have another digest: damaged, or made up" in result.err
    (forged / "rcp.digests").write_bytes(b"\0" * 80)
    assert "rcp.digests: 10 digests; all operands have 4096" in Project(ROOT, capsys).run("fit", forged).err


def test_a_published_model_is_no_recording(forged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = Project(ROOT, capsys).run("conformance", "--replay", forged)
    assert result.code == 2 and "not a recording" in result.err


def test_what_is_packed_is_unpacked() -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, 1000, dtype=np.uint64).astype(np.uint32)
    assert (published.unpacked(np.frombuffer(published.packed(x), np.uint8)) == x).all()


def test_a_bound_that_hardware_exceeds_is_the_manuals_error() -> None:
    spec = specification()
    (accuracy,) = (a for i in spec.instructions.values() for a in i.accuracy if a.exceeded)
    e = accuracy.exceeded
    assert e is not None and (accuracy.bound, e.within) == ("2^-20.5", ("sm_70", "sm_75"))
    x = np.array([e.operand], np.uint32)
    value = math.cos(float(x.view(np.float32)[0]))
    for target in ("sm_70", "sm_75", "sm_61"):
        got = ptxemu.execute("cos.approx.f32", x, target=target)
        outside = abs(float(got.view(np.float32)[0]) - value) > 2**-20.5
        assert outside == (target != "sm_61") == (int(got[0]) == e.result)
    v = next(v for v in spec.instructions["cos"].variants if v.spelling == "cos.approx.f32")
    assert "0x409ccdb6 gives 0x3e3f198d" in _exceeds(spec, v, "sm_75") and not _exceeds(spec, v, "sm_61")
    ledger = (ROOT / "generated/manual/ledger.md").read_text("utf-8")
    assert "exceeds it on sm_70 to sm_75 (published model)" in ledger


@pytest.mark.exhaustive
@pytest.mark.parametrize(("target", "code"), [("sm_75", 0), ("sm_80", 1)])
def test_a_gpu_that_exceeds_the_bound_as_is_known_of_it_agrees(
    target: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in with a published unit, beside a specification that knows of none. Of sm_80 nothing is known."""
    project = Project(copied(tmp_path / "project", ("cos",)), capsys)
    (project.root / "spec/observed/recordings.yaml").unlink(missing_ok=True)
    units = project.root / "spec/units.yaml"
    units.write_text(re.sub(r"count: \d{6,}", "count: 4096", units.read_text("utf-8")), "utf-8")
    assert project.run("generate").code == 0

    def published(operands: Sequence[NDArray[np.uint32]], _: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return ptxemu.execute("cos.approx.f32", operands[0], target="sm_75")  # type: ignore[no-any-return]

    device = StandIn(emulator(Root(project.root)), target=target, wrong={"cos.approx.f32": published})
    monkeypatch.setattr(cuda, "CudaDevice", lambda: device)
    monkeypatch.setattr(conformance.vectors, "Sizes", partial(vectors.Sizes, random=1 << 22, sample=1 << 7))
    found = project.run("conformance", "--format", "json")
    (row,) = (v for v in json.loads(found.out)["variants"] if v["variant"] == "cos.approx.f32")
    assert row["found"]["outside"] > 0 and row["found"]["worst"] > 1
    assert (found.code, row["verdict"]) == (code, "disagrees" if code else "agrees")
    assert ("0x409ccdb6 gives 0x3e3f198d" in (row["exceeds"] or "")) == (code == 0)

"""Claims that rest on recordings: what is registered is measured, and shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from helpers import ROOT
from helpers.bench import Bench, some_up, up, variant
from helpers.repository import specification
from ptxspec.diagnostics import SpecError
from ptxspec.proving.gpu import recording
from ptxspec.proving.gpu.recording import REGISTER
from ptxspec.proving.gpu.register import register
from ptxspec.proving.gpu.run import Report
from ptxspec.read.link import read_registered
from ptxspec.specification import read


@pytest.mark.exhaustive
def test_a_registered_recording_makes_claims_measured(bench: Bench) -> None:
    folder = bench.root / "tests/recordings/standin"
    bench.device.wrong = {"ex2.approx.f16": some_up}
    result = bench.run("--record", folder)
    assert result.code == 1 and "spec/observed/recordings.yaml; run `ptxspec generate`" in result.err
    assert bench.project.run("validate").code == 0
    assert bench.project.run("generate").code == 0

    def claims(*arguments: str) -> dict[str, tuple[str, str]]:
        listed = json.loads(bench.project.run("list", *arguments, "--format", "json").out)["variants"]
        return {v["variant"]: (v["claim"], v["basis"]) for v in listed}

    here, elsewhere = claims("--target", "sm_90"), claims("--target", "sm_80")
    named = "Stand-in (sm_90), driver 0.0, no compiler, "
    assert here["ex2.approx.f32"][0] == "measured" and here["ex2.approx.f32"][1].startswith(named)
    assert here["rsqrt.approx.f64"][0] == "measured"
    assert here["ex2.approx.f16"] == elsewhere["ex2.approx.f16"] == claims()["ex2.approx.f16"]
    assert here["add.f32"][0] == "exact" and f"; equal to {named}" in here["add.f32"][1]
    assert (
        {c for c, _ in elsewhere.values()} == {c for c, _ in claims().values()} == {"exact", "bounded", "unspecified"}
    )

    shown = bench.project.run("show", "ex2.approx.f32").out
    assert (
        "- claim: bounded\n"
        "- basis of the claim: the bound in NVIDIA's manual: 2 ulp from the rounded result (9.7.3.21)\n" in shown
    )
    assert f"- recorded: {named}" in shown and "tests/recordings/standin: equal bit for bit" in shown
    assert "standin: not equal" in bench.project.run("show", "ex2.approx.f16").out
    page = (bench.root / "generated/manual/ex2.md").read_text("utf-8")
    assert "| measured on sm_90, sm_90a; bounded on all other targets |" in page
    assert "| `tests/recordings/standin` | Stand-in (sm_90) |" in page
    assert "compared with a GPU yet" not in page
    assert "claim     measured" in bench.project.run("query", "ex2.approx.f32", "--target", "sm_90").out
    assert ", measured\n" in bench.project.run("eval", "ex2.approx.f32", "1", "--target", "sm_90").out

    # A measured claim promises every bit: what was inside of its bound disagrees now.
    bench.device.wrong = {"ex2.approx.f32": up(1)}
    again = bench.rows()["ex2.approx.f32"]
    assert (again["claim"], again["verdict"]) == ("measured", "disagrees") and "outside" not in again["found"]
    # A replay after the emulator has changed says so in the file.
    text = (bench.root / "spec/observed/recordings.yaml").read_text("utf-8")
    (bench.root / "spec/observed/recordings.yaml").write_text(
        text.replace("standin", "other").replace("sm_90", "sm_80"), "utf-8"
    )
    assert bench.run("--replay", folder).code == 1
    registered = read(bench.root).recordings
    assert [r.path for r in registered] == ["tests/recordings/other", "tests/recordings/standin"]


def test_without_recordings_everything_says_so(bench: Bench) -> None:
    assert "- recorded: on no GPU yet" in bench.project.run("show", "add.f32").out
    assert "The results have not been compared with a GPU yet." in bench.project.run("show", "add").out
    assert not (bench.root / "spec/observed/recordings.yaml").exists()


@pytest.mark.exhaustive
def test_what_is_recorded_in_part_is_not_measured(bench: Bench) -> None:
    folder = bench.root / "tests/recordings/standin"

    def registered() -> str | None:
        (found,) = read(bench.root).recordings
        return found.finding(variant("ex2.approx.f32"))

    bench.device.large = {"ex2.approx.f32": 100}
    assert bench.rows("--record", folder)["ex2.approx.f32"]["why"] == "out of memory"
    assert registered() is None
    bench.run("--replay", folder)
    assert registered() is None
    bench.device.large = {}
    assert bench.run("--record", folder).code == 0 and registered() == "equal"


@pytest.mark.exhaustive
def test_any_text_is_registered_as_it_is(bench: Bench) -> None:
    bench.device.gpu = 'A "B" \\ C: #1 \u2122'
    assert bench.run("--record", bench.root / "tests/recordings/a: b #c").code == 0
    (registered,) = read(bench.root).recordings
    assert (registered.gpu, registered.path) == (bench.device.gpu, "tests/recordings/a: b #c")


def test_runs_that_read_the_specification_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec/schema", tmp_path / "spec/schema")
    (tmp_path / "spec/observed").mkdir()
    spec, said = specification(), dict.fromkeys(("gpu", "driver", "compiler"), "one")
    said |= {"target": "sm_90", "date": "2026-11-23"}
    for name in ("b", "a", "b"):
        recorded = recording.CompleteRecording(tmp_path / "tests/recordings" / name, {**said, "failed": {}}, ())
        assert register(tmp_path, spec, recorded, Report("one", "sm_90", ()))
    assert [r.path for r in read_registered(tmp_path, spec)] == ["tests/recordings/a", "tests/recordings/b"]
    (tmp_path / REGISTER).write_text("recordings: none\n", "utf-8")
    with pytest.raises(SpecError, match=r"recordings.yaml:1:13"):
        register(tmp_path, spec, recorded, Report("one", "sm_90", ()))
    assert (tmp_path / REGISTER).read_text("utf-8") == "recordings: none\n"


@pytest.mark.exhaustive
def test_a_recording_elsewhere_is_not_registered(bench: Bench) -> None:
    assert bench.run("--record", bench.root / "recorded").code == 0
    assert not (bench.root / "spec/observed/recordings.yaml").exists()

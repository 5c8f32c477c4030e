"""Special registers: what a query says of one."""

from __future__ import annotations

import json

import pytest
from ptxspec import Database, PtxspecError
from ptxspec.cli.main import main


@pytest.mark.parametrize("asked", ["%clusterid.x", "%%clusterid.x", " %clusterid.x "])
def test_one_is_told_by_its_name_as_ptx_and_inline_assembly_write_it(db: Database, asked: str) -> None:
    answer = db.query(asked, target="sm_100")
    assert answer and repr(answer).splitlines() == [
        "yes: %clusterid.x on sm_100",
        "  here      PTX 8.6 or newer (CUDA 12.8) on sm_100",
        "  requires  sm_90 or newer, PTX 7.8 or newer (CUDA 11.8)",
        "  read      by its fields x, y, z, w of 32 bits, or all four at once",
        "  holds     The cluster within the grid, by axis; w is 0.",
    ]


def test_where_one_is_missing_it_is_said_why(db: Database) -> None:
    answer = db.query("%clusterid.x", target="sm_80", ptx="7.0")
    assert not answer and answer.exists
    assert [r.code for r in answer.reasons] == ["target-too-old", "ptx-too-old"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("%laneid.x", "%laneid.x is not a field of %laneid; it has no fields"),
        ("%tid.q", "%tid.q is not a field of %tid; it has the fields .x, .y, .z, .w"),
        ("%lane_id", "there is no special register %lane_id; did you mean '%laneid'?"),
        ("laneid", "%laneid is a special register; `ptxspec query %laneid` shows what it requires"),
    ],
)
def test_another_name_is_told_what_is_meant(db: Database, asked: str, why: str) -> None:
    answer = db.query(asked)
    assert not answer.exists and [r.message for r in answer.reasons] == [why]


def test_operands_are_a_variants(db: Database) -> None:
    with pytest.raises(PtxspecError, match="%tid is a special register"):
        db.query("%tid", operands=1)


def test_a_script_gets_how_it_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "%envreg3", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["register"] | {"summary": ""} == {"name": "%envreg{0..31}", "bits": [32], "fields": [], "summary": ""}
    assert (told["requires"]["ptx"], told["manual"]["ptx"]) == ("1.0", "2.1")

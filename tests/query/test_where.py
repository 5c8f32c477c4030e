"""list --where: variants by conditions."""

from __future__ import annotations

import ptxspec
import pytest
from ptxspec.__main__ import main
from ptxspec.query.where import where


def on(db: ptxspec.Database, v: ptxspec.Variant, target: str) -> bool:
    return db.takes(v, target, None)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("type=bf16", lambda db, v: "bf16" in v.types),
        ("target=H100 and not target=sm_80", lambda db, v: on(db, v, "sm_90") and not on(db, v, "sm_80")),
        ("target = 'RTX 4090'", lambda db, v: on(db, v, "sm_89")),
        (
            "opcode=add or opcode=mul and type=.f16",
            lambda db, v: v.opcode == "add" or (v.opcode == "mul" and "f16" in v.types),
        ),
        ("not (type=f32 or type=f64)", lambda db, v: not {"f32", "f64"} & {*v.types}),
        ("modifier=NaN and operands=3", lambda db, v: "NaN" in v.modifiers and v.operands == 3),
        ("claim=bounded", lambda db, v: v.claim == "bounded"),
        ("hazard=yes", lambda db, v: bool(v.hazards)),
        ("modifier=scaled::n2::ue8m0", lambda db, v: "scaled::n2::ue8m0" in v.modifiers),
    ],
)  # fmt: skip
def test_a_condition_holds_of_what_it_says(db: ptxspec.Database, text: str, holds: object) -> None:
    condition = where(db, text)
    found = [v for v in db.variants if condition(v)]
    assert found and found == [v for v in db.variants if holds(db, v)]  # type: ignore[operator]


def test_the_ptx_version_holds_for_all_targets(db: ptxspec.Database) -> None:
    text = "target=sm_89 and type=e4m3x2"
    assert not any(map(where(db, text, "7.8"), db.variants)) and any(map(where(db, text, "8.1"), db.variants))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("typ=bf16", "unknown key 'typ'; did you mean 'type'?"),
        ("type=bf17", "unknown type 'bf17'; did you mean 'bf16'?"),
        ("target=sm_91", "unknown target 'sm_91'; did you mean 'sm_90'?"),
        ("ptx=8.0", "use the option --ptx 8.0"),
        ("operands=two", "expected a number"),
        ("bf16", "'bf16' does not have the form key=value"),
        ("_0", "'_0' does not have the form key=value"),
        ("type=bf16 and", "is not a valid condition"),
        ("(type=bf16", "is not a valid condition"),
        ("", "is not a valid condition"),
        ("type=bf16; import os", "unexpected ';'"),
        ("type=bf16 if opcode=add else type=f32", "does not have the form key=value"),
        ("not " * 5000 + "type=bf16", "is not a valid condition"),
    ],
)
def test_what_is_no_condition_is_told(capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    assert main(["list", "--where", text]) == 2
    assert said in capsys.readouterr().err

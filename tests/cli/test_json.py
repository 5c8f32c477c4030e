"""JSON for scripts: what each command prints has the shape of its schema, and nothing that a script reads goes away
without a new version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT
from helpers.json_schemas import SCHEMAS, complaints
from jsonschema import Draft202012Validator
from ptxspec.cli.main import main

SCALED = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
# Answers of every kind: the schema's name, and the command.
COMMANDS = [
    ("query", "query max.NaN.f64"),
    ("query", "query add.bf16 --target sm_80"),
    ("query", "query tanh.approx.bf16 --target sm_75 --ptx 6.4"),
    ("query", "query cvt.rn.satfinite.e2m1x2.f32 --target sm_120"),
    ("query", "query fma.rz.bf16 --target sm_90"),
    ("query", "query mad.f32"),
    ("query", "query setp.lt.bf16 --target sm_75"),
    ("query", "query ld.global.f32"),
    ("query-function", "query __hmul2"),
    ("query-function", "query __nv_cvt_float2_to_fp4x2 --target sm_100a"),
    ("query-function", "query sqrtf --target sm_90"),
    ("query-form", "query m16n8k32.f32.e4m3 --target H100"),
    ("query-form", "query m16n8k16.f32.f16"),
    ("query-form", "query m16n8k17.f32.f16"),
    ("query-form", "query m16n8k32.sp.s32.s8"),
    ("query-form", f"query {SCALED} --target sm_120a"),
    ("list", "list --opcode mad"),
    ("list", "list --opcode cvt --type e2m1x2"),
    ("diff", "diff --target sm_30..sm_32"),
    ("targets", "targets sm_100f"),
    ("targets", "targets H100"),
    ("versions", "versions"),
    ("eval", "eval add.rn.f32 1 2"),
    ("eval", "eval fma.rn.ftz.f32 0x00800000 0x3f000000 0 --trace"),
    ("eval", "eval cvt.rn.satfinite.e4m3x2.f32 449 nan --trace"),
    ("eval", "eval cvt.rs.f16x2.f32 1.0001 2 0x12345678 --trace"),
    ("eval", "eval ex2.approx.f32 0.3 --target sm_75 --trace"),
    ("eval", "eval setp.lt.and.f32 1 2 true --trace"),
    ("eval", "eval cvt.rni.s32.f32 1e20 --trace"),
    ("eval", "eval add.s32 0x7fffffff 1 --trace"),
    ("eval", "eval max.f32 0.0 -0.0 --trace"),
    ("eval-file", "eval --file spec/examples/exp2.ptx x=1.5 --trace"),
    ("eval-file", "eval --file spec/examples/f32_to_e4m3.ptx a=1 b=2 c=3 d=4 scale=2 keep=true"),
    ("eval-form", "eval m16n8k32.f32.e4m3 1,2^-7 1,2^-7 0.001 --target L40S"),
    ("eval-form", "eval m16n8k16.f32.f16 inf 1 0 --target H100"),
    ("eval-form", f"eval {SCALED} 1,2 2,1 0.001 2^3 1 --target sm_120a"),
    ("compare", "compare max.NaN.f32 fmaxf"),
    ("compare-form", "compare m16n8k16.f32.f16@A100 m16n8k16.f32.f16@H100"),
    ("sweep", "sweep abs.f16 --against neg.f16"),
    ("vectors", "vectors max.NaN.f16 --grid --limit 3"),
    ("vectors", "vectors setp.lt.f16x2 --grid --limit 3"),
    ("explain", "explain Rounding modifier required for instruction 'fma'"),
    ("lint", "lint"),
    ("lint-stats", "lint --stats"),
    ("machine-code", "machine-code add.rn.f32x2"),
    ("machine-code-form", "machine-code m16n8k32.f32.e4m3"),
    ("machine-code-form", "machine-code m16n8k32.f32.e4m3 --target sm_80"),
]
LONG = [
    ("diff", "diff --ptx 6.0..9.5"),
    ("list", "list"),
    ("compare", "compare add.f16 mul.f16"),
    ("compare", "compare max.NaN.f16 max.f16"),
]


def said(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Return the parsed JSON that a command prints."""
    name, *arguments = command.split()
    if name == "explain":
        arguments = [" ".join(arguments)]
    if name == "lint":
        file = tmp_path / "some.ptx"
        file.write_text("fma.f32 d, a, b, c;\nadd.f32.rn d, a, b;\nadd.f32 d, a;\n", "utf-8")
        arguments = [str(file), *arguments]
    main([name, "--root", str(ROOT), *arguments, "--format", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        *(pytest.param(*row, id=row[1]) for row in COMMANDS),
        *(pytest.param(*row, id=row[1], marks=pytest.mark.exhaustive) for row in LONG),
    ],
)
def test_what_a_command_prints_has_the_shape_of_its_schema(
    name: str, command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    found = said(command, capsys, tmp_path)
    assert complaints(name, found) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == name
    assert name == "common.schema.json" or name.split(".")[0] in {"conformance", *(n for n, _ in (*COMMANDS, *LONG))}


# What scripts read today: every field of every schema, with its types. A field may come, and a type may be narrowed
# where something is new; what stands here must stay, or the version of the answer changes, and with it the names here.
FIELDS = Path(__file__).with_name("fields.json")


def fields(
    schema: dict[str, Any], root: dict[str, Any], path: str = "", seen: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """Each field that an answer may have, by its path, with what it may be."""
    ref = schema.get("$ref")
    if ref is not None:
        if ref in seen:
            return
        home = SCHEMAS[ref.partition("#")[0]] if not ref.startswith("#") else root
        target = home["$defs"][ref.rpartition("/")[2]]
        yield from fields(target, home, path, (*seen, ref))
        return
    for branch in schema.get("anyOf", ()):
        yield from fields(branch, root, path, seen)
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield path, kind
    for value in schema.get("enum", [schema["const"]] if "const" in schema else []):
        yield path, json.dumps(value)
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        where = f"{path}.{name}".lstrip(".")
        yield where, "always" if name in required else "sometimes"
        yield from fields(inner, root, where, seen)
    for key, sign in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(key), dict):
            yield from fields(schema[key], root, path + sign, seen)


def every_field() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for name, schema in SCHEMAS.items():
        if name != "common.schema.json":
            of: dict[str, list[str]] = found.setdefault(name.removesuffix(".schema.json"), {})
            for path, what in fields(schema, schema):
                of.setdefault(path, []).append(what)
    return {name: {path: sorted({*whats}) for path, whats in of.items()} for name, of in found.items()}


def missing(before: dict[str, dict[str, list[str]]], now: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return what a script may no longer rely on: a field that is gone, is not always there any more, or may be what it
    never was before."""
    found = []
    for name, paths in before.items():
        if name not in now:
            continue
        for path, whats in paths.items():
            has = now[name].get(path)
            if has is None:
                found.append(f"{name}: {path} is gone")
            elif new := {*has} - {*whats, "always"}:
                found.append(f"{name}: {path} may be {', '.join(sorted(new))}")
    return found


def test_nothing_that_scripts_read_goes_away_within_a_version() -> None:
    before = json.loads(FIELDS.read_text("utf-8"))
    now = every_field()
    assert missing(before, now) == []
    # Another version has another name. What is new is noted down by `PYTHONPATH=tests python tests/cli/test_json.py`.
    assert before == now


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q: q.pop("reasons[].code"), "query.4: reasons[].code is gone"),
        (lambda q: q["claim"].append('"guessed"'), 'query.4: claim may be "guessed"'),
        (lambda q: q.update(variant=["null", *q["variant"]]), "query.4: variant may be null"),
        (lambda q: q.update(loose=["array", "sometimes"]), "query.4: loose may be sometimes"),
    ],
)
def test_a_change_that_breaks_scripts_is_found(change: Callable[[Any], object], message: str) -> None:
    now = every_field()
    change(now["query.4"])
    assert missing(every_field(), now) == [message]


if __name__ == "__main__":
    FIELDS.write_text(json.dumps(every_field(), indent=1) + "\n", "utf-8", newline="\n")

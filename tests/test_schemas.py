"""The schemas serve editors too, which resolve 8.6 to a number and .NaN to a NaN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

SPEC = Path(__file__).parents[1] / "spec"
FILES = sorted([*SPEC.glob("*.yaml"), *SPEC.glob("instructions/*.yaml")])
SCHEMAS = {p.name: json.loads(p.read_text("utf-8")) for p in (SPEC / "schema").glob("*.json")}
REGISTRY: Registry[dict[str, object]] = Registry().with_resources(
    [(name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()]
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_an_editor_that_follows_the_modeline_finds_no_mistake(path: Path) -> None:
    modeline = path.read_text("utf-8").splitlines()[0]
    schema = (path.parent / modeline.removeprefix("# yaml-language-server: $schema=")).resolve()
    assert schema.parent == SPEC / "schema"
    data = yaml.safe_load(path.read_text("utf-8"))
    errors = list(Draft202012Validator(SCHEMAS[schema.name], registry=REGISTRY).iter_errors(data))
    assert not errors, errors[0].message


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])

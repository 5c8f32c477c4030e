"""The schemas serve editors too, which resolve 8.6 to a number and .NaN to a NaN."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from helpers import ROOT
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

SPEC = ROOT / "spec"
FILES = sorted(SPEC.rglob("*.yaml"))
SCHEMAS = {p.name: json.loads(p.read_text("utf-8")) for p in (SPEC / "schema").glob("*.json")}
REGISTRY: Registry[dict[str, object]] = Registry().with_resources(
    [(name, Resource.from_contents(schema)) for name, schema in SCHEMAS.items()]
)


class Editor(yaml.SafeLoader):
    """Reads as editors do, by YAML 1.2: true and false are what they are in JSON, and `on` is a word."""


Editor.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Editor.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_an_editor_that_follows_the_modeline_finds_no_mistake(path: Path) -> None:
    modeline = path.read_text("utf-8").splitlines()[0]
    schema = (path.parent / modeline.removeprefix("# yaml-language-server: $schema=")).resolve()
    assert schema.parent == SPEC / "schema"
    data = yaml.load(path.read_text("utf-8"), Editor)
    errors = list(Draft202012Validator(SCHEMAS[schema.name], registry=REGISTRY).iter_errors(data))
    assert not errors, errors[0].message


def parts(schema: object) -> Iterator[dict[str, object]]:
    """The schema and all schemas in it."""
    if isinstance(schema, dict):
        yield schema
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(inner)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_description_reads_on_from_the_word_expected(name: str) -> None:
    for part in parts(SCHEMAS[name]):
        if isinstance(said := part.get("description"), str):
            assert re.match(r"[a-z]|\d|[A-Z]{2}", said) and not re.search(r"[^.]\.$", said), said
        else:
            assert part.keys().isdisjoint(("pattern", "minItems", "maxItems", "minProperties")), part


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])

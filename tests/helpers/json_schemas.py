"""The schemas of the commands' JSON, and what of an answer is not as its schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ptxspec
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(ptxspec.__file__).parent / "schemas"
SCHEMAS: dict[str, Any] = {path.name: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.iterdir())}


def complaints(command: str, found: Any) -> list[str]:
    """Of an answer of the version that it says it is: of an array there is one version only."""
    version = found["schema"] if isinstance(found, dict) else 1
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(_closed(schema))) for name, schema in SCHEMAS.items()
    )
    schema = _closed(SCHEMAS[f"{command}.{version}.schema.json"])
    return [e.message for e in Draft202012Validator(schema, registry=registry).iter_errors(found)]


def _closed(schema: Any) -> Any:
    """A schema that takes no field beyond those that it names: what is printed is described."""
    if isinstance(schema, list):
        return [_closed(x) for x in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _closed(value) for key, value in schema.items()}
    return found | ({"additionalProperties": False} if "properties" in schema and "type" in schema else {})

"""The check of positioned data by the JSON Schema of its kind. Each diagnostic names the place and what is expected."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry, Resource
from referencing.exceptions import CannotDetermineSpecification, Unresolvable

from ..catalog.likeness import suggest
from ..diagnostics import Diagnostic, PtxspecError
from ..files import read_bytes
from .positioned import Document

_MAX_BYTES = 1 << 20


@lru_cache(maxsize=8)
def _schemas(folder: Path) -> Registry[Any]:
    resources = []
    for path in sorted(folder.glob("*.schema.json")):
        try:
            resources.append((path.name, Resource.from_contents(json.loads(read_bytes(path, _MAX_BYTES)))))
        except (ValueError, OSError, RecursionError, CannotDetermineSpecification) as e:
            raise PtxspecError(f"{path}: not a readable JSON Schema: {e}") from None
    return Registry().with_resources(resources)


@lru_cache(maxsize=32)
def _validator(folder: Path, kind: str) -> Draft202012Validator:
    registry = _schemas(folder)
    name = f"{kind}.schema.json"
    if name not in registry:
        raise PtxspecError(f"{folder / name}: the schema is missing")
    return Draft202012Validator(_inlined(registry.contents(name), registry.resolver(name)))


def _inlined(schema: Any, resolver: Any) -> Any:
    """Return a schema with references replaced by what they refer to: looking these up takes half of the time."""
    if isinstance(schema, list):
        return [_inlined(s, resolver) for s in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        found = resolver.lookup(schema["$ref"])
        return _inlined(found.contents, found.resolver)
    return {
        key: _whole(s) if key == "pattern" and isinstance(s, str) else _inlined(s, resolver)
        for key, s in schema.items()
    }


def _whole(pattern: str) -> str:
    """Return a pattern in which `$` is the end of a text. Python's `$` is before a final newline, too, which no name
    may have."""
    return re.sub(r"(?<!\\)\$", r"\\Z", pattern)


def check(document: Document, folder: Path, kind: str) -> list[Diagnostic]:
    """Return the diagnostics about a document of a kind ("instruction", "types", ...); `folder` has the schemas."""
    try:
        errors = list(_validator(folder, kind).iter_errors(document.data))
    except (Unresolvable, RecursionError, TypeError, ValueError, AttributeError, KeyError, re.error) as e:
        raise PtxspecError(f"{folder / kind}.schema.json: not a JSON Schema that can be used: {e}") from None
    return [d for e in errors for d in _explain(document, e)]


def _explain(document: Document, e: ValidationError) -> list[Diagnostic]:
    where = tuple(e.absolute_path)
    wanted: Any = e.validator_value
    came: Any = e.instance
    shown = _shown(came)
    schema: dict[str, Any] = e.schema if isinstance(e.schema, dict) else {}
    hint = f"expected {schema['description']}" if "description" in schema else ""
    if e.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        return [
            document.error((*where, k), f"unknown key '{k}'", suggest(k, known), key=True)
            for k in came
            if k not in known
        ]
    if e.validator == "required":
        missing = [k for k in wanted if k not in came]
        return [
            document.error(where, f"missing key '{k}'", f"here belong: {', '.join(schema['required'])}")
            for k in missing
        ]
    if e.validator == "anyOf":
        options = " or ".join(f"'{r['required'][0]}'" for r in wanted)
        return [document.error(where, f"one of {options} is missing", hint)]
    if e.validator == "oneOf":
        return [document.error(where, "too few entries" if not came else "these keys do not go together", hint)]
    if e.validator == "dependentRequired":
        return [
            document.error((*where, given), f"'{given}' needs '{k}' beside it", hint, key=True)
            for given, needed in wanted.items()
            for k in needed
            if given in came and k not in came
        ]
    if "propertyNames" in e.absolute_schema_path:
        return [document.error((*where, shown), f"'{shown}' cannot be a name here", hint, key=True)]
    if e.validator == "type":
        words = {"object": "a mapping", "array": "a list", "string": "text", "boolean": "true or false"}
        kinds = [words[t] for t in ([wanted] if isinstance(wanted, str) else wanted) if t in words]
        return [document.error(where, f"expected {' or '.join(kinds)}, this is {_kind(came)}", hint)]
    if e.validator == "enum":
        return [
            document.error(where, f"'{shown}' is not allowed here", suggest(shown, dict.fromkeys(map(str, wanted))))
        ]
    if e.validator == "pattern":
        wrong = "this is empty" if not str(came).strip() else f"'{shown}' is not what belongs here"
        return [document.error(where, wrong, hint)]
    if e.validator in ("minItems", "minProperties"):
        return [document.error(where, "too few entries", hint)]
    if e.validator == "maxItems":
        return [document.error(where, "too many entries", hint)]
    return [document.error(where, e.message[:200], hint)]


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "true or false" if isinstance(value, bool) else "text"

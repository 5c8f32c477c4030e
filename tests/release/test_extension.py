"""The extension in C is of the same release as what it was generated with."""

from __future__ import annotations

import tomllib

from helpers import ROOT


def test_it_has_the_version_of_the_project() -> None:
    ours, its = (tomllib.loads((ROOT / path).read_text("utf-8"))["project"]
                 for path in ("pyproject.toml", "generated/native/pyproject.toml"))  # fmt: skip
    for field in ("version", "license", "requires-python"):
        assert its[field] == ours[field]

"""What is released together is of one version."""

from __future__ import annotations

import tomllib

import yaml
from helpers import ROOT

OURS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_extension_in_c_is_of_this_release() -> None:
    its = tomllib.loads((ROOT / "generated/native/pyproject.toml").read_text("utf-8"))["project"]
    for field in ("version", "license", "requires-python", "authors"):
        assert its[field] == OURS[field]


def test_the_citation_is_of_this_release() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["version"], cited["license"]) == (OURS["version"], OURS["license"])
    assert cited["repository-code"] == OURS["urls"]["Repository"]
    assert cited["authors"] == OURS["authors"]

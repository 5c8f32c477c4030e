""".ci/requirements.txt is what CI installs, .ci/constraints.txt what README's commands do, and CHANGELOG.md says what
users get. What is released together is of one version."""

from __future__ import annotations

import re
import tomllib
from itertools import chain, product

import yaml
from helpers import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
BUILDING = PROJECT["build-system"]["requires"]
NEEDED = [Requirement(line) for line in chain(BUILDING, PROJECT["project"]["dependencies"], EXTRAS["test"])]
LOCK = (ROOT / ".ci/requirements.txt").read_text("utf-8")
# One package: its version, where it is meant, its hashes, and who needs it.
ENTRY = re.compile(r"^(\S[^\n]*==[^\n]*?) \\\n((?:    --hash=\S+(?: \\)?\n)+)((?:    #[^\n]*\n)*)", re.MULTILINE)
LOCKED = {
    (pin := Requirement(line)): re.findall(r"sha256:[0-9a-f]{64}", hashes) for line, hashes, _ in ENTRY.findall(LOCK)
}
CHANGES = (ROOT / "CHANGELOG.md").read_text("utf-8")
VERSION = PROJECT["project"]["version"]


def test_the_lock_has_every_package_with_its_hashes() -> None:
    assert len(LOCKED) == len(re.findall(r"^[\w-]+==", LOCK, re.MULTILINE)) > 30
    assert all(LOCKED.values())


def test_the_lock_has_what_pyproject_needs() -> None:
    """On every Python and system: where it does not, `python .ci/dependencies.py renew` makes it so."""
    for needed, python, platform in product(NEEDED, ("3.11", "3.12", "3.13", "3.14"), ("linux", "darwin", "win32")):
        place = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": platform}
        if needed.marker is None or needed.marker.evaluate(place):
            name = canonicalize_name(needed.name)
            here = [p for p in LOCKED if p.name == name and (p.marker is None or p.marker.evaluate(place))]
            assert len(here) == 1, f"{name} stands {len(here)} times in .ci/requirements.txt"
            assert needed.specifier.contains(str(here[0].specifier).removeprefix("==")), needed


def test_the_changelog_has_the_version() -> None:
    assert re.search(rf"^## \[{re.escape(VERSION)}\] - (?:\d{{4}}-\d\d-\d\d|unreleased)$", CHANGES, re.MULTILINE)


def test_the_changelog_has_the_form_of_one() -> None:
    """The form is that of https://keepachangelog.com: versions, newest first, and kinds of changes in them."""
    versions = re.findall(r"^## \[([^\]]+)\]", CHANGES, re.MULTILINE)
    numbers = [tuple(map(int, v.split("."))) for v in versions if v != "Unreleased"]
    assert numbers == sorted(set(numbers), reverse=True) and "Unreleased" not in versions[1:]
    kinds = re.findall(r"^### (.*)$", CHANGES, re.MULTILINE)
    assert kinds and {*kinds} <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_extension_in_c_is_of_this_release() -> None:
    its = tomllib.loads((ROOT / "generated/native/pyproject.toml").read_text("utf-8"))["project"]
    for field in ("version", "license", "requires-python", "authors"):
        assert its[field] == PROJECT["project"][field]


def test_the_citation_is_of_this_release() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["version"], cited["license"]) == (PROJECT["project"]["version"], PROJECT["project"]["license"])
    assert cited["repository-code"] == PROJECT["project"]["urls"]["Repository"]
    assert cited["authors"] == PROJECT["project"]["authors"]

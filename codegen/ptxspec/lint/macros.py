"""Macros that a text does not define itself: the compiler's, those of widely used headers, and those of the
configuration."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..query.database import Database

Truth = bool | None


class Macro(NamedTuple):
    """The state of a macro: if it is defined, and its replacement; None where that is unknown. The name of a macro with
    arguments ends in (), and {0} and {1} in its replacement are the arguments."""

    defined: Truth
    body: str | None = None


ONE, NONE, UNKNOWN = Macro(True, "1"), Macro(False), Macro(None)

# A macro that other files or options define: always or never, as a number, or on the targets of a text for `needed`.
Value = bool | int | str
Defines = tuple[tuple[str, Value], ...]

_PLACE = Path(__file__).with_name("macros.toml")
_NAME = r"[^\s<>=,]+"
_TERM = re.compile(rf"\s*(?P<newer>>=)?\s*(?P<target>{_NAME})\s*(?:<\s*(?P<below>{_NAME})\s*)?")


class Term(NamedTuple):
    """Targets: a baseline target with its architecture- and family-specific ones, and with `newer` all newer ones; only
    an architecture-specific target; or a family-specific one with its family. `below` excludes that target and newer
    ones."""

    newer: bool
    target: str
    below: str | None

    def holds(self, db: Database, target: str) -> bool:
        """Return whether a target is one of these, as conditions on __CUDA_ARCH__ compare them."""
        if self.below is not None and _number(target) >= _number(self.below):
            return False
        kind = self.target[-1]
        if kind == "a":
            return target == self.target
        if kind == "f":
            return self.target in db.targets and target in {t.name for t in db.catalog.family(self.target)}
        return _number(target) >= _number(self.target) if self.newer else _number(target) == _number(self.target)


def _number(target: str) -> int:
    return int(target.removeprefix("sm_").rstrip("af"))


def needed(db: Database, text: str) -> tuple[Term, ...] | None:
    """Return the targets of a text such as "sm_90a, >= sm_100 < sm_120", or None. Raises PtxspecError for an unknown
    target."""
    found = _terms(text)
    if found is None:
        return None
    return tuple(Term(t.newer, db.target(t.target), t.below and db.target(t.below)) for t in found)


@cache
def _terms(text: str) -> tuple[Term, ...] | None:
    found = [_TERM.fullmatch(part) for part in text.split(",")]
    return tuple(Term(m["newer"] is not None, m["target"], m["below"]) for m in found if m) if all(found) else None


def stated(db: Database, value: Value, target: str | None) -> Macro:
    """Return the macro that the configuration defines as `value`, on a target."""
    if isinstance(value, bool):
        return ONE if value else NONE
    if isinstance(value, int):
        return Macro(True, str(value))
    terms = needed(db, value)
    if terms is None or target is None:
        return UNKNOWN
    return ONE if any(t.holds(db, target) for t in terms) else NONE


@cache
def _projects() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_PLACE.read_text("utf-8"))


def known(db: Database, target: str | None) -> dict[str, Macro]:
    """Return the macros of widely used headers on a target; none without one."""
    found: dict[str, Macro] = {}
    if target is not None:
        for project in _projects().values():
            found |= {name: _on(db, value, target) for name, value in project.get("defined", {}).items()}
            found |= {name: Macro(True, body) for name, body in project.get("stands_for", {}).items()}
    return found


# A database may lack targets of macros.toml.
def _on(db: Database, value: bool | str, target: str) -> Macro:
    holds = value if isinstance(value, bool) else any(t.holds(db, target) for t in _terms(value) or ())
    return ONE if holds else NONE


def nv_target(db: Database, name: str, target: str | None) -> Truth:
    """Return whether a name in a condition of NV_IF_TARGET, such as NV_PROVIDES_SM_90, is true on a target."""
    for pattern, value in _projects()["nv_target"]["named"].items():
        if target is not None and (m := re.fullmatch(pattern, name)):
            return _on(db, value if isinstance(value, bool) else m.expand(value), target).defined
    return None


def macros_of(db: Database, target: str | None, ptx: str | None = None) -> dict[str, Macro]:
    """Return the macros that CUDA compilers define or leave undefined for a target; empty without one."""
    if target is None:
        return {}
    arch, kind = Macro(True, f"{_number(target)}0"), db.targets[target].kind
    own = (t for t in db.targets.values() if t.kind == "architecture")
    return {
        **{f"__CUDA_ARCH_FEAT_SM{_number(t.name)}_ALL": ONE if t.name == target else NONE for t in own},
        "__CUDACC__": ONE,
        "__CUDA_ARCH__": arch,
        "__CUDA_ARCH_SPECIFIC__": arch if kind == "architecture" else NONE,
        "__CUDA_ARCH_FAMILY_SPECIFIC__": arch if kind else NONE,
        **_of_release(db, ptx or db.catalog.newest_version),
    }


# A PTX version belongs to one CUDA release, and so decides conditions on the release. Without one, checks are for the
# newest, as everywhere: code for older releases only is skipped. CUDA_VERSION is cuda.h's; a file that uses it includes
# that.
def _of_release(db: Database, ptx: str) -> dict[str, Macro]:
    release = db.versions[ptx].cuda
    if not release:
        return {}
    major, minor = map(int, release.split("."))
    version = Macro(True, f"{major * 1000 + minor * 10}")
    return {
        "__CUDACC_VER_MAJOR__": Macro(True, f"{major}"),
        "__CUDACC_VER_MINOR__": Macro(True, f"{minor}"),
        **dict.fromkeys(("CUDA_VERSION", "CUDART_VERSION", "__CUDART_API_VERSION"), version),
        # CUDA's C++ library numbers PTX versions like this.
        "__cccl_ptx_isa": Macro(True, f"{ptx.replace('.', '')}0"),
    }

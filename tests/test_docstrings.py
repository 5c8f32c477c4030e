"""The texts of help() on the public names: all have a docstring, their examples are right, and errors are named."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import ptxemu
import ptxspec
import pytest
from helpers import ROOT
from ptxspec.lint.languages import EXTRACT, PTX

# Modules whose docstrings have examples.
EXAMPLES = ["ptxspec", "ptxspec.api", "ptxemu", "ptxemu.kernels", "ptxemu.functions"]
PUBLIC = [(p, name) for p in (ptxspec, ptxemu) for name in p.__all__]


@pytest.mark.parametrize("module", EXAMPLES)
def test_the_examples_are_so(module: str, db: ptxspec.Database) -> None:
    names = {"np": np, "ptxemu": ptxemu, "ptxspec": ptxspec, "db": db}
    found = doctest.testmod(importlib.import_module(module), extraglobs=names, report=True)
    assert found.attempted and not found.failed


def members(x: Any) -> Iterator[tuple[str, Any]]:
    """Yield the functions and properties that a public class has of its own, under public names."""
    if inspect.isclass(x):
        for base in x.__mro__:
            if base.__module__.split(".")[0] in ("ptxspec", "ptxemu"):
                found = ((n, f) for n, f in vars(base).items() if inspect.isfunction(f) or isinstance(f, property))
                yield from ((n, f) for n, f in found if not n.startswith("_") or n == "__call__")


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[f"{p.__name__}.{n}" for p, n in PUBLIC])
def test_every_public_name_has_a_docstring(package: Any, name: str) -> None:
    x = getattr(package, name)
    assert x.__doc__ and x.__doc__.strip()
    missing = [n for n, member in members(x) if not (member.__doc__ or "").strip()]
    assert missing == []


@pytest.mark.parametrize(
    ("what", "errors"),
    [
        (ptxemu.compile, ["UnknownVariantError", "UnknownTargetError"]),
        (ptxemu.execute, ["what `compile` and a kernel's call raise"]),
        (ptxemu.Kernel.__call__, ["OperandError", "ValueError", "TypeError", "shape", "dtype"]),
        (ptxemu.function, ["StatementError", "ValueError"]),
        (ptxemu.Function.__call__, ["OperandError", "ValueError", "shape", "dtype"]),
        (ptxspec.load, ["PtxspecError", "SpecError"]),
        (ptxspec.Database.variant, ["PtxspecError"]),
        (ptxspec.Database.query, ["PtxspecError"]),
        (ptxspec.Database.available, ["PtxspecError"]),
        (ptxspec.Database.diff_ptx, ["PtxspecError"]),
        (ptxspec.Database.diff_target, ["PtxspecError"]),
        (ptxspec.Database.lint, ["PtxspecError"]),
        (ptxspec.Database.target, ["PtxspecError"]),
    ],
)
def test_a_docstring_names_the_errors(what: Any, errors: list[str]) -> None:
    said = " ".join(inspect.getdoc(what).split())  # type: ignore[union-attr]
    assert "Raises" in said
    assert [e for e in errors if e not in said] == []


def test_lints_docstring_names_every_language() -> None:
    said = inspect.getdoc(ptxspec.Database.lint) or ""
    assert [name for name in (PTX, *EXTRACT) if f'"{name}"' not in said] == []


@pytest.mark.parametrize("package", ["codegen/ptxspec", "generated/python/ptxemu"])
def test_type_checkers_are_told_that_the_packages_are_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").exists()
    assert f'"{package}"' in (ROOT / "pyproject.toml").read_text("utf-8")

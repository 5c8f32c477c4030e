"""The version of the program that runs."""

from __future__ import annotations


def release() -> str:
    """Return the version; empty where the package is not installed, as in a clone on PYTHONPATH."""
    from importlib.metadata import PackageNotFoundError, version  # takes longer than a query

    try:
        return version("ptxspec")
    except PackageNotFoundError:
        return ""

"""The version of this program."""

from __future__ import annotations


def release() -> str:
    """Return the version; empty if the package is not installed, as in a clone on PYTHONPATH."""
    from importlib.metadata import PackageNotFoundError, version  # takes longer than a query

    try:
        return version("ptxspec")
    except PackageNotFoundError:
        return ""

"""Which version of the program runs."""

from __future__ import annotations


def release() -> str:
    """Empty where it is not installed, as in a clone on PYTHONPATH."""
    from importlib.metadata import PackageNotFoundError, version  # takes longer than a query

    try:
        return version("ptxspec")
    except PackageNotFoundError:
        return ""

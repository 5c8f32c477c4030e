"""Requirements that hold on some targets only, in words."""

from __future__ import annotations


def targets_text(first: str, last: str, newest: str) -> str:
    """The targets from the first to the last. What ends with the newest holds on those to come as well."""
    return f"from {first} on" if last == newest else f"from {first} to {last}"


def limit_text(first: str, last: str, ptx: str | None, until: str | None, newest: str) -> str:
    """ "from sm_20 on until PTX 3.1", without a comma."""
    versions = [f"since PTX {ptx}"] * bool(ptx) + [f"until PTX {until}"] * bool(until)
    return " ".join([targets_text(first, last, newest), *versions])

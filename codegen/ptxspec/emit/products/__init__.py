"""The products, which register themselves (../registry.py)."""

from .. import manual  # noqa: F401

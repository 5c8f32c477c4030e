"""The manual: a page for each opcode, and pages about all of them."""

from .pages import emit

__all__ = ["emit"]

"""The manual: a page for each opcode, and pages about all of them."""

from . import pages  # noqa: F401

"""The database as the package hands it out: what the modules of query/ and lint/ answer, as methods of one object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .query import verdicts
from .query.database import Database as _Database, Variant

if TYPE_CHECKING:
    from .lint.findings import Finding


class Database(_Database):
    """All opcodes and variants, targets and PTX versions, and the questions that one may ask of them."""

    def variant(self, spelling: str, operands: int | None = None) -> Variant:
        """A variant by its spelling, modifiers in any order; the one with the fewest operands unless told.

        Raises PtxspecError for a spelling that does not exist."""
        return verdicts.variant(self, spelling, operands)

    def query(
        self, spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
    ) -> verdicts.Verdict:
        """Whether a variant exists and is available, with the reasons why not and what is spelled alike.

        Raises PtxspecError for an unknown target or PTX version."""
        return verdicts.query(self, spelling, operands, target, ptx)

    def lint(
        self, text: str, target: str | None = None, ptx: str | None = None, language: str = "ptx", file: str = "<text>"
    ) -> list[Finding]:
        """What ptxas would say of PTX, or of the PTX in a program (`language` is "ptx", "c++" or "python").

        `target` and `ptx` take the place of the module's own. Raises PtxspecError for unknown ones."""
        from .lint.findings import joined
        from .lint.linter import Linter
        from .lint.windows import chunks

        return list(joined(Linter(self, target, ptx).lint(chunks(text), file, language)))

"""Answers as Python shows them: in a terminal as the commands print them, in a notebook as HTML.

Each is the tuple or list that it was made from, and also knows the database. Pickling leaves the database out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import tensor
from .query import functions
from .query.answers import told, verdict_as_text
from .query.calls import FunctionCall, compiled
from .query.database import Database, Variant
from .query.lists import variants_as_table
from .query.verdicts import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lint.findings import Finding

# Of more rows than `_MANY`, the first and the last are shown.
_MANY, _FIRST, _LAST = 60, 20, 5


class Answer(Verdict):
    """A verdict that shows itself as `ptxspec query` prints it.

    It equals the tuple of its fields; `as_json` needs no database."""

    _asked: tuple[Database, str | None, str | None] | None = None

    @classmethod
    def of(cls, db: Database, verdict: Verdict, target: str | None, ptx: str | None) -> Answer:
        found = cls._make(verdict)
        found._asked = db, target, ptx
        return found

    def as_json(self, db: Database | None = None) -> dict[str, Any]:
        """Return what `ptxspec query --format json` prints, as a dictionary."""
        own = self._asked and self._asked[0]
        if db is None and own is None:
            raise ValueError("a copied verdict has no database: pass one, as in as_json(db)")
        return super().as_json(db or own)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        if self._asked is None:
            return super().__repr__()
        db, target, ptx = self._asked
        return verdict_as_text(db, self, target, ptx)

    def _repr_html_(self) -> str | None:
        if self._asked is None:
            return None
        from .query import pages

        db, target, ptx = self._asked
        return pages.verdict(told(db, self, target, ptx))

    def __reduce__(self) -> tuple[Any, ...]:
        return Verdict._make, (tuple(self),)


class FunctionAnswer(Answer):
    """The PTX that nvcc generates for a function of CUDA C++, shown as `ptxspec query` prints it. It is available if
    some call of it compiles; the other fields of a verdict are empty."""

    _calls: tuple[FunctionCall, ...] = ()

    @classmethod
    def called(cls, db: Database, calls: Sequence[FunctionCall], target: str | None) -> FunctionAnswer:
        compiles = bool(compiled(db, calls, target))
        found = cls(variant=calls[0].name, operands=None, exists=True, available=compiles)
        found._asked, found._calls = (db, target, None), tuple(calls)
        return found

    def as_json(self, db: Database | None = None) -> dict[str, Any]:
        """Return what `ptxspec query --format json` prints, as a dictionary."""
        assert self._asked
        own, target, _ = self._asked
        return functions.as_json(db or own, self.variant, self._calls, target)

    def __repr__(self) -> str:
        assert self._asked
        db, target, _ = self._asked
        return functions.as_text(db, self.variant, self._calls, target)

    def _repr_html_(self) -> str:
        from .query import pages

        return pages.function(repr(self))


class FormAnswer(Answer):
    """The facts about a form of mma, shown as `ptxspec query` prints it."""

    _form: tensor.FormFacts | None = None

    @classmethod
    def answered(cls, db: Database, form: tensor.FormFacts) -> FormAnswer:
        found = cls._make(form.verdict)
        found._asked, found._form = (db, *form.verdict.asked), form
        return found

    def as_json(self, db: Database | None = None) -> dict[str, Any]:
        """Return what `ptxspec query --format json` prints, as a dictionary."""
        assert self._asked and self._form
        return self._form.as_json(db or self._asked[0])

    def __repr__(self) -> str:
        assert self._asked and self._form
        return tensor.as_text(self._asked[0], self._form)

    def _repr_html_(self) -> str:
        from .query import pages

        return pages.function(repr(self))


class Variants(list[Variant]):
    """A list of variants that is shown as `ptxspec list` prints it, with the claims on the requested target."""

    def __init__(self, db: Database, variants: list[Variant], target: str | None = None) -> None:
        super().__init__(variants)
        self._db, self._target = db, target

    def __repr__(self) -> str:
        if len(self) <= _MANY:
            return variants_as_table(self._db, self._on(self), self._target)
        lines = variants_as_table(self._db, self._on([*self[:_FIRST], *self[-_LAST:]]), self._target).split("\n")
        # The last line counts the variants.
        lines[-1] = f"{len(self):,} variants"
        return "\n".join([*lines[: _FIRST + 1], "...", *lines[_FIRST + 1 :]])

    def _repr_html_(self) -> str:
        from .query import pages

        return pages.variants(self._db, len(self), self._few())

    def _few(self) -> list[Variant | None]:
        """Return the variants that are shown, with None where others are left out."""
        if len(self) <= _MANY:
            return [*self._on(self)]
        return [*self._on(self[:_FIRST]), None, *self._on(self[-_LAST:])]

    def _on(self, variants: list[Variant]) -> list[Variant]:
        return [self._db.on(v, self._target) for v in variants]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class Findings(list["Finding"]):
    """A list of findings that is shown as `ptxspec lint` prints it."""

    def __repr__(self) -> str:
        from .lint.rendering import found, text

        return "".join((*text(self), found(self))) or "no findings"

    def _repr_html_(self) -> str:
        from .query import pages

        return pages.findings(len(self), repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def database_as_text(db: Database) -> str:
    """Return a line that describes a database."""
    (oldest_target, *_, newest_target), (first, *_, last) = db.targets, db.versions
    return f"<ptxspec database: {len(db.opcodes)} opcodes, {oldest_target} to {newest_target}, PTX {first} to {last}>"

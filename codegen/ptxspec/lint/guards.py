"""The conditions around code, decided for a target in three values.

True is compiled or run, False is not, and None is unknown: that depends on what the file does not say."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..ptx.complaints import WARNING
from ..ptx.scanning import View
from ..query.database import Database
from . import branches, preprocessor
from .branches import Span
from .findings import BY_TARGET, Finding
from .languages import BLOCKS, CONTAINERS, CPP, PROGRAMS, PYTHON
from .macros import Defines, Truth, known, macros_of, nv_target, stated
from .reading import Whole

if TYPE_CHECKING:
    from .languages.text import Text

# The code of a finding in code that may not be compiled, which is unknown.
UNKNOWN_GUARD = "unknown-guard"


def guards(
    db: Database, text: str, language: str, target: str | None, defines: Defines = (), ptx: str | None = None
) -> Guards | None:
    """Return the conditions in a text, or None for a language without conditions."""
    if language not in PROGRAMS and language not in CONTAINERS:
        return None
    return Guards(db, text, language, target, defines, ptx)


class Guards:
    """The conditions in a text, decided for a target. `defines` are macros of other files, from the configuration.
    `excluded` counts the findings in code that is not compiled, and `asked` those under conditions that are not
    understood."""

    def __init__(
        self, db: Database, text: str, language: str, target: str | None, defines: Defines, ptx: str | None
    ) -> None:
        self._db, self._text, self._language, self._target = db, text, language, target
        self._macros = macros_of(db, target, ptx)
        self._said = {name: stated(db, value, target) for name, value in defines}
        self.excluded = 0
        self.asked: Counter[str] = Counter()

    def left(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings in code that is compiled. If that is unknown, a finding that depends on the target becomes
        a warning."""
        for f in findings:
            compiled, condition = self._at(self._lines[f.line - 1] + f.column - 1)
            if compiled is False:
                self.excluded += 1
            elif compiled is None and f.code in BY_TARGET and self._target is not None:
                self.asked[condition] += 1
                message = f"{f.message}, unless the condition '{condition}', which is not understood, excludes it"
                yield f._replace(severity=WARNING, code=UNKNOWN_GUARD, message=message, mend=None)
            else:
                yield f

    def excludes(self, line: int) -> bool:
        """Return whether a line is certainly not compiled."""
        return self.compiled(line) is False

    def compiled(self, line: int) -> Truth:
        """Return whether a line is compiled."""
        return self._at(self._lines[line - 1] if line <= len(self._lines) else len(self._text))[0]

    def _at(self, offset: int) -> tuple[Truth, str]:
        _, compiled, condition = self._steps[bisect_right(self._steps, offset, key=lambda s: s[0]) - 1]
        return compiled, condition

    @cached_property
    def _lines(self) -> list[int]:
        """The offsets at which lines begin."""
        found, at = [0], self._text.find("\n")
        while at >= 0:
            found.append(at + 1)
            at = self._text.find("\n", at + 1)
        return found

    # Computed only for texts with findings.
    @cached_property
    def _steps(self) -> list[tuple[int, Truth, str]]:
        """The offsets at which it changes whether code is compiled, with the unknown condition."""
        spans = list(self._spans(Whole(self._text), self._language))
        ends = sorted({0, *(s.start for s in spans), *(s.end for s in spans)})
        begun = sorted(spans, key=lambda s: s.start)
        found: list[tuple[int, Truth, str]] = []
        open_: list[Span] = []
        i = 0
        for at in ends:
            open_ = [s for s in open_ if s.end > at]
            while i < len(begun) and begun[i].start <= at:
                open_ += [begun[i]] * (begun[i].end > at)
                i += 1
            if any(s.holds is False for s in open_):
                found.append((at, False, ""))
            else:
                found.append((at, None, open_[-1].condition) if open_ else (at, True, ""))
        return found

    def _spans(self, view: View, language: str) -> Iterator[Span]:
        """Yield the parts of a text whose condition is false or unknown."""
        if language in CONTAINERS:
            for name, block in CONTAINERS[language](view):
                yield from self._inside(block, BLOCKS.get(name, ""))
        elif language == CPP:
            regions, macros = preprocessor.regions(view.text, self._macros, known(self._db, self._target), self._said)
            ends = [*(r.start for r in regions[1:]), len(view.text)]
            for region, end in zip(regions, ends, strict=True):
                if region.compiled is not True:
                    yield Span(region.start, end, region.compiled, region.condition)
            yield from branches.of_cpp(view, macros, partial(nv_target, self._db, target=self._target))
        elif language == PYTHON and self._target is not None:
            yield from branches.of_python(view, self._target)
        if language in PROGRAMS:
            for text in branches.programs(view, language):
                yield from self._inside(text, CPP)

    def _inside(self, text: Text, language: str) -> Iterator[Span]:
        for s in self._spans(text, language):
            if s.end > s.start:
                yield s._replace(start=text.outside(s.start), end=text.outside(s.end - 1) + 1)

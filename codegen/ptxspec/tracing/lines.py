"""The steps of a lane, each with its line in the specification and an account of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model import Kind, Modifier
from ..read.positioned import load
from ..roots import Root
from ..semantics.exact.accounts import Event, effective, events
from ..semantics.exact.evaluate import Step
from ..semantics.program import Program


@dataclass(frozen=True)
class TraceLine:
    """A step of one lane: the value of `name` before (None for a new name) and after, the line of the specification,
    and the events. A step without effect changes nothing, and nothing depends on it."""

    lane: int
    stage: str
    name: str
    path: str
    line: int
    text: str
    kind: Kind
    before: int | None
    after: int
    why: tuple[Event, ...] = ()
    has_effect: bool = True


@dataclass(frozen=True)
class RoundingModifiers:
    """The modifiers that decide roundings, each as its name and place: those that choose a mode, and the one that
    flushes tiny results."""

    modes: Mapping[str, tuple[str, str]]
    flush: tuple[str, str] | None

    @staticmethod
    def of(modifiers: Iterable[Modifier]) -> RoundingModifiers:
        acting = [m for m in modifiers if m.round_place]
        flushing = [(f".{m.name}", m.round_place) for m in acting if m.ftz]
        return RoundingModifiers(
            {m.mode: (f".{m.name}", m.round_place) for m in acting if m.mode}, flushing[0] if flushing else None
        )


class SpecificationLines:
    """The lines of the specification. Each file is read once."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self._read: dict[str, tuple[str, ...]] = {}

    def line(self, path: str, number: int) -> str:
        if path not in self._read:
            self._read[path] = load(self.root.path / path, self.root.path).lines
        return self._read[path][number - 1].strip()


def lines(source: SpecificationLines, lane: int, program: Program, steps: Sequence[Step]) -> Iterator[TraceLine]:
    """Yield the steps of a lane."""
    for step, does in zip(steps, effective(steps), strict=True):
        let = step.let
        text = source.line(let.path, let.mark.line)
        yield TraceLine(
            lane=lane,
            stage=let.stage,
            name=let.label,
            path=let.path,
            line=let.mark.line,
            text=text,
            kind=let.value.kind,
            before=step.before,
            after=step.after,
            why=events(program, step),
            has_effect=does,
        )

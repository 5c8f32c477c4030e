"""The state of a sweep, in a file that is replaced atomically. A stopped sweep continues from it."""

from __future__ import annotations

import hashlib
import json
import time
from itertools import groupby
from pathlib import Path
from typing import Any

from ...diagnostics import PtxspecError
from ...files import replace_text
from ..compare.tallying import tally_from_json
from .blocks import Sum, Sweep

SCHEMA = 1
_WRITER = "ptxspec sweep"
# Seconds between two writes, and so the most work that can be lost.
_EVERY = 1.0


class Broken(PtxspecError):
    """The error for a sweep that was ended from outside. Its counts so far are right, and it can be continued."""


def kept_in(path: Path | None) -> str:
    """Return a text about what remains of a stopped sweep."""
    if path is None:
        return "the progress is lost; --state FILE would save it"
    return f"{path} has the progress; the same command continues" if path.exists() else "nothing was counted yet"


class State:
    """The state of a sweep. `sum` are the counts in the file, and `keep` updates the file. Raises PtxspecError for a
    file that is damaged or does not belong to this sweep."""

    def __init__(self, path: Path | None, sweep: Sweep) -> None:
        self.path, self._sweep = path, sweep
        self._written = 0.0
        self.sum = sweep.empty()
        if path is None:
            return
        try:
            text = path.read_text("utf-8")
        except FileNotFoundError:
            # An unwritable file is reported before anything is counted.
            self.keep(at_once=True)
            return
        except (OSError, UnicodeDecodeError) as e:
            raise PtxspecError(f"{path} is not the state of a sweep: {getattr(e, 'strerror', None) or e}") from None
        self._read(text)

    def keep(self, at_once: bool = False) -> None:
        if self.path is None or (not at_once and time.monotonic() - self._written < _EVERY):
            return
        body = {
            "schema": SCHEMA, "facts": self._sweep.facts, "blocks": len(self._sweep), "done": _runs(self.sum.done),
            "hidden": sorted(self.sum.hidden), "tally": self.sum.tally.as_json(),
        }  # fmt: skip
        try:
            replace_text(self.path, json.dumps({"writer": _WRITER, "digest": _digest(body), **body}) + "\n")
        except OSError as e:
            raise PtxspecError(f"{self.path}: cannot be written: {e.strerror}") from None
        self._written = time.monotonic()

    def _read(self, text: str) -> None:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict) or data.pop("writer", None) != _WRITER:
            raise PtxspecError(f"{self.path} is not the state of a sweep; --state requires a file of its own")
        if data.pop("digest", None) != _digest(data):
            raise PtxspecError(f"{self.path} is damaged: its digest is wrong; remove it to start again")
        if data.get("schema") != SCHEMA:
            raise PtxspecError(f"{self.path} was written by another version of ptxspec; remove it to start again")
        before, now = data["facts"], self._sweep.facts
        for what in dict.fromkeys([*now, *before]):
            if before.get(what) != now.get(what):
                was = f": {said}" if (said := before.get(what)) and what.endswith("side") else ""
                raise PtxspecError(
                    f"{self.path} is the state of a sweep with another {what}{was}; choose another file, or remove it"
                )
        try:
            done = frozenset(n for first, last in data["done"] for n in range(first, last + 1))
            hidden = frozenset(data["hidden"])
            if not hidden <= done <= {*range(len(self._sweep))}:
                raise ValueError("there are no such blocks")
            tally = tally_from_json(self._sweep.face, data["tally"])
            if tally.tried.sum() != sum(map(self._sweep.size, done)) * self._sweep.face.lanes:
                raise ValueError("its counts are not of its blocks")
            self.sum = Sum(tally, done, hidden)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as e:
            raise PtxspecError(f"{self.path} is damaged: {e}; remove it to start again") from None


def _digest(body: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=8).hexdigest()


def _runs(numbers: frozenset[int]) -> list[list[int]]:
    """Return the first and the last of each run of consecutive numbers."""
    found = []
    for _, run in groupby(enumerate(sorted(numbers)), lambda at: at[1] - at[0]):
        of_run = [n for _, n in run]
        found.append([of_run[0], of_run[-1]])
    return found

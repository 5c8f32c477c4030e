"""The verdict of a sweep, for people and for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..compare.comparing import ComparisonResult
from ..compare.telling import as_json as compared_as_json, as_text as compared_as_text
from ..gpu.vectors import BLOCK
from .blocks import Sum, Sweep


def as_text(sweep: Sweep, total: Sum, width: int) -> Iterator[str]:
    found = sweep.found(total)
    yield from compared_as_text(found, width, _counts(sweep, found, total))


def as_json(sweep: Sweep, total: Sum) -> str:
    found = sweep.found(total)
    data: dict[str, Any] = json.loads(compared_as_json(found))
    judged, differ, opened = _numbers(sweep, found, total)
    data["results"] = {"judged": judged, "differ": differ, "open": opened}
    data["hidden"] = len(total.hidden)
    return json.dumps(data, indent=2)


def _numbers(sweep: Sweep, found: ComparisonResult, total: Sum) -> tuple[int, int, int]:
    """Return the numbers of results, lane by lane, that were compared, that differ, and that may differ."""
    counts = [sum(r.count for r in found.rows if bool(r.open) is opened) for opened in (False, True)]
    unknown = sum(map(sweep.unknown, total.hidden)) * found.face.lanes
    return (int(total.tally.tried.sum()) - unknown) * len(found.face.results), counts[0], counts[1]


def _counts(sweep: Sweep, found: ComparisonResult, total: Sum) -> list[str]:
    judged, differ, opened = _numbers(sweep, found, total)
    said = [f"{differ:,} of {judged:,} results differ" + (f", {opened:,} more may." if opened else ".")]
    if total.hidden:
        blocks = f"{len(total.hidden):,} block{'s' * (len(total.hidden) != 1)}"
        open = " Whether they are within the bound is not known." if found.a.open or found.b.open else ""
        said.append(
            f"More results differ in {blocks} of at most {BLOCK:,} operands, of which only the digest is "
            f"recorded.{open}"
        )
    return said

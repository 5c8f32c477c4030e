"""The model -> the manual's page about other packages, and how their results differ from PTX's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....model import Peer, PeerComparison, PeerDifferences, PeerGroup, PeerOperation
from ...markdown import anchor
from ...text import Files
from .site import Site

PATH = "spec/observed/peers.yaml"
# The set of operands that shows how often a difference occurs. It is listed even if the difference never occurs.
EVEN = "random bits"
# The verdicts, from worst to best.
ORDER = (WRONG := "wrong", "policy", "NaN bits")


@dataclass(frozen=True)
class Cell:
    """A table's text about a peer's results, and whether some of them are wrong."""

    text: str
    wrong: bool = False


@dataclass(frozen=True)
class Found:
    """A peer's differences of one kind, and the number of operations that have them. `counts` has a text for each set
    of operands."""

    verdict: str
    operations: int
    counts: Sequence[str]
    differences: PeerDifferences


@dataclass(frozen=True)
class Shown:
    """A peer, the number of compared operations, the number of each verdict, and its differences."""

    peer: Peer
    compared: int
    verdicts: Mapping[str, int]
    found: Sequence[Found]


@dataclass(frozen=True)
class Group:
    """Operations of one sort: a row of cells for each, with a column for each peer that has one of them. `absent` has
    the reasons of the other peers."""

    title: str
    anchor: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    absent: Mapping[str, str]


def emit(comparison: PeerComparison, recordings: int, site: Site) -> Files:
    """Return manual/peers. `recordings` is the number of recordings of GPUs."""
    verdicts = {k.name: k.verdict for k in comparison.kinds}
    every = [o for g in comparison.groups for o in g.operations]
    values = {
        "comparison": comparison,
        "shown": [_shown(p, comparison, every, verdicts) for p in comparison.peers],
        "groups": [_group(g, [p.name for p in comparison.peers], verdicts) for g in comparison.groups],
        "judges": Counter(o.judge for o in every),
        "operations": len(every),
        "operands": sum(o.operands for o in every),
        "recordings": recordings,
    }
    return site.page("peers", [PATH], values)


def _group(g: PeerGroup, peers: Sequence[str], verdicts: Mapping[str, str]) -> Group:
    columns = [p for p in peers if any(p not in o.lacking for o in g.operations)]
    rows = [(o.variant, [_cell(o, p, verdicts) for p in columns]) for o in g.operations]
    reasons = {p: dict.fromkeys(o.lacking[p] for o in g.operations) for p in peers if p not in columns}
    absent = {p: ", ".join(found) for p, found in reasons.items()}
    return Group(g.title, anchor(g.title), columns, rows, absent)


def _cell(o: PeerOperation, peer: str, verdicts: Mapping[str, str]) -> Cell:
    if why := o.lacking.get(peer):
        return Cell(f"— ({why})")
    counts: Counter[str] = Counter()
    for kind, count in o.differ.get(peer, {}).items():
        counts[WRONG if verdicts[kind] == WRONG else kind] += count
    text = "; ".join(f"{kind}: {counts[kind]:,}" for kind in sorted(counts, key=lambda kind: kind != WRONG))
    return Cell(text or "equal", WRONG in counts)


def _shown(
    peer: Peer, comparison: PeerComparison, every: Sequence[PeerOperation], verdicts: Mapping[str, str]
) -> Shown:
    compared = [o for o in every if peer.name not in o.lacking]
    worst = Counter(_worst(o, peer.name, verdicts) for o in compared)
    own = [d for d in comparison.differences if d.peer == peer.name]
    found = [
        Found(
            verdicts[d.kind],
            sum(d.kind in o.differ.get(peer.name, {}) for o in compared),
            [f"{name}: {count:,} of {size:,}" for name, (count, size) in d.counts.items() if count or name == EVEN],
            d,
        )
        for d in sorted(own, key=lambda d: ORDER.index(verdicts[d.kind]))
    ]
    return Shown(peer, len(compared), worst, found)


def _worst(o: PeerOperation, peer: str, verdicts: Mapping[str, str]) -> str:
    """Return the worst verdict on a peer's results, or "equal"."""
    found = {verdicts[kind] for kind in o.differ.get(peer, {})}
    return next((v for v in ORDER if v in found), "equal")

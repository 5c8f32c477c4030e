"""The model -> the manual's page about other packages: where their results differ from PTX's, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....model import Peer, PeerComparison, PeerDifference, PeerOperation
from ...text import Files
from .site import Site

PATH = "spec/observed/peers.yaml"
WRONG, POLICY, BITS = "wrong", "policy", "NaN bits"


@dataclass(frozen=True)
class Cell:
    """The text of a table about a peer's results, and whether some of them are wrong."""

    text: str
    wrong: bool = False


@dataclass(frozen=True)
class Found:
    """The differences of one kind that one peer has: in how many operations, how many there are in each set of
    operands (`counts` as text), and one of them with its variant."""

    kind: str
    verdict: str
    operations: int
    counts: Sequence[str]
    variant: str
    example: PeerDifference


@dataclass(frozen=True)
class Shown:
    """A peer, the number of operations that were compared, those of each verdict, and its differences."""

    peer: Peer
    compared: int
    verdicts: Mapping[str, int]
    found: Sequence[Found]


def emit(comparison: PeerComparison, recordings: int, site: Site) -> Files:
    """Return manual/peers. `recordings` is the number of recordings of GPUs that there are."""
    verdicts = {k.name: k.verdict for k in comparison.kinds}
    every = [o for g in comparison.groups for o in g.operations]
    groups = [
        (g.title, g.title.lower().replace(" ", "-"), [_row(o, comparison.peers, verdicts) for o in g.operations])
        for g in comparison.groups
    ]
    values = {
        "comparison": comparison,
        "shown": [_shown(p, every, verdicts) for p in comparison.peers],
        "groups": groups,
        "judges": Counter(o.judge for o in every),
        "operations": len(every),
        "vectors": sum(sum(o.operands.values()) for o in every),
        "recordings": recordings,
    }
    return site.page("peers", [PATH], values)


def _row(o: PeerOperation, peers: Sequence[Peer], verdicts: Mapping[str, str]) -> tuple[PeerOperation, list[Cell]]:
    return o, [_cell(o, p.name, verdicts) for p in peers]


def _cell(o: PeerOperation, peer: str, verdicts: Mapping[str, str]) -> Cell:
    if why := o.lacking.get(peer):
        return Cell(f"— ({why})")
    counts: Counter[str] = Counter()
    for d in o.differ.get(peer, ()):
        counts[WRONG if verdicts[d.kind] == WRONG else d.kind] += sum(d.counts.values())
    text = "; ".join(f"{kind}: {counts[kind]:,}" for kind in sorted(counts, key=lambda kind: kind != WRONG))
    return Cell(text or "equal", WRONG in counts)


def _worst(o: PeerOperation, peer: str, verdicts: Mapping[str, str]) -> str:
    found = {verdicts[d.kind] for d in o.differ.get(peer, ())}
    return next((v for v in (WRONG, POLICY, BITS) if v in found), "equal")


def _shown(peer: Peer, every: Sequence[PeerOperation], verdicts: Mapping[str, str]) -> Shown:
    compared = [o for o in every if peer.name not in o.lacking]
    worst = Counter(_worst(o, peer.name, verdicts) for o in compared)
    return Shown(peer, len(compared), worst, list(_found(peer.name, compared, verdicts)))


def _found(peer: str, every: Sequence[PeerOperation], verdicts: Mapping[str, str]) -> Iterator[Found]:
    """Yield a peer's differences, the wrong ones first."""
    pairs = [(o, d) for o in every for d in o.differ.get(peer, ())]
    order = {v: i for i, v in enumerate((WRONG, POLICY, BITS))}
    for kind, through in sorted(
        dict.fromkeys((d.kind, d.through) for _, d in pairs), key=lambda k: order[verdicts[k[0]]]
    ):
        these = [(o, d) for o, d in pairs if (d.kind, d.through) == (kind, through)]
        named = f"{kind} through {through}" if through else kind
        first, example = these[0]
        yield Found(named, verdicts[kind], len(these), _counts(these), first.variant, example)


def _counts(these: Sequence[tuple[PeerOperation, PeerDifference]]) -> list[str]:
    """Return the number of differences in each set of operands, and the size of the set in these operations."""
    sizes: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for o, d in these:
        sizes.update(o.operands)
        found.update(d.counts)
    return [f"{name}: {found[name]:,} of {size:,}" for name, size in sizes.items()]

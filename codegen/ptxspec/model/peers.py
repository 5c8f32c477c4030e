"""Other packages' results, compared with PTX's bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A package that was compared: its version, the command that installs it, and what its documentation says."""

    name: str
    version: str
    install: str
    says: str


@dataclass(frozen=True)
class PeerKind:
    """A kind of difference with the rule that recognises it. `verdict` is "NaN bits", "policy" or "wrong"."""

    name: str
    verdict: str
    rule: str


@dataclass(frozen=True)
class PeerDifferences:
    """One peer's differences of one kind: `counts` has their number for each set of operands, and the size of the set
    in the operations that have such differences. The rest is an example."""

    peer: str
    kind: str
    counts: Mapping[str, tuple[int, int]]
    variant: str
    operands: tuple[str, ...]
    ptx_result: str
    peer_result: str


@dataclass(frozen=True)
class PeerOperation:
    """An operation that was compared: its variant, the judge of PTX's results, and the number of sets of operands. Each
    peer has all results `equal`, or results that `differ`, counted by kind, or is `lacking` the operation, with the
    reason."""

    variant: str
    judge: str
    operands: int
    equal: tuple[str, ...]
    differ: Mapping[str, Mapping[str, int]]
    lacking: Mapping[str, str]


@dataclass(frozen=True)
class PeerGroup:
    """Operations of one sort."""

    title: str
    operations: tuple[PeerOperation, ...]


@dataclass(frozen=True)
class PeerComparison:
    """The comparison of peers with PTX, with the command, the date and the machine. `sets` explains the sets of
    operands, by their names."""

    command: str
    date: str
    machine: Mapping[str, str]
    peers: tuple[Peer, ...]
    sets: Mapping[str, str]
    kinds: tuple[PeerKind, ...]
    differences: tuple[PeerDifferences, ...]
    groups: tuple[PeerGroup, ...]

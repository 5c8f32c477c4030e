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
class PeerDifference:
    """Differences of one kind: how many there are in each set of operands, and one of them. `kind` names a PeerKind,
    and `through` the format between, where a result was rounded twice."""

    kind: str
    through: str
    counts: Mapping[str, int]
    operands: tuple[str, ...]
    ptx: str
    peer: str


@dataclass(frozen=True)
class PeerOperation:
    """An operation that was compared: its variant, who judges PTX's results, and the size of each set of operands. Each
    peer has all results `equal`, or results that `differ`, or the operation is `lacking`, which says why."""

    variant: str
    judge: str
    operands: Mapping[str, int]
    equal: tuple[str, ...]
    differ: Mapping[str, tuple[PeerDifference, ...]]
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
    groups: tuple[PeerGroup, ...]

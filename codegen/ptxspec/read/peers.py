"""spec/observed/peers.yaml -> other packages' results, compared with PTX's. No result depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..model import Peer, PeerComparison, PeerDifferences, PeerGroup, PeerKind, PeerOperation
from .context import Context, words
from .positioned import Document, Where


def read_peers(doc: Document | None, context: Context) -> PeerComparison | None:
    if doc is None:
        return None
    d = doc.data
    peers = tuple(Peer(p["name"], words(p["version"]), words(p["install"]), words(p["says"])) for p in d["peers"])
    kinds = tuple(PeerKind(k["name"], k["verdict"], words(k["rule"])) for k in d["kinds"])
    names = _Names(doc, context, [p.name for p in peers], [k.name for k in kinds])
    for i, found in enumerate(d["differences"]):
        names.check_difference(("differences", i), found)
    for i, g in enumerate(d["groups"]):
        for j, o in enumerate(g["operations"]):
            names.check_operation(("groups", i, "operations", j), o)
    machine, sets = ({words(k): words(v) for k, v in d[name].items()} for name in ("machine", "sets"))
    groups = tuple(PeerGroup(words(g["title"]), tuple(map(_operation, g["operations"]))) for g in d["groups"])
    differences = tuple(map(_differences, d["differences"]))
    return PeerComparison(words(d["command"]), d["date"], machine, peers, sets, kinds, differences, groups)


@dataclass(frozen=True)
class _Names:
    """The names that the file declares; other names are reported."""

    doc: Document
    context: Context
    peers: list[str]
    kinds: list[str]

    def check_difference(self, at: Where, found: Mapping[str, Any]) -> None:
        self._known((*at, "peer"), found["peer"], self.peers, "peer")
        self._known((*at, "kind"), found["kind"], self.kinds, "kind")

    def check_operation(self, at: Where, o: Mapping[str, Any]) -> None:
        told = [*o.get("equal", ()), *o.get("differ", {}), *o.get("lacking", {})]
        if sorted(told) != sorted(self.peers):
            message = f"this tells of {', '.join(told) or 'no peer'}, and the peers are {', '.join(self.peers)}"
            self.context.errors.append(
                self.doc.error(at, message, "each peer stands once: under equal, differ or lacking")
            )
        for peer, counts in o.get("differ", {}).items():
            for kind in counts:
                self._known((*at, "differ", peer, kind), kind, self.kinds, "kind")

    def _known(self, at: Where, name: str, names: list[str], what: str) -> None:
        if name not in names:
            error = self.doc.error(at, f"'{name}' is no {what} of this file", f"it has {', '.join(names)}")
            self.context.errors.append(error)


def _operation(o: Mapping[str, Any]) -> PeerOperation:
    differ = {peer: {kind: int(n) for kind, n in counts.items()} for peer, counts in o.get("differ", {}).items()}
    lacking = {peer: words(why) for peer, why in o.get("lacking", {}).items()}
    equal = tuple(o.get("equal", ()))
    return PeerOperation(words(o["variant"]), words(o["judge"]), int(o["operands"]), equal, differ, lacking)


def _differences(d: Mapping[str, Any]) -> PeerDifferences:
    example = d["example"]
    return PeerDifferences(
        peer=d["peer"],
        kind=d["kind"],
        counts={words(name): (int(found), int(size)) for name, (found, size) in d["counts"].items()},
        variant=words(example["variant"]),
        operands=tuple(map(words, example["operands"])),
        ptx_result=words(example["ptx"]),
        peer_result=words(example["peer"]),
    )

"""spec/observed/peers.yaml -> other packages' results, compared with PTX's. No result depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import Peer, PeerComparison, PeerDifference, PeerGroup, PeerKind, PeerOperation
from .context import Context, words
from .positioned import Document, Where


def read_peers(doc: Document | None, context: Context) -> PeerComparison | None:
    if doc is None:
        return None
    d = doc.data
    peers = tuple(Peer(p["name"], words(p["version"]), words(p["install"]), words(p["says"])) for p in d["peers"])
    kinds = tuple(PeerKind(k["name"], k["verdict"], words(k["rule"])) for k in d["kinds"])
    groups = []
    for i, g in enumerate(d["groups"]):
        for j, o in enumerate(g["operations"]):
            _check(doc, ("groups", i, "operations", j), o, [p.name for p in peers], [k.name for k in kinds], context)
        groups.append(PeerGroup(words(g["title"]), tuple(map(_operation, g["operations"]))))
    machine, sets = ({words(k): words(v) for k, v in d[name].items()} for name in ("machine", "sets"))
    return PeerComparison(words(d["command"]), d["date"], machine, peers, sets, kinds, tuple(groups))


def _check(
    doc: Document, at: Where, o: Mapping[str, Any], peers: list[str], kinds: list[str], context: Context
) -> None:
    """Report a peer of which an operation says nothing or two things, and a kind that nothing explains."""
    said = [*o.get("equal", ()), *o.get("differ", {}), *o.get("lacking", {})]
    if sorted(said) != sorted(peers):
        message = f"the results of {', '.join(said) or 'no peer'} are here, and the peers are {', '.join(peers)}"
        context.errors.append(doc.error(at, message, "each peer stands once under equal, differ or lacking"))
    for peer, differences in o.get("differ", {}).items():
        for k, found in enumerate(differences):
            if found["kind"] not in kinds:
                message = f"'{found['kind']}' is none of the kinds above"
                context.errors.append(
                    doc.error((*at, "differ", peer, k, "kind"), message, f"kinds: {', '.join(kinds)}")
                )


def _operation(o: Mapping[str, Any]) -> PeerOperation:
    differ = {peer: tuple(map(_difference, found)) for peer, found in o.get("differ", {}).items()}
    return PeerOperation(
        words(o["variant"]), words(o["judge"]), _counts(o["operands"]), tuple(o.get("equal", ())), differ,
        {peer: words(why) for peer, why in o.get("lacking", {}).items()},
    )  # fmt: skip


def _difference(d: Mapping[str, Any]) -> PeerDifference:
    example = d["example"]
    operands = tuple(map(words, example["operands"]))
    return PeerDifference(
        d["kind"], d.get("through", ""), _counts(d["counts"]), operands, words(example["ptx"]), words(example["peer"])
    )


def _counts(found: Mapping[str, str]) -> dict[str, int]:
    return {name: int(count) for name, count in found.items()}

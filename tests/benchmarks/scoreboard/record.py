"""The comparison as spec/observed/peers.yaml, from which the manual's page is made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from scoreboard.compared import Row
from scoreboard.operations import SETS
from scoreboard.packages import Peer
from scoreboard.rules import explained, verdict
from tables import machine

COMMAND = "python tests/benchmarks/scoreboard --record"


def as_yaml(rows: Sequence[Row], peers: Sequence[Peer]) -> str:
    return "\n".join(_lines(rows, peers)) + "\n"


def _lines(rows: Sequence[Row], peers: Sequence[Peer]) -> Iterator[str]:
    yield "# yaml-language-server: $schema=../schema/peers.schema.json"
    yield f"# Written by `{COMMAND}`; do not edit."
    yield f"command: {_text(COMMAND)}"
    yield f"date: {_text(date.today().isoformat())}"
    on = machine({})
    yield f"machine: {_text({name: on[name] for name in ('processor', 'system', 'python')})}"
    yield "peers:"
    for p in peers:
        told = {"name": p.package, "version": str(p.version), "install": p.install, "says": p.says}
        yield f"  - {_text(told)}"
    yield "sets:"
    yield from (f"  {_text(name)}: {_text(text)}" for name, text in SETS.items())
    yield "kinds:"
    found = [k.name for row in rows for kinds in row.differ.values() for k in kinds]
    for name, text in explained(found).items():
        yield f"  - {_text({'name': name, 'verdict': verdict(name), 'rule': text})}"
    yield "differences:"
    for p in peers:
        for name in explained(found):
            yield from _differences(rows, p.package, name)
    yield "groups:"
    for title in dict.fromkeys(row.operation.group for row in rows):
        yield f"  - title: {_text(title)}"
        yield "    operations:"
        yield from (f"      - {_operation(row)}" for row in rows if row.operation.group == title)


def _differences(rows: Sequence[Row], peer: str, kind: str) -> Iterator[str]:
    """Yield a peer's differences of a kind, if it has some: their number in each set of operands and the size of the
    sets, over the operations that have some, and the first one."""
    these = [(row, k) for row in rows for k in row.differ.get(peer, ()) if k.name == kind]
    if not these:
        return
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for row, k in these:
        sizes.update(row.sets)
        counts.update(k.counts)
    row, first = these[0]
    yield f"  - peer: {_text(peer)}"
    yield f"    kind: {_text(kind)}"
    yield f"    counts: {{{', '.join(f'{_text(s)}: [{counts[s]}, {n}]' for s, n in sizes.items())}}}"
    operands = ", ".join(map(_text, first.operands))
    results = f"ptx: {_text(first.ptx)}, peer: {_text(first.peer)}"
    yield f"    example: {{variant: {_text(row.operation.spelling)}, operands: [{operands}], {results}}}"


def _operation(row: Row) -> str:
    told: dict[str, object] = {"variant": row.operation.spelling, "judge": row.operation.judge}
    told |= {"operands": sum(row.sets.values()), "equal": row.equal}
    told |= {"differ": {p: {k.name: k.count for k in kinds} for p, kinds in row.differ.items()}, "lacking": row.lacking}
    return _text({name: value for name, value in told.items() if value})


def _text(value: object) -> str:
    """Return a value as JSON, which is YAML, too."""
    return json.dumps(value, ensure_ascii=False)

"""The comparison as spec/observed/peers.yaml, from which the manual's page is made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from scoreboard.compared import Kind, Row
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
    yield f"machine: {_mapping({name: on[name] for name in ('processor', 'system', 'python')})}"
    yield "peers:"
    for p in peers:
        told = {"name": p.package, "version": str(p.version), "install": p.install, "says": p.says}
        yield f"  - {_mapping(told)}"
    yield "sets:"
    yield from (f"  {_text(name)}: {_text(text)}" for name, text in SETS.items())
    yield "kinds:"
    found = [k.name for row in rows for kinds in row.differ.values() for k in kinds]
    for name, text in explained(found).items():
        yield f"  - {{name: {_text(name)}, verdict: {verdict(name)}, rule: {_text(text)}}}"
    yield "groups:"
    for title in dict.fromkeys(row.operation.group for row in rows):
        yield f"  - title: {_text(title)}"
        yield "    operations:"
        for row in (row for row in rows if row.operation.group == title):
            yield f"      - variant: {_text(row.operation.spelling)}"
            yield f"        judge: {_text(row.operation.judge)}"
            yield f"        operands: {_mapping(row.sets)}"
            if row.equal:
                yield f"        equal: [{', '.join(map(_text, row.equal))}]"
            if row.lacking:
                yield f"        lacking: {_mapping(row.lacking)}"
            if row.differ:
                yield "        differ:"
            for peer, kinds in row.differ.items():
                yield f"          {_text(peer)}:"
                yield from (f"            - {_kind(k)}" for k in kinds)


def _kind(k: Kind) -> str:
    operands = ", ".join(map(_text, k.operands))
    example = f"{{operands: [{operands}], ptx: {_text(k.ptx)}, peer: {_text(k.peer)}}}"
    name, _, via = k.name.partition(" through ")
    through = f", through: {_text(via)}" if via else ""
    return f"{{kind: {_text(name)}{through}, counts: {_mapping(k.counts)}, example: {example}}}"


def _mapping(values: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{_text(k)}: {v if isinstance(v, int) else _text(str(v))}" for k, v in values.items()) + "}"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)

"""`python tests/benchmarks/scoreboard` compares packages from PyPI with PTX, bit for bit, and prints a table.

With --record it also writes spec/observed/peers.yaml and the manual. With variants, such as cvt.rn.bf16.f64, it
compares these alone and shows an example of each difference. The packages come with
`pip install -e '.[test,benchmark]'` and, for torch, `pip install torch --index-url
https://download.pytorch.org/whl/cpu`. It takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches
from pathlib import Path

# The folders with the modules that tests share, and with this package.
sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from helpers import ROOT
from ptxspec.emit import generate
from scoreboard import record
from scoreboard.compared import NotOurs, Row, compare
from scoreboard.operations import grouped, operations
from scoreboard.packages import PEERS


def main() -> int:
    description = "Compare packages from PyPI with PTX, bit for bit."
    parser = argparse.ArgumentParser(prog=record.COMMAND.removesuffix(" --record"), description=description)
    parser.add_argument("--record", action="store_true", help="write spec/observed/peers.yaml and the manual")
    parser.add_argument("variants", nargs="*", help="compare these variants only, such as cvt.rn.bf16.f64")
    given = parser.parse_args()
    peers = [p for p in PEERS if p.version]
    missing = [p for p in PEERS if not p.version]
    for p in missing:
        print(f"{p.package} is not installed and is left out: {p.install}")
    if given.record and (missing or given.variants):
        parser.error("--record requires all packages and all operations")
    every = operations()
    if unknown := [v for v in given.variants if v not in {o.spelling for o in every}]:
        like = get_close_matches(unknown[0], [o.spelling for o in every])
        help = f"did you mean {' or '.join(like)}?" if like else "without a variant, all that are compared are shown"
        parser.error(f"{unknown[0]} is not compared; {help}")
    width = max(len(o.spelling) for o in every)
    print(" " * width, *(f"{p.package} {p.version}" for p in peers), sep="  ")

    def show(row: Row) -> None:
        print(row.operation.spelling.ljust(width), *(row.cell(p.package) for p in peers), sep="  |  ", flush=True)
        for peer, kinds in row.differ.items() if given.variants else ():
            for k in kinds:
                verdict = "wrong" if k.verdict == "wrong" else "policy"
                operands = ", ".join(k.operands)
                print(f"    {peer}: {k.name} ({verdict}) in {k.count:,} results, such as that of {operands}:")
                print(f"        PTX {k.ptx}, {peer} {k.peer}")

    asked = [o for _, group in grouped(every) for o in group if not given.variants or o.spelling in given.variants]
    try:
        rows = compare(asked, peers, show, every)
    except NotOurs as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except pytest.skip.Exception as missing_judge:
        print(f"error: {missing_judge}", file=sys.stderr)
        return 2
    if given.record:
        path = ROOT / "spec" / "observed" / "peers.yaml"
        path.write_text(record.as_yaml(rows, peers), "utf-8", newline="\n")
        generate.generate(ROOT)
        print(f"recorded: {path}, and generated/ with it")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The manual's search, run by Node.js as a page runs it."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from helpers import ROOT
from helpers.node import needed

FOLDER = ROOT / "generated/manual"

# Reads a line with a program's text and what it is given, and writes a line with what comes out.
_SERVE = """
const fs = require("fs"), lines = require("readline").createInterface({input: process.stdin});
for (const path of process.argv.slice(1)) {
  (0, eval)(fs.readFileSync(path, "utf-8"));
}
lines.on("line", line => {
  const [program, given] = JSON.parse(line);
  console.log(JSON.stringify((0, eval)(program)(given) ?? null));
});
"""


class Engine:
    """The scripts of the search in one process, which answers until it is closed."""

    def __init__(self) -> None:
        names = re.search(r"const files = (\[.*?\]);", (FOLDER / "search.js").read_text("utf-8"))
        assert names
        files = ["catalog.data.js", "catalog.js", *(f"search.{name}.js" for name in json.loads(names[1]))]
        command = [needed(), "-e", _SERVE, *(str(FOLDER / name) for name in files)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, program: str, given: object) -> Any:
        """Return the result of a function that is given JSON."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([program, given]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def ask(self, query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.run("ptxspec.search.ask", query)
        return found

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        assert self._process.wait(timeout=30) == 0
        if self._process.stdout:
            self._process.stdout.close()

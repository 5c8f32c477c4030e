"""The known findings of a repository, in a file: they are no longer reported. A finding is identified by its file, its
code and the text of its line, even if that line moves."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..diagnostics import PtxspecError
from ..files import replace_text
from .findings import Finding
from .reading import read

_SCHEMA = 1
Entry = tuple[str, str, str]


class Baseline:
    """The known findings. Raises PtxspecError for a file that is not a baseline."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self._known: Counter[Entry] = Counter()
        if not path.exists():
            raise PtxspecError(f"{path}: No such file or directory; create it with --write-baseline")
        try:
            said = json.loads(read(path))
            if said["schema"] != _SCHEMA:
                raise PtxspecError(f"{path} is a baseline of another version; write it again with --write-baseline")
            for file, findings in said["findings"].items():
                for f in findings:
                    self._known[file, str(f["code"]), str(f["line"])] += int(f.get("count", 1))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise PtxspecError(f"{path} is not a baseline; create one with --write-baseline") from None

    def left(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield those findings in a file that are not known."""
        seen: Counter[Entry] = Counter()
        for f in findings:
            entry = _entry(f, self._folder)
            seen[entry] += 1
            if seen[entry] > self._known[entry]:
                yield f


def write(path: Path, findings: Iterable[Finding]) -> int:
    """Write findings to a file, and return their number. Raises PtxspecError if it cannot be written."""
    folder = Path(os.path.abspath(path)).parent
    counted = Counter(_entry(f, folder) for f in findings)
    by_file: dict[str, list[dict[str, object]]] = {}
    for (file, code, line), count in sorted(counted.items()):
        more = {"count": count} if count > 1 else {}
        by_file.setdefault(file, []).append({"code": code, "line": line, **more})
    try:
        replace_text(path, json.dumps({"schema": _SCHEMA, "findings": by_file}, indent=1) + "\n")
    except OSError as e:
        raise PtxspecError(f"{path}: {e.strerror or e}") from None
    return counted.total()


def _entry(f: Finding, folder: Path) -> Entry:
    return Path(os.path.relpath(f.file, folder)).as_posix(), f.code, f.source.strip()

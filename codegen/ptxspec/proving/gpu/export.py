"""Operands and results of one variant for authors of simulators: from a recording, else from the emulator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...diagnostics import PtxspecError
from ...evaluate import emulator, refuse_stale, stale_file
from ...model import BOOL, Spec, Type, Variant
from ...roots import Root
from ...specification import read, read_all
from . import recording, registers, vectors
from .run import Emulator

Array = NDArray[Any]

# The number of rows that are converted to text at a time.
_TOGETHER = 1 << 14


@dataclass(frozen=True)
class Vectors:
    """Operands and results. `parts` are streams with both as encodings; `source` is "recording" or "emulator", and
    `provenance` is the GPU, driver, compiler and date, or the target whose behaviour the emulator had."""

    variant: Variant
    source: str
    provenance: str
    parts: tuple[tuple[str, tuple[Array, ...], Array], ...]

    @property
    def rows(self) -> int:
        return sum(len(results) for _, _, results in self.parts)

    def first(self, limit: int) -> Vectors:
        """Return the vectors with at most this number of rows."""
        parts = []
        for stream, operands, results in self.parts:
            if size := min(limit, len(results)):
                parts.append((stream, tuple(x[:size] for x in operands), results[:size]))
                limit -= size
        return replace(self, parts=tuple(parts))


def vectors_of(
    root: Root,
    spelling: str,
    operands: int | None,
    target: str | None,
    grid_only: bool = False,
    rows: int | None = None,
) -> Vectors:
    """Return vectors of the newest recording that has the variant (of that target, if one is given), else of the
    emulator on the same operands: all of them, or only the grid of special values. With `rows` they are always the
    emulator's, which has random operands without end. Raises PtxspecError for an unknown variant or target, for a
    recording that cannot be read, and for an emulator of another state of the specification."""
    emu = emulator(root)
    try:
        kernel = emu.compile(spelling, operands, target)
    except LookupError as e:
        # A stale emulator is the more helpful error.
        _read(root, "-")
        raise PtxspecError(str(e)) from None
    paths = [] if rows else recording.below(root.path)
    # A recording is of all variants, and reports errors about any of them.
    spec = _read(root, None if paths else kernel.variant.spelling)
    key = (kernel.variant.spelling, kernel.operands)
    v = next(v for i in spec.instructions.values() for v in i.variants if (v.spelling, v.operands) == key)
    recordings = [recording.read(path, spec, {key}) for path in paths]
    for r in sorted(recordings, key=lambda r: str(r.provenance["date"]), reverse=True):
        recorded = [u for u in r.parts if u.part.kept and _is_handed(v, u.part, grid_only)]
        if recorded and (target is None or spec.catalog.plain(target) == r.target):
            return Vectors(
                v, "recording", str(r), tuple((u.part.stream, _operands(v, u.part), u.results()) for u in recorded)
            )
    parts = []
    for p in _with_rows(v, rows) if rows else vectors.parts(v, vectors.Sizes()):
        if not _is_handed(v, p, grid_only):
            continue
        columns = _operands(v, p)
        parts.append((p.stream, columns, Emulator(emu, target).run(v, columns)))
    said = f"ptxemu{f' as {target}' if target else ''}, claim {spec.claim(v, target)}"
    found = Vectors(v, "emulator", said, tuple(parts))
    return found.first(rows) if rows else found


def _with_rows(v: Variant, rows: int) -> list[vectors.StreamPart]:
    """Return the parts that a variant is run on, with enough random operands for at least this number of rows."""
    usual = vectors.parts(v, vectors.Sizes())
    random = [p for p in usual if p.count != p.kept]
    fixed = sum(p.count for p in usual if p.count == p.kept)
    each = max(1, -(-(rows - fixed) // max(1, len(random))))
    return vectors.parts(v, vectors.Sizes(random=each, sample=each))


def _read(root: Root, spelling: str | None) -> Spec:
    """Return the part of the specification that a spelling requires, or all of it. Raises PtxspecError if the emulator
    was not generated from it."""
    reading = read_all(root.path, spelling)
    if reading.spec is not None and not reading.diagnostics and not stale_file(root, reading.spec):
        return reading.spec
    # An error in the specification explains more than a stale emulator does.
    spec = read(root.path)
    refuse_stale(root, spec)
    return spec


def _is_handed(v: Variant, part: vectors.StreamPart, grid_only: bool) -> bool:
    """Return whether a part is exported: all parts, or only the grid, but not the millions of results that determine a
    unit."""
    if grid_only:
        return part.stream == "grid"
    return not part.stream.startswith("every") or (part.stream == "every" and v.sources[0].type.width <= 16)


def _operands(v: Variant, part: vectors.StreamPart) -> tuple[Array, ...]:
    """Return the operands whose results a recording keeps."""
    return vectors.operands(v, part.stream, part.start, part.kept)


def _names(v: Variant) -> list[str]:
    """Return the names of the source registers and of the results: `result`, or the registers where there are
    several."""
    results = [name for name, _ in registers.places(v.results)]
    return [name for name, _ in registers.places(v.sources)] + (results if len(results) > 1 else ["result"])


def _columns(found: Vectors) -> Iterator[tuple[str, list[Array]]]:
    """Yield the stream and the columns for `_names`."""
    for stream, operands, results in found.parts:
        yield stream, [*operands, *results.reshape(len(results), -1).T]


def _texts(column: Array, type: Type, in_json: bool) -> list[str]:
    """Return the texts of a register in every row: all digits of its bits; a predicate as 0 or 1, in JSON as false or
    true."""
    values = column.tolist()
    if type.kind == BOOL:
        names = ("false", "true") if in_json else ("0", "1")
        return [names[bool(x)] for x in values]
    quote, digits = '"' if in_json else "", type.width // 4
    return [f"{quote}0x{x:0{digits}x}{quote}" for x in values]


def _rows(found: Vectors, in_json: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the stream, and the registers of a row as text."""
    types = [t for _, t in registers.places((*found.variant.sources, *found.variant.results))]
    for stream, columns in _columns(found):
        # Texts take many times the memory of numbers.
        for start in range(0, len(columns[0]), _TOGETHER):
            part = (x[start : start + _TOGETHER] for x in columns)
            for row in zip(*(_texts(x, t, in_json) for x, t in zip(part, types, strict=True)), strict=True):
                yield stream, row


def _objects(found: Vectors) -> Iterator[str]:
    """Yield a JSON object for each row; several results are a list."""
    count = len(registers.places(found.variant.sources))
    several = len(_names(found.variant)) > count + 1
    heads = {stream: f'"stream": {json.dumps(stream)}, "operands": [' for stream, _, _ in found.parts}
    for stream, row in _rows(found, in_json=True):
        result = f"[{', '.join(row[count:])}]" if several else row[count]
        yield f'{heads[stream]}{", ".join(row[:count])}], "result": {result}'


def as_jsonl(found: Vectors) -> Iterator[str]:
    """Yield one complete object for each row."""
    head = f'{{"variant": {json.dumps(found.variant.spelling)}, '
    said = f', "source": {json.dumps(found.source)}, "provenance": {json.dumps(found.provenance)}}}'
    for row in _objects(found):
        yield f"{head}{row}{said}"


def as_json(found: Vectors) -> Iterator[str]:
    """Yield one object, with a line for each row."""
    v = found.variant
    head = {
        "schema": 1, "variant": v.spelling, "source": found.source, "provenance": found.provenance,
        "operands": [{"name": name, "type": t.name} for name, t in registers.places(v.sources)],
        "results": [{"name": name, "type": t.name} for name, t in registers.places(v.results)],
    }  # fmt: skip
    yield f'{json.dumps(head)[:-1]}, "vectors": ['
    before = ""
    for row in _objects(found):
        if before:
            yield f"{before},"
        before = f"  {{{row}}}"
    yield f"{before}]}}"


def as_csv(found: Vectors) -> Iterator[str]:
    """Yield a header, and one line for each row; the provenance, which has commas, is quoted."""
    quoted = found.provenance.replace('"', '""')
    yield ",".join(["variant", "stream", *_names(found.variant), "source", "provenance"])
    for stream, row in _rows(found, in_json=False):
        yield f'{found.variant.spelling},{stream},{",".join(row)},{found.source},"{quoted}"'


def write_npz(found: Vectors, file: IO[bytes]) -> None:
    """Write arrays STREAM_a, STREAM_b, ..., STREAM_result of encodings, and the texts variant, source and
    provenance."""
    arrays: dict[str, Any] = {
        "variant": np.array(found.variant.spelling), "source": np.array(found.source),
        "provenance": np.array(found.provenance),
    }  # fmt: skip
    for stream, columns in _columns(found):
        arrays |= {f"{stream}_{name}": x for name, x in zip(_names(found.variant), columns, strict=True)}
    np.savez_compressed(file, **arrays)


# npz is written at once, not line by line.
FORMATS: dict[str, Callable[[Vectors], Iterable[str]]] = {
    "jsonl": as_jsonl,
    "json": as_json,
    "csv": as_csv,
    "npz": lambda _: (),
}

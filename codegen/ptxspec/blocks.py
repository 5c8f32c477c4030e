"""The inline assembly of a program, each block as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import ptxemu
from ptxemu.index import OPCODES
from ptxemu.steps import Refused

from .diagnostics import PtxspecError
from .lint.languages import EXTRACT, LANGUAGES, language_of
from .lint.languages.text import Text
from .lint.reading import Whole, read
from .ptx.complaints import Position
from .ptx.scanning import HOLE, Declaration, Scanner


class Block(NamedTuple):
    """A block of inline assembly: its place in the file, its PTX, and its function. The function is None if it lacks
    something; `lacks` has what and where in the file."""

    path: str
    line: int
    column: int
    text: str
    function: ptxemu.Function | None
    lacks: tuple[Refused, ...]

    def __repr__(self) -> str:
        lacking = [f"{x.line}:{x.column}: {x.message}" for x in self.lacks]
        said = "; ".join(lacking) or repr(self.function)
        return f"{self.path}:{self.line}:{self.column}: {said}"


def functions(path: str | Path, target: str | None = None) -> list[Block]:
    """Return the inline assembly of a program, in order. The program is in C++, Python, Rust, Julia, C#, MLIR or LLVM.

        >>> for block in ptxspec.functions("kernel.cu"):
        ...     print(block)

    `target` is that of ptxemu.function. Raises PtxspecError for a file that cannot be read or whose language is
    unknown, and UnknownTargetError."""
    language = language_of(Path(path).name)
    if language not in EXTRACT:
        known = ", ".join(ending for ending, name in LANGUAGES.items() if name in EXTRACT)
        raise PtxspecError(f"{path}: inline assembly is read from files with these suffixes: {known}")
    return list(_blocks(str(path), EXTRACT[language](Whole(read(path)), ()), target))


def _blocks(path: str, texts: Iterator[Text], target: str | None) -> Iterator[Block]:
    # The registers declared in braces that earlier asm statements left open.
    around: list[list[str]] = []
    for text in texts:
        if text.statement:
            declared = "".join(d for block in around for d in block)
            yield _block(path, text, text.statement, None, text.place_in_statement, target, declared)
            _note(text, around)
        elif text.listed:
            yield _block(path, text, text.text, text.listed, text.place, target, "")


def _note(text: Text, around: list[list[str]]) -> None:
    """Track the braces that a text opens and closes, and the registers that it declares in them."""
    for item in Scanner(OPCODES, embedded=True).scan(text):
        if not isinstance(item, Declaration) or item.text is None:
            continue
        if item.text.startswith("{"):
            around.append([])
        elif item.text.startswith("}"):
            del around[-1:]
        elif around and item.text.startswith(".reg"):
            around[-1].append(item.text.replace("%%", "%"))


def _block(
    path: str,
    text: Text,
    given: str,
    constraints: str | None,
    place: Callable[[int], Position],
    target: str | None,
    around: str,
) -> Block:
    start = place(0)
    block = Block(path, start.line, start.column, text.text.replace(HOLE, "..."), None, ())
    if HOLE in text.text:
        filled = text.place(text.text.index(HOLE))
        return block._replace(lacks=(_refused(filled, "what the program fills in here is not known"),))
    try:
        return block._replace(function=ptxemu.function(given, target, constraints=constraints, around=around))
    except ptxemu.StatementError as e:
        ends = [0, *accumulate(len(line) + 1 for line in given.split("\n"))]
        places = [(place(ends[r.line - 1] + r.column - 1), r.message) for r in e.refused]
        return block._replace(lacks=tuple(_refused(p, message) for p, message in places))
    except ValueError as e:
        return block._replace(lacks=(_refused(start, str(e)),))


def _refused(at: Position, message: str) -> Refused:
    return Refused(at.line, at.column, at.source, message)

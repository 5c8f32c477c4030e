"""Trees of programs, as tree-sitter's grammars read them."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ...diagnostics import PtxspecError

# Importing these takes a while, and is unnecessary if no program is read.
if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query, Tree as Parsed

# A tree takes up to 40 times the memory of its text.
LONGEST = 8 << 20
# Seconds of processor time. A program takes a third of a second per megabyte.
_PATIENCE, _PATIENCE_A_BYTE = 10.0, 10.0 / (1 << 20)
_AT_ONCE = 1 << 16
# The longest program whose tree is kept: an editor's next text is similar, and one tree serves several purposes.
_KEPT = 1 << 19
_STRANGE = re.compile(r"[^\x01-\x7f]")


class UnreadProgramError(PtxspecError):
    """The error for a program that is not parsed; it does not name the file."""


class NodePath(NamedTuple):
    """A node and its ancestors. It is valid until the walk that yielded it continues."""

    path: Sequence[Node]
    depth: int

    @property
    def node(self) -> Node:
        return self.path[self.depth]

    @property
    def parent(self) -> NodePath | None:
        return NodePath(self.path, self.depth - 1) if self.depth else None

    def within(self, types: Collection[str], furthest: int = -1) -> NodePath | None:
        """Return the innermost of this node and its ancestors with one of some types; at most `furthest` levels
        outwards."""
        last = max(0, self.depth - furthest) if furthest >= 0 else 0
        for depth in range(self.depth, last - 1, -1):
            if self.path[depth].type in types:
                return NodePath(self.path, depth)
        return None


class Walk:
    """A walk through a tree. A step forward has the same cost everywhere, however many siblings a node has."""

    def __init__(self, root: Node) -> None:
        self._cursor, self._path = root.walk(), [root]

    def to(self, offset: int) -> NodePath:
        """Return the smallest node at a character."""
        cursor, path = self._cursor, self._path
        while len(path) > 1 and not path[-1].start_byte <= offset < path[-1].end_byte:
            if path[-1].end_byte <= offset and cursor.goto_next_sibling():
                path[-1] = self._node()
            else:
                cursor.goto_parent()
                path.pop()
        while cursor.goto_first_child_for_byte(offset) is not None:
            path.append(self._node())
            if path[-1].start_byte > offset:
                cursor.goto_parent()
                path.pop()
                break
        return NodePath(path, len(path) - 1)

    def _node(self) -> Node:
        node = self._cursor.node
        assert node is not None
        return node


class Tree:
    """The tree of a program. Offsets are of its characters."""

    def __init__(self, root: Node, grammar: str) -> None:
        self.root, self._grammar = root, grammar

    def at(self, offset: int) -> NodePath:
        """Return the smallest node at a character."""
        return Walk(self.root).to(offset)

    def nodes(self, *types: str) -> list[Node]:
        """Return the nodes of some types, in their order."""
        cursor = import_module("tree_sitter").QueryCursor(_query(self._grammar, types))
        found: list[Node] = cursor.captures(self.root).get("found", [])
        return sorted(found, key=lambda n: n.start_byte)

    def leaves(self, offset: int, whole: Collection[str]) -> Iterator[Node]:
        """Yield the nodes without children from the one at a character on; nodes of the types in `whole` count as
        such."""
        cursor = self.root.walk()
        while True:
            node = cursor.node
            if node is not None and (node.type in whole or cursor.goto_first_child_for_byte(offset) is None):
                if node.end_byte > offset:
                    yield node
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        return


def parse(grammar: str, text: str) -> Tree:
    """Return the tree of a program. `grammar` is the name of a grammar's package. Raises PtxspecError if it is not
    installed, and UnreadProgramError if the program is too long or takes too long to parse, as a text that is not a
    program may."""
    if len(text) > LONGEST:
        raise UnreadProgramError(f"longer than {LONGEST >> 20} MB, the limit for a program")
    # One byte for each character. A placeholder is usually part of a name.
    data = _STRANGE.sub("_", text).encode("ascii")
    before, kept = _last.get(grammar, (b"", None))
    if kept is None or before != data:
        # If there are errors, the parse of the text around them may depend on the previous tree.
        edited = None if kept is None or kept.root_node.has_error else _edited(kept, before, data)
        _last.pop(grammar, None)
        kept = _parsed(_parser(grammar), data, edited)
        if edited and kept.root_node.has_error:
            kept = _parsed(_parser(grammar), data, None)
        if len(data) <= _KEPT:
            _last[grammar] = data, kept
    return Tree(kept.root_node, grammar)


_last: dict[str, tuple[bytes, Parsed]] = {}


def _parsed(parser: Parser, data: bytes, edited: Parsed | None) -> Parsed:
    """Return the tree of a program; `edited` is the previous tree, in which the changes are marked."""
    latest = time.process_time() + _PATIENCE + len(data) * _PATIENCE_A_BYTE

    def is_late(*_: object) -> bool:
        return time.process_time() > latest

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + _AT_ONCE]

    try:
        if edited:
            return parser.parse(read, edited, progress_callback=is_late)
        return parser.parse(read, progress_callback=is_late)
    except ValueError:  # parsing was stopped
        parser.reset()
        raise UnreadProgramError("cannot be parsed in a reasonable time") from None


def _edited(tree: Parsed, before: bytes, after: bytes) -> Parsed | None:
    """Return a tree in which the changes are marked; None if there are too many to be worth it."""
    most = min(len(before), len(after))
    start = bisect_left(range(most), True, key=lambda n: before[: n + 1] != after[: n + 1])
    most -= start
    end = bisect_left(range(most), True, key=lambda n: before[len(before) - n - 1 :] != after[len(after) - n - 1 :])
    if 4 * (len(after) - start - end) > len(after):
        return None
    edited, ends = tree.copy(), (len(before) - end, len(after) - end)
    edited.edit(start, *ends, _point(after, start), _point(before, ends[0]), _point(after, ends[1]))
    return edited


def _point(data: bytes, offset: int) -> tuple[int, int]:
    """Return a place by its line, from 0 on, and column."""
    return data.count(b"\n", 0, offset), offset - data.rfind(b"\n", 0, offset) - 1


@cache
def _parser(grammar: str) -> Parser:
    try:
        reader = import_module("tree_sitter")
        parser: Parser = reader.Parser(reader.Language(import_module(grammar).language()))
    except ImportError as e:
        package = (e.name or grammar).replace("_", "-")
        raise PtxspecError(
            f"such programs require {package}, which is not installed; install it with `pip install {package}`"
        ) from None
    return parser


@cache
def _query(grammar: str, types: tuple[str, ...]) -> Query:
    found: Query = import_module("tree_sitter").Query(
        _parser(grammar).language, "[" + " ".join(f"({t})" for t in types) + "] @found"
    )
    return found

"""Rust: the text of asm!() and the like, and the strings that are PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from .cpp import Host
from .programs import Literal
from .text import ELSEWHERE, FORMATTED_LATER, Text, unescape, verbatim
from .trees import NodePath, Walk

if TYPE_CHECKING:
    from tree_sitter import Node


_OPERAND = re.compile(r"(?P<literal>\{\{|\}\})|\{(?P<name>[\w:]*+)\}")
# An operand behind the text, and other arguments there.
_GIVEN = re.compile(
    r"(?:(?P<name>\w+)\s*=\s*)?(?:(?P<how>in|out|lateout|inout|inlateout)\s*\(\s*(?P<register>\w+)\s*\)|(?P<const>const)\b)"
)
_OTHER = re.compile(r"(?:options|clobber_abi)\b")
# The letters of constraints by classes of registers, and the marks before them.
_LETTERS = {"reg16": "h", "reg32": "r", "reg64": "l"}
_MARKS = {"in": "", "out": "=", "lateout": "=", "inout": "+", "inlateout": "+"}
_CALLED = re.compile(r"\s*+!")
_ASM = re.compile(r"(?:\w*_)?asm")


class Rust(Host):
    package = "tree_sitter_rust"
    strings = frozenset(["string_literal", "raw_string_literal"])
    comments = frozenset(["line_comment", "block_comment"])
    joins = MappingProxyType({"binary_expression": frozenset("+")})
    calls = frozenset(["call_expression", "macro_invocation"])
    arguments = frozenset(["arguments", "token_tree"])
    told = frozenset(["attribute_item"])
    blocks = frozenset(["block", "source_file"])

    def texts(self) -> Iterator[Text]:
        for leaf in self.leaves(Walk(self.tree.root)):
            if string := leaf.within(self.strings):
                strings = self.around(string)
                self.done = max(self.done, strings.joined.end_byte)
                yield from self.read(strings)
            elif _ASM.fullmatch(self.said(leaf.node)) and (template := self._arguments(leaf)):
                self.done = template.end_byte
                found = Text(self.view)
                self._lines(template, found)
                yield found.close()

    def _arguments(self, name: NodePath) -> Node | None:
        """Return the arguments of a macro call, in the tree or within the arguments of another macro."""
        if not _CALLED.match(self.text, name.node.end_byte):
            return None
        around = name.parent
        node = around.node if around is not None and around.node.type == "scoped_identifier" else name.node
        bang = node.next_sibling
        tree = bang.next_sibling if bang is not None else None
        return tree if tree is not None and tree.type == "token_tree" else None

    def _lines(self, template: Node, into: Text) -> None:
        """Add the strings that are the first arguments of asm!(), each as a line. Other arguments there may be lines,
        too."""
        values: list[list[Node]] = [[]]
        for node in template.children[1:-1]:
            if self.said(node) == ",":
                values.append([])
            elif node.type not in self.comments:
                values[-1].append(node)
        numbers = self._listed([value for value in values if value and not self._joined(value)], into)
        for i, value in enumerate(values):
            strings = self._joined(value)
            if not strings:
                # Its operands follow, but another macro may make lines of its arguments.
                if value and (i == 0 or (len(value) > 1 and self.said(value[1]) == "!")):
                    into.add(ELSEWHERE, value[0].start_byte)
                return
            if i:
                into.add("\n", value[0].start_byte)
            for string in strings:
                if string.type in self.strings:
                    self._line(self.literal(string), into, numbers)
                else:
                    into.add(ELSEWHERE, string.start_byte)
                    return

    def _joined(self, value: list[Node]) -> list[Node]:
        """Return the strings of an argument: one, or those that concat!() joins with other values."""
        if len(value) == 1:
            return [n for n in value if n.type in self.strings]
        if len(value) == 3 and self.said(value[0]) == "concat":
            return [n for n in value[2].children[1:-1] if self.said(n) != "," and n.type not in self.comments]
        return []

    def _listed(self, values: list[list[Node]], into: Text) -> dict[str, str]:
        """List the constraints of the operands behind a template, and return the numbers of those with names; nothing
        if one of them is not understood."""
        listed: list[str] = []
        numbers: dict[str, str] = {}
        for value in values:
            said = self.text[value[0].start_byte : value[-1].end_byte]
            m = _GIVEN.match(said)
            if m is None and _OTHER.match(said):
                continue
            if m is None or (m["how"] and m["register"] not in _LETTERS):
                return {}
            if m["name"]:
                numbers[m["name"]] = str(len(listed))
            listed.append(_MARKS[m["how"]] + _LETTERS[m["register"]] if m["how"] else "n")
        into.listed = ",".join(listed)
        return numbers

    def _line(self, found: Literal, into: Text, numbers: Mapping[str, str]) -> None:
        """Add a string of a template, with its operands as registers of the same length; `numbers` are those of named
        operands."""
        body, plain = self.text[found.start : found.end], verbatim if "r" in found.prefix else unescape
        position = 0
        into.written_as |= {"{": "{{", "}": "}}"}
        for operand in _OPERAND.finditer(body):
            plain(body[position : operand.start()], found.start + position, into)
            if operand["literal"]:
                into.add(operand["literal"][0], found.start + operand.start())
            else:
                # An operand without a name is the next of these.
                name = re.sub(r"\W", "_", operand["name"])
                name = numbers.get(name, name)
                if name:
                    into.written_as[f"${name}"] = operand[0]
                elif into.unnamed < 10:
                    name = str(into.unnamed)
                    into.written_as[f"${name}"] = f"{{{name}}}"
                    into.unnamed += 1
                into.add(f"${name or '_'}".ljust(len(operand[0])), found.start + operand.start())
            position = operand.end()
        plain(body[position:], found.start + position, into)

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        self.fill(found, into, verbatim if "r" in found.prefix else unescape, FORMATTED_LATER)

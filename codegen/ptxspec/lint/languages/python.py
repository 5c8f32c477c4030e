"""Python: the arguments of functions for inline assembly, and the strings that are PTX or CUDA C++ with asm."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from .cpp import by_itself, in_program
from .programs import Literal, ParsedProgram, Strings
from .text import DOUBLED_BRACES, FORMATTED, FORMATTED_LATER, Text, unescape, verbatim
from .trees import NodePath


class Python(ParsedProgram):
    package = "tree_sitter_python"
    strings = frozenset(["string"])
    holes = frozenset(["interpolation"])
    joins = MappingProxyType({"concatenated_string": frozenset(), "binary_operator": frozenset("+")})
    calls = frozenset(["call"])
    arguments = frozenset(["argument_list"])
    named = frozenset(["keyword_argument"])
    members = frozenset(["attribute"])
    told = frozenset(["raise_statement"])
    blocks = frozenset(["block", "module"])

    def read(self, strings: Strings) -> Iterator[Text]:
        if self.is_told(strings.value) or self._documents(strings.value):
            return
        found, is_template = self.found(strings)
        found.close_without_braces()
        if programs := in_program(found):
            yield from programs
        elif is_template:
            yield found
        else:
            yield from by_itself(found)

    def _documents(self, value: NodePath) -> bool:
        """Return whether a string is a statement, such as a docstring. A string that is the whole program is not
        one."""
        statement = value.parent
        if statement is None or statement.node.type != "expression_statement":
            return False
        return statement.depth > 1 or self.tree.root.named_child_count > 1

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        prefix = found.prefix.lower()
        later = DOUBLED_BRACES if "f" in prefix else FORMATTED if percent else FORMATTED_LATER
        if "f" in prefix:
            into.written_as |= {"{": "{{", "}": "}}"}
        elif percent:
            into.written_as["%"] = "%%"
        self.fill(found, into, verbatim if "r" in prefix else unescape, later)

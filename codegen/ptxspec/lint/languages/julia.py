"""Julia: the text of @asmcall, the LLVM assembly in its strings, and the strings that are PTX."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from .cpp import by_itself, in_program
from .llvm import llvm
from .programs import Literal, ParsedProgram, Strings
from .text import Text, unescape, verbatim
from .trees import NodePath


class Julia(ParsedProgram):
    package = "tree_sitter_julia"
    strings = frozenset(["string_literal", "prefixed_string_literal"])
    comments = frozenset(["line_comment", "block_comment"])
    holes = frozenset(["string_interpolation"])
    joins = MappingProxyType({"binary_expression": frozenset("*")})
    calls = frozenset(["call_expression", "macrocall_expression"])
    arguments = frozenset(["argument_list", "macro_argument_list"])
    named = frozenset(["named_argument"])
    blocks = frozenset(["source_file", "block", "function_definition", "module_definition"])

    def read(self, strings: Strings) -> Iterator[Text]:
        argument = self.argument(strings.value)
        if self._documents(strings.value) or (argument and argument.called == "@doc"):
            return
        found, is_template = self.found(strings)
        if is_template:
            yield found.close_without_braces()
        elif "asm" in found.text:
            yield from [t for t in llvm(found) if t.text.strip()] or in_program(found) or by_itself(found)
        else:
            yield from by_itself(found)

    def _documents(self, value: NodePath) -> bool:
        """Return whether a string documents the next line: it is a statement, but not the last one of a block."""
        behind = value.node.next_named_sibling
        if value.parent is None or value.parent.node.type not in self.blocks or behind is None:
            return False
        return "\n" not in self.text[value.node.end_byte : behind.start_byte].replace("\n", "", 1)

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        if not found.prefix:
            into.written_as["$"] = "\\$"
        self.fill(found, into, verbatim if found.prefix else unescape)

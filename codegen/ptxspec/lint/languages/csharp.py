"""C#: the text of CudaAsm.Emit and the like, and the strings that are PTX or CUDA C++ with asm."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from .cpp import by_itself, in_program
from .programs import Literal, Program, Strings
from .text import DOUBLED_BRACES, FORMATTED_LATER, Text, doubled, unescape, verbatim


class CSharp(Program):
    package = "tree_sitter_c_sharp"
    strings = frozenset(
        ["string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"]
    )
    holes = frozenset(["interpolation"])
    joins = MappingProxyType({"binary_expression": frozenset("+")})
    calls = frozenset(["invocation_expression", "object_creation_expression"])
    arguments = frozenset(["argument_list"])
    named = frozenset(["argument"])
    members = frozenset(["member_access_expression"])
    told = frozenset(["throw_statement", "throw_expression", "attribute"])
    blocks = frozenset(["block", "declaration_list", "compilation_unit"])

    def read(self, strings: Strings) -> Iterator[Text]:
        if self.is_told(strings.value):
            return
        found, is_template = self.found(strings)
        if programs := in_program(found):
            yield from programs
        elif is_template:
            yield found
        else:
            yield from by_itself(found)

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        is_filled = "$" in found.prefix
        if is_filled:
            into.written_as |= {"{": "{{", "}": "}}"}
        is_raw = self.text.startswith('"""', found.start - 3)
        plain = verbatim if is_raw else doubled if "@" in found.prefix else unescape
        self.fill(found, into, plain, DOUBLED_BRACES if is_filled else FORMATTED_LATER)

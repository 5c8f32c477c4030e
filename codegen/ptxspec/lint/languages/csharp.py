"""C#: the text of CudaAsm.Emit and the like, and the strings that are PTX or CUDA C++ with asm."""

from __future__ import annotations

from types import MappingProxyType

from .cpp import Host
from .programs import Literal
from .text import DOUBLED_BRACES, FORMATTED_LATER, Text, doubled, unescape, verbatim


class CSharp(Host):
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

    def add(self, found: Literal, into: Text, percent: bool) -> None:
        is_filled = "$" in found.prefix
        if is_filled:
            into.written_as |= {"{": "{{", "}": "}}"}
        is_raw = self.text.startswith('"""', found.start - 3)
        plain = verbatim if is_raw else doubled if "@" in found.prefix else unescape
        self.fill(found, into, plain, DOUBLED_BRACES if is_filled else FORMATTED_LATER)

"""JavaScript: the strings that are PTX or CUDA C++ with asm."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from .cpp import by_itself, in_program
from .programs import Program, Strings
from .text import Text


class JavaScript(Program):
    package = "tree_sitter_javascript"
    strings = frozenset(["string", "template_string"])
    holes = frozenset(["template_substitution"])
    joins = MappingProxyType({"binary_expression": frozenset("+")})
    calls = frozenset(["call_expression", "new_expression"])
    arguments = frozenset(["arguments"])
    members = frozenset(["member_expression"])
    told = frozenset(["throw_statement"])
    blocks = frozenset(["statement_block", "program"])

    def read(self, strings: Strings) -> Iterator[Text]:
        if not self.is_told(strings.value):
            found, is_template = self.found(strings)
            yield from in_program(found) or ([found] if is_template else by_itself(found))

"""JavaScript: the strings that are PTX or CUDA C++ with asm."""

from __future__ import annotations

from types import MappingProxyType

from .cpp import Host


class JavaScript(Host):
    package = "tree_sitter_javascript"
    strings = frozenset(["string", "template_string"])
    holes = frozenset(["template_substitution"])
    joins = MappingProxyType({"binary_expression": frozenset("+")})
    calls = frozenset(["call_expression", "new_expression"])
    arguments = frozenset(["arguments"])
    members = frozenset(["member_expression"])
    told = frozenset(["throw_statement"])
    blocks = frozenset(["statement_block", "program"])

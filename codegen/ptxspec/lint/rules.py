"""The database's rules of the assembler, with the interface that ptx/matching.py uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..query.database import Database, Variant


class DatabaseRules:
    def __init__(self, db: Database) -> None:
        self._db = db

    @property
    def assembler(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._db.data["assembler"]
        return found

    def has_two_results(self, opcode: str) -> bool:
        """Return whether some variant of an opcode has two results, or one in several registers."""
        return any(v.second is not None or v.result_registers > 1 for v in self._db.opcodes[opcode].variants)

    def has_vectors_elsewhere(self, opcode: str) -> bool:
        """Return whether statements with vectors are other instructions of this name."""
        return bool(self._db.opcodes[opcode].data["assembler"].get("vectors_elsewhere", False))

    def unpacks(self, opcode: str) -> bool:
        """Return whether a vector among the sources may be the result instead."""
        return "unpacks" in self._db.opcodes[opcode].data

    def operand_rules(self, v: Variant) -> Iterable[Mapping[str, Any]]:
        """Return the rules of the opcode's file for the operands of a variant."""
        about = self._db.opcodes[v.opcode]
        said = about.data["assembler"]["operands"]
        return (said[i] for i in about.known_of(v).get("operands", ()))

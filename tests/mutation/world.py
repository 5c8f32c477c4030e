"""A specification with a mutant in it, read as every command reads it; what did not change is remembered."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

from helpers import ROOT, repository
from ptxspec.check import checking
from ptxspec.check.checking import Checked
from ptxspec.diagnostics import Diagnostic
from ptxspec.model import Instruction, Spec, Type, Variant
from ptxspec.recipes.proof import Prover
from ptxspec.semantics.compile import Compiler
from ptxspec.specification import read_all

from mutation.mutants import Mutant


@contextmanager
def root_with(mutant: Mutant) -> Iterator[Path]:
    """A root with the repository's own specification but for one line: a copy, for no link out of spec/ is read."""
    root = Path(mkdtemp(prefix="mutant-"))
    try:
        shutil.copytree(ROOT / "spec", root / "spec")
        for name in ("templates", "generated", "tests", "pyproject.toml"):
            (root / name).symlink_to(ROOT / name)
        (root / "spec" / mutant.path).write_text(mutant.text, "utf-8")
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


@dataclass
class World:
    """`errors` are what reading says; where there are none, `spec` is what was read."""

    mutant: Mutant
    root: Path

    def __post_init__(self) -> None:
        reading = read_all(self.root)
        self.errors: list[Diagnostic] = reading.diagnostics
        self._spec = reading.spec
        self.original = repository.specification()

    @property
    def spec(self) -> Spec:
        assert self._spec is not None
        return self._spec

    @cached_property
    def compiler(self) -> Compiler:
        return Compiler(self.spec)

    @cached_property
    def changed(self) -> list[Instruction]:
        """The instructions that were read anew, beginning with those that tell most about what the mutant changes."""
        known = self.original.instructions
        found = [i for i in self.spec.instructions.values() if known.get(i.opcode) is not i]
        if self.spec.units is not self.original.units and not found:
            found = [i for i in self.spec.instructions.values() if i.hardware]
        first = {"add": 0, "max": 1, "setp": 2, "abs": 3, "sin": 4}
        return sorted(found, key=lambda i: (first.get(i.opcode, 9), len(i.variants)))

    @cached_property
    def computing(self) -> list[Instruction]:
        """The instructions whose results may change: for a type's line, those that have the type."""
        kind, new, old = self.mutant.path, self.spec, self.original
        if kind in ("assembler.yaml", "functions.yaml", "words.yaml", "messages.yaml", "published.yaml"):
            return []
        if kind == "targets.yaml" and (new.targets, new.versions) == (old.targets, old.versions):
            return []
        if kind == "units.yaml":
            return [i for i in self.changed if i.hardware]
        name = self.subject
        if kind == "types.yaml" and (about := {n for n, t in new.types.items() if name in (n, _format_name(t))}):
            return [i for i in self.changed if any(not about.isdisjoint(_types(v)) for v in i.variants)]
        if kind == "modifiers.yaml" and name in new.modifiers:
            return [i for i in self.changed if any(name in {*v.modifiers, *v.means} for v in i.variants)]
        return self.changed

    @cached_property
    def subject(self) -> str:
        """The key, of those in the second place, whose value the mutant is in."""
        lines = self.mutant.text.splitlines()[: self.mutant.line]
        return next((m[1] for line in reversed(lines) if (m := re.match(r" ? ?([\w:]+):", line))), "")

    def check(self, instruction: Instruction) -> tuple[Checked, list[Diagnostic]]:
        return checking.check_instruction(self.compiler, instruction)

    def recipes(self) -> list[Diagnostic]:
        """Return the errors of recipes for the changed opcodes, and of recipes that use these."""
        changed = {i.opcode for i in self.changed}
        about = {
            v: tuple(r for r in every if v.opcode in changed or any(c.variant.opcode in changed for c in r.calls))
            for v, every in self.spec.instead.items()
        }
        return Prover(replace(self.spec, instead={v: r for v, r in about.items() if r}), self.compiler).check()


def _format_name(t: Type) -> str:
    return t.kind.format.name if t.kind.format else ""


def _types(v: Variant) -> set[str]:
    return {o.type.name for o in (*v.results, *v.sources)} | {*v.type_names}

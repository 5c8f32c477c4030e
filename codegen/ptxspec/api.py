"""The database that the package returns: the answers of the modules in query/ and lint/ as methods of one object."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from . import shown, tensor
from .diagnostics import PtxspecError
from .query import calls, database, verdicts
from .query.variant import Variant

if TYPE_CHECKING:
    from .lint.linter import Linter

# The error messages for arguments that are not strings.
_TEXTS = {
    "spelling": "a spelling must be a string such as 'max.NaN.f32'",
    "target": "a target must be a string such as 'sm_90'",
    "ptx": "a PTX version must be a string such as '8.6'",
    "type": "a type must be a string such as 'bf16x2'",
    "opcode": "an opcode must be a string such as 'max'",
    "text": "PTX must be a string such as 'add.f32 d, a, b;'",
}


def _check(operands: object = None, **texts: object) -> None:
    """Raise PtxspecError for arguments of the wrong type."""
    for name, value in texts.items():
        if not isinstance(value, str) and (value is not None or name in ("spelling", "text")):
            raise PtxspecError(f"{_TEXTS[name]}, not {value!r}")
    if operands is not None and not isinstance(operands, int):
        raise PtxspecError(f"the number of operands must be an int such as 2, not {operands!r}")


class Database(database.Database):
    """All opcodes and variants, targets and PTX versions, and the questions about them that it can answer.

    `opcodes`, `targets` and `versions` are dictionaries by name, in PTX's order. A target is a string as ptxas spells
    it ("sm_90a"), a compute capability ("9.0") or the name of a GPU ("H100"). A PTX version is a string such as "8.6",
    never a float. Answers are shown as the commands print them, and in notebooks as HTML.

    The data comes from generated/data, or with `ptxspec.load(root)` from the YAML of that root. `requires` is the
    requirement that ptxas enforces, and `manual` the one that NVIDIA's manual states."""

    @cached_property
    def _linters(self) -> dict[tuple[str | None, str | None], Linter]:
        """The linters that were used, by target and PTX version. Each remembers its verdicts."""
        return {}

    def __repr__(self) -> str:
        return shown.database_as_text(self)

    def _repr_html_(self) -> str:
        from .query import pages  # only needed in notebooks

        return pages.database(self, repr(self))

    def variant(self, spelling: str, operands: int | None = None) -> Variant:
        """Return a variant by its spelling ("max.NaN.f32"), with modifiers in any order.

        `operands` is the number of source registers; the default is the smallest with which the spelling exists. Raises
        PtxspecError for a spelling that does not exist, with the reason and variants that are spelled alike.

            >>> db.variant("max.NaN.ftz.f32")
            <Variant max.ftz.NaN.f32 (2 operands): sm_80 or newer, PTX 7.0 or newer; exact>
        """
        _check(operands, spelling=spelling)
        try:
            return verdicts.variant(self, spelling, operands)
        except PtxspecError as e:
            verdict = verdicts.query(self, spelling, operands)
            alike = ", ".join(map(str, verdict.nearest))
            more = [verdict.help, f"spelled alike: {alike}" if alike else ""]
            raise PtxspecError("; ".join(filter(None, [str(e), *more]))) from None

    def query(
        self, spelling: str, operands: int | None = None, target: str | None = None, ptx: str | None = None
    ) -> shown.Answer:
        """Return whether a variant exists and is available on a target in a PTX version. Without a target or a PTX
        version, any will do.

        A spelling that does not exist gets an answer, too: `reasons` say why, `instead` says what to write, and
        `nearest` has variants that are spelled alike. The answer about a function of CUDA C++ or libdevice, such as
        "__hmul2", is the PTX that nvcc compiles it to. The answer about a form of mma, such as "m16n8k16.f32.f16", says
        how targets compute it. Raises PtxspecError for an unknown target or PTX version.

            >>> db.query("max.xorsign.f64")
            no: max.xorsign.f64 does not exist
              max.f64 has no .xorsign; it has no modifiers
              help      no variant of max has all of these names
            spelled alike:
              max.f64 (2 operands)              sm_10 or newer, PTX 1.0 or newer (CUDA 1.0)
              max.xorsign.abs.f32 (2 operands)  sm_86 or newer, PTX 7.2 or newer (CUDA 11.2)
              max.xorsign.abs.f16 (2 operands)  sm_86 or newer, PTX 7.2 or newer (CUDA 11.2)
        """
        _check(operands, spelling=spelling, target=target, ptx=ptx)
        if found := calls.named(self, spelling):
            for name, value in (("operands", operands), ("ptx", ptx)):
                if value is not None:
                    raise PtxspecError(f"{name}= applies to variants only; {found[0].name} is a function")
            return shown.FunctionAnswer.called(self, found, target and self.target(target))
        on = target and self.target(target)
        if cores := tensor.named(self, spelling):
            if operands is not None:
                raise PtxspecError(f"operands= applies to variants only; {spelling} is a form of a matrix instruction")
            return shown.FormAnswer.answered(self, tensor.query(self, cores, spelling, on, ptx))
        verdict = verdicts.query(self, spelling, operands, target, ptx)
        return shown.Answer.of(self, verdict, on, ptx)

    def available(
        self, target: str | None = None, ptx: str | None = None, type: str | None = None, opcode: str | None = None
    ) -> shown.Variants:
        """Return the list of variants that a target supports in a PTX version. Without a target or a PTX version, any
        will do.

        With `type`, only variants that have this type are returned, and with `opcode`, only those of this opcode.
        Raises PtxspecError for an unknown name.

            >>> db.available("sm_80", type="bf16", opcode="abs")
            variant   operands  PTX  CUDA  claim
            abs.bf16  1         7.0  11.0  exact
            <BLANKLINE>
            1 variant
        """
        _check(target=target, ptx=ptx, type=type, opcode=opcode)
        found = super().available(target, ptx, type, opcode)
        return shown.Variants(self, found, target and self.target(target))

    def diff_ptx(self, old: str, new: str) -> tuple[shown.Variants, shown.Variants]:
        """Return the variants that a newer PTX version has and an older one lacks, and the reverse.

        Raises PtxspecError for an unknown PTX version."""
        for ptx in (old, new):
            _check(ptx=ptx)
        gained, lost = super().diff_ptx(old, new)
        return shown.Variants(self, gained), shown.Variants(self, lost)

    def diff_target(self, old: str, new: str) -> tuple[shown.Variants, shown.Variants]:
        """Return the variants that one target has in any PTX version and the other lacks, and the reverse.

        Raises PtxspecError for an unknown target."""
        for target in (old, new):
            _check(target=target)
        gained, lost = super().diff_target(old, new)
        return shown.Variants(self, gained, self.target(new)), shown.Variants(self, lost, self.target(old))

    def lint(
        self, text: str, target: str | None = None, ptx: str | None = None, language: str = "ptx", file: str = "<text>"
    ) -> shown.Findings:
        """Check PTX, or the PTX in a program, as ptxas would. Return a list of findings in the text's order.

        `language` is "ptx", "c++", "python", "rust", "julia", "c#", "javascript", "mlir", "markdown" or "notebook".
        `target` and `ptx` replace the module's own, and `file` is the file name in findings. Findings that comments in
        the text ignore are left out, and so is code under a condition that is false for the target. Raises PtxspecError
        for an unknown language, target or PTX version, and for a version that does not support the target.

            >>> db.lint("add.rz.bf16 d, a, b;")
            <text>:1:4: error: add.bf16 has no .rz; it has .rn [illegal-modifier]
                add.rz.bf16 d, a, b;
                   ^^^
                help: instead: the 5 statements that `ptxspec query add.rz.bf16` prints
            1 error
        """
        _check(text=text, target=target, ptx=ptx)
        from .lint.guards import guards
        from .lint.ignores import heard
        from .lint.languages import PTX
        from .lint.linter import Linter

        if (linter := self._linters.get((target, ptx))) is None:
            linter = self._linters[target, ptx] = Linter(self, target, ptx)
        of_target = language == PTX or target is not None or ptx is not None
        conditions = guards(self, text, language, linter.target, ptx=linter.ptx)
        found = linter.lint(text, file, language)
        return shown.Findings(heard(found, text, file, language, of_target, conditions))

"""The database as the package hands it out: what the modules of query/ and lint/ answer, as methods of one object."""

from __future__ import annotations

from . import shown, tensor
from .diagnostics import PtxspecError
from .query import calls, database, verdicts
from .query.variant import Variant

# The error messages for arguments that are no text.
_TEXTS = {
    "spelling": "a spelling is text such as 'max.NaN.f32'",
    "target": "a target is text such as 'sm_90'",
    "ptx": "a PTX version is text such as '8.6'",
    "type": "a type is text such as 'bf16x2'",
    "opcode": "an opcode is text such as 'max'",
    "text": "PTX is text such as 'add.f32 d, a, b;'",
}


def _check(operands: object = None, **texts: object) -> None:
    """Raise PtxspecError for arguments of a wrong type."""
    for name, value in texts.items():
        if not isinstance(value, str) and (value is not None or name in ("spelling", "text")):
            raise PtxspecError(f"{_TEXTS[name]}, not {value!r}")
    if operands is not None and not isinstance(operands, int):
        raise PtxspecError(f"the number of operands is one such as 2, not {operands!r}")


class Database(database.Database):
    """All opcodes and variants, targets and PTX versions, and the questions that one may ask of them.

    `opcodes`, `targets` and `versions` are dictionaries by name, in PTX's order. A target is text as ptxas spells it
    ("sm_90a"), a compute capability ("9.0") or what NVIDIA sells it as ("H100"); a PTX version is text such as "8.6",
    never a float. Answers show themselves as the commands print them, and in notebooks as HTML.

    Everything is as generated/data has it, or with `ptxspec.load(root)` the YAML of that root; `requires` is what
    ptxas was seen to require, and `manual` what NVIDIA's manual says."""

    def __repr__(self) -> str:
        return shown.database_as_text(self)

    def _repr_html_(self) -> str:
        from .query import pages  # only needed in notebooks

        return pages.database(self, repr(self))

    def variant(self, spelling: str, operands: int | None = None) -> Variant:
        """A variant by its spelling ("max.NaN.f32"), modifiers in any order.

        `operands` is the number of source registers; without it the fewest with which the spelling exists. Raises
        PtxspecError for a spelling that does not exist, with the reason and what is spelled alike.

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
        """Return whether a variant exists and is available on a target under a PTX version; on any where one is not
        named.

        A spelling that does not exist is an answer, too: `reasons` say why, `instead` what to write, `nearest` what is
        spelled alike. A function of CUDA C++ or libdevice, as "__hmul2", is answered with the PTX that nvcc makes of
        it, and a form of mma, as "m16n8k16.f32.f16", with what targets compute of it. Raises PtxspecError for an
        unknown target or PTX version.

            >>> db.query("max.xorsign.f64")
            no: max.xorsign.f64 does not exist
              max.f64 has no .xorsign; it has no modifiers
              help    no max has all of this
            spelled alike:
              max.f64 (2 operands)              sm_10 or newer, PTX 1.0 or newer (CUDA 1.0)
              max.xorsign.abs.f32 (2 operands)  sm_86 or newer, PTX 7.2 or newer (CUDA 11.2)
              max.xorsign.abs.f16 (2 operands)  sm_86 or newer, PTX 7.2 or newer (CUDA 11.2)
        """
        _check(operands, spelling=spelling, target=target, ptx=ptx)
        if found := calls.named(self, spelling):
            for name, value in (("operands", operands), ("ptx", ptx)):
                if value is not None:
                    raise PtxspecError(f"{name}= is about a variant, and {found[0].name} is a function")
            return shown.Function.called(self, found, target and self.target(target))
        on = target and self.target(target)
        if cores := tensor.named(self, spelling):
            if operands is not None:
                raise PtxspecError("operands= is about a variant, and this is a form of an instruction on matrices")
            return shown.Form.answered(self, tensor.query(self, cores, spelling, on, ptx))
        verdict = verdicts.query(self, spelling, operands, target, ptx)
        return shown.Answer.of(self, verdict, on, ptx)

    def available(
        self, target: str | None = None, ptx: str | None = None, type: str | None = None, opcode: str | None = None
    ) -> shown.Variants:
        """The variants that a target takes under a PTX version, a list; under any where one of them is not named.

        `type` is one of those that a spelling ends in, `opcode` the only one to look at. Raises PtxspecError for what
        is unknown.

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
        """The variants that a newer PTX version has and an older one lacks, and the other way round.

        Raises PtxspecError for an unknown PTX version."""
        for ptx in (old, new):
            _check(ptx=ptx)
        gained, lost = super().diff_ptx(old, new)
        return shown.Variants(self, gained), shown.Variants(self, lost)

    def diff_target(self, old: str, new: str) -> tuple[shown.Variants, shown.Variants]:
        """The variants that one target has, under any PTX version, and the other lacks, and the other way round.

        Raises PtxspecError for an unknown target."""
        for target in (old, new):
            _check(target=target)
        gained, lost = super().diff_target(old, new)
        return shown.Variants(self, gained, self.target(new)), shown.Variants(self, lost, self.target(old))

    def lint(
        self, text: str, target: str | None = None, ptx: str | None = None, language: str = "ptx", file: str = "<text>"
    ) -> shown.Findings:
        """Return what ptxas would say of PTX, or of the PTX in a program: a list of findings in the text's order.

        `language` is "ptx", "c++", "python", "rust", "julia", "c#", "javascript", "mlir", "markdown" or "notebook";
        `target` and `ptx` take the place of the module's own, and `file` is the name that findings have. What comments
        of the text ignore is left out, and what is under a condition that does not hold for the target. Raises
        PtxspecError for an unknown language, target or PTX version, and for a version that does not know the target.

            >>> db.lint("add.rz.bf16 d, a, b;")
            <text>:1:4: error: add.bf16 has no .rz; it has .rn [illegal-modifier]
                add.rz.bf16 d, a, b;
                   ^^^
                help: instead: the 5 statements of `ptxspec query add.rz.bf16`
            1 error
        """
        _check(text=text, target=target, ptx=ptx)
        from .lint.guards import guards
        from .lint.ignores import heard
        from .lint.languages import PTX
        from .lint.linter import Linter

        linter = Linter(self, target, ptx)
        of_target = language == PTX or target is not None or ptx is not None
        conditions = guards(self, text, language, linter.target, ptx=linter.ptx)
        found = linter.lint(text, file, language)
        return shown.Findings(heard(found, text, file, language, of_target, conditions))

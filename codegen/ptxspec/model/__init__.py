"""What the specification says, as frozen dataclasses: the only contract between reading and everything after it."""

from .code import Code
from .formats import (
    BOOL,
    OVERFLOWS,
    ROUNDINGS,
    FixedPoint,
    Format,
    Kind,
    NanRule,
    Type,
    bits_of,
    float_in,
    ieee,
    integer_in,
    number_in,
)
from .functions import Compiled, Defined, Executed, Functions, Opening, Reference
from .instruction import (
    Accuracy,
    Compared,
    CornerRow,
    CornerTable,
    Crash,
    HardwarePath,
    HazardRule,
    Instruction,
    Judged,
    Key,
    LaneBits,
    Meaning,
    Note,
    Operand,
    OperandRule,
    Page,
    Proof,
    SyntaxLine,
    Tolerated,
    Value,
    Variant,
)
from .observed import Entry, Evidence, Recording, Speed, SpeedTable
from .requirements import Form, Pattern, Rule, Selector
from .spec import Assembler, Implied, Modifier, Naming, Spec
from .units import Argument, Core, Differences, Fitted, Interpolator, Unit, UnitModel, Word

__all__ = [
    "BOOL", "OVERFLOWS", "ROUNDINGS", "Accuracy", "Argument", "Assembler", "Code", "Compared", "Compiled", "Core",
    "CornerRow", "CornerTable", "Crash", "Defined", "Differences", "Entry", "Evidence", "Executed", "Fitted",
    "FixedPoint", "Form", "Format", "Functions", "HardwarePath", "HazardRule", "Implied", "Instruction", "Interpolator",
    "Judged", "Key", "Kind", "LaneBits", "Meaning", "Modifier", "Naming", "NanRule", "Note", "Opening", "Operand",
    "OperandRule", "Page", "Pattern", "Proof", "Recording", "Reference", "Rule", "Selector", "Spec", "Speed",
    "SpeedTable", "SyntaxLine", "Tolerated", "Type", "Unit", "UnitModel", "Value", "Variant", "Word", "bits_of",
    "float_in", "ieee", "integer_in", "number_in",
]  # fmt: skip

"""The specification as frozen dataclasses: the only contract between reading and everything after it."""

from .code import Code
from .folding import Folding
from .formats import (
    BOOL,
    OVERFLOWS,
    ROUNDINGS,
    FixedPoint,
    Format,
    Kind,
    Languages,
    NanRule,
    Type,
    bits_of,
    float_in,
    ieee,
    integer_in,
    number_in,
)
from .functions import Compiled, Defined, Executed, Functions, Intrinsic, Opening, Reference
from .hazards import HazardRule, Proof
from .instruction import (
    Accuracy,
    Compared,
    CornerRow,
    CornerTable,
    Crash,
    Exceeded,
    HardwarePath,
    Instruction,
    LaneBits,
    Meaning,
    Note,
    OperandRule,
    Page,
    SyntaxLine,
    Tolerated,
    Value,
)
from .observed import (
    Entry,
    Evidence,
    Inferred,
    Judgement,
    MachineCode,
    MachineEvidence,
    MachineForms,
    PublishedModel,
    Recording,
    Report,
    Speed,
    SpeedTable,
    runs,
)
from .recipes import DIFFERENCES, NAN_BITS, NOTHING_DIFFERS, WITHIN_BOUND, Call, Instead, Recipe, Written
from .requirements import Form, Pattern, Rule, Selector
from .spec import Assembler, Implied, Modifier, Naming, Spec
from .units import Argument, Core, Differences, Fitted, Interpolator, Own, Unit, UnitModel, Word
from .variant import Key, Operand, Variant

__all__ = [
    "BOOL", "DIFFERENCES", "NAN_BITS", "NOTHING_DIFFERS", "OVERFLOWS", "ROUNDINGS", "WITHIN_BOUND", "Accuracy",
    "Argument", "Assembler", "Call", "Code", "Compared", "Compiled", "Core", "CornerRow", "CornerTable", "Crash",
    "Defined", "Differences", "Entry", "Evidence", "Exceeded", "Executed", "Fitted", "FixedPoint", "Folding",
    "Form", "Format", "Functions", "HardwarePath", "HazardRule", "Implied", "Inferred", "Instead", "Instruction",
    "Interpolator", "Intrinsic", "Judgement", "Key", "Kind", "LaneBits", "Languages", "MachineCode", "MachineEvidence",
    "MachineForms", "Meaning", "Modifier", "Naming", "NanRule", "Note", "Opening", "Operand", "OperandRule", "Own",
    "Page", "Pattern", "Proof", "PublishedModel", "Recipe", "Recording", "Reference", "Report", "Rule", "Selector",
    "Spec", "Speed", "SpeedTable", "SyntaxLine", "Tolerated", "Type", "Unit", "UnitModel", "Value", "Variant",
    "Word", "Written", "bits_of", "float_in", "ieee", "integer_in", "number_in", "runs",
]  # fmt: skip

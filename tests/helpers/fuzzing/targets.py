"""The targets of fuzzing, with their seeds and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ptxspec.semantics.functions import TABLE

from helpers.fuzzing import recordings, specifications, texts


class Target(NamedTuple):
    """`run` raises for a defect; `seeds` are right, or nearly; `words` mean something here. CI gives it so many
    `examples`, which take it half a minute."""

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    words: tuple[str, ...]
    examples: int


_OF_FILES = (
    "opcode:", "syntax:", "requires:", "semantics: |", "  - ", "{for: ", "ptx: 9.0", "target: sm_90", "corner_cases:",
    "operands: ", "rows:", "accuracy:", "notes:", "hazards:", "&a", "*a", "!!python/name:os.system ", "? ",
    "---\n", "...\n",
    "%YAML 1.1\n", "{", "}", "[", "]", ">-\n", "'", '"', "\t", ".f32", ".f16x2", "0x1p-3", "2**-3", "1e999",
    "-1", "99999999",
    "true", "null", "~", "\\x1b", "\0", "\u202e", "é", "a:b", "NaN", "-subnormal", "+0.0", "sm_10..", "max", "d, a, b",
)  # fmt: skip
_OF_CODE = (
    *TABLE, "if ", "else:", "elif ", "    ", "\n", "def f(x):\n", "return ", " and ", " or ", "not ", "==",
    "<=", "**", "<<",
    ">>", "~", "^", "|", "&", "d = ", "d", "p", "a", "b", "operands", "type", "rounding", "target", "f16", "0x1.8p-3",
    "0x1p99999", "2**99999", "99999999999999999999", "roundTowardZero", "(", ")", "lambda: ", "[", "]", "x", "is", "in",
    "f'{", "...", "@", ":=", "#", "\\", "'''", "1_0", "0b1", "1j", "1.5", "yield ", "await ", "import os", "٣", "ﬁ",
)  # fmt: skip
_OF_RECORDINGS = (
    '"variant":', '"operands":', '"stream":', '"start":', '"count":', '"kept":', '"blob":', '"digests":', '"found":',
    '"data":', '"differences":', '"emulator":', '"complete":', '"failed":', '"specification":', "raw:",
    "uniform", "every",
    "every<<16", "every<<-1", "every<<x", "grid", "near", "pairs", "null", "true", "[]", "{}", "-1", "1e999",
    "NaN", "0.5",
    "99999999999999999999", '""', '"\\ud800"', "[" * 300, ",", ":", "add.f32", "0", "2", "3", "8",
)  # fmt: skip

TARGETS = {
    "lint": Target(texts.lint, texts.lint_seeds, texts.WORDS, 1_500),
    "explain": Target(texts.explained, texts.explained_seeds, texts.WORDS, 4_000),
    "spelling": Target(texts.spelling, texts.spelling_seeds, texts.WORDS, 400),
    "piece": Target(texts.piece, texts.piece_seeds, texts.WORDS, 2_500),
    "kernel": Target(texts.kernel, texts.kernel_seeds, texts.WORDS, 2_000),
    "operand": Target(texts.operand, texts.operand_seeds, texts.WORDS, 4_000),
    "yaml": Target(specifications.yaml, specifications.yaml_seeds, _OF_FILES, 2_000),
    "semantics": Target(specifications.semantics, specifications.semantics_seeds, _OF_CODE, 2_500),
    "recording": Target(recordings.recorded, recordings.recorded_seeds, _OF_RECORDINGS, 3_000),
}

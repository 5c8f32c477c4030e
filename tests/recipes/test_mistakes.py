"""A wrong recipe is reported by its place, with what would be right, or with the operands that show it.

All mistakes that are found together stand in one file."""

from __future__ import annotations

import pytest
from helpers.project import Project
from helpers.validating import ADD, MAX

HEAD = "  - for: add.f64\n    differs: nothing\n    ptx:"
# Entries in add.yaml (« stands before the mistake), a part of the message, and a part of the help.
SHAPES = [
    ("  - for: add.f64\n    «ptx: add.rn.f64 %d, %a, %b;", "'ptx' needs 'differs' beside it", "a recipe"),
    ("  - «{for: add.f64}", "one of 'ptx' or 'none' is missing", "a recipe"),
    ("  - for: add.f64\n    none: Why.\n    differs: «hardly", "'hardly' is not allowed here", ""),
]
STATEMENTS = [
    (
        "  - for: add.f64\n    differs: nothing\n    where: {one: {f644: «1}}\n    ptx: add.rn.f64 %d, %a, %b;",
        "unknown modifier or type 'f644'",
        "'f64'",
    ),
    ("  - for: add.f64\n    none: Why.\n    «differs: nothing", "'differs' belongs to one", "remove one of the two"),
    ("  - {for: «.s8, none: Why.}", "no variant of add matches '.s8'", ""),
    (f"{HEAD} «add.rn.f64", "'add.rn.f64' is no statement", "write a statement on each line"),
    (f"{HEAD} add.rn.f64 %d, «[%a], %b;", "'[%a]' is no operand", "write a register as %a"),
    (f"{HEAD} add.rn.f64 %d, %a, %b;« // rounds", "something stands behind the statement", "write a statement"),
]
LINKS = [
    (f"{HEAD} «addd.f64 %d, %a, %b;", "unknown opcode 'addd'", "'add'"),
    (f"{HEAD} «add{{.rn|.rnn}}.f64 %d, %a, %b;", "unknown modifier or type '.rnn'", "'.rn'"),
    (f"{HEAD} «add.ftz.f64 %d, %a, %b;", "there is no add.ftz.f64", "did you mean 'add."),
    (f"{HEAD} add«.rnd.f64 %d, %a, %b;", "the variant has no name of .rnd", "write {.rnd} if it may be missing"),
    (f"{HEAD} «add.f64 %d, %a, %b;", "uses add.f64 (2 operands) itself", ""),
    (f"{HEAD} «add.rn.f64 %d, %a;", "add.rn.f64 has other operands", "write add.rn.f64 %d, %a, %b"),
    (f"{HEAD} «add.rn.f64 %d, %a, %t;", "%t has no value here", "these have one: %a, %b"),
    (
        f"{HEAD} «add.rn.f64 %d, %a, 0x8000;",
        "does not take the constant 0x8000 there",
        "bits such as 0d3FF0000000000000",
    ),
    (f"{HEAD} «add.rn.f64 %t, %a, %b;", "nothing is written to %d", "the last statement must do that"),
    (f"{HEAD} |\n      «@%p add.rn.f64 %d, %a, %b;", "%p has no value here", ""),
    (f"{HEAD} |\n      «add.rn.f64 %a, %a, %b;", "%a is an operand of add", "write to a register of its own"),
    (f"{HEAD} |\n      add.rn.f64 %d, %a, %b;\n      «add.rn.f64 %t, %a, %b;", "before all operands are read", "last"),
    (f"{HEAD} |\n      add.rn.f64 %d, %a, %b;\n      «add.rn.f64 %d, %a, %b;", "written more than once", "last"),
    (f"{HEAD} «add.rn.f64 %d, %a, $one;", "$one has no value for add.f64", "name it in `where`"),
    (f"{HEAD} |\n      max.f32 %t, 0f3F800000, 0f3F800000;\n      «add.rn.f64 %d, %a, %t;", "is of 32 bits", ""),
    (
        "  - for: add.f64\n    differs: within bound\n    ptx: «add.rn.f64 %d, %a, %b;",
        "NVIDIA's manual gives no bound on the error of add.f64",
        "state another difference",
    ),
]
PROOFS = [
    (
        "  - for: max.f64\n    differs: nothing\n    ptx: «add.rn.f64 %d, %a, %b;",
        "the recipe differs from max.f64: for a = 0.0 0x0p+0 0x0000000000000000; b = -1.5 -0x1.8p+0 "
        "0xbff8000000000000 it returns -1.5 -0x1.8p+0 0xbff8000000000000, not 0.0 0x0p+0 0x0000000000000000",
        "every bit must be the same: fix the recipe, or narrow it with `for:`",
    ),
    (
        "  - for: max.bf16\n    differs: NaN bits\n    ptx: «max.NaN.bf16 %d, %a, %b;",
        "the recipe differs from max.bf16: for a = ",
        "only the bits of a NaN may differ: fix the recipe",
    ),
]


@pytest.mark.parametrize(("path", "mistakes"), [(ADD, SHAPES), (ADD, STATEMENTS), (ADD, LINKS), (MAX, PROOFS)])
def test_mistakes_are_reported_where_they_are(
    project: Project, path: str, mistakes: list[tuple[str, str, str]]
) -> None:
    for opcode in ("mul", "min"):
        (project.root / f"spec/instructions/{opcode}.yaml").unlink()
    text = (project.root / path).read_text("utf-8")
    entries = "\n".join(entry for entry, _, _ in mistakes)
    marked = text.replace("\nnotes:\n", f"\ninstead:\n{entries}\n\nnotes:\n")
    places = [(i, line.index("«") + 1) for i, line in enumerate(marked.splitlines(), 1) if "«" in line]
    project.write(path, marked.replace("«", ""))
    result = project.run("validate")
    assert result.code == 1 and result.err.splitlines()[-1] == f"{len(mistakes)} errors", result.err
    told = result.err.split(f"{path}:")[1:]
    for (line, column), (_, message, help), found in zip(places, mistakes, told, strict=True):
        head, source, caret, *rest = found.splitlines()
        assert head.startswith(f"{line}:{column}: error: ") and message in head, found
        assert help in "\n".join(rest)
        assert caret.index("^") == 3 + column and source.strip()

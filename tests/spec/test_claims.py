"""A claim needs a judge: who judged what is exact, and that a test runs it."""

from __future__ import annotations

import json
import re

from helpers import comparing, integers, mixed
from helpers.groups import GROUPS
from helpers.project import Project
from helpers.repository import specification
from oracles import conversions, judge, narrow

# The spellings that tests run against each judge: emit/test_comparisons.py runs comparisons, emit/test_folding.py what
# is folded, and `check` of helpers/groups.py and of helpers/mixed.py the rest.
RUN = {
    by: {s for spellings in GROUPS.values() for s in spellings if judge.judge_of(s) == by}
    for by in ("MPFR", "definition")
}
RUN["MPFR"].update(s for spellings in mixed.GROUPS.values() for s in spellings)
RUN["definition"] |= {v.spelling for group in comparing.GROUPS.values() for v in group}
RUN["definition"] |= {v.spelling for v in integers.VARIANTS}
for spelling in conversions.spellings():
    RUN[conversions.judge_of(spelling)].add(spelling)
for spelling, _ in narrow.spellings():
    RUN["definition"].add(spelling)
    RUN.setdefault(narrow.judge_of(spelling), set()).add(spelling)
RUN["definition"].update(narrow.without_negative_zeros())
# emit/test_folding.py fails where ptxas does not fold what is said to be judged so.
RUN["ptxas folding"] = {*conversions.spellings(), *(v.spelling for v in (*comparing.FOLDED, *integers.FOLDED))}


def test_a_variant_is_judged_by_whom_it_names() -> None:
    named = 0
    for i in specification().instructions.values():
        for v in i.variants:
            judges = {j.by for j in i.judged if j.selector.matches(v)}
            for by in judges if v.claim == "exact" else ():
                assert v.spelling in RUN.get(by, ()), f"{v} names {by}, and no test runs that on it"
                named += 1
            assert (v.claim == "exact") <= bool(judges), v
    assert named > 300


def test_what_nobody_judged_says_so_everywhere(project: Project) -> None:
    path = project.root / "spec/instructions/mul.yaml"
    text = path.read_text("utf-8")
    project.write("spec/instructions/mul.yaml", re.sub(r"judged:\n(  - .*\n)+", "", text))
    assert project.run("generate").code == 0
    variants = json.loads(project.run("list", "--opcode", "mul", "--format", "json").out)["variants"]
    assert {v["claim"] for v in variants} == {"unjudged"}
    assert "claim   unjudged" in project.run("query", "mul.f32").out
    assert project.run("eval", "mul.f32", "2", "3").out.startswith("mul.f32 (2 operands), unjudged")
    shown = project.run("show", "mul.f32").out
    assert "- claim: unjudged" in shown and "no test judges it" in shown
    assert "| unjudged |" in (project.root / "generated/manual/mul.md").read_text("utf-8")


def test_who_judged_is_said_beside_the_claim(project: Project) -> None:
    assert project.run("generate").code == 0
    assert "tests judge it by MPFR" in project.run("show", "add.rz.f32").out
    assert "tests judge it by its definition, written anew" in project.run("show", "max.f32").out


def test_an_unknown_judge_is_an_error(project: Project) -> None:
    project.edit(
        "spec/instructions/mul.yaml",
        "{for: {types: 1},                                           by: MPFR}",
        "{for: {types: 1}, by: mpfr}",
    )
    result = project.run("validate")
    assert result.code == 1 and "'mpfr' is not allowed here" in result.err and "'MPFR'" in result.err

"""Tests of the forms outside the database: ptxas takes the statement of each exactly where the form says, and knows no
opcode besides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.sizes import each_size, spread
from ptxspec import Database
from ptxspec.model import Spec
from ptxspec.proving.ptxas.asking import Sheet, judge, unexpected
from ptxspec.proving.ptxas.verify import pairs

_UNKNOWN = "Not a name of any known instruction"


@each_size
def test_forms_are_taken_exactly_where_they_are_said_to_be(spec: Spec, ptxas: Path, whole: bool) -> None:
    """Some pairs, or all: so each form is taken at its floor, and refused one PTX version and one target below."""
    forms = [(o.opcode, f) for o in spec.outside.opcodes.values() for f in o.forms]
    statements = Sheet([spec.outside.statements[opcode, f.pattern] for opcode, f in forms])
    every = pairs(spec)
    taken = {
        pair: {i for i, (_, f) in enumerate(forms) if spec.catalog.takes(f.requires, *pair)}
        for pair in (every if whole else spread(every, 24))
    }
    assert len(forms) > 380 and any(taken.values())
    assert list(unexpected(ptxas, statements, taken)) == []


@pytest.mark.exhaustive
def test_a_statement_needs_what_all_forms_that_it_has_need(spec: Spec) -> None:
    """Queries about a statement's spelling say the same as ptxas about the statement."""
    catalog = spec.catalog
    for (opcode, pattern), statement in spec.outside.statements.items():
        about = spec.outside.opcodes[opcode]
        form = next(f for f in about.forms if f.pattern == pattern)
        spelled = re.search(rf"(?<![\w.%]){opcode}((?:\.[\w:]+)*) ?(?=[^.\w:])", statement)
        assert spelled, statement
        names = [n for n in spelled[1].split(".") if n]
        found = about.requires(names, catalog)
        assert found is not None and form.names <= {*names}, statement
        assert [p for p in pairs(spec) if catalog.takes(found, *p) != catalog.takes(form.requires, *p)] == [], statement


def test_opcodes_are_those_that_ptxas_knows(db: Database, ptxas: Path) -> None:
    """Names in the program itself, written as statements: it knows none but those that are here."""
    name = rb"(?<=\0)[a-z][a-z0-9]{1,20}(?:\.[a-z][a-z_0-9]*){0,4}(?=\0)"
    written = {found.decode() for found in re.findall(name, ptxas.read_bytes())}
    tried = sorted({*written, *db.outside, "fabric.submit", "trace.mark"})
    verdicts = judge(ptxas, [f"{name} %r1;" for name in tried], "sm_100a", "9.5")
    known = {n for n, said in zip(tried, verdicts, strict=True) if not any(_UNKNOWN in m for m in said)}
    assert len(known) > 150
    assert {n.partition(".")[0] for n in known} <= {*db.opcodes, *db.outside}


def test_few_opcodes_are_known_by_name_alone(db: Database, ptxas: Path) -> None:
    """ptxas has the names of operations on caches, and calls each statement with them unrecognized."""
    nameless = [name for name, about in db.outside.items() if not about.forms]
    statements = [f"{name}{rest};" for name in nameless for rest in ("", " [%b1]", ".global [%b1]", ".tex.invall")]
    assert nameless == ["cctl", "cctlu"]
    assert all(any("unrecognized" in m for m in said) for said in judge(ptxas, statements, "sm_107a", "9.5"))


@pytest.mark.parametrize("opcode", ["mma", "wgmma", "ldmatrix", "cp", "vadd", "vote", "tcgen05", "atom", "ld", "red"])
def test_the_first_version_and_target_are_those_of_the_plainest_form(db: Database, opcode: str) -> None:
    about = db.outside[opcode]
    assert about.summary and about.section.startswith("9.7.")
    assert (about.ptx, about.target) == (about.forms[0].ptx, about.forms[0].target)

"""The database called from Python: arguments of a wrong type are refused with what they look like."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ptxspec
import pytest

WRONG: list[tuple[Callable[[Any], object], str]] = [
    (lambda db: db.query(None), "a spelling must be a string such as 'max.NaN.f32', not None"),
    (lambda db: db.query(5), "a spelling must be a string such as 'max.NaN.f32', not 5"),
    (lambda db: db.query("add.f32", target=90), "a target must be a string such as 'sm_90', not 90"),
    (lambda db: db.query("add.f32", ptx=8.6), "a PTX version must be a string such as '8.6', not 8.6"),
    (lambda db: db.query("max.f32", operands="2"), "the number of operands must be an int such as 2, not '2'"),
    (lambda db: db.variant(b"max.f32"), "a spelling must be a string such as 'max.NaN.f32', not b'max.f32'"),
    (lambda db: db.available(type=32), "a type must be a string such as 'bf16x2', not 32"),
    (lambda db: db.available(opcode="ad"), "unknown opcode 'ad'; did you mean 'add'?"),
    (lambda db: db.diff_ptx(8.5, "8.6"), "a PTX version must be a string such as '8.6', not 8.5"),
    (lambda db: db.diff_target("sm_80", 90), "a target must be a string such as 'sm_90', not 90"),
    (lambda db: db.lint(b"add.f32"), "PTX must be a string such as 'add.f32 d, a, b;', not b'add.f32'"),
    (lambda db: db.lint("", language="cobol"), "unknown language 'cobol'; known: ptx, c++, python"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_a_wrong_argument_is_refused_with_what_it_looks_like(
    db: ptxspec.Database, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(ptxspec.PtxspecError, match=f"^{re.escape(message)}"):
        call(db)


def test_a_variant_that_does_not_exist_is_explained_as_query_does(db: ptxspec.Database) -> None:
    with pytest.raises(ptxspec.PtxspecError) as raised:
        db.variant("min.nan.f64")
    assert str(raised.value) == (
        "min.f64 has no .nan; it has no modifiers; no variant of min has all of these names; "
        "spelled alike: min.f64 (2 operands), min.NaN.f32 (2 operands), min.NaN.f16 (2 operands)"
    )

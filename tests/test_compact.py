"""Many spellings as few notations: what these are expanded to is what went in, each once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from helpers.properties import given, strategies as st
from helpers.repository import database, specification
from ptxspec.compact import Word, compact, named_in
from ptxspec.read.notation import expand

GROUPS = {"rnd": ("rn", "rz", "rm", "rp"), "bool": ("and", "or", "xor")}
# Optional names, choices, groups, names that never stand apart, one that follows in one line and leads in another.
SYNTAX = (
    (".{eq,ne,lt}{.bool}{.ftz}", ("f32", "f64", "s32.f32", "f32.s32")),
    ("{.rnd}{.ftz}{.sat}", ("f32", "f64")),
    ("{.rn}{.xorsign.abs}", ("f16", "f16x2", "f32.f32")),
    (".rn.satfinite{.relu}", ("e4m3x2.f32", "f32")),
    (".rn{.relu}{.satfinite}", ("f16.f32", "f32")),
    (".rz.scaled::n2::ue8m0", ("bf16x2.e4m3x2",)),
)
ALL: list[Word] = sorted(
    {
        (modifiers, tuple(types.split(".")))
        for line, endings in SYNTAX
        for modifiers in expand(line, GROUPS)
        for types in endings
    }
)


def expanded(texts: Sequence[str], groups: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted(spelled for text in texts for spelled in expand(text, groups))


@given(st.lists(st.sampled_from(ALL), unique=True))
def test_notations_stand_for_exactly_the_spellings(words: list[Word]) -> None:
    texts = compact(words, GROUPS)
    assert expanded(texts, GROUPS) == sorted(modifiers + types for modifiers, types in words)
    assert len(texts) <= len(words)


@given(st.lists(st.sampled_from(ALL), unique=True))
def test_groups_that_are_named_are_told(words: list[Word]) -> None:
    texts = compact(words, GROUPS)
    named = named_in(texts, GROUPS)
    assert expanded(texts, dict(named)) == expanded(texts, GROUPS)
    assert all(any(g in text for text in texts) for g in named)


@pytest.mark.parametrize("words", [ALL, ALL[::-1]], ids=["forwards", "backwards"])
def test_in_whichever_order_spellings_come_notations_are_few(words: list[Word]) -> None:
    assert len(compact(words, GROUPS)) <= sum(len(endings) for _, endings in SYNTAX) < len(words) / 7


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ([".f32"], [".f32"]),
        ([".f32", ".ftz.f32"], ["{.ftz}.f32"]),
        (["{.rnd}{.ftz}.f32x2"], ["{.rnd}{.ftz}.f32x2"]),
        ([".{rn,rz}.f32", ".{rm,rp}.f32"], [".rnd.f32"]),
        ([".{rna,rnd}.f32", ".rna.tf32"], [".{rna,rnd}.f32", ".rna.tf32"]),
        ([".{rn,rz}{.ftz}.f32"], [".{rn,rz}{.ftz}.f32"]),
        (["{.ftz}{.NaN}{.xorsign.abs}.{f16,f16x2}"], ["{.ftz}{.NaN}{.xorsign.abs}.{f16,f16x2}"]),
        (["{.ftz}.NaN.f32", "{.ftz}{.NaN}.{f16,f16x2}"], ["{.ftz}.NaN.f32", "{.ftz}{.NaN}.{f16,f16x2}"]),
        ([".approx{.ftz}.f32", ".f32"], [".approx{.ftz}.f32", ".f32"]),
        ([".{eq,ne}{.bool}.{f32,f64}.{f16,bf16}"], [".{eq,ne}{.bool}.{f32,f64}.{f16,bf16}"]),
    ],
)
def test_notations_are_as_people_write_them(given: list[str], texts: list[str]) -> None:
    types = {"f32", "tf32", "f64", "f16", "f16x2", "f32x2", "bf16"}
    spelled = [names for line in given for names in expand(line, GROUPS)]
    words = [(tuple(n for n in names if n not in types), tuple(n for n in names if n in types)) for names in spelled]
    assert compact(words, GROUPS) == texts


def test_the_specification_is_written_in_few_notations() -> None:
    """Each syntax line's spellings come back as that line, or shorter."""
    spec = specification()
    for i in spec.instructions.values():
        for line in i.syntax:
            words = [(v.modifiers, v.type_names) for v in i.variants if line.gives(v)]
            texts = compact(words, spec.notation)
            assert expanded(texts, dict(spec.notation)) == sorted(m + t for m, t in words)
            assert len(texts) <= 1, line.text


def test_queries_write_variants_as_the_model_does() -> None:
    spec, db = specification(), database()
    for i in spec.instructions.values():
        assert [v.word for v in db.opcodes[i.opcode].variants] == [(v.modifiers, v.type_names) for v in i.variants]
        assert {g: tuple(m) for g, m in db.groups.items()} == dict(spec.notation)

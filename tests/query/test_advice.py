"""No harm: whatever query, lint, explain and the emulator tell somebody to write does at least what was asked for."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

import ptxemu
import pytest
from helpers.sizes import each_size, spread
from ptxspec import Database, Variant
from ptxspec.explain.log import as_text, explanations

pytestmark = pytest.mark.inputs(
    "requirements", "codegen/ptxspec/catalog", "codegen/ptxspec/query", "codegen/ptxspec/proving/ptxas"
)

# Their machine code does something else, on every target that is still compiled for.
HAZARDS = {
    *(
        f"fma.{r}{m}.bf16{x}"
        for r in ("rz", "rm", "rp")
        for m in ("", ".oob", ".relu", ".oob.relu")
        for x in ("", "x2")
    ),
    *(f"rcp.{r}.ftz.f64" for r in ("rn", "rz", "rm", "rp")),
    *(f"cvt.{r}.ftz.pzo.bf16.f32" for r in ("rn", "rz", "rm", "rp")),
    *("cvt.rm.ftz.f16.f32", "cvt.rp.ftz.f16.f32", "cvt.rp.ftz.sat.f16.f32", "cvt.rna.satfinite.tf32.f32"),
    "madc.hi.sat.s32",
}
# On sm_75 and older ones.
OLD_HAZARDS = {"cvt.rn.satfinite.f16.f32", "cvt.rz.satfinite.f16.f32"}
WHERE = [
    (None, None),
    ("sm_13", None),
    ("sm_75", None),
    ("sm_80", "7.0"),
    ("sm_90", None),
    (None, "1.3"),
    (None, "8.6"),
]


def told(text: str) -> list[str]:
    """The spellings that a text says to write, without what it says to be something else."""
    same = text.rpartition("write ")[2].partition("; not the same: ")[0]
    return re.findall(r"\b[a-z]\w*(?:\.[\w:]+)+", same) if "write " in text else []


def hazardous(v: Variant, target: str | None) -> bool:
    """Return whether the machine code is known to do something else, on targets that something still compiles for."""
    old = target is not None and int(target.removeprefix("sm_").rstrip("af")) <= 75
    return (v.spelling in HAZARDS and target not in ("sm_13",)) or (v.spelling in OLD_HAZARDS and old)


def assert_harmless(db: Database, spelled: str, advice: list[str], target: str | None, ptx: str | None) -> None:
    opcode, *names = spelled.split(".")
    # Some modifiers the assembler takes everywhere, and they do nothing there.
    nothing = {n for group in db.data["assembler"]["ignored"] for n in group}.difference(db.opcodes[opcode].names)
    # .nan of a comparison is .NaN where that is what the instruction has.
    own = {n.lower(): n for n in db.opcodes[opcode].names}
    names = [n if n in own.values() else own.get(n.lower(), n) for n in names if n not in nothing]
    asked, types = {n for n in names if n in db.modifiers}, [n for n in names if n in db.types]
    found = db.find(opcode, names, None)
    longer = db.stands_for(found) if found else None
    for spelling in advice:
        v = db.variant(spelling)
        assert list(v.types) == types, (spelled, spelling)
        assert asked <= v.modifiers, (spelled, spelling)
        assert v.manual is not None, (spelled, spelling)
        assert not hazardous(v, target), (spelled, spelling, target)
        assert not found or v.spelling in (found.spelling, longer and longer.spelling), (spelled, spelling)
        same = [w for w in db.variants if w.spelling == v.spelling]
        assert any(db.takes(w, target, ptx) for w in same), (spelled, spelling, target, ptx)


def misspelled(db: Database) -> Iterator[str]:
    """Of every opcode, modifiers and types that do and do not go together."""
    r = random.Random(5)
    modifiers, types = sorted(db.modifiers), sorted(db.types)
    for opcode in db.opcodes:
        for type_, count in itertools.product(r.sample(types, 16), range(4)):
            yield ".".join((opcode, *r.sample(modifiers, count), type_))
        for v in r.sample(db.opcodes[opcode].variants, min(12, len(db.opcodes[opcode].variants))):
            names = v.spelling.split(".")[1:]
            yield ".".join((opcode, *names[:-1], r.choice(types)))
            yield ".".join((opcode, *names[1:]))


def some_misspelled(db: Database, whole: bool) -> list[str]:
    found = list(misspelled(db))
    return found if whole else spread(found, 200)


def test_where_only_a_newer_version_is_missing_recipes_need_an_older_one(db: Database) -> None:
    assert db.query("add.f32x2", target="sm_110", ptx="8.6").instead == ()
    (recipe,) = db.query("max.f32", 3, "sm_120", "8.6").instead
    assert (recipe.requires.ptx, recipe.works) == ("8.7", False)


def test_what_is_marked_as_a_hazard_is_what_is_known_to_be_one(db: Database) -> None:
    assert {v.spelling for v in db.variants if v.hazards} == HAZARDS | OLD_HAZARDS
    assert {v.spelling for v in db.variants if db.catalog.hazard_text(v, "sm_75")} >= OLD_HAZARDS
    assert not any(db.catalog.hazard_text(v, "sm_80") for v in db.variants if v.spelling in OLD_HAZARDS)


def some_of(db: Database, each: int) -> list[Variant]:
    """So many variants of every opcode, and all that are short for others."""
    found = [v for about in db.opcodes.values() for v in spread(list(about.variants), each)]
    return list(dict.fromkeys([*found, *(v for v in db.variants if v.means)]))


@each_size
@pytest.mark.parametrize(("target", "ptx"), WHERE)
def test_a_variant_is_replaced_by_what_does_the_same_only(
    db: Database, target: str | None, ptx: str | None, whole: bool
) -> None:
    replaced = 0
    for v in some_of(db, 200 if whole else 12):
        verdict = db.query(v.spelling, v.operands, target, ptx)
        assert_harmless(db, v.spelling, told(verdict.help), target, ptx)
        said = (
            verdict.instead
            or verdict.no_recipe
            or "no known replacement" in verdict.help
            or "compile for" in verdict.help
        )
        assert verdict.available or told(verdict.help) or said
        replaced += bool(told(verdict.help))
    assert target is None or target < "sm_20" or replaced > 5


@pytest.mark.sampled(3)
@each_size
@pytest.mark.parametrize(("target", "ptx"), WHERE)
def test_a_misspelling_is_mended_by_what_keeps_all_of_it(
    db: Database, target: str | None, ptx: str | None, whole: bool
) -> None:
    mended = 0
    for spelled in some_misspelled(db, whole):
        opcode = spelled.partition(".")[0]
        verdict = db.query(spelled, target=target, ptx=ptx)
        assert_harmless(db, spelled, told(verdict.help), target, ptx)
        mended += bool(told(verdict.help))
        operands = ", ".join("a" for _ in range(db.opcodes[opcode].variants[0].operands + 1))
        for f in db.lint(f"{spelled} {operands};", target, ptx):
            if f.code not in ("excluding-modifiers", "tolerated-spelling"):
                assert_harmless(db, spelled, told(f.help), target, ptx)
    # PTX 1.3 has what was short for something, and little else.
    assert mended > (30 if whole else 0) or ptx == "1.3"


@each_size
def test_the_emulators_errors_say_what_queries_say(db: Database, whole: bool) -> None:
    asked = [(spelled, None, None) for spelled in some_misspelled(db, whole)]
    for target in ("sm_13", "sm_75", "sm_90"):
        asked += [(v.spelling, v.operands, target) for v in some_of(db, 40 if whole else 4)]
    for spelling, operands, target in asked:
        try:
            ptxemu.compile(spelling, operands, target)
        except LookupError as e:
            verdict = db.query(spelling, operands, target)
            said = "; ".join(filter(None, [*(r.message for r in verdict.reasons), verdict.help]))
            # The emulator does not know the sections and floors of what it does not run.
            said = re.sub(r" \(section .*?(?=; here )", "", said)
            assert said in str(e) or "names what is here" in said


@pytest.mark.parametrize(
    ("spelling", "target", "help"),
    [
        ("fma.rn.bf16", "sm_75", "instead: the 17 statements that `ptxspec query fma.rn.bf16 --target sm_75` prints"),
        (
            "max.NaN.f32",
            "sm_75",
            "instead: { .reg .pred %_p; .reg .b32 %_t; setp.nan.f32 %_p, %a, %b; max.f32 %_t, %a, %b; "
            "selp.f32 %d, 0f7FFFFFFF, %_t, %_p; }",
        ),
        ("abs.bf16", "sm_75", "instead: and.b16 %d, %a, 0x7fff;, equal except for the bits of a NaN"),
        ("max.f64", "sm_75", ""),
        (
            "setp.lt.bf16",
            "sm_75",
            "instead: { .reg .b16 %_zero; .reg .b32 %_x, %_y; mov.b16 %_zero, 0; mov.b32 %_x, {%_zero, %a}; "
            "mov.b32 %_y, {%_zero, %b}; setp.lt.f32 %p, %_x, %_y; }",
        ),
        (
            "max.NaN.f64",
            None,
            "instead: { .reg .pred %_p; .reg .b64 %_t; setp.nan.f64 %_p, %a, %b; max.f64 %_t, %a, %b; "
            "selp.f64 %d, 0d7FF8000000000000, %_t, %_p; }, equal except for the bits of a NaN",
        ),
        (
            "add.rz.bf16",
            "sm_75",
            "from sm_80 and PTX 7.0 on, instead: "
            "the 5 statements that `ptxspec query add.rz.bf16 --target sm_75` prints",
        ),
        ("max.ftz.f64", None, "no variant of max has all of these names"),
        ("tanh.f32x2", None, "use a type that it has"),
        ("add.rn.rz.f32", None, "no variant of add has all of these names"),
        ("fma.bf16", None, "write fma.rn.bf16"),
        (
            "fma.f32",
            "sm_13",
            "fma.rn.f32 and fma.rz.f32 and fma.rm.f32 and fma.rp.f32 exist, but not on sm_13; from sm_20, PTX 2.0 on",
        ),
        # These compute different things, and which of them was meant is not known.
        (
            "fma.f32",
            "sm_20",
            "write fma.rn.f32 (round to nearest, ties to even) or fma.rz.f32 (round toward zero) or fma.rm.f32 (round "
            "toward negative infinity) or fma.rp.f32 (round toward positive infinity)",
        ),
        ("sin.f32", "sm_90", "on sm_90, write sin.approx.ftz.f32"),
        # What somebody of today means by it, who does not know what it was short for.
        (
            "sqrt.f32",
            "sm_90",
            "on sm_90, write sqrt.approx.ftz.f32 (a fast approximation, not correctly rounded; flush subnormal "
            "operands and tiny results to zeros of their sign, as sm_1x always does in single precision); not "
            "the same: sqrt.rn.f32 (round to nearest, ties to even)",
        ),
        ("sqrt.f64", "sm_90", "on sm_90, write sqrt.rn.f64"),
        ("mad.f32", "sm_90", "instead: fma.rn.f32 %d, %a, %b, %c;, equal bit for bit as on sm_20 and newer"),
        ("add.foo.f32", None, "write add.f32, without .foo"),
    ],
)
def test_advice_is_plain(db: Database, spelling: str, target: str | None, help: str) -> None:
    assert db.query(spelling, target=target).help == help


def test_beside_an_approximation_stands_what_is_exact_and_is_called_something_else(db: Database) -> None:
    beside = {}
    for v in filter(lambda v: v.means, db.variants):
        verdict = db.query(v.spelling, v.operands, "sm_90")
        other = verdict.not_the_same
        if other:
            assert verdict.help.endswith(f"; not the same: {other}")
            (beside[v.spelling],) = re.findall(r"^[\w.]+", other)
    assert beside == {f"{opcode}.f32": f"{opcode}.rn.f32" for opcode in ("div", "rcp", "sqrt")}
    assert {db.variant(s).claim for s in beside.values()} == {"exact"}


def test_what_is_spelled_alike_is_called_that(db: Database) -> None:
    verdict = db.query("add.bf16", target="sm_80")
    assert verdict.nearest[0].spelling == "add.f32" and not told(verdict.help)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Illegal modifier '.NaN' for instruction 'max.f64'", "max.f64 has no .NaN; it has no modifiers"),
        ("Illegal modifier '.ftz' for instruction 'rcp.rn.f64'", "no rcp.f64 has all of these"),
    ],
)
def test_explain_offers_no_other_format(db: Database, message: str, said: str) -> None:
    text = "\n".join(as_text(explanations(db, [f"ptxas fatal   : {message}"])))
    assert said in text


def test_explain_offers_nothing_that_the_manual_does_not_list(db: Database) -> None:
    def advised(opcode: str) -> list[Variant]:
        text = "\n".join(
            as_text(explanations(db, [f"ptxas fatal   : Illegal rounding modifier for instruction '{opcode}'"]))
        )
        return [db.variant(s) for s in told(text)]

    for opcode in db.opcodes:
        assert all(v.manual is not None and not hazardous(v, None) for v in advised(opcode))

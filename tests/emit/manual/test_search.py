"""The search of the manual: what is asked for comes first, and its verdicts are those of `ptxspec query`."""

from __future__ import annotations

import itertools
import random
import re
import string
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.manual import page
from helpers.repository import database
from helpers.search import FOLDER, Engine
from helpers.sizes import each_size, spread
from ptxspec.query.calls import FunctionCall, every, on
from ptxspec.query.database import Variant
from ptxspec.query.names import targets
from ptxspec.query.verdicts import query

pytestmark = pytest.mark.inputs("manual", "requirements", "codegen/ptxspec/query", "codegen/ptxspec/catalog")

DB = database()
TARGETS = list(DB.targets)
VERSIONS = list(DB.versions)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    found = Engine()
    yield found
    found.close()


def first(results: list[dict[str, Any]]) -> tuple[str, str]:
    """Of what kind the first result is, for a verdict what it says, and its title."""
    assert results
    return results[0]["answer"] or results[0]["kind"], results[0]["title"]


# The answers and titles about functions on targets, without what else a query finds.
_FUNCTIONS = """asked => asked.map(([text, target]) =>
  ptxspec.search.others([{text, dotted: false, head: false, word: 0}], [{target, ptx: null, called: ""}])
    .results.map(({answer, title}) => [answer, title]))"""
_SPELLING = re.compile(r"(?:@!?\S+ )?(\S+).*")

# What people ask, by what the first result says.

QUESTIONS = {
    # Somebody who writes a compiler.
    "add bf16 sm_80": ("no", "add.bf16 is not available on sm_80"),
    "ex2 bf16 PTX 7.0": ("no", "ex2.approx.ftz.bf16 is not available in PTX 7.0"),
    "max NaN f64": ("no", "max.NaN.f64 does not exist"),
    "is fma.rn.relu.f16x2 on sm_75": ("no", "fma.rn.relu.f16x2 is not available on sm_75"),
    "CUDA 12.6": ("CUDA", "CUDA 12.6 supports PTX up to 8.5"),
    "sm_90 PTX 7.0": ("no", "PTX 7.0 does not support sm_90, which requires PTX 7.8"),
    "vadd.u32": ("outside", "vadd is PTX, but this manual does not describe it"),
    # Somebody who writes kernels.
    "fma f32x2 H100": ("no", "fma.rnd{.ftz}.f32x2 are not available on sm_90 (H100)"),
    "tanh.approx.bf16 RTX 4090": ("no", "tanh.approx.bf16 is not available on sm_89 (RTX 4090)"),
    "which target is a B200": ("target", "sm_100"),
    "__fmaf_rn": ("function", "__fmaf_rn"),
    "max f32 three operands sm_90": ("no", "max.f32 is not available on sm_90"),
    "recipes add": ("section", "add: Recipes"),
    "what is .ftz": ("modifier", ".ftz"),
    # Somebody who writes a simulator.
    "accuracy of sin": ("page", "How accurate is sin.approx.f32?"),
    "fusedMultiplyAdd": ("function", "fusedMultiplyAdd"),
    "ties away": ("modifier", ".rna"),
    "fma.rz.bf16 A100": ("yes", "fma.rz.bf16 is available on sm_80 (A100), from PTX 7.0 (CUDA 11.0) on"),
    # Somebody who tests quantisation.
    "cvt e2m1x2 sm_120": (
        "no",
        "No variant of cvt with .e2m1x2 is available on sm_120, but on sm_120a from PTX 8.7 (CUDA 12.8) "
        "and on sm_120f from PTX 8.8 (CUDA 12.9)",
    ),
    "f32 to e4m3x2 sm_89 PTX 8.1": (
        "some", "Some variants of cvt with .f32 and .e4m3x2 are available on sm_89 with PTX 8.1",
    ),
    "cvt.rn.satfinite.e4m3x2.f32 sm_89 PTX 7.8": (
        "no", "cvt.rn.satfinite.e4m3x2.f32 is not available on sm_89 with PTX 7.8, but from PTX 8.1 (CUDA 12.1) on",
    ),
    "fp8": ("type", ".e4m3x2"),
}  # fmt: skip


@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_first_result_answers_what_people_ask(engine: Engine, asked: str) -> None:
    assert first(engine.ask(asked)) == QUESTIONS[asked]


NAMES = {
    "fma": ("opcode", "fma"),
    "FMA": ("opcode", "fma"),
    "fm": ("opcode", "fma"),
    "relu": ("modifier", ".relu"),
    ".NaN": ("modifier", ".NaN"),
    ".nan": ("modifier", ".nan"),
    "bf16": ("type", ".bf16"),
    "H100": ("target", "sm_90"),
    "compute_90": ("target", "sm_90"),
    "sm_100a": ("target", "sm_100a"),
    "PTX 8.6": ("PTX", "PTX 8.6"),
    "CUDA 12.4": ("CUDA", "CUDA 12.4"),
    "bounded": ("claim", "bounded"),
    # Everyday words, which spec/words.yaml has.
    "multiply": ("opcode", "mul"),
    "multiply bf16 sm_80": ("no", "mul.bf16 is not available on sm_80"),
    "isnan": ("variant", "setp.nan{.bool}.{f32,f64}"),
    "half2": ("type", ".f16x2"),
    "int8": ("type", ".s8"),
    "half2 add": ("variant", "add.f16x2"),
    "float to int8": ("variant", "cvt.rni.s8.f32 and 7 more"),
    "quantize": ("opcode", "cvt"),
    "clamp": ("opcode", "max"),
    "saturate": ("modifier", ".sat"),
    "bfloat": ("type", ".bf16"),
    "bfloat16 multiply H100": ("yes", "mul.bf16 is available on sm_90 (H100), from PTX 7.8 (CUDA 11.8) on"),
    "history": ("section", "History"),
    "set and": ("variant", "set.cmp.and.{u32,s32,f32}.{f32,f64} and 162 more"),
    "max abs": ("variant", "max{.ftz}{.NaN}.abs.f32"),
    "add bf16": ("variant", "add.bf16"),
    # Words that are none, and what is meant by them.
    "tahn": ("opcode", "tanh"),
    "mxa": ("opcode", "max"),
    "add bf61 sm_80": ("no", "add.bf16 is not available on sm_80"),
    "fmaa f32x2 sm_100": ("yes", "fma.rnd{.ftz}.f32x2 are available on sm_100, from PTX 8.6 (CUDA 12.8) on"),
    "sm_95": ("no", "sm_95 is unknown"),
    "PTX 9.9": ("no", "PTX 9.9 is unknown"),
    "max.nan.f16 sm_80": ("yes", "max.NaN.f16 is available on sm_80, from PTX 7.0 (CUDA 11.0) on"),
    "rcp.f64 sm_80": ("no", "rcp.f64 is not available on any target"),
    "tanh.bf16": ("no", "tanh.bf16 does not exist"),
    # Functions of CUDA C++ and libdevice.
    "fmaf": ("function", "fmaf"),
    "__nv_fmaf": ("function", "__nv_fmaf"),
    "sqrtf H100": ("yes", "sqrtf on sm_90 (H100): sqrt.rn.f32"),
    "sinf sm_80": ("yes", "sinf on sm_80: software"),
    "fmaf sm_52": ("no", "fmaf is not compiled for sm_52"),
    "__hmul3": ("function", "__hmul2(__half2, __half2)"),
    "tl.exp2 H100": ("yes", "tl.exp2(fp32) on sm_90 (H100): ex2.approx.ftz.f32"),
    "libdevice.fast_expf": ("function", "libdevice.fast_expf"),
    "llvm.nvvm.fma.rn.bf16 H100": ("yes", "llvm.nvvm.fma.rn.bf16 on sm_90 (H100): fma.rn.bf16"),
    "math.exp H100": ("yes", "math.exp(float) on sm_90 (H100): several instructions with ex2.approx.ftz.f32"),
    "fptosi": ("function", "fptosi(double to i32)"),
    "tl.exp2 sm_70": ("no", "tl.exp2(fp32) is not compiled for sm_70"),
    # Other instructions of PTX.
    "mma": ("yes", "mma has a page of its own"),
    "vadd": ("outside", "vadd is PTX, but this manual does not describe it"),
    "is wgmma on H100": ("outside", "wgmma is PTX, but this manual does not describe it"),
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": ("yes", "mma has a page of its own"),
    "tensor core": ("section", "Tensor cores"),
    # What people look for in words of the field, which spec/words.yaml has.
    "unordered": ("modifier", ".equ"),
    "ulp": ("page", "Errors in units in the last place (ulp)"),
    "MUFU": ("page", "Special function unit (MUFU) in machine code"),
    "mxfp8": ("page", "Block scales of tensor cores"),
    "ldmatrix": ("outside", "ldmatrix is PTX, but this manual does not describe it"),
    "round to nearest even": ("modifier", ".rn"),
    "what is round toward zero": ("modifier", ".rz"),
    "add round toward zero f16": ("variant", "add.rz{.sat}.f32.f16"),
    "count leading zeros": ("opcode", "clz"),
    "count leading zeros b64": ("variant", "clz.b64"),
    "byte permute": ("opcode", "prmt"),
    "popcount": ("opcode", "popc"),
    "f32 to bf16": ("variant", "cvt.rnd{.ftz}.bf16.f32 and cvt.{rn,rz}.relu.bf16.f32"),
    "half to float": ("variant", "cvt.f32.f16"),
    "what is new in PTX 9.0": ("PTX", "PTX 9.0"),
    "exit codes": ("page", "JSON and exit codes"),
    "vscode": ("page", "Editors"),
    "tid.x": ("register", "%tid"),
    "family-specific": ("page", "Family-specific and architecture-specific targets"),
}


@pytest.mark.parametrize("asked", NAMES)
def test_what_is_called_so_comes_first(engine: Engine, asked: str) -> None:
    assert first(engine.ask(asked)) == NAMES[asked]


def test_a_function_is_told_by_what_nvcc_makes_of_it(engine: Engine) -> None:
    half, bfloat = (r for r in engine.ask("__hmul2") if r["title"].startswith("__hmul2("))
    assert half["text"].startswith("from sm_75 on: one instruction, mul.f16x2.")
    assert bfloat["text"] == (
        "from sm_90 on: one instruction, mul.bf16x2; sm_80 to sm_89: mov.b32, fma.rn.bf16x2; sm_75: software."
    )
    assert (half["link"], bfloat["link"]) == ("mul.html#mul.f16x2", "mul.html#mul.bf16x2")
    there = next(r for r in engine.ask("__hmul2 A100") if "bfloat" in r["title"])
    assert there["title"] == "__hmul2(__nv_bfloat162, __nv_bfloat162) on sm_80 (A100): mov.b32, fma.rn.bf16x2"


def test_every_function_is_told_as_query_tells_it(engine: Engine) -> None:
    calls: dict[str, list[FunctionCall]] = {}
    for c in every(DB):
        if c.name.isidentifier() and c.name != c.gives and c.name not in DB.opcodes:
            calls.setdefault(c.name, []).append(c)
    asked = [(name, target) for name in calls for target in ("sm_75", "sm_90", "sm_121a")]
    wrong = []
    for (name, target), found in zip(asked, engine.run(_FUNCTIONS, asked), strict=True):
        told = [title.partition(": ")[2] for answer, title in found if answer == "yes"]
        made = [b for c in calls[name] for b in on(DB, c, target).becomes]
        texts = {", ".join(_SPELLING.sub(r"\1", s) for s in b.statements) or "software" for b in made}
        wrong += [f"{name} on {target}: {t}" for t in told if not t.startswith("several") and t not in texts]
        wrong += [f"{name} on {target}: {found}"] * (bool(made) != bool(told))
    assert not wrong


def test_another_instruction_is_told_with_its_section_and_needs(engine: Engine) -> None:
    text = engine.ask("mma")[0]["text"]
    assert "Section 9.7.16, Warp-level matrices. Requires sm_70, PTX 6.4." in text
    asked = {opcode: engine.ask(opcode)[0]["title"] for opcode in DB.other_opcodes}
    assert asked.pop("mma") == "mma has a page of its own"
    assert asked == {opcode: f"{opcode} is PTX, but this manual does not describe it" for opcode in asked}


def test_what_was_read_as_something_else_is_said(engine: Engine) -> None:
    assert engine.ask("add bf61 sm_80")[0]["text"].startswith(
        "\N{LEFT DOUBLE QUOTATION MARK}bf61\N{RIGHT DOUBLE QUOTATION MARK} read as .bf16."
    )
    assert engine.ask("max.nan.f16 sm_80")[0]["text"] == "PTX writes .NaN, not .nan."
    assert "Did you mean sm_35" in engine.ask("sm_95")[0]["text"]


def test_a_bare_number_is_read_as_all_that_it_may_be(engine: Engine) -> None:
    titles = [r["title"] for r in engine.ask("add.bf16 8.0")]
    assert "add.bf16 is available in PTX 8.0" in titles
    assert "add.bf16 is not available on sm_80" in titles


def test_different_answers_are_told_for_each_group(engine: Engine) -> None:
    some, *groups = engine.ask("mul bf16x2 sm_90")[:3]
    assert (some["answer"], {g["answer"] for g in groups}) == ("yes", {"yes", "no"})
    overview, *each = engine.ask("hopper ampere fma.rn.oob.f16")
    assert overview["title"] == "fma.rn.oob.f16: on sm_90; not on sm_80, sm_86, sm_87 and sm_88"
    assert [r["answer"] for r in each[:5]].count("yes") == 1


def test_a_hazard_is_told_with_the_variant_where_no_place_is_named(engine: Engine) -> None:
    variant, *_ = engine.ask("fma.rz.bf16")
    assert variant["hazard"] and variant["text"].startswith("Hazard: do not use it. Requires sm_80, PTX 7.0.")
    # It may hold on some targets, be these older ones.
    variant, *_ = engine.ask("cvt.rn.satfinite.f16.f32")
    assert variant["hazard"] and variant["text"].startswith("Hazard on sm_70, sm_72 and sm_75: do not use it there.")
    variant, *_ = engine.ask("cvt.rm.ftz.f16.f32")
    assert variant["hazard"] and variant["text"].startswith("Hazard from sm_75 on: do not use it there.")
    variant, *_ = engine.ask("fma.rn.bf16")
    assert not variant["hazard"] and variant["text"].startswith("Requires sm_80, PTX 7.0.")


def test_a_gpu_that_has_something_as_another_kind_of_its_target_is_not_refused_it_alone(engine: Engine) -> None:
    verdict, *_ = engine.ask("fp4 b200")
    assert verdict["answer"] == "no"
    assert verdict["title"].endswith(
        ", but on sm_100a from PTX 8.6 (CUDA 12.8) and on sm_100f from PTX 8.8 (CUDA 12.9)"
    )


def test_what_to_write_instead_is_a_recipe_alone(engine: Engine) -> None:
    """A variant that exists and is spelled alike is shown as one, and never as what to write instead."""
    verdict, exists, *_ = engine.ask("max NaN f64 sm_90")
    assert verdict["text"] == "`ptxspec query max.NaN.f64` says why, and what to write instead."
    assert (exists["kind"], exists["title"]) == ("variant", "max.f64")
    assert [r["link"] for r in engine.ask("add bf16 sm_80") if r["kind"] == "recipe"] == ["add.html#recipes"]


# Verdicts


def place(ptx_too: bool, number: int, v: Variant) -> tuple[str | None, str | None]:
    """A target and a PTX version, one of which may be missing; half of the time near to what a variant needs."""
    chance = random.Random(number)
    near = chance.random() < 0.5
    target: str | None = chance.choice(TARGETS)
    ptx: str | None = chance.choice(VERSIONS)
    if near:
        place = min(TARGETS.index(v.requires.target) + chance.randrange(3), len(TARGETS) - 1)
        target = TARGETS[place]
        floor = max(VERSIONS.index(v.requires.ptx), VERSIONS.index(DB.targets[target].ptx))
        ptx = VERSIONS[min(max(floor + chance.randrange(-1, 2), 0), len(VERSIONS) - 1)]
    return (target, ptx if ptx_too else None) if number % 4 else (None, ptx)


def shuffled(v: Variant, number: int) -> str:
    """Its name with the modifiers in another order."""
    opcode, *names = v.spelling.split(".")
    modifiers = names[: len(names) - len(v.types)]
    random.Random(number).shuffle(modifiers)
    return ".".join((opcode, *modifiers, *v.types))


@each_size
def test_verdicts_are_those_of_ptxspec_query(engine: Engine, whole: bool) -> None:
    variants = list(itertools.chain(*[DB.variants] * 2)) if whole else spread(DB.variants, 120)
    variants += [v for v in DB.variants if v.crash or v.requires.until][:12]
    asked, wanted = [], []
    for number, v in enumerate(variants):
        target, ptx = place(bool(number % 3), number, v)
        where = " ".join(([target] if target else []) + ([f"PTX {ptx}"] if ptx else []))
        asked.append(f"{shuffled(v, number)} {v.operands} operands {where}")
        said = query(DB, v.spelling, v.operands, target, ptx)
        offers = not said.available and target is not None and any(o.works for o in said.instead)
        # Where no target is named, on any of those that take it.
        where_taken = [t for t in ([target] if target else TARGETS) if DB.takes(v, t, ptx)]
        hazard = any(DB.catalog.hazards(v, t) for t in where_taken)
        wanted.append((v.spelling, v.operands, "yes" if said.available else "no", hazard, offers))
    program = "queries => queries.map(q => ptxspec.search.ask(q).slice(0, 2))"
    for text, results, (spelling, operands, answer, hazard, offers) in zip(
        asked, engine.run(program, asked), wanted, strict=True
    ):
        verdict, *more = results
        told = (verdict["spelling"], verdict["operands"], verdict["answer"], verdict["hazard"])
        assert told == (spelling, operands, answer, hazard), (text, verdict["title"])
        assert bool(more and more[0]["kind"] == "recipe") == offers, (text, more)
    assert {answer for _, _, answer, _, _ in wanted} == {"yes", "no"}


@each_size
def test_a_refusal_names_what_queries_name(engine: Engine, whole: bool) -> None:
    """Of variants that all newer targets have, what they need of target and PTX version."""
    plain = [v for v in DB.variants if not (v.crash or v.requires.on or v.requires.until or v.requires.within)]
    older = [v for v in plain if v.requires.target != TARGETS[0]]
    chosen = older if whole else spread(older, 40)
    asked = [f"{v.spelling} {v.operands} operands {TARGETS[0]}" for v in chosen]
    program = "queries => queries.map(q => ptxspec.search.ask(q)[0]).map(r => [r.title, r.text])"
    for v, (title, text) in zip(chosen, engine.run(program, asked), strict=True):
        assert (
            title.endswith(f" is not available on {TARGETS[0]}") and text == f"Requires {DB.catalog.text(v.requires)}."
        ), title


@each_size
def test_what_does_not_exist_is_refused_as_queries_refuse_it(engine: Engine, whole: bool) -> None:
    """The names of one variant with the types of another."""
    chance, made = random.Random(16), []
    pool = [v for v in DB.variants if v.modifiers]
    for v in spread(pool, 600 if whole else 60):
        opcode = chance.choice(list(DB.opcodes))
        modifiers = [m for m in v.spelling.split(".")[1:] if m in v.modifiers]
        types = chance.choice(DB.opcodes[opcode].types)
        if all(m in DB.opcodes[opcode].names for m in modifiers):
            made.append((opcode, [*modifiers, *types]))
    program = "queries => queries.map(q => ptxspec.search.ask(q).slice(0, 2))"
    answers = engine.run(program, [".".join((o, *names)) for o, names in made])
    told = set()
    for (opcode, names), results in zip(made, answers, strict=True):
        said = query(DB, ".".join((opcode, *names)))
        verdict, *_ = results
        if said.exists:
            assert verdict["spelling"] == said.variant and verdict["kind"] == "variant"
            continue
        if verdict["text"].startswith("PTX writes"):
            # Read in other letters, as queries advise.
            assert verdict["spelling"] == said.nearest[0].spelling
            continue
        assert verdict["answer"] == ("outside" if said.outside else "no"), (opcode, names, verdict["text"])
        told.add(verdict["answer"])
    assert told >= {"no"}


# What it stands on


def test_names_of_gpus_are_read_as_queries_read_them(engine: Engine) -> None:
    products = [row[0] for row in DB.data["products"]]
    shorter = [re.sub(r"^(GeForce|Quadro|Tesla|Jetson|NVIDIA) ", "", name) for name in products]
    architectures = sorted({t.architecture for t in DB.targets.values() if t.architecture})
    asked = [*spread(products, 60), *spread(shorter, 60), *architectures, "ada", "4090", "RTX A6000", "h100"]
    found = engine.run("names => names.map(n => ptxspec.search.targets(n.split(' ')))", asked)
    order = {t: i for i, t in enumerate(TARGETS)}
    for name, meant in zip(asked, found, strict=True):
        assert sorted(meant, key=order.__getitem__) == targets(DB, name), name


def test_links_lead_somewhere(engine: Engine) -> None:
    entries = engine.run("_ => ptxspec.search.data.entries.map(e => e[2])", None)
    sections = engine.run("_ => ptxspec.search.data.sections", None)
    links = {*entries, *(f"{name}#{anchor}".rstrip("#") for name, found in sections.items() for _, anchor in found)}
    links |= {f"history.html#{t}" for t in TARGETS} | {f"history.html#ptx-{v}" for v in VERSIONS}
    spellings = {f"{v.opcode}.html#{v.spelling}" for v in DB.variants}
    for link in links:
        name, _, anchor = link.partition("#")
        assert (FOLDER / name).is_file(), link
        assert not anchor or link in spellings or anchor in page(FOLDER / name).ids, link


def test_callers_of_a_function_are_those_on_the_page_of_functions(engine: Engine) -> None:
    entries = engine.run("_ => ptxspec.search.data.entries", None)
    told = {link.partition("#")[2]: uses for _, _, link, *_, uses in entries if link.startswith("functions.html#")}
    html = (FOLDER / "functions.html").read_text("utf-8")
    documented = re.findall(r'<dt id="(\w+)">(.*?)</dd>', html, re.DOTALL)
    assert {name for name, _ in documented} == told.keys()
    for name, text in documented:
        assert told[name] == re.findall(r'href="(\w+)\.html#semantics"', text), name


def test_every_heading_that_a_link_can_lead_to_is_found(engine: Engine) -> None:
    sections = engine.run("_ => ptxspec.search.data.sections", None)
    for path in FOLDER.glob("*.html"):
        written = re.findall(r'<h[1-6] id="([^"]+)"', path.read_text("utf-8"))
        assert sorted(written) == sorted(anchor for _, anchor in sections[path.name] if anchor), path.name


def test_nonsense_is_answered_by_no_error(engine: Engine) -> None:
    chance = random.Random(5)
    letters = string.ascii_letters + string.digits + " .:_-{}()[]\\/*+?^$|\"'<>&\N{GREEK SMALL LETTER PI}"
    texts = [
        "",
        " ",
        ".",
        "..",
        "a.",
        ".a.",
        "sm_",
        "PTX",
        "PTX x",
        "3 operands",
        "sm_80 sm_90 PTX 8.0 PTX 7.0",
        "add." * 300,
    ]
    texts += ["".join(chance.choices(letters, k=chance.randrange(1, 40))) for _ in range(60)]
    texts += [
        " ".join(chance.choices([*DB.opcodes, *DB.opcodes["cvt"].names, *TARGETS, "to", "PTX", "8.0", "3"], k=4))
        for _ in range(40)
    ]
    for results in engine.run("texts => texts.map(ptxspec.search.ask)", texts):
        assert len(results) <= 12
        assert all(r["title"] and r["link"] and isinstance(r["text"], str) for r in results)


@pytest.mark.exhaustive
def test_it_is_small_and_answers_before_the_next_letter(engine: Engine) -> None:
    """Before all of its data could be read for words sixteen times: the best of three for each letter."""
    assert (FOLDER / "search.data.js").stat().st_size <= 280_000
    for path in FOLDER.glob("search*.js"):
        assert path.name == "search.data.js" or path.read_text("utf-8").count("\n") <= 400
    program = """([data, texts]) => {
      const best = work => Math.min(...[0, 1, 2].map(() => {
        const start = process.cpuUsage();
        work();
        const {user, system} = process.cpuUsage(start);
        return user + system;
      }));
      const letters = texts.flatMap(text => [...text].map((_, i) => text.slice(0, i + 1)));
      const slowest = Math.max(...letters.map(query => best(() => ptxspec.search.ask(query))));
      return slowest / best(() => new Set(data.toLowerCase().match(/\\w+/g)));
    }"""
    texts = ["cvt.rn.satfinite.e4m3x2.f32 blackwell", "what is subnormal", "set eq bf16 sm_90", "xyzzy f99"]
    ratio = engine.run(program, [(FOLDER / "search.data.js").read_text("utf-8"), texts])
    assert ratio < 16

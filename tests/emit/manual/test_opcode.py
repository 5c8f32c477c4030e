"""The page of an opcode: its links to variants, its tables, and what folds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from helpers import ROOT
from helpers.browser import Visits
from helpers.manual import FOLDER, page, shown, spelled
from helpers.node import printed
from helpers.repository import checked, database, specification
from helpers.sizes import each_size, spread
from ptxspec.emit.parts import Parts
from ptxspec.emit.products.manual.calling import callers, functions_of
from ptxspec.emit.products.manual.opcode import SECTIONS
from ptxspec.evaluate import emulator
from ptxspec.model import Kind
from ptxspec.read.cells import agrees, members, parse_value
from ptxspec.roots import find
from ptxspec.semantics.exact.rounding import round_to
from ptxspec.semantics.functions import TABLE

SPEC = specification()
DB = database()
OPCODES = list(SPEC.instructions)
EMULATOR = emulator(find(ROOT))
TRUTH: dict[str, str | bool] = {"true": True, "false": False}


def html(name: str) -> str:
    return (FOLDER / f"{name}.html").read_text("utf-8")


def plain(text: str) -> str:
    """The text of a piece of HTML."""
    return unescape(re.sub(r"<[^>]*>", "", text))


# Links to variants

LANDING = """
const fs = require("fs");
const [, folder] = process.argv;
const [pages, links] = JSON.parse(fs.readFileSync(0, "utf-8"));
const listeners = {}, made = () => ({append() {}, textContent: ""});
let here = null;
global.addEventListener = (event, act) => { listeners[event] = act; };
global.location = {};
global.document = {
  createElement: made,
  getElementById: id => id === "no-variant" ? here.status : here.cards.find(c => c.id === id) ?? null,
  querySelector: () => ({textContent: here.opcode}),
  querySelectorAll: asked => asked === "details.card" ? here.cards : here.cards.filter(c => c.marked),
};
const load = name => (0, eval)(fs.readFileSync(`${folder}/${name}`, "utf-8"));
load("catalog.data.js");
load("catalog.js");
const found = [];
for (const [opcode, cards] of Object.entries(pages)) {
  here = {opcode, status: {hidden: true, replaceChildren() {}, scrollIntoView() {}}};
  here.cards = cards.map(([id, operands, texts, snippet]) => {
    const code = {textContent: snippet, parentElement: {}}, card = {
      id, dataset: {operands}, localName: "details", open: false, marked: false, parentElement: null, texts, code,
      scrollIntoView() {}, querySelector: asked => asked === ".snippet code" ? code : null,
      querySelectorAll: () => texts.map(textContent => ({textContent})),
    };
    card.classList = {
      contains: name => name === "card", add() { card.marked = true; }, remove() { card.marked = false; },
    };
    return card;
  });
  load("variants.js");
  for (const hash of links[opcode]) {
    here.cards.forEach(c => { c.open = false; });
    location.hash = hash;
    listeners.hashchange();
    const opened = here.cards.filter(c => c.open && c.marked);
    found.push([hash, here.status.hidden, opened.map(c => [c.dataset.operands, c.texts, c.code.textContent])]);
  }
}
console.log(JSON.stringify(found));
"""


def cards(opcode: str) -> list[tuple[str, int, list[str], str]]:
    """Id, number of operands, notations and snippet of each card."""
    found = []
    for part in html(opcode).split('<details class="card')[1:]:
        id, operands = re.search(r'id="([^"]*)" data-operands="(\d+)"', part).groups()  # type: ignore[union-attr]
        forms = re.findall(r'class="forms">(.*?)</(?:span></?\w|p>|span>\n)', part, re.DOTALL)
        texts = [plain(code) for form in forms for code in re.findall("<code>(.*?)</code>", form)]
        snippet = re.search(r'class="snippet"><a[^>]*><code>(.*?)</code>', part).group(1)  # type: ignore[union-attr]
        found.append((id, int(operands), texts, plain(snippet)))
    return found


@pytest.mark.sampled(0)
@each_size
def test_a_link_to_any_variant_opens_its_card_and_names_it(whole: bool) -> None:
    """With the number of operands always, as in max.html#max.NaN.f32-2, and in another order of modifiers."""
    links, wanted = {}, {}
    for opcode, i in SPEC.instructions.items():
        some = i.variants if whole else spread(i.variants, 30)
        links[opcode] = [f"#{v.spelling}-{v.operands}" for v in some]
        links[opcode] += [f"#{'.'.join((opcode, *reversed(v.modifiers), *v.type_names))}" for v in some]
        wanted[opcode] = [*some, *some]
    landed = printed(LANDING, [{o: cards(o) for o in OPCODES}, links], str(FOLDER))
    every = [v for variants in wanted.values() for v in variants]
    assert len(landed) == len(every)
    for v, (hash, silent, opened) in zip(every, landed, strict=True):
        assert silent and len(opened) == 1, hash
        ((operands, texts, snippet),) = opened
        assert v.spelling in [name for text in texts for name in spelled(text)], hash
        assert snippet.split(" ")[0] == v.spelling
        fewest = min(w.operands for w in SPEC.instructions[v.opcode].variants if w.form[:2] == v.form[:2])
        assert operands == (v.operands if re.search(r"-\d$", hash) else fewest), hash


def test_a_card_is_called_after_one_of_its_variants() -> None:
    """So that a link to that one leads there without a script."""
    for opcode in OPCODES:
        for id, operands, texts, _ in cards(opcode):
            spelling, _, counted = id.partition("-")
            assert spelling in [name for text in texts for name in spelled(text)]
            assert counted in ("", str(operands))


@pytest.mark.exhaustive
def test_what_a_variant_stands_for_is_reached_without_a_script() -> None:
    reached = 0
    for opcode in OPCODES:
        links = re.findall(r'<dt>Short for<dd><a href="#([^"]*)">', html(opcode))
        assert set(links) <= set(page(FOLDER / f"{opcode}.html").ids)
        reached += len(links)
    assert reached


@pytest.mark.exhaustive
def test_links_in_a_browser(visit: Visits) -> None:
    page = visit("fma.html#fma.bf16.rn")
    assert "not a variant of fma" in page.inner_text("#no-variant") and page.is_visible("#no-variant")
    near = page.locator("#no-variant a").first
    assert near.inner_text() == "fma.rn.bf16"
    near.click()
    card = page.locator(".card.target")
    assert card.get_attribute("open") is not None and "sm_80" in card.inner_text()
    assert card.locator(".snippet code").inner_text() == "fma.rn.bf16 d, a, b, c;"
    assert not page.is_visible("#no-variant")
    page.goto(page.url.partition("#")[0] + "#corner-cases")
    assert page.is_visible("#corner-cases table")


# The syntax


@pytest.mark.parametrize("opcode", OPCODES)
def test_the_syntax_is_that_of_the_file_and_each_name_leads_to_its_explanation(opcode: str) -> None:
    i = SPEC.instructions[opcode]
    section = html(opcode).partition('<section class="syntax">')[2].partition("</section>")[0]
    shown_lines = [x for b in re.findall(r'<pre class="syntax">(.*?)</pre>', section, re.DOTALL) for x in b.split("\n")]
    lines = [line for line in map(plain, shown_lines) if line.startswith(opcode)]
    assert [line.split()[0] for line in lines][: len(i.syntax)] == [s.text.split()[0] for s in i.syntax]
    # Types of operands are told in words, not in the notation of the file.
    assert not any(re.search(r"\w:[a-z]|=|\[", line.partition("//")[0].partition(" ")[2]) for line in lines)
    assert {f"#{id}" for id in page(FOLDER / f"{opcode}.html").ids} >= set(re.findall(r'href="(#name-[^"]*)"', section))
    for line in i.syntax:
        for name in set(re.findall(r"[.{,](\w+)", line.text.split()[0])) & set(SPEC.notation):
            defined = re.search(rf'id="name-{name}"><i class="v">.{name}</i> = (.*?)</span>', section)
            assert defined and plain(defined[1]) == f"{{ {', '.join('.' + m for m in SPEC.notation[name])} }}"


def test_facts_of_all_lines_are_told_once_and_others_at_their_lines() -> None:
    def text(opcode: str) -> str:
        return (FOLDER / f"{opcode}.md").read_text("utf-8").partition("\n## Syntax")[2].partition("\n## ")[0]

    assert "- c has type .pred; a ! before it negates it." in text("setp")
    assert "add{.rnd}{.sat}.f32.{f16,bf16} d, a, b    // b has the type of d\n" in text("add")
    assert "mad.wide.s16 d, a, b, c    // d and c have type .s32\n" in text("mad")
    assert "- t is a 32-bit integer constant." in text("lop3")
    carries = text("addc")
    assert "- The instruction also reads the condition code." in carries
    assert "addc.cc.{u32,s32,u64,s64} d, a, b    // The instruction also sets the condition code\n" in carries
    assert "in `add.f32.f16`, the result has type `.f32` and `a` has type `.f16`" in text("add")


# Comparisons

HOLDS = {
    "a < b": lambda a, b: a < b, "a \N{LESS-THAN OR EQUAL TO} b": lambda a, b: a <= b, "a = b": lambda a, b: a == b,
    "a \N{NOT EQUAL TO} b": lambda a, b: a < b or a > b, "a > b": lambda a, b: a > b,
    "a \N{GREATER-THAN OR EQUAL TO} b": lambda a, b: a >= b, "a or b is NaN": lambda a, b: a != a or b != b,
    "neither a nor b is NaN": lambda a, b: a == a and b == b,
}  # fmt: skip
DTYPES = {"f32": np.float32, "f64": np.float64, "s32": np.int32, "u32": np.uint32, "s64": np.int64, "u16": np.uint16}


@pytest.mark.parametrize("opcode", [i.opcode for i in SPEC.instructions.values() if i.comparisons])
def test_a_comparison_is_true_where_its_table_says(opcode: str) -> None:
    text = (FOLDER / f"{opcode}.md").read_text("utf-8").partition("\n## Comparisons")[2].partition("\n## ")[0]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")]
    i = SPEC.instructions[opcode]
    named = {(name[2:-1], t[1:]) for name, _, _, _, types, _ in rows for t in re.findall(r"\.\w+", types)}
    groups = {m for g in i.comparisons for m in SPEC.groups[g]}
    assert named == {(n, v.sources[0].type.name) for v in i.variants for n in groups.intersection(v.modifiers)}
    tried = 0
    for name, holds, of_nan, kind, types, _ in rows:
        assert kind == {"true": "unordered", "false": "ordered"}.get(of_nan, "\N{EN DASH}")
        for t, dtype in DTYPES.items():
            if f"`.{t}`" not in types:
                continue
            some = [v for v in i.variants if name[2:-1] in v.modifiers and v.sources[0].type.name == t]
            v = min(some, key=lambda v: len(v.modifiers))
            few = [*(dtype(x) for x in (0, 1, 2)), *([dtype(np.nan)] if t[0] == "f" else [])]
            for a, b in itertools.product(few, few):
                found = bool(EMULATOR.compile(v.spelling, v.operands)(a, b))
                assert found == any(HOLDS[part](a, b) for part in holds.split(", or ")), (v.spelling, a, b)
                if a != a or b != b:
                    assert str(found).lower() == of_nan, (v.spelling, a, b)
                tried += 1
    assert tried > 500


# What stands in the tables


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opcode", spread(OPCODES, 8))
def test_availability_is_what_the_queries_say(opcode: str) -> None:
    text = (FOLDER / f"{opcode}.md").read_text("utf-8").partition("## Availability")[2].partition("\n## ")[0]
    head, _, *rows = ([c.strip() for c in x.strip("|").split("|")] for x in text.splitlines() if x.startswith("|"))
    order = {p: i for i, p in enumerate(SPEC.versions)}
    for place, title in enumerate(head[1:], 1):
        # The first and the last of its targets, or kinds that take more than their base.
        for target in re.findall(r"sm_\w+", title):
            assert SPEC.targets[target].ptx in title or re.search(r"PTX \d.*(?: to |, )", title), title
            known = SPEC.targets[target].ptx
            for ptx in spread(list(SPEC.versions)[order[known] :], 4):
                said = {n for row in rows if takes(row[place], known, ptx, order) for n in variants_of(row[0])}
                wanted = {shown(v) for v in DB.available(target=target, ptx=ptx) if v.opcode == opcode}
                assert said == wanted, (target, ptx)


@pytest.mark.parametrize("opcode", OPCODES)
def test_the_newest_targets_stand_first(opcode: str) -> None:
    text = (FOLDER / f"{opcode}.md").read_text("utf-8").partition("\n## Availability")[2].partition("\n## ")[0]
    head = next(line for line in text.splitlines() if line.startswith("| variants"))
    newest = max(t.order for t in SPEC.targets.values() if not t.base)
    last = [newest if "and newer" in title else max(orders(title)) for title in head.strip("| ").split(" | ")[1:]]
    assert newest in last[:3] and last == sorted(last, reverse=True)


def orders(title: str) -> list[int]:
    return [SPEC.targets[name].order for name in re.findall(r"sm_\w+", title)]


def takes(cell: str, known: str, ptx: str, order: Mapping[str, int]) -> bool:
    """Return whether a cell says that a target, new in PTX version `known`, takes its row with a PTX version."""
    said = cell.rstrip("!")
    if said == "yes":
        return True
    since, _, until = said.replace("up to", f"{known} to").partition(" to ")
    return bool(since) and order[since] <= order[ptx] <= order[until or ptx]


def variants_of(cell: str) -> set[str]:
    counted = re.search(r" with (\d) operands?", cell)
    names = [name for text in re.findall(r"`(\S+)`", cell) for name in spelled(text)]
    return {f"{name} ({counted[1]})" for name in names} if counted else set(names)


def test_each_recipe_says_for_every_variant_from_where_on_it_works() -> None:
    """No "on sm_20 or sm_80" that leaves open which of them holds for which variant, or number of operands."""
    for opcode, i in SPEC.instructions.items():
        said = set()
        for heads in re.findall(
            r"^(`.*); (?:may differ: |equal bit for bit )", (FOLDER / f"{opcode}.md").read_text("utf-8"), re.MULTILINE
        ):
            for part in re.split(r"; (?=`)", heads):
                cell, _, requires = part.partition(" requires ")
                said |= {(name, requires) for name in variants_of(cell)}
        # What stands for another, as cos.f32 does, has no recipe in the file.
        made = [(v, x) for v in i.variants for x in SPEC.instead.get(v, ()) if x.recipe in i.recipes]
        wanted = {(shown(v), SPEC.catalog.text(x.requires)) for v, x in made}
        of = ((v, x) for v, found in SPEC.missing.items() if v.opcode == opcode for x in found)
        assert said == wanted | {(shown(v), SPEC.catalog.text(x.requires)) for v, x in of}


def test_machine_code_tells_variants_apart_that_are_spelled_alike() -> None:
    for opcode in OPCODES:
        text = (FOLDER / f"{opcode}.md").read_text("utf-8").partition("## Machine code")[2].partition("\n## ")[0]
        cells = [line.split(" | ")[0].strip("| ") for line in text.splitlines() if line.startswith("| `")]
        told = [name for cell in cells for name in variants_of(cell)]
        assert len(told) == len(set(told)), opcode


def test_a_card_shows_a_hazard_where_one_is_known() -> None:
    for opcode, i in SPEC.instructions.items():
        text = html(opcode)
        assert ('id="hazards"' in text) == bool(i.hazards or i.crashes)
        warned = {name for part in re.findall(r'<details class="card hazardous".*?</summary>', text, re.DOTALL)
                  for code in re.findall("<code>(.*?)</code>", part) for name in spelled(plain(code))}  # fmt: skip
        assert warned <= {v.spelling for v in i.variants if v.hazards or v.crash}
        assert bool(warned) == any(v.hazards or v.crash for v in i.variants)


@pytest.mark.parametrize("opcode", [o for o in OPCODES if 'class="classes"' in html(o)])
def test_special_operands_give_what_the_emulator_gives(opcode: str) -> None:
    """Those of the first variant, where the table names one value for each operand."""
    text = html(opcode).partition('<section class="specials">')[2]
    spelling = plain(re.search(r"<p>The table shows the results of <code>(.*?)</code>", text).group(1))  # type: ignore[union-attr]
    table = text.partition('class="classes"')[2].partition("</table>")[0]
    rows = re.findall(r"<tr><td>(.*?)</td><td class=\"result\">(.*?)</td>", table)
    asked = [(operands, plain(result)) for cell, result in rows for operands in re.findall(r"operands\">(.*?)<", cell)]
    v = min((v for v in SPEC.instructions[opcode].variants if v.spelling == spelling), key=lambda v: v.operands)
    kernel = EMULATOR.compile(spelling, v.operands)
    one_each = [(o, r) for o, r in asked if not re.search("subnormal|largest|about", o + r)]
    assert one_each
    for operands, told in one_each:
        kinds = [s.kind for s in v.sources]
        classes = [quiet(o, k) for o, k in zip(operands.split(", "), kinds, strict=True)]
        for given in itertools.product(*classes):
            found = kernel(*(np.array(x, f"u{k.storage // 8}") for x, k in zip(given, kinds, strict=True)))
            result = int(found) & ((1 << v.result.kind.width) - 1)
            named = {s.name: x for s, x in zip(v.sources, given, strict=True)}
            assert is_what_is_told(told, result, v.result.kind, named), (spelling, operands, told, given)


def quiet(operand: str, kind: Kind) -> list[int]:
    """The members of a cell: of NaN the quiet ones of both signs, so that no two operands need be the same."""
    found = members(parse_value("qNaN" if operand == "NaN" and kind.format.is_ieee else operand, ()), kind)
    return [*{sign | x for x in found for sign in ((0, kind.format.sign_bit) if operand == "NaN" else (0,))}]


def is_what_is_told(told: str, result: int, kind: Kind, named: dict[str, int]) -> bool:
    sign_bit = kind.format.sign_bit if kind.format else 0
    if m := re.fullmatch(r"(\w+) without its sign", told):
        return result == named[m[1]] & ~sign_bit
    if (m := re.fullmatch(r"-(\w+)", told)) and m[1] in named:
        return result == named[m[1]] ^ sign_bit
    if m := re.fullmatch(r"sign of (\w+), payload of (\w+)", told):
        return result == (named[m[1]] & sign_bit | named[m[2]] & ~sign_bit)
    if m := re.fullmatch(r"(\S+) with the sign of (\w+)", told):
        sign = result & sign_bit == named[m[2]] & sign_bit
        return sign and is_what_is_told(m[1], result & ~sign_bit, kind, named)
    value = parse_value(TRUTH.get(told, told), tuple(named))
    if kind.format and value.kind == "number":
        # The shortest decimal of its format.
        return result == round_to(value.number, kind.format, "roundTiesToEven", False, value.negative)
    return agrees(value, result, named, kind)


def test_operands_in_a_cell_are_told_from_each_other() -> None:
    """A label that two equal operands would give is not that of all."""
    told = {
        plain(o): r
        for o, r in re.findall(r'operands">([^<]*)</span> </td><td class="result">([^<]*)<', html("copysign"))
    }
    assert told["NaN, NaN"] == "sign of a, payload of b"
    assert told["+1.0, NaN"] == "b without its sign" and told["NaN, +1.0"] == "1.0 with the sign of a"


# Semantics


def test_every_function_that_semantics_calls_is_explained() -> None:
    ids = set(page(FOLDER / "functions.html").ids)
    assert set(TABLE) <= ids
    for opcode in OPCODES:
        text = html(opcode)
        semantics = text.partition('<section class="semantics">')[2].partition("</section>")[0]
        code = "".join(re.findall("<pre.*?</pre>", semantics, re.DOTALL))
        called = {m for m in re.findall(r"\b(\w+)\(", plain(code)) if m in TABLE}
        assert called <= set(re.findall(r'href="functions.html#(\w+)"', semantics))


def test_words_of_comments_are_no_calls() -> None:
    text = "def size(x):\n    return magnitude(x)  # not negate(x)\n\n# maximum(a, b)\nd = size(minimum(a, b))"
    code = replace(SPEC.instructions["max"].semantics, text=text)
    assert functions_of([code]) == {"magnitude", "minimum"}


def test_an_operator_calls_the_function_of_the_kinds_of_its_operands() -> None:
    called = callers(SPEC, checked().values(), Parts())
    assert "mul24" in called["multiplyIntegers"] and "mul24" not in called["multiplication"]
    assert {"mul", "mad"} <= {*called["multiplication"]} & {*called["multiplyIntegers"]}
    assert {"selp", "abs"} <= {*called["select"]}


@pytest.mark.parametrize("opcode", OPCODES)
def test_the_pseudo_code_is_that_of_the_file(opcode: str) -> None:
    i = SPEC.instructions[opcode]
    first = re.search(r"<pre data-path[^>]*>(.*?)</pre>", html(opcode), re.DOTALL)
    assert first and plain(first.group(1)) == i.semantics.text
    numbers = [int(n) for n in re.findall(r'data-line="(\d+)"', first.group(1))]
    assert [i.semantics.lines[n - 1].strip() for n in numbers] == [x.strip() for x in i.semantics.text.split("\n")]


# The page as a whole


@pytest.mark.parametrize("opcode", OPCODES)
def test_sections_stand_in_their_order(opcode: str) -> None:
    text = html(opcode)
    order = [s.id for s in SECTIONS]
    there = re.findall(r'<h2 id="([^"]*)">', text)
    found = [id for id in there if id in order]
    assert found == [id for id in order if id in found]
    assert {"syntax", "availability", "semantics", "accuracy", "variants", "requirements", "sources"} <= set(found)
    contents = text.partition('<nav class="contents"')[2].partition("</nav>")[0]
    assert re.findall(r'href="#([^"]*)"', contents) == found


def test_anchors_that_were_there_once_are_there_still() -> None:
    ids = set(page(FOLDER / "fma.html").ids)
    assert {"syntax", "semantics", "nan", "corner-cases", "hazards", "recipes", "notes", "claims"} <= ids
    assert "functions" in page(FOLDER / "max.html").ids and "accuracy" in page(FOLDER / "ex2.html").ids
    assert {"requirements", "variants"} <= ids


@pytest.mark.parametrize("opcode", [i.opcode for i in SPEC.instructions.values() if i.missing])
def test_what_ptx_has_nowhere_stands_with_its_recipe(opcode: str) -> None:
    found = [(FOLDER / f"{opcode}.{kind}").read_text("utf-8") for kind in ("html", "md")]
    assert all("Spellings that do not exist in PTX" in text for text in found)
    for entry in SPEC.instructions[opcode].missing:
        first = entry.variants[0]
        recipe = next(x.ptx for x in SPEC.missing[first] if x.recipe is entry.recipe)
        assert f'id="missing-{first.spelling}"' in found[0]
        assert all(recipe in unescape(text) for text in found)

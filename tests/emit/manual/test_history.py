"""The manual agrees with queries on what each PTX version and target brought, and on their CUDA, drivers and GPUs."""

from __future__ import annotations

import re
from functools import cache

from helpers.manual import FOLDER, page, shown, spelled
from helpers.repository import database, specification
from helpers.sizes import each_size, spread
from ptxspec.catalog import names

SPEC = specification()
DB = database()


@cache
def sections() -> dict[str, str]:
    """The parts that history.html folds, by their anchors."""
    html = (FOLDER / "history.html").read_text("utf-8")
    return dict(re.findall(r'<details class="release" id="(.*?)">(.*?)</details>', html, re.DOTALL))


def variants(html: str) -> list[str]:
    texts = re.findall("<code>(.*?)</code>", html)
    return sorted(name for text in texts for name in spelled(text.replace("<wbr>", "")))


@each_size
def test_a_ptx_version_brought_and_ended_what_the_queries_say(whole: bool) -> None:
    versions = list(SPEC.versions)
    steps = list(zip(["", *versions], versions, strict=False))
    for old, new in steps if whole else spread(steps, 12):
        begun, _, ended = sections()[f"ptx-{new}"].partition("<h4>")
        head = begun.partition("</summary>")[0].replace(",", "")
        added, removed = DB.diff_ptx(old, new) if old else (DB.available(ptx=new), [])
        assert (variants(begun), variants(ended)) == (sorted(map(shown, added)), sorted(map(shown, removed))), new
        assert set(re.findall('href="#(sm_.*?)"', begun)) == {t.name for t in SPEC.targets.values() if t.ptx == new}
        assert f" {len(added) or 'no'} new variant" in head
        assert (f" {len(removed)} removed" in head) == bool(removed)


def test_a_target_brought_the_variants_of_which_it_is_the_oldest() -> None:
    for t in SPEC.targets.values():
        first = sorted(shown(v) for v in DB.variants if v.requires.target == t.name and not v.crash)
        assert variants(sections()[t.name]) == first


def test_the_newest_stand_first() -> None:
    targets, versions = list(SPEC.targets), [f"ptx-{p}" for p in SPEC.versions]
    assert list(sections()) == [*versions[::-1], *targets[::-1]]


def test_cuda_and_drivers_are_those_of_versions_and_targets() -> None:
    rows = {cells[0]: [*cells[1:-1], cells[-1].split("\n")[0]] for cells in page(FOLDER / "releases.html").rows}
    for v in DB.versions.values():
        known = ", ".join(t.name for t in DB.targets.values() if t.ptx == v.version)
        assert rows[v.version] == [v.cuda or "none", v.linux, v.windows, known]
    for t in DB.targets.values():
        left_out = f"CUDA {t.gone}" if t.gone else "not yet" if t.nvcc else ""
        assert rows[t.name] == [t.capability, t.architecture, t.ptx, t.cuda, left_out, "instructions"]


def test_every_product_stands_at_its_target() -> None:
    html = (FOLDER / "releases.html").read_text("utf-8")
    found = dict(re.findall(r'<dt><a href="#(sm_\w+)">.*?<dd>(.*?)\n', html))
    wanted = {t: ", ".join(p.name for p in names.products(DB, t)) for t in DB.targets if not DB.targets[t].base}
    assert found == {t: sold for t, sold in wanted.items() if sold}


def test_the_family_of_an_f_kind_is_told() -> None:
    html = (FOLDER / "releases.html").read_text("utf-8")
    for t in DB.targets.values():
        runs_on = dict.fromkeys(f.capability for f in DB.catalog.family(t.name)) if t.kind == "family" else None
        told = re.search(rf"<li><code>{t.name}</code> on (.*?)</li>", html)
        assert (told[1] if told else None) == (", ".join(runs_on) if runs_on else None)

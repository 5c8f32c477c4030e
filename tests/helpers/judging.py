"""The record of who judged what: tests that hold variants against somebody outside write it down once they have passed,
and spec/observed/judged/ is what a run of all of them wrote."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from ptxspec.check.claims import FIXED, JUDGE_AGAIN, JUDGES
from ptxspec.check.judged import digests
from ptxspec.emit.generate import build, compare, generate
from ptxspec.files import replace_text
from ptxspec.model import JUDGED, Judgement, Spec
from ptxspec.semantics.compile import Compiler
from ptxspec.specification import read

from helpers import ROOT
from helpers.passed import Passed

# By whom, the spelling, and the number of operands.
Ran: TypeAlias = tuple[str, str, int]
Judged = Callable[[str, Iterable[tuple[str, int]]], None]
_RAN = pytest.StashKey[list[Ran]]()
# The name of a report's attribute: workers send reports with all that they have.
_SENT = "judged"

# Options of pytest by which fewer tests run.
_FEWER = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "stepwise")


class Judging:
    """The plugin that collects what sweeps judged, and holds the files against that; with --record-judged it writes the
    files, and what no test of the run was about stays in them while its program does. What tests judged that are not
    run again, as they passed with the same inputs, is there already."""

    def __init__(self, config: pytest.Config, root: Path = ROOT, passed: Passed | None = None) -> None:
        self._config, self._root, self._passed = config, root, passed
        self._ran: set[Ran] = set()
        self._skipped = 0
        self._said: list[str] = []

    @pytest.fixture
    def judged(self, request: pytest.FixtureRequest) -> Judged:
        """Tells that a judge finds variants right, each its spelling and the number of its operands: it counts once the
        test has passed."""
        ran = request.node.stash.setdefault(_RAN, [])

        def by(judge: str, variants: Iterable[tuple[str, int]]) -> None:
            assert judge in JUDGES
            ran.extend((judge, *v) for v in variants)

        return by

    def pytest_sessionstart(self) -> None:
        """Read the specification before any test runs. The emulator is what is judged, and the digests are to be those
        of what it was made from, whatever is edited while tests run."""
        if self._config.option.record_judged and not self._is_worker:
            if compare(self._root, build(self._root)):
                pytest.exit("generated/ is not what spec/ gives: run `ptxspec generate`", pytest.ExitCode.USAGE_ERROR)
            self._spec = read(self._root)

    @property
    def _left_out(self) -> int:
        return self._passed.left_out if self._passed else 0

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
        report = yield
        if call.when == "call" and (ran := item.stash.get(_RAN, None)) is not None:
            setattr(report, _SENT, ran)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed:
            self._ran.update((by, spelling, n) for by, spelling, n in getattr(report, _SENT, ()))
        self._skipped += report.skipped and hasattr(report, _SENT)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        option, passed = self._config.option, session.exitstatus == pytest.ExitCode.OK
        named = self._config.args_source is not pytest.Config.ArgsSource.TESTPATHS
        fewer = named or any(getattr(option, name, None) for name in _FEWER)
        exhaustive = option.markexpr == "exhaustive"
        all_asked = exhaustive and not fewer
        if self._is_worker or option.collectonly:
            return
        if option.record_judged:
            self._said = [
                self._recorded(all_asked and not self._skipped and not self._left_out)
                if passed
                else "nothing is recorded"
            ]
        elif passed and all_asked and self._skipped:
            self._said = [f"{self._skipped} tests that judge were skipped: {JUDGED} was not held against the others"]
        elif passed and exhaustive and (all_asked or self._ran) and (wrong := self._wrong(all_asked)):
            self._said = [f"{JUDGED} does not say what the tests judged; `{JUDGE_AGAIN}` writes it anew", *wrong]
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self._said:
            terminalreporter.write_line(line)

    def _wrong(self, all_asked: bool) -> list[str]:
        return differences(read(self._root), self._ran, whole=all_asked and not self._left_out)

    def _recorded(self, ran_all: bool) -> str:
        found = judgements(self._spec, self._ran)
        kept = set() if ran_all else (written(self._spec) & present(self._spec)) - found
        texts = as_yaml(found | kept)
        (self._root / JUDGED).mkdir(exist_ok=True)
        for path in (self._root / JUDGED).iterdir():
            if path.stem not in texts:
                path.unlink()
        for opcode, text in texts.items():
            replace_text(self._root / f"{JUDGED}{opcode}.yaml", text)
        generate(self._root)
        return f"{JUDGED} and generated/ are written: {len(found)} judgements of this run, {len(kept)} of earlier ones"


def judgements(spec: Spec, ran: Iterable[Ran]) -> set[Judgement]:
    """Return what was judged, with the digests of the present programs. Results that nobody fixes are left out, as no
    judge can say that they are right."""
    programs = own_digests(spec)
    return {Judgement(by, s, programs[s, n]) for by, s, n in ran if (s, n) in programs}


def own_digests(spec: Spec) -> dict[tuple[str, int], str]:
    """Of the variants all of whose bits are fixed."""
    compiler, found = Compiler(spec), {}
    for i in spec.instructions.values():
        fixed = [v for v in i.variants if v.claim in FIXED]
        found.update({v.key: own for v, (own, *_) in digests(i, fixed, compiler).items()})
    return found


def written(spec: Spec) -> set[Judgement]:
    """Return the judgements in the files."""
    return {j for js in spec.judgements.values() for j in js}


def present(spec: Spec) -> set[Judgement]:
    """All judgements that could be made of the present programs."""
    return {Judgement(by, s, program) for (s, _), program in own_digests(spec).items() for by in JUDGES}


def differences(spec: Spec, ran: Iterable[Ran], whole: bool) -> list[str]:
    """Return the differences between the files and what tests judged; where only some ran, the files may have more."""
    said, found = written(spec), judgements(spec, ran)
    more = [f"  no test judged this: {j.by}: {j.variant} {j.program}" for j in sorted(said - found if whole else ())]
    return more + [f"  not in the files: {j.by}: {j.variant} {j.program}" for j in sorted(found - said)]


def as_yaml(found: Iterable[Judgement]) -> dict[str, str]:
    """The files by opcode: the variants by judges and program."""
    by: Mapping[tuple[str, str], set[str]] = defaultdict(set)
    for j in found:
        by[j.variant, j.program].add(j.by)
    opcodes: dict[str, dict[str, dict[str, list[str]]]] = {}
    for (variant, program), judges in sorted(by.items()):
        opcode, _, names = variant.partition(".")
        together = opcodes.setdefault(opcode, {}).setdefault(", ".join(j for j in JUDGES if j in judges), {})
        together.setdefault(program, []).append(f".{names}")
    return {opcode: "\n".join(_lines(entries)) + "\n" for opcode, entries in opcodes.items()}


def _lines(entries: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    yield "# yaml-language-server: $schema=../../schema/judged.schema.json"
    yield f"# Written by `{JUDGE_AGAIN}`; do not edit."
    yield "judges:"
    for judges, programs in sorted(entries.items()):
        yield f"  {judges}:"
        yield from (f"    {program}: {' '.join(names)}" for program, names in programs.items())

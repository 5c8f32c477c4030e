"""Sweeps that passed whole, each with the digest of all that its result depends on: while that is the same, it is not
run again. `pytest -m exhaustive --record-passed` writes the list, and `--again` runs what is in it too.

A sweep says by `pytest.mark.inputs` what it judges, and by which part of the program. The code of the tests that its
module imports, the versions of Python, NumPy and the compilers, and the kind of processor count for each."""

from __future__ import annotations

import ast
import hashlib
import platform
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ptxspec.files import replace_text

from helpers import ROOT

PATH = ROOT / "tests/passed.txt"
_HEAD = "# Sweeps that passed whole. Written by `pytest -m exhaustive --record-passed`; do not edit.\n"
_EMULATOR = "generated/python/ptxemu"
_WHOLE = {
    "emulator": (_EMULATOR, "*"),
    "native": ("generated/native/src", "*"),
    "statements": (f"{_EMULATOR}/ptx", "*"),
    "requirements": (f"{_EMULATOR}/opcodes", "*"),
    "kernels": ("generated/cuda", "*"),
    "manual": ("generated/manual", "*"),
    "specification": ("spec", "*.yaml"),
}
# Modules of the emulator that say what exists, or what PTX is, or run statements one after another, or multiply
# matrices: no instruction's result depends on them. Nor does it on the names that the package exports.
_SAYING = (
    "assembler", "assembly", "catalog", "chosen", "conditions", "entries", "functions", "index", "layouts", "lookup",
    "matrices_in_c", "matrix_steps", "memory", "naming", "notebook", "refusing", "rows", "sparse", "statements",
    "steps", "straightline", "sums", "tensor", "tensor_cores", "threads", "traced_sums", "triton", "variables", "warp",
)  # fmt: skip
# C that loads kernels, which tests that always run are about, and that of matrices.
_NOT_COMPUTING = ("module", "matrices")
_TOLD_PACKAGES = ("catalog", "matrices", "opcodes", "ptx")


# Files of the specification that answer questions, and on which nothing that is computed depends; so are those that
# machines write.
_TOLD = ("llvm", "messages", "mlir", "outside", "special_registers", "triton", "words")
# Marks that say when a test runs, and not what it asks.
_MARKS = tuple(f"pytest.mark.{name}" for name in ("exhaustive", "inputs", "sampled"))


class Passed:
    """The plugin that leaves out what has passed, and records what passes."""

    def __init__(self, config: pytest.Config, root: Path = ROOT) -> None:
        self._config, self._root, self._path = config, root, root / PATH.relative_to(ROOT)
        # By sweep: how many tests it has, and its digest.
        self._sweeps: dict[str, tuple[int, str]] = {}
        self._names: dict[str, str] = {}
        self._passed: dict[str, int] = defaultdict(int)
        self._left_out = 0
        self._said = ""

    @property
    def _worker(self) -> dict[str, Any] | None:
        return getattr(self._config, "workeroutput", None)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        option = self._config.option
        if option.markexpr != "exhaustive" or option.collectonly:
            return
        sweeps: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if marks := [n for m in item.iter_markers("inputs") for n in m.args]:
                sweeps[name_of(item, marks)].append(item)
        known = {} if option.record_passed or option.record_judged or option.again else read(self._path)
        found = {name: (len(tests), digest(self._root, tests)) for name, tests in sweeps.items()}
        left_out = [t for name, tests in sweeps.items() if known.get(name) == found[name] for t in tests]
        without = set(left_out)
        items[:] = [item for item in items if item not in without]
        self._config.hook.pytest_deselected(items=left_out)
        self._left_out = len(left_out)
        self._sweeps = {name: entry for name, entry in found.items() if known.get(name) != entry}
        self._names = {t.nodeid: name for name in self._sweeps for t in sweeps[name]}

    def pytest_sessionfinish(self) -> None:
        if self._worker is not None:
            self._worker["passed"] = (self._sweeps, self._names, self._left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker collects what all workers do."""
        if sent := getattr(node, "workeroutput", {}).get("passed"):
            sweeps, self._names, self._left_out = sent
            self._sweeps = {name: (count, own) for name, (count, own) in sweeps.items()}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._passed[report.nodeid] += 1
        elif report.failed:
            self._passed[report.nodeid] = -1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._worker is None and self._left_out:
            terminalreporter.write_line(f"{self._left_out} tests passed before with the same inputs: not run again")
        if self._worker is None and self._config.option.record_passed:
            terminalreporter.write_line(self._recorded())

    @property
    def left_out(self) -> int:
        """The number of tests that were left out, as they had passed."""
        return self._left_out

    def _recorded(self) -> str:
        """Write down each sweep all tests of which passed."""
        counts: dict[str, int] = defaultdict(int)
        for nodeid, name in self._names.items():
            counts[name] += self._passed.get(nodeid, 0) == 1
        passed = {name: entry for name, entry in self._sweeps.items() if counts[name] == entry[0]}
        before = {name: entry for name, entry in read(self._path).items() if name not in self._sweeps}
        entries = {name: entry for name, entry in before.items() if self._is_there(name)} | passed
        replace_text(self._path, _HEAD + "".join(f"{own} {n} {name}\n" for name, (n, own) in sorted(entries.items())))
        return f"{PATH.relative_to(ROOT)} is written: {len(passed)} of {len(self._sweeps)} sweeps passed whole"

    def _is_there(self, name: str) -> bool:
        path, _, test = name.partition(" of ")[0].partition("::")
        file = self._root / path
        return file.is_file() and f"def {test.rpartition('::')[2]}(" in file.read_text("utf-8")


def name_of(item: pytest.Item, inputs: Iterable[str]) -> str:
    """A sweep is the cases of a test with the same inputs, and where the emulator runs with the same vectors: machines
    of two kinds are recorded beside each other."""
    kinds = sorted(inputs)
    on = f" on {_processor() or 'no vectors'}" if any(kind.startswith("emulator") for kind in kinds) else ""
    return f"{item.nodeid.partition('[')[0]} of {', '.join(kinds)}{on}"


def read(path: Path) -> dict[str, tuple[int, str]]:
    """The list: by sweep the number of its tests, and its digest."""
    if not path.is_file():
        return {}
    lines = (line.split(" ", 2) for line in path.read_text("utf-8").removeprefix(_HEAD).splitlines())
    return {name: (int(count), own) for own, count, name in lines}


def digest(root: Path, tests: list[pytest.Item]) -> str:
    """The digest of what the result of a sweep depends on."""
    fixtures = {f for t in tests for f in getattr(t, "fixturenames", ())}
    files = imported(root, tests[0].path)
    kinds = {name for m in tests[0].iter_markers("inputs") for name in m.args}
    files |= {p for kind in kinds for p in inputs(root, kind)}
    if "judged" in fixtures:
        files |= set((root / "spec/observed/judged").glob("*.yaml"))
    found = hashlib.sha256("\n".join(_machine()).encode())
    if any(kind.startswith("emulator") for kind in kinds):
        found.update(_processor().encode())
    own = tests[0].path, tests[0].nodeid.partition("[")[0].rpartition("::")[2]
    for path in sorted(files):
        digested = content(path, own[1] if path == own[0] else "")
        found.update(f"\n{path.relative_to(root).as_posix()} {digested}".encode())
    return found.hexdigest()[:20]


def inputs(root: Path, name: str) -> set[Path]:
    """The files of what a sweep judges: of all that is generated, or of an opcode's emulator or extension module as
    `emulator:sin` and `native:sin`, or a module of the emulator with all that it imports as `runtime:arithmetic`, or
    one path."""
    kind, _, opcode = name.partition(":")
    if kind == "runtime":
        return _with_imports(root / _EMULATOR / f"{opcode}.py")
    if kind not in _WHOLE:
        path = root / name
        assert path.exists(), f"no input is called {name}"
        return {path} if path.is_file() else _below(path)
    folder, pattern = _WHOLE[kind]
    files = _below(root / folder, pattern) - {root / f"spec/{told}.yaml" for told in _TOLD}
    files -= _below(root / "spec/observed") | _below(root / "spec/tensor")
    if kind == "native":
        files = {p for p in files if p.stem not in _NOT_COMPUTING}
    if kind == "native" and opcode:
        others = {p.stem for p in _below(root / "spec/instructions")} - {opcode}
        files = {p for p in files if p.suffix != ".c" or p.stem not in others}
    if kind == "emulator":
        package = root / _EMULATOR
        files -= {p for p in files if p.parent.name in _TOLD_PACKAGES or p.stem in _SAYING}
        files.discard(package / "__init__.py")
        if opcode:
            shared = {p for p in files if p.parent == package or p.suffix == ".h" or p.stem == "__init__"}
            own = {p for p in files - shared if p.stem == opcode or p.stem.startswith(f"{opcode}_")}
            assert own, f"there is no emulator of {opcode}"
            files = shared | own
    return files


def _with_imports(module: Path) -> set[Path]:
    """A module, and those beside it that it imports."""
    found: set[Path] = set()
    left = [module]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            tree = ast.parse(path.read_text("utf-8"))
            beside = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level == 1]
            names = [name for n in beside for name in ([n.module] if n.module else [a.name for a in n.names])]
            left += [path.with_name(f"{name}.py") for name in names]
    return found


def _below(folder: Path, pattern: str = "*") -> set[Path]:
    return {p for p in folder.rglob(pattern) if p.is_file() and "__pycache__" not in p.parts}


def imported(root: Path, module: Path) -> set[Path]:
    """The file of a test, and those of all helpers and oracles that it imports, but for those that record."""
    found: set[Path] = set()
    left = [module]
    while left:
        path = left.pop()
        if path not in found and path.stem not in ("judging", "passed"):
            found.add(path)
            left += [root / "tests" / name for name in _imports(path) if (root / "tests" / name).is_file()]
    return found


@cache
def _imports(path: Path) -> frozenset[str]:
    """The paths that helpers or oracles may have that a module imports: a name in `from` may be a module or not."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
    return frozenset(f"{n.replace('.', '/')}.py" for n in names if n.partition(".")[0] in ("helpers", "oracles"))


@cache
def _processor() -> str:
    """The vectors that the processor has: NumPy and the kernels in C choose by them."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text("utf-8").split()) if info.exists() else set[str]()
    return " ".join(sorted(flags & {"avx2", "fma", "avx512f", "avx512dq"}))


@cache
def _machine() -> tuple[str, ...]:
    compiler = shutil.which("cc")
    version = ""
    if compiler:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    nvidia = sorted(f"{d.name} {d.version}" for d in metadata.distributions() if (d.name or "").startswith("nvidia-"))
    about = [np.__version__, platform.python_version(), platform.machine(), version.partition("\n")[0], *nvidia]
    return tuple(about)


@cache
def content(path: Path, test: str = "") -> str:
    """The digest of a file without its comments, also those of the semantics; of a module of tests without those
    that are not `test`."""
    data = path.read_bytes()
    kind = Path(path.name.removesuffix(".j2")).suffix
    if path.suffix == ".py":
        data = _code(path, test).encode()
    elif kind == ".yaml":
        data = re.sub(rb"^ *#.*\n", b"", data, flags=re.MULTILINE)
    elif kind in (".c", ".cu", ".cuh", ".h"):
        data = b" ".join(re.sub(rb'/\*.*?\*/|//[^\n]*|digest\[\] = "\w+"', b"", data, flags=re.DOTALL).split())
    return hashlib.sha256(data).hexdigest()


def _code(path: Path, test: str) -> str:
    """A module without its comments, docstrings and marks, which change no result, without the digest of C, which is
    looked at itself, and of a module of tests without the others."""
    tree = ast.parse(path.read_text("utf-8"))
    left_out = ("pytestmark", "NATIVE")
    tree.body = [n for n in tree.body if not (isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) in left_out)]
    if test:
        others = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_"))
        without = {n.name for n in others} - {test}
        tree.body = [n for n in tree.body if not (isinstance(n, ast.FunctionDef) and n.name in without)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [d for d in node.decorator_list if not ast.unparse(d).startswith(_MARKS)]
    for node in _documented(tree):
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


def _documented(tree: ast.AST) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            yield node

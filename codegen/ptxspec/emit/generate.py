"""spec/ -> generated/, whole or not at all."""

from __future__ import annotations

import compileall
import ctypes
import difflib
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

from .. import cache, specification
from ..diagnostics import PtxspecError
from ..files import only_one
from ..model import Instruction, Spec
from . import changes
from .parts import NONE, Parts
from .registry import make
from .text import Files, Templates, encoded

_NEW = ".generated-new"
_OLD = ".generated-old"


@dataclass(frozen=True)
class Changes:
    """The paths below generated/ that differ from the specification. `told` describes the differences in terms of
    variants, one per line."""

    added: list[str]
    changed: list[str]
    removed: list[str]
    total: int
    told: list[str]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def build(root: Path) -> Files:
    """Return every generated file as text, by its path below generated/. Raises SpecError, PtxspecError."""
    # The digests come first: a file edited during the run must not be kept under its new digest.
    now, name = specification.digests(root), f"parts {root.resolve()}"
    found = specification.load(root)
    spec = found.right()
    key = f"{now.shared} {now.generator}"
    made, compiled = cache.read(name, key) or ({}, {})
    depending = {i.opcode: _depends_on(spec, i, now) for i in spec.instructions.values()}
    parts = Parts({NONE: _digest(repr([*spec.instructions]).encode()), **depending}, now.templates, made)
    templates = Templates(root, compiled)
    files = make(spec, found.checked, templates, parts)
    if specification.digests(root) == now:
        cache.keep(name, key, (parts.made(), templates.compiled))
    return files


def _depends_on(spec: Spec, instruction: Instruction, digests: specification.SourceDigests) -> str:
    """Return the digest of everything that an opcode's parts depend on, besides what all opcodes share: its file, what
    its recipes need of other opcodes, and the names that a page lists."""
    offered = [spec.instead.get(v, ()) for v in instruction.variants]
    offered += [spec.missing.get(v, ()) for entry in instruction.missing for v in entry.variants]
    recipes = [(x.ptx, x.requires, x.promise) for every in offered for x in every]
    own = digests.instructions[f"{instruction.opcode}.yaml"]
    return _digest(repr((own, recipes, *spec.instructions)).encode())


def check(root: Path) -> tuple[Changes, Files]:
    """Return the changes that `generate` would make, and the files that should exist; no files if generated/ is
    unchanged since `generate`. Raises SpecError, PtxspecError."""
    name, key = f"generated {root.resolve()}", specification.digests(root).whole
    made: dict[str, str] | None = cache.read(name, key)
    if made is not None and made == _digests(root):
        return Changes([], [], [], len(made), []), {}
    files = build(root)
    if specification.digests(root).whole == key:
        cache.keep(name, key, {n: _digest(encoded(text)) for n, text in files.items()})
    return compare(root, files), files


def compare(root: Path, files: Files) -> Changes:
    """Return the changes that would bring generated/ to these files."""
    present, wanted = _digests(root), {n: _digest(encoded(text)) for n, text in files.items()}
    added, removed = sorted(set(wanted) - set(present)), sorted(set(present) - set(wanted))
    changed = sorted(n for n in set(wanted) & set(present) if wanted[n] != present[n])
    return Changes(added, changed, removed, len(files), _told(root, files, [*added, *changed, *removed]))


def _digests(root: Path) -> dict[str, str]:
    """Return the digest of each file in generated/; empty for a link."""
    return {n: "" if p.is_symlink() else _digest(p.read_bytes()) for n, p in _present(root / "generated")}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _told(root: Path, files: Files, names: Iterable[str]) -> list[str]:
    """Return the changes in terms of variants, opcode by opcode."""
    lines = []
    for name in sorted(names):
        folder, _, opcode = name.removesuffix(".json").rpartition("/")
        if folder == "data/opcodes":
            path = root / "generated" / name
            before = path.read_text("utf-8", "replace") if path.is_file() and not path.is_symlink() else ""
            lines += changes.told(opcode, before, files.get(name, ""))
    return lines


def diff(root: Path, files: Files, differing: Changes) -> Iterator[str]:
    """Yield the changes as a unified diff, line by line."""
    for name in [*differing.added, *differing.changed, *differing.removed]:
        path = root / "generated" / name
        old = path.read_text("utf-8", "replace").splitlines(True) if path.is_file() else []
        new = files.get(name, "").splitlines(True)
        yield from difflib.unified_diff(old, new, f"generated/{name}", f"{name} as the specification has it")


def generate(root: Path, before: Callable[[Changes, Files], None] = lambda changes, files: None) -> Changes:
    """Bring generated/ up to date as a whole. It is not touched if nothing changed or anything is wrong. `before` is
    called with the changes while the old files still exist."""
    try:
        with only_one(root):
            _recover(root)
            found, files = check(root)
            before(found, files)
            if found:
                _write(root, files, {*found.added, *found.changed})
            # Compile as pip does, for users who may not write bytecode and would otherwise compile in each process.
            compileall.compile_dir(root / "generated" / "python", quiet=2)
            return found
    except OSError as e:
        raise PtxspecError(f"{e.filename or root / 'generated'}: cannot be written: {e.strerror or e}") from None


def _present(generated: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files and links in generated/. Links are not followed, because their targets are not ours to write. If
    generated/ itself is a link, it counts as empty."""
    if generated.is_dir() and not generated.is_symlink():
        for path in generated.rglob("*"):
            if path.is_symlink() or (path.is_file() and "__pycache__" not in path.parts):
                yield path.relative_to(generated).as_posix(), path


def _write(root: Path, files: Files, differing: Container[str]) -> None:
    new, generated = root / _NEW, root / "generated"
    try:
        for folder in sorted({(new / name).parent for name in files}):
            folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if name in differing or not _linked(generated / name, new / name):
                (new / name).write_bytes(encoded(text))
    except BaseException:
        # On a full disk the new files would occupy the space that is missing.
        _remove(new)
        raise
    if generated.is_symlink():
        generated.unlink()
    if not generated.exists():
        new.rename(generated)
    elif _exchange(new, generated):
        _remove(new)
    else:
        generated.rename(root / _OLD)
        new.rename(generated)
        _remove(root / _OLD)


def _linked(old: Path, new: Path) -> bool:
    """Give a file, and its bytecode if there is some, another name; return whether that was done. It takes much less
    time than to write and compile the file. What has another name elsewhere already is not ours alone."""
    folder = Path("__pycache__")
    bytecode = folder / Path(cache_from_source(old.name)).name
    try:
        if not _is_alone(old):
            return False
        os.link(old, new)
        if old.suffix == ".py" and not (old.parent / folder).is_symlink() and _is_alone(old.parent / bytecode):
            (new.parent / folder).mkdir(exist_ok=True)
            os.link(old.parent / bytecode, new.parent / bytecode)
    except OSError:  # it is another user's file, or the file system has no links
        return new.exists()
    return True


def _is_alone(path: Path) -> bool:
    """Return whether this is a file, no link, and has no other name."""
    try:
        about = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_nlink == 1


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, if the system can."""
    if sys.platform != "linux":
        return False
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    done: int = renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange)
    return done == 0


def _recover(root: Path) -> None:
    """Clean up after a killed run. If it moved the old folder away without a new one in its place, the old one
    returns."""
    old, generated = root / _OLD, root / "generated"
    if old.exists() and not generated.exists():
        old.rename(generated)
    for leftover in (root / _NEW, old, *_half_compiled(generated)):
        _remove(leftover)


def _half_compiled(generated: Path) -> list[Path]:
    """Return the files that killed compilations left. Links are not followed, because their targets are not ours to
    remove."""
    if generated.is_symlink():
        return []
    walk = ((Path(folder), names) for folder, _, names in os.walk(generated))
    return [f / n for f, names in walk if f.name == "__pycache__" for n in names if ".pyc." in n]


def _remove(path: Path) -> None:
    """Remove whatever is there, folder or file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

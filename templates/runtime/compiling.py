"""Libraries in C: found in the cache, or compiled and kept there for the next time.

A shared library lies in the user's cache, or in a temporary folder where that cannot be written, under a name that says
what it was made of: the C, the compiler, its flags and the processor. The compiler is $CC, or the first of gcc, cc and
clang on the path, or that of the wheel `ziglang`.
"""

# Imports that take longer than a kernel in the cache takes to load stand where they are needed.

from __future__ import annotations

import os
import sys
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from . import background, environment, folders

if TYPE_CHECKING:
    import subprocess

Opened = TypeVar("Opened")

# Options of $CC that change what an operation computes are taken back, since a kernel can be wrong on operands that no
# trial meets; rounding.h refuses what is left of them. These come first: -fno-fast-math also takes back what follows.
_AS_WRITTEN: Final = (
    "-fno-fast-math", "-fno-unsafe-math-optimizations", "-fno-associative-math", "-fno-reciprocal-math",
    "-fno-finite-math-only", "-fsigned-zeros", "-ffp-contract=off",
)  # fmt: skip
# -frounding-math is not among them: gcc vectorises no root and no fused operation with it, and clang nothing. Loops are
# kept apart from what steers them (kernel.h), and kernels are held against NumPy's.
FLAGS: Final = ("-std=c11", "-O3", *_AS_WRITTEN, "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared")
SOURCES: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
# How C is handed to the compiler: where that changes, what was kept or shipped before is not used any more. Until 2 a
# file of the working folder could take the place of one of the package.
_HANDED: Final = 2
_said: set[str] = set()
# A compiler that has failed is not asked again.
_broken: list[Failure] = []
# Seconds that a compiler has for a library, and more for each letter of its C: a kernel takes it one or two.
_PATIENCE: Final = 60
_PATIENCE_FOR_A_LETTER: Final = 0.002
# Bytes that a library takes, at most: where fewer are free, no compiler can be blamed.
_ROOM: Final = 1 << 20
# What is running, for whoever ends the process; the lock is held while something is started.
_running: set[subprocess.Popen[bytes]] = set()
_starting = allocate_lock()


class Failure(Exception):
    """A failure to make a kernel in C: the reason, in one line."""


_ENDS: Final = Failure("the process ends")


def _after_fork() -> None:
    """Forget the compilations that run or end in the other process."""
    global _starting
    _starting = allocate_lock()
    _running.clear()
    _broken[:] = [failure for failure in _broken if failure is not _ENDS]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Compiler(NamedTuple):
    """`command` starts it; `file` is the program, which tells one version from another."""

    command: tuple[str, ...]
    file: str


@cache
def source(file: str) -> bytes:
    try:
        with open(os.path.join(SOURCES, file), "rb") as source:
            return source.read()
    except OSError:
        return b""  # an opcode without C, or a package without files


def library(name: str, text: str, sources: list[str], what: str, opened: Callable[[str], Opened]) -> Opened:
    """Return a library under a name, of C that includes `sources`, as `opened` makes it of its path: from the cache, or
    compiled.

    `opened` raises OSError or AttributeError where the file is no library, or lacks a function. Raises Failure."""
    compiler = _compiler()
    flags = _flags()
    key = digest_of(repr([text, flags, compiler, _stamp(compiler.file), processor()]), sources)
    try:
        for folder in folders.places():
            path = os.path.join(folder, f"{name}-{key}.so")
            if _is_whole(path):
                # One of another system, or whatever else, is made anew.
                with suppress(OSError, AttributeError):
                    return opened(path)
    except OSError as e:
        raise _no_folder(e) from None
    _build(compiler, flags, text, path, what)
    try:
        return opened(path)
    except (OSError, AttributeError) as e:
        raise given_up(f"{path}, which {os.path.basename(compiler.file)} has made, cannot be loaded: {e}") from None


def ship(text: str, path: str, what: str, flags: list[str]) -> None:
    """Compile for other machines too, with these flags in place of this processor's. Raises Failure."""
    _build(_compiler(), [*FLAGS, *flags], text, path, what, is_shipped=True)
    os.remove(f"{path}.digest")


def digest_of(text: str, sources: list[str]) -> str:
    """Return a digest that tells C that includes `sources` from any other."""
    headers = sorted(name for name in os.listdir(SOURCES) if name.endswith(".h"))
    # As they are now, and not as they were when the process began: that is what the compiler reads.
    files = [source.__wrapped__(name) for name in [*sources, *headers]]
    return _digest(b"".join([f"{_HANDED} {text}".encode(), *files]))


def digest_of_file(path: str) -> str:
    with open(path, "rb") as file:
        return _digest(file.read())


def is_whole(path: str, digest: str) -> bool:
    try:
        return digest_of_file(path) == digest
    except OSError:
        return False


def once(text: str, path: str, what: str, opened: Callable[[str], Opened]) -> Opened:
    """Compile C that includes some of native/ to a path, and return the opened library. Raises Failure, OSError."""
    _build(_compiler(), _flags(), text, path, what)
    return opened(path)


def _flags() -> list[str]:
    known = processor()
    native = ["-march=native"] if known else []
    if "avx512vl" in known:
        # Compilers take half of a vector, for the sake of processors that ran slower with whole ones.
        native.append("-mprefer-vector-width=512")
    return [*FLAGS, *native, *(["-DSTUMBLES"] if environment.STUMBLES else [])]


def _digest(data: bytes) -> str:
    """Return a digest of 16 hexadecimal digits. Python's hash of an integer, a remainder modulo a prime of 61 bits,
    tells texts apart; importing hashlib alone takes longer than loading a kernel."""
    return f"{hash(int.from_bytes(data, 'little')):016x}"


def _is_whole(path: str) -> bool:
    """Return whether the library lies there as it was built. A damaged one would take the process with it."""
    try:
        with open(path, "rb") as library, open(f"{path}.digest", encoding="utf-8") as digest:
            return _digest(library.read()) == digest.read()
    except (OSError, UnicodeDecodeError):
        return False


def _build(compiler: Compiler, flags: list[str], text: str, path: str, what: str, is_shipped: bool = False) -> None:
    """Compile to a path in one of `folders.places`, or in a folder of the user's that is shipped. Raises Failure."""
    if _broken:
        raise _broken[0]
    import shutil
    import subprocess

    path = os.path.abspath(path)
    name, (folder, file) = os.path.basename(compiler.file), os.path.split(path)
    try:
        if not is_shipped:
            folders.tidy(folder)
        made_in, held = folders.scratch(folder)
    except OSError as e:
        raise _no_folder(e) from None
    cache = folders.cache()
    why = "cannot be written" if folders.is_ones_own(cache) else "is not this user's alone"
    instead = "" if folder == cache else f", as {cache or 'a cache'} {why}"
    if not is_shipped and not background.is_here():
        say(f"compiling {what} with {name}, once for this machine; kept in {folder}{instead}")
    made = os.path.join(made_in, file)
    command = [*compiler.command, "-x", "c", "-", f"-I{SOURCES}", *flags, "-o", made, "-lm"]
    # What zig keeps for itself goes where there is room, too.
    variables = {f"ZIG_{which}_CACHE_DIR": os.path.join(folder, "zig") for which in ("GLOBAL", "LOCAL")} | os.environ

    def compiled(text: str) -> str | None:
        """Compile C, and return None or the reason why it fails."""
        patience = _PATIENCE + len(text) * _PATIENCE_FOR_A_LETTER
        # A quoted name is looked for beside the source first: for standard input, that is where the compiler runs.
        text = text.replace('#include "', f'#include "{os.path.join(SOURCES, "")}')
        try:
            code, said = _run(command, text.encode(), variables, patience)
        except subprocess.TimeoutExpired:
            raise given_up(f"{name} has not compiled {what} in {patience:.0f} seconds, and is stopped") from None
        lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line), lines[0] if lines else "no reason given")
        return reason if code else None

    try:
        reason = compiled(text)
        if reason is not None:
            if shutil.disk_usage(made_in).free < _ROOM:
                raise given_up(f"there is no room in {folder}")
            failure = f"{name} does not compile: {reason}"
            # Is it this source, or any?
            raise Failure(failure) if compiled('#include "rounding.h"') is None else given_up(failure)
        with open(made, "rb") as library, open(f"{made}.digest", "w", encoding="utf-8") as digest:
            digest.write(_digest(library.read()))
        for ending in (".digest", ""):
            os.replace(made + ending, path + ending)
    except OSError as e:
        raise given_up(f"{name} cannot be run, or its result not be kept: {e}") from None
    finally:
        shutil.rmtree(made_in, ignore_errors=True)
        folders.let_go(held)


def _run(command: list[str], text: bytes, variables: Mapping[str, str], patience: float) -> tuple[int, bytes]:
    """Run a command, and return its exit code and its output on stderr. Raises subprocess.TimeoutExpired, OSError."""
    import subprocess

    pipe = subprocess.PIPE
    # A group of its own, since what it starts must end with it.
    with _starting:
        if _ENDS in _broken:
            raise _ENDS
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=variables, start_new_session=os.name == "posix",
            # Variables such as CPATH, too, may name the folder where a compiler runs.
            cwd=SOURCES,
        )  # fmt: skip
        _running.add(process)
    try:
        _, said = process.communicate(text, timeout=patience)
        return process.returncode, said
    except BaseException:
        _kill(process)
        raise
    finally:
        _running.discard(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if os.name == "posix":
            import signal

            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def stop() -> None:
    """End all compilations, and start no more."""
    _broken.append(_ENDS)
    with _starting:
        running = list(_running)
    for process in running:
        _kill(process)


def _no_folder(e: OSError) -> Failure:
    return given_up(f"there is no folder to compile in: {e}")


def given_up(reason: str) -> Failure:
    """Make every compilation fail from now on, and return the failure."""
    _broken.append(Failure(reason))
    return _broken[-1]


def has_compiler() -> bool:
    with suppress(Failure):
        return bool(_compiler())
    return False


def _compiler() -> Compiler:
    """Return the compiler: $CC, or the first on the path, or the wheel's. Raises Failure."""
    if os.environ.get("CC", "").strip():
        import shlex

        try:
            command = shlex.split(os.environ["CC"])
        except ValueError as e:
            raise Failure(f"the environment variable CC is {os.environ['CC']!r}: {e}") from None
        file = _on_path(command[0])
        if file is None:
            raise Failure(f"there is no compiler {command[0]}, which the environment variable CC names")
        return Compiler((file, *command[1:]), file)
    for name in ("gcc", "cc", "clang"):
        file = _on_path(name)
        if file is not None:
            return Compiler((file,), file)
    zig = find_spec("ziglang")
    if zig is not None and zig.submodule_search_locations:
        file = _on_path(os.path.join(zig.submodule_search_locations[0], "zig"))
        if file is not None:
            return Compiler((file, "cc"), file)
    raise Failure("there is no C compiler: none in CC, no gcc, cc or clang on the path, no wheel ziglang")


def _on_path(name: str) -> str | None:
    ending = ".exe" if sys.platform == "win32" and not name.endswith(".exe") else ""
    folders = [""] if os.path.dirname(name) else os.get_exec_path()
    candidates = (os.path.join(folder, name + ending) for folder in folders)
    return next((os.path.abspath(c) for c in candidates if os.path.isfile(c) and os.access(c, os.X_OK)), None)


def _stamp(file: str) -> tuple[str, int, int]:
    """Return the path, time and size of a program, which change with its version."""
    found = os.stat(file)
    return os.path.realpath(file), found.st_mtime_ns, found.st_size


@cache
def processor() -> str:
    """Return what the processor can do, or empty where that is unknown; only if it is known may the compiler use all of
    it."""
    if sys.platform == "win32":
        return os.environ.get("PROCESSOR_IDENTIFIER", "")
    found = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break
                if line.partition(":")[0].strip() in _TELLING:
                    found.append(line.strip())
    except OSError:
        return ""
    return "\n".join(found)


_TELLING: Final = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features", "isa",
)  # fmt: skip


def say(text: str) -> None:
    """Print a line on stderr, once; where nothing can be written there, what is computed does not depend on it."""
    # Where there is none, print() would take stdout; of a process that ends nobody asks.
    if text not in _said and sys.stderr is not None and _ENDS not in _broken:
        _said.add(text)
        with suppress(OSError, ValueError):
            print(f"ptxemu: {text}", file=sys.stderr)

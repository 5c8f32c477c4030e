"""PTX in the programs of other languages.

trees.py       programs -> trees
text.py        texts of strings, and whether they are PTX
programs.py    strings in trees: their concatenations and uses
cpp.py         C and C++
python.py      Python
rust.py        Rust
julia.py       Julia
csharp.py      C#
javascript.py  JavaScript
llvm.py        MLIR and LLVM's assembly, without a grammar
markdown.py    blocks of all of these
notebook.py    Jupyter's cells"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from ...ptx.scanning import View
from .cpp import Cpp
from .csharp import CSharp
from .javascript import JavaScript
from .julia import Julia
from .llvm import llvm
from .markdown import as_ptx, blocks, unnamed
from .notebook import cells
from .programs import Calls, ParsedProgram
from .python import Python
from .rust import Rust
from .text import Text

PTX, CPP, PYTHON, RUST, JULIA, MLIR, MARKDOWN = "ptx", "c++", "python", "rust", "julia", "mlir", "markdown"
CSHARP, JAVASCRIPT, NOTEBOOK = "c#", "javascript", "notebook"
LANGUAGES = {
    # Files without a suffix: /dev/stdin, and a shell's process substitution.
    **dict.fromkeys((".ptx", ""), PTX),
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"), CPP),
    **dict.fromkeys((".hip", ".cl", ".ipp", ".tpp", ".tcc", ".impl"), CPP),
    # Mojo's strings are Python's.
    **dict.fromkeys((".py", ".pyi", ".mojo"), PYTHON),
    ".ipynb": NOTEBOOK,
    ".rs": RUST,
    ".jl": JULIA,
    ".cs": CSHARP,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), JAVASCRIPT),
    **dict.fromkeys((".mlir", ".mlir.in", ".ll", ".td"), MLIR),
    ".md": MARKDOWN,
}
PROGRAMS: dict[str, type[ParsedProgram]] = {
    CPP: Cpp,
    PYTHON: Python,
    RUST: Rust,
    JULIA: Julia,
    CSHARP: CSharp,
    JAVASCRIPT: JavaScript,
}


def language_of(name: str, endings: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """Return the language of a file by the longest known suffix of its name, or None. `endings` take precedence over
    the suffixes known here."""
    at = name.find(".", 1)
    while at >= 0:
        ending = name[at:].lower()
        if found := endings.get(ending) or LANGUAGES.get(ending):
            return found
        at = name.find(".", at + 1)
    return None if "." in name[1:] else LANGUAGES[""]


def _texts(program: type[ParsedProgram], view: View, calls: Calls = ()) -> Iterator[Text]:
    return program(view, calls).texts()


def _without_calls(view: View, calls: Calls = ()) -> Iterator[Text]:
    return llvm(view)


# A reader gets the names of the project's own calls that take PTX.
Reader = Callable[[View, Calls], Iterator[Text]]
_READERS: dict[str, Reader] = {
    **{name: partial(_texts, program) for name, program in PROGRAMS.items()},
    MLIR: _without_calls,
}
# The names of Markdown's blocks.
BLOCKS: dict[str, str] = {
    PTX: PTX,
    **dict.fromkeys(("c++", "cpp", "c", "cc", "cuda", "cu", "cuda-cpp", "hip", "opencl"), CPP),
    **dict.fromkeys(("python", "py", "python3"), PYTHON),
    **dict.fromkeys(("rust", "rs"), RUST),
    **dict.fromkeys(("julia", "jl"), JULIA),
    **dict.fromkeys(("csharp", "cs", "c#"), CSHARP),
    **dict.fromkeys(("javascript", "js"), JAVASCRIPT),
    **dict.fromkeys(("mlir", "llvm"), MLIR),
}


def _in_blocks(blocks: Callable[[View], Iterator[tuple[str, Text]]], view: View, calls: Calls = ()) -> Iterator[Text]:
    """Yield the texts in the blocks of a file, each in a language of its own."""
    for name, block in blocks(view):
        language = BLOCKS.get(name)
        if language == PTX:
            yield from as_ptx(block)
        elif language:
            yield from _READERS[language](block, calls)
        elif not name:
            yield from unnamed(block)


CONTAINERS: dict[str, Callable[[View], Iterator[tuple[str, Text]]]] = {MARKDOWN: blocks, NOTEBOOK: cells}
EXTRACT: dict[str, Reader] = {
    **_READERS,
    **{name: partial(_in_blocks, of) for name, of in CONTAINERS.items()},
}

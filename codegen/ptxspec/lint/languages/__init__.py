"""PTX in the programs of other languages.

trees.py       programs -> trees
text.py        what strings say, and whether that is PTX
programs.py    strings in trees: what they are joined with, and what they are used for
cpp.py         C and C++
python.py      Python
rust.py        Rust
julia.py       Julia
csharp.py      C#
javascript.py  JavaScript
llvm.py        MLIR and LLVM's assembly, which no grammar is kept for
markdown.py    blocks of all of these"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...ptx.scanning import View
from .cpp import Cpp
from .csharp import CSharp
from .javascript import JavaScript
from .julia import Julia
from .llvm import llvm
from .markdown import markdown
from .programs import Program
from .python import Python
from .rust import Rust
from .text import Text

PTX, CPP, PYTHON, RUST, JULIA, MLIR, MARKDOWN = "ptx", "c++", "python", "rust", "julia", "mlir", "markdown"
CSHARP, JAVASCRIPT = "c#", "javascript"
LANGUAGES = {
    # Without an ending: /dev/stdin, and what a shell substitutes for a file.
    **dict.fromkeys((".ptx", ""), PTX),
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"), CPP),
    **dict.fromkeys((".hip", ".cl"), CPP),
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    ".rs": RUST,
    ".jl": JULIA,
    ".cs": CSHARP,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), JAVASCRIPT),
    **dict.fromkeys((".mlir", ".ll"), MLIR),
    ".md": MARKDOWN,
}
PROGRAMS: dict[str, type[Program]] = {
    CPP: Cpp,
    PYTHON: Python,
    RUST: Rust,
    JULIA: Julia,
    CSHARP: CSharp,
    JAVASCRIPT: JavaScript,
}


def _texts(program: type[Program], view: View) -> Iterator[Text]:
    return program(view).texts()


_READERS: dict[str, Callable[[View], Iterator[Text]]] = {
    **{name: partial(_texts, program) for name, program in PROGRAMS.items()},
    MLIR: llvm,
}
# What the blocks of Markdown are called.
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
_IN_BLOCKS = {name: _READERS.get(language) for name, language in BLOCKS.items()}
EXTRACT: dict[str, Callable[[View], Iterator[Text]]] = {**_READERS, MARKDOWN: partial(markdown, extract=_IN_BLOCKS)}

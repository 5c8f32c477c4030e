"""PTX in the programs of other languages.

text.py      what strings say, and whether that is PTX
cpp.py       C and C++
python.py    Python
rust.py      Rust
julia.py     Julia
llvm.py      MLIR and LLVM's assembly
markdown.py  blocks of all of these"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...ptx.scanning import View
from .cpp import cpp
from .julia import julia
from .llvm import llvm
from .markdown import markdown
from .python import python
from .rust import rust
from .text import Text

PTX, CPP, PYTHON, RUST, JULIA, MLIR, MARKDOWN = "ptx", "c++", "python", "rust", "julia", "mlir", "markdown"
LANGUAGES = {
    # Without an ending: /dev/stdin, and what a shell substitutes for a file.
    **dict.fromkeys((".ptx", ""), PTX),
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"), CPP),
    **dict.fromkeys((".hip", ".cl"), CPP),
    **dict.fromkeys((".py", ".pyi"), PYTHON),
    ".rs": RUST,
    ".jl": JULIA,
    **dict.fromkeys((".mlir", ".ll"), MLIR),
    ".md": MARKDOWN,
}
_READERS: dict[str, Callable[[View], Iterator[Text]]] = {
    CPP: cpp,
    PYTHON: python,
    RUST: rust,
    JULIA: julia,
    MLIR: llvm,
}
# What the blocks of Markdown are called.
BLOCKS: dict[str, str] = {
    PTX: PTX,
    **dict.fromkeys(("c++", "cpp", "c", "cc", "cuda", "cu", "cuda-cpp", "hip", "opencl"), CPP),
    **dict.fromkeys(("python", "py", "python3"), PYTHON),
    **dict.fromkeys(("rust", "rs"), RUST),
    **dict.fromkeys(("julia", "jl"), JULIA),
    **dict.fromkeys(("mlir", "llvm"), MLIR),
}
_IN_BLOCKS = {name: _READERS.get(language) for name, language in BLOCKS.items()}
EXTRACT: dict[str, Callable[[View], Iterator[Text]]] = {**_READERS, MARKDOWN: partial(markdown, extract=_IN_BLOCKS)}

"""PTX in the programs of other languages.

text.py      what strings say, and whether that is PTX
cpp.py       C and C++
python.py    Python"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...ptx.scanning import View
from .cpp import cpp
from .python import python
from .text import Text

PTX, CPP, PYTHON = "ptx", "c++", "python"
LANGUAGES = {
    # Without an ending: /dev/stdin, and what a shell substitutes for a file.
    **dict.fromkeys((".ptx", ""), PTX),
    **dict.fromkeys((".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"), CPP),
    **dict.fromkeys((".hip", ".cl"), CPP),
    **dict.fromkeys((".py", ".pyi"), PYTHON),
}
EXTRACT: dict[str, Callable[[View], Iterator[Text]]] = {CPP: cpp, PYTHON: python}

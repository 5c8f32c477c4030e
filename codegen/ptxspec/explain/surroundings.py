"""The context of a log's complaints: the GPUs, the targets that it compiles for, and the CUDA releases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..catalog.names import called
from ..query.database import Database
from .messages import plain

_TARGET = r"(?:compute|sm)_(\d+[af]?)"
# Options that tell compilers the target, and files that are named after it.
_OPTION = re.compile(
    rf"(?:--gpu-name|--gpu-architecture|-arch|--cuda-gpu-arch|--offload-arch|-mcpu|\bcode|\barch)[=\s]\s*\W?{_TARGET}"
    rf"|\.{_TARGET}\.(?:ptx|cubin)\b"
)
_LISTED = re.compile(r"(?:CUDA_ARCHITECTURES|TORCH_CUDA_ARCH_LIST)\W+(\d[\d.af;, +PTX-]*)")
_ONE_LISTED = re.compile(r"(\d+)\.?(\d[af]?)")
_CAPABILITY = re.compile(
    r"\b(?:compute|device|cuda)[ _-]?cap(?:ability)?\b(?:\s+(?:of|is|version))*[^\w<>]{0,4}"
    r"(?:(\d{1,2})\s*[.,]\s*(\d)(?!\d)|sm_(\d+))",
    re.IGNORECASE,
)
# A requirement on a GPU says nothing about the GPU that is present.
_ASKED_BEFORE = re.compile(
    r"(?:at least|minimum|requires?|needs?|support\w*|only|[<>]=?)\W*(?:\w+\W+){0,6}$", re.IGNORECASE
)
_ASKED_BEHIND = re.compile(r"\)?\s*(?:\+|or (?:higher|newer|above|later|greater)|and (?:higher|newer|above|later|up))")
# Triton compiles for the GPU that is present.
_OF_TRITON = re.compile(rf"--gpu-name[= ]{_TARGET}")
_MOST_WORDS = 6


class Surroundings(NamedTuple):
    """The context that a log gives: whether nvJitLink or Triton is in it, the targets of the GPUs and those that are
    compiled for, and the CUDA releases of the driver and the compiler."""

    nvjitlink: bool
    triton: bool
    gpus: tuple[str, ...]
    targets: tuple[str, ...]
    driver: str
    compiler: str


def surroundings(db: Database, lines: Iterable[str]) -> Surroundings:
    text = "\n".join(map(plain, lines))
    triton = "triton" in text.lower()
    driver = re.search(r"\bCUDA Version\s*:\s*(\d+\.\d+)", text)
    compiler = re.search(r"Cuda compilation tools, release (\d+\.\d+)", text)
    gpus = [*_capabilities(text), *_products(db, text), *(_OF_TRITON.findall(text) if triton else ())]
    options = [one or other for one, other in _OPTION.findall(text)]
    options += ["".join(t) for listed in _LISTED.findall(text) for t in _ONE_LISTED.findall(listed)]
    return Surroundings(
        nvjitlink="nvjitlink" in text.lower(),
        triton=triton,
        gpus=_known(db, (g.rstrip("af") for g in gpus)),
        targets=_known(db, options),
        driver=driver[1] if driver else "",
        compiler=compiler[1] if compiler else "",
    )


def _known(db: Database, numbers: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(t for n in numbers if (t := f"sm_{n}") in db.targets))


def _capabilities(text: str) -> Iterator[str]:
    for m in _CAPABILITY.finditer(text):
        line = text[text.rfind("\n", 0, m.start()) + 1 : m.start()]
        if not _ASKED_BEFORE.search(line.rpartition(". ")[2]) and not _ASKED_BEHIND.match(text, m.end()):
            yield m[3] or m[1] + m[2]


def _products(db: Database, text: str) -> Iterator[str]:
    """Yield the targets of the GPUs that are named by a brand and a name with a number."""
    naming = db.data["naming"]
    brands = "|".join(map(re.escape, (*naming["brands"], *naming["series"])))
    # A name ends before two spaces, as in the table of nvidia-smi.
    found = re.findall(rf"\b(?:{brands})\b(?: [\w-]+){{1,{_MOST_WORDS}}}", text)
    for words in (name.split(" ") for name in dict.fromkeys(found)):
        names = (words[:end] for end in range(len(words), 1, -1))
        meant = (called(db, " ".join(name)) for name in names if re.search(r"\d", "".join(name)))
        target = next(filter(None, meant), {})
        if len(target) == 1:
            yield next(iter(target)).removeprefix("sm_")

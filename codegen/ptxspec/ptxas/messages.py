"""The complaints in a log: of ptxas by whatever name, of nvcc, clang, NVRTC and nvJitLink, and of the driver."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# It calls itself by the name that it was started by: Triton has a ptxas-blackwell.
_PTXAS = re.compile(
    r"\bptxas[\w.-]* +(?:(?P<file>[^;]+?), line (?P<line>\d+); )?(?P<severity>error|fatal)\s*: (?P<text>.*?)\s*$",
)
_OTHERS = (
    ("nvcc", re.compile(r"\bnvcc(?:\.exe)? +(?:error|fatal)\s*: (?P<text>.*?)\s*$")),
    ("NVRTC", re.compile(r"\bnvrtc: (?:error|fatal)\s*: (?P<text>.*?)\s*$")),
    (
        "clang",
        re.compile(
            r"(?:\bclang[\w+.-]*: |^|\s)error: "
            r"(?P<text>(?:[Uu]nsupported CUDA gpu architecture|unknown target CPU).*?)\s*$"
        ),
    ),
    ("clang", re.compile(r"(?P<text>GPU arch sm_\w+ is supported by CUDA versions between .*?)\s*$")),
    ("clang", re.compile(r"(?P<text>'(?:sm_\w+|\+ptx\d+)' is not a recognized (?:processor|feature) for this target)")),
)
# What the driver and the runtime call their errors: names, numbers and words.
_DRIVER = {
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (209, "cudaErrorNoKernelImageForDevice", "no kernel image is available"),
    "CUDA_ERROR_INVALID_PTX": (218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": (
        222,
        "cudaErrorUnsupportedPtxVersion",
        "PTX was compiled with an unsupported toolchain",
    ),
}
_NUMBER = re.compile(
    r"(?:CUDA_?\s?(?:error|failure)\w*|\bcode|\berror)\s*[:=(]*\s*\[?(?P<number>209|218|222)\b"
    r"|\[(?P<bracketed>209|218|222)\] Call to cu",
    re.IGNORECASE,
)
_ABORTED = "aborted due to errors"
# The driver and nvJitLink give the text that they assemble no file.
JIT_FILE = "application ptx input"


class Place(NamedTuple):
    file: str
    line: int


class Message(NamedTuple):
    """A message of a tool: "ptxas", "nvcc", "clang", "NVRTC" or "driver". The `tool` is "JIT" for a JIT compiler of
    PTX, and empty where the line names none."""

    tool: str
    text: str
    place: Place | None = None


class Surroundings(NamedTuple):
    """The context that a log gives: whether nvJitLink or Triton is in it, the targets that options name, the CUDA
    release of the driver and that of the compiler."""

    nvjitlink: bool
    triton: bool
    targets: tuple[str, ...]
    driver: str
    compiler: str


def surroundings(lines: Iterable[str]) -> Surroundings:
    text = "\n".join(lines)
    targets = re.findall(r"(?:--gpu-name|--gpu-architecture|-arch|--cuda-gpu-arch)[= ](?:compute|sm)_(\d+[af]?)", text)
    driver = re.search(r"\bCUDA Version\s*:\s*(\d+\.\d+)", text)
    compiler = re.search(r"Cuda compilation tools, release (\d+\.\d+)", text)
    return Surroundings(
        nvjitlink="nvjitlink" in text.lower(),
        triton="triton" in text.lower(),
        targets=tuple(dict.fromkeys(f"sm_{t}" for t in targets)),
        driver=driver[1] if driver else "",
        compiler=compiler[1] if compiler else "",
    )


def message(line: str) -> Message | None:
    """Return the complaint in a line of a log, if it is one of these."""
    m = _PTXAS.search(line)
    if m is not None:
        place = Place(m["file"], int(m["line"])) if m["file"] else None
        if _ABORTED in m["text"]:
            return None
        return Message("JIT" if place and place.file == JIT_FILE else "ptxas", m["text"], place)
    for tool, pattern in _OTHERS:
        m = pattern.search(line)
        if m is not None:
            return Message(tool, m["text"])
    name = _driver_error(line)
    return Message("driver", name) if name else None


def _driver_error(line: str) -> str:
    for name, (_, runtime, words) in _DRIVER.items():
        if name in line or runtime in line or words in line:
            return name
    m = _NUMBER.search(line)
    number = int(m["number"] or m["bracketed"]) if m else 0
    return next((name for name, about in _DRIVER.items() if about[0] == number), "")

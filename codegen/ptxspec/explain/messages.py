"""The complaints in a log: of ptxas under any name, of compilers and linkers, of the driver, and of programs that call
them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .rows import MessageRow

# It uses the name by which it was started: Triton has a ptxas-blackwell.
_PTXAS = re.compile(
    r"\bptxas[\w.-]* +(?:(?P<file>(?:(?!\bptxas )[^;])+?), line (?P<line>\d+); )?"
    r"(?P<severity>error|fatal)\s*: (?P<text>.*?)\s*$",
)
_OTHERS = re.compile(r"\b(?:(?P<tool>nvcc|nvlink)(?:\.exe)? +|nvrtc: )(?:error|fatal)\s*: (?P<text>.*?)\s*$")
# The position in a complaint of a C++ compiler: a.cu(4): error, a.cu:4:9: error.
_PLACE = re.compile(r"^(?P<file>[^\s()]+?)(?:\((?P<line>\d+)\)|:(?P<other>\d+):\d+): (?:fatal )?error: ")
_NUMBER = re.compile(
    r"(?:CUDA_?\s?(?:error|failure)\w*|\bcode|\berror)\s*[:=(]*\s*\[?(?P<number>\d{3})\b"
    r"|\[(?P<bracketed>\d{3})\] Call to cu",
    re.IGNORECASE,
)
# Numbers of others than the driver: of HTTP, and those with which programs end.
_OTHER_NUMBERS = re.compile(r"\bHTTP|\bstatus\b|\bexit|\breturned\b|\bsignal\b|\berrno\b", re.IGNORECASE)
# What terminals, forums and chats put into a log: colours, and other quotation marks.
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_QUOTES = str.maketrans("\u2018\u2019\u201b\u201c\u201d", "'''\"\"")
# The driver and nvJitLink have no file for the text that they assemble.
JIT_FILE = "application ptx input"


class ReportedLine(NamedTuple):
    """The line of a file that a message is about."""

    file: str
    line: int


class Message(NamedTuple):
    """A message of a tool: "ptxas", "nvcc", "driver" and so on. The `tool` is "JIT" for a JIT compiler of PTX, and
    empty if the line names none."""

    tool: str
    text: str
    place: ReportedLine | None = None


def plain(line: str) -> str:
    """Return a line of a log as the tool wrote it."""
    return _COLOUR.sub("", line).translate(_QUOTES)


def message(kinds: Sequence[MessageRow], line: str) -> Message | None:
    """Return the complaint in a line of a log, if it is one of these tools' or of one of the given kinds."""
    m = _PTXAS.search(line)
    if m is not None:
        place = ReportedLine(m["file"], int(m["line"])) if m["file"] else None
        return Message("JIT" if place and place.file == JIT_FILE else "ptxas", m["text"], place)
    m = _OTHERS.search(line)
    if m is not None:
        return Message(m["tool"] or "NVRTC", m["text"])
    for row in kinds:
        m = row.pattern.search(line)
        if m is not None:
            at = _PLACE.match(line)
            place = ReportedLine(at["file"], int(at["line"] or at["other"])) if at else None
            return Message(row.tool, row.name or m[0].strip(), place)
    return None


def driver_error(numbered: Sequence[MessageRow], line: str) -> Message | None:
    """Return the driver's error if a line has its number."""
    if not numbered or (_OTHER_NUMBERS.search(line) and "CUDA" not in line.upper()):
        return None
    numbers = {m["number"] or m["bracketed"] for m in _NUMBER.finditer(line)}
    return next((Message("driver", row.name) for row in numbered if row.number in numbers), None)

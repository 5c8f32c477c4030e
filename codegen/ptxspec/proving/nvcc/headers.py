"""The functions that CUDA's headers declare for a GPU on floating-point values, as calls that can be compiled.

Headers are read after nvcc's preprocessor; only names, types and enumerators are used."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

# The headers that a program includes to call the functions; nvcc includes crt/ itself.
INCLUDED = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
HEADERS = frozenset(
    ("math_functions.h", "device_functions.h", "device_double_functions.h", "sm_20_intrinsics.h", "sm_100_rt.h")
) | {*INCLUDED}
LIBDEVICE = "libdevice"
# The headers of C's functions, each of which has a counterpart in libdevice.
_OF_C = ("math_functions.h", "device_functions.h", "device_double_functions.h", "sm_20_intrinsics.h")

_MARKER = re.compile(r'# \d+ "(?P<file>[^"]*)"')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{};]|[^{};"]+')
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_DEVICE = re.compile(r"__attribute__\s*\(\(\s*device\s*\)\)")
_LEFT_OUT = re.compile(
    r'\b(?:extern|static|inline|__inline__|__inline|explicit|constexpr)\b|"C"|throw\s*\(\)|noexcept(?:\s*\([^)]*\))?'
)
_FUNCTION = re.compile(r"(?P<result>[\w\s&*]*?)\b(?P<name>operator\s*[^\s\w(]+|\w+)\s*\((?P<parameters>[^()]*)\)")
_CONVERSION = re.compile(r"operator\s+(?P<type>[\w\s]+?)\s*\(\s*(?:void)?\s*\)\s*const")
_CLASS = re.compile(r"\bstruct\s+(?P<name>\w+)\s*$")
_ENUM = re.compile(r"\benum\s+(?P<name>\w*)\s*\{(?P<members>[^{}]*)\}\s*(?P<alias>\w*)\s*;")
_MEMBER = re.compile(r"([A-Za-z_]\w*)\s*(?:=[^,]*)?(?:,|$)")
_PARAMETER = re.compile(r"(?P<type>.*?[\s&*])(?P<name>[A-Za-z_]\w*)?")
_NAMES_OF_TYPES = frozenset(("void", "bool", "char", "short", "int", "long", "signed", "unsigned", "float", "double"))
_FLOATING = re.compile(r"\b(?:float|double)\d?\b|\b__half|\b__nv_(?:bfloat|fp)\d")
_PRIVATE = re.compile(r"__(?:internal|cuda|nv_internal)|std\b")


class CompilableCall(NamedTuple):
    """A call of a function. `takes` are the types of its parameters, or enumerators where these are constants in this
    call; a parameter that ends in `*` is written through a pointer. `code` is the call with its arguments a, b, c,
    ..."""

    name: str
    takes: tuple[str, ...]
    gives: str
    header: str
    code: str

    @property
    def written(self) -> str:
        """The call as text for people, with types as its arguments."""
        return f"{self.name}({', '.join(self.takes)})"


def calls(preprocessed: str) -> list[CompilableCall]:
    """Return a call of each function, and one for each choice of constants where parameters are enumerations."""
    enumerations = _enumerations(preprocessed)
    found: dict[tuple[str, tuple[str, ...]], CompilableCall] = {}
    for header, text in _own(preprocessed):
        for call in _declared(header, text, enumerations):
            found.setdefault((call.name, call.takes), call)
    return list(found.values())


def of_libdevice(own: Sequence[CompilableCall]) -> Iterator[CompilableCall]:
    """Yield calls of the functions that libdevice may have under the names of C functions; nvcc decides which it has.
    It has no overloads: the first declaration of a name is that of C."""
    found: dict[str, CompilableCall | None] = {}
    for call in own:
        if call.header in _OF_C and call.name.isidentifier() and not is_constant(call.takes[-1]):
            first = found.setdefault(call.name, call)
            # C++ mixes the types of all functions of double. Where the first is of another type, as of max, C's is of
            # integers.
            mixed = len({t for t in call.takes if _FLOATING.search(t) and not t.endswith("*")}) > 1
            if mixed and first is not None and "double" not in first.takes:
                found[call.name] = None
    told = set()
    for name, first in found.items():
        for own_name in _of_libdevice(name, is_double=first is not None and "double" in first.takes):
            if first is not None and own_name not in told:
                told.add(own_name)
                code = own_name + first.code.removeprefix(name)
                yield CompilableCall(own_name, first.takes, first.gives, LIBDEVICE, code)


def _of_libdevice(name: str, is_double: bool) -> Iterator[str]:
    """Yield the names that libdevice may have for a function of C: __nv_isnand for __isnan, __nv_isfinited for
    __finite."""
    stem, is_own = name.lstrip("_"), name.startswith("__")
    yield f"__nv_{stem}"
    if is_own:
        yield f"__nv_fast_{stem}"
    if is_own and is_double:
        yield from (f"__nv_{stem}d", f"__nv_is{stem}d")


def arguments(takes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a call that are not constants, each as a letter, with its type."""
    for letter, type in zip("abcefghijk", takes, strict=False):
        if not is_constant(type):
            yield letter, type


def is_constant(taken: str) -> bool:
    """Return whether an argument of a call is an enumerator, not a type."""
    return bool(re.fullmatch(r"__NV_[A-Z0-9_]+|cudaRound\w+", taken))


def _enumerations(text: str) -> Mapping[str, Sequence[str]]:
    found = {}
    for m in _ENUM.finditer(_ATTRIBUTE.sub("", text)):
        members = _MEMBER.findall(" ".join(m["members"].split()))
        found.update({name: members for name in (m["name"], m["alias"]) if name})
    return found


def _own(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text of each of the headers; a class that begins in one also ends in it."""
    found: dict[str, list[str]] = {}
    header = ""
    for line in text.split("\n"):
        if m := _MARKER.match(line):
            folder, _, name = m["file"].rpartition("/")
            # The classes of FP8, FP6 and FP4 are in a file that the header includes.
            name = re.sub(r"^(cuda_fp\d)\.hpp$", r"\1.h", name)
            header = name if name in HEADERS and re.search(r"include(/crt)?$", folder) else ""
        elif header and not line.startswith("#"):
            found.setdefault(header, []).append(line)
    for name, lines in found.items():
        yield name, "\n".join(lines)


def _declared(header: str, text: str, enumerations: Mapping[str, Sequence[str]]) -> Iterator[CompilableCall]:
    """Yield calls of the functions that a header declares outside of bodies, and in its classes."""
    text = re.sub(r'extern\s+"C(?:\+\+)?"\s*\{', "", text)
    depth, inside, statement = 0, "", ""
    for m in _TOKEN.finditer(text):
        token = m[0]
        is_here = depth == (1 if inside else 0)
        if token == "{":
            if is_here and not inside and (c := _CLASS.search(_ATTRIBUTE.sub("", statement))):
                inside, statement = c["name"], ""
            depth += 1
        elif token == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                inside = ""
        if token in "{};":
            if is_here and statement and (token != "}"):
                yield from _calls(header, inside, statement, enumerations)
            statement = ""
        elif depth == (1 if inside else 0):
            statement += token


def _calls(
    header: str, inside: str, statement: str, enumerations: Mapping[str, Sequence[str]]
) -> Iterator[CompilableCall]:
    if not _DEVICE.search(statement):
        return
    text = " ".join(_LEFT_OUT.sub(" ", _ATTRIBUTE.sub(" ", statement)).split())
    if inside and (m := _CONVERSION.fullmatch(text)):
        yield CompilableCall(
            f"{inside}::operator {m['type']}", (inside,), m["type"], header, f"static_cast<{m['type']}>(a)"
        )
        return
    m = _FUNCTION.match(text)
    if m is None or _PRIVATE.match(m["name"]) or (inside and m["name"] != inside):
        return
    name, gives = "".join(m["name"].split()), inside or _type(m["result"]).rstrip(" &")
    takes = tuple(_taken(p, bool(inside)) for p in m["parameters"].split(",") if p.strip() not in ("", "void"))
    if any(not t for t in takes) or not any(_FLOATING.search(t) for t in (gives, *takes)):
        return
    if not gives or "*" in gives or (gives == "void" and not any(t.endswith("*") for t in takes)):
        return
    for chosen in itertools.product(*(enumerations.get(t, (t,)) for t in takes)):
        code = []
        for letter, taken in zip("abcefghijk", chosen, strict=False):
            code.append(taken if is_constant(taken) else f"&{letter}" if taken.endswith("*") else letter)
        yield CompilableCall(name, chosen, gives, header, f"{name}({', '.join(code)})")


def _type(text: str) -> str:
    return " ".join(re.sub(r"\b(?:const|enum|struct|volatile)\b", " ", text).split())


def _taken(parameter: str, is_member: bool) -> str:
    """Return the type of a parameter: that of a value, or a pointer through which one is written; empty for anything
    else, such as data read from memory."""
    text = parameter.partition("=")[0]
    is_read = bool(re.search(r"\bconst\b", text))
    type = _type(text)
    if (m := _PARAMETER.fullmatch(type)) and m["name"] and m["name"] not in _NAMES_OF_TYPES:
        type = m["type"]
    type = " ".join(type.replace("*", " * ").replace("&", " & ").split())
    if type.endswith("&&") or type.endswith("& &") or "..." in type:
        return ""
    if type.endswith("*"):
        base = type.rstrip(" *")
        return f"{base}*" if base in ("float", "double", "int") and not is_read and type.count("*") == 1 else ""
    return type.rstrip(" &")

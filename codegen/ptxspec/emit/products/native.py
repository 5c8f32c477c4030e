"""Programs -> the kernels in C: generated/native, an extension of NumPy that a build backend builds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import mpmath  # type: ignore[import-untyped]

from ...check.checking import Checked
from ...model import FixedPoint, Format, Spec, number_in
from ...rewrite.formats import is_usual
from ...semantics.exact.rounding import decode
from ..native import has_c, in_c
from ..parts import NONE, Parts
from ..text import Files, Templates
from ..units import has_c as unit_has_c, in_c as unit_in_c

_FOLDER = "native"
_COMMENT = "/* {} */"


class Module(NamedTuple):
    """The C of a module, without its digest. `own` is the digest of this C alone, without the comments that number the
    lines of spec/: these move when nothing that is compiled changes. `takes_long`: compilers take long, as for
    elementary functions and units."""

    text: str
    own: str
    takes_long: bool


def emit(spec: Spec, checked: Sequence[Checked], templates: Templates, parts: Parts) -> Files:
    """Return the files of generated/native."""
    common, included = shared(spec, templates, parts)
    others = others_in_c(templates)
    made = {c.instruction.opcode: part(c, templates, parts) for c in checked}
    modules = {name: module for name, module in made.items() if module} | others
    files = {f"{_FOLDER}/{name}": text for folder in ("", "/ptxemu_native") for name, text in _plain(templates, folder)}
    files |= common
    for name, module in modules.items():
        last = f'\n#ifdef WITH_DIGEST\nconst char digest[] = "{digest(included, module)}";\n#endif\n'
        files[f"{_FOLDER}/src/{name}.c"] = module.text + last
    files[f"{_FOLDER}/meson.build"] = templates.render(
        "native/meson.build.j2",
        ["spec/instructions"],
        modules=[(name, module.takes_long) for name, module in modules.items()],
    )
    return files


def _plain(templates: Templates, folder: str) -> Iterator[tuple[str, str]]:
    for name, text in templates.plain(f"native{folder}").items():
        yield f"{folder}/{name}".removeprefix("/"), text


def shared(spec: Spec, templates: Templates, parts: Parts) -> tuple[Files, str]:
    """Return the sources that all opcodes share, and their digest, for which their comments count too."""

    def make() -> tuple[Files, str]:
        files = _shared(spec, templates)
        return files, _digest("".join(files[name] for name in sorted(files)))

    return parts.of("native", NONE, "native", make)


def _shared(spec: Spec, templates: Templates) -> Files:
    files = {f"{_FOLDER}/src/{name}": text for name, text in templates.plain("native/src").items()}
    formats = [f for f in spec.formats.values() if has_c(number_in(f))]
    floats = [f for f in formats if isinstance(f, Format)]
    files[f"{_FOLDER}/src/formats.h"] = templates.render(
        "native/formats.h.j2", ["spec/types.yaml"], comment=_COMMENT,
        usual=[f for f in floats if is_usual(f)], declared=[f for f in floats if not is_usual(f)],
        integers=[f for f in formats if isinstance(f, FixedPoint)],
        tables=[(f.name, list(_numbers(f))) for f in floats if f.width <= 8],
    )  # fmt: skip
    files[f"{_FOLDER}/src/turns.h"] = templates.render("native/turns.h.j2", [], comment=_COMMENT, turns=list(_turns()))
    models = [m for u in spec.units.values() for m in u.models]
    files[f"{_FOLDER}/src/units.h"] = templates.render(
        "native/units.h.j2", ["spec/units.yaml", *(f"spec/units/{m.name}.yaml" for m in models)], comment=_COMMENT,
        functions=[unit_in_c(m) for m in models if unit_has_c(m)],
    )  # fmt: skip
    return files


def others_in_c(templates: Templates) -> dict[str, Module]:
    """Return the modules that belong to no opcode, by name."""
    found = templates.plain("native/others")
    return {name.removesuffix(".c"): Module(text, _digest(text), takes_long=True) for name, text in found.items()}


def part(checked: Checked, templates: Templates, parts: Parts) -> Module | None:
    """Return the module of an opcode, or None if the opcode has no C."""

    def make() -> Module | None:
        i = checked.instruction
        c = in_c(checked.programs)
        if not c.rows:
            return None
        text, own = (
            templates.render(
                "native/opcode.c.j2", ["spec/types.yaml", "spec/modifiers.yaml", i.path], comment=_COMMENT,
                opcode=i.opcode, c=c, has_units=c.has_units, numbered=numbered,
            )
            for numbered in (True, False)
        )  # fmt: skip
        return Module(text, _digest(own), c.has_units or any(f.undecided for f in c.functions))

    return parts.of("native", checked.instruction.opcode, "native", make)


def digest(included: str, module: Module) -> str:
    """Return the digest of a module's C and of what it includes."""
    return _digest(included + module.own)[:16]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _numbers(f: Format) -> Iterator[str]:
    """Yield the numbers of a narrow format as C, eight per line."""
    texts = [_number(f, x) for x in range(1 << f.width)]
    for i in range(0, len(texts), 8):
        yield ", ".join(texts[i : i + 8])


def _number(f: Format, bits: int) -> str:
    if f.is_nan(bits):
        return '__builtin_nanf("")'
    sign = "-" if bits & f.sign_bit else ""
    if f.is_infinite(bits):
        return f"{sign}__builtin_inff()"
    return f"{sign}{float(abs(decode(bits, f))).hex()}f"


def _turns() -> Iterator[tuple[int, int]]:
    """Yield the fraction of 2**(i - 23) radians in turns for each exponent i of binary32: 64 bits and 32 more."""
    with mpmath.workprec(300):
        longer = int(mpmath.ldexp(1 / (2 * mpmath.pi), 96 + 127))
    for i in range(128):
        yield divmod((longer >> (150 - i)) & ((1 << 96) - 1), 1 << 32)

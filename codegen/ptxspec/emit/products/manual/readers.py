"""The manual for readers other than browsers: language models, Sphinx, editors."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import partial

from ....model import Instruction, Spec, Variant
from ...parts import Parts
from ...text import Files, Templates, as_lines, as_markdown
from .forms import statement
from .opcode import SECTIONS
from .site import Site

SUMMARY = (
    "PTX arithmetic instructions: which targets and PTX versions support each variant, what it computes bit for bit, "
    "its corner cases, accuracy and hazards, and what to write where it is not available."
)
# The largest block that zlib's format stores uncompressed.
_BLOCK = 0xFFFF


def emit(spec: Spec, site: Site, pages: Files, templates: Templates, parts: Parts) -> Files:
    """Return llms.txt with the pages' addresses, objects.inv and hover.json. `pages` are those of the manual."""
    listed = {
        "summary": SUMMARY,
        "opcodes": spec.instructions.values(),
        "others": [(p.title, f"{p.file.removesuffix('.html')}.md") for p in site.every],
    }
    return {
        "manual/llms.txt": templates.render("manual/llms.txt.j2", ["spec/instructions/"], "<!-- {} -->", **listed),
        "manual/objects.inv": _inventory(_objects(spec, site, pages)),
        "manual/hover.json": _hover(spec, parts),
    }


# Sphinx


def _objects(spec: Spec, site: Site, pages: Files) -> Iterator[tuple[str, str, str, str]]:
    """Yield the objects that pages of other projects can link to: name, role, address, title."""
    for p in site.every:
        name = p.file.removesuffix(".html")
        yield name, "std:doc", p.file, p.title
    for i in spec.instructions.values():
        yield i.opcode, "std:doc", f"{i.opcode}.html", i.opcode
        for s in SECTIONS:
            if f"manual/{i.opcode}.{s.id}.html" in pages:
                yield f"{i.opcode}.{s.id}", "std:doc", f"{i.opcode}.{s.id}.html", f"{i.opcode}: {s.title.lower()}"
        yield i.opcode, "std:term", f"{i.opcode}.html", "-"
        for spelling in dict.fromkeys(v.spelling for v in i.variants):
            if spelling != i.opcode:
                yield spelling, "std:term", f"{i.opcode}.html#$", "-"


def _inventory(objects: Iterable[tuple[str, str, str, str]]) -> str:
    """Return Sphinx's inventory, version 2, with its lines in a zlib stream. They are stored uncompressed, because this
    file must not depend on the version of zlib."""
    head = "# Sphinx inventory version 2\n# Project: ptxspec\n# Version: \n# The remainder is compressed using zlib.\n"
    lines = "".join(f"{name} {role} 1 {address} {title}\n" for name, role, address, title in objects).encode()
    blocks = [lines[at : at + _BLOCK] for at in range(0, len(lines), _BLOCK)]
    stream = b"\x78\x01"
    for n, block in enumerate(blocks, 1):
        size = len(block)
        stream += bytes([n == len(blocks)]) + size.to_bytes(2, "little") + (size ^ _BLOCK).to_bytes(2, "little") + block
    stream += zlib.adler32(lines).to_bytes(4, "big")
    return head + stream.decode("utf-8", "surrogateescape")


# Editors


def _hover(spec: Spec, parts: Parts) -> str:
    """Return the Markdown to show for a name under the cursor. `variants` has the spellings of each text, by opcode."""
    variants = {n: parts.of("hover", n, "", partial(_cards, spec, i)) for n, i in spec.instructions.items()}
    used = {name for i in spec.instructions.values() for v in i.variants for name in (*v.modifiers, *v.type_names)}
    hover = {
        "schema": 1,
        "generated": "by ptxspec from spec/; do not edit",
        "opcodes": {
            i.opcode: f"{as_markdown(i.summary)}\n\n[{i.opcode}]({i.opcode}.html)" for i in spec.instructions.values()
        },
        "modifiers": {f".{m.name}": as_markdown(m.summary) for m in spec.modifiers.values() if m.name in used},
        "types": {f".{t.name}": as_markdown(t.summary) for t in spec.types.values() if t.name in used},
        "variants": variants,
    }
    return as_lines(hover) + "\n"


def _cards(spec: Spec, instruction: Instruction) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for v in instruction.variants:
        found.setdefault(_card(spec, instruction, v), []).append(v.spelling)
    return found


def _card(spec: Spec, instruction: Instruction, v: Variant) -> str:
    lines = [f"`{v.opcode} {statement(v)}`", as_markdown(instruction.summary)]
    lines.append(f"Available nowhere: {as_markdown(v.crash)}" if v.crash else f"Needs {spec.catalog.text(v.requires)}.")
    if hazard := spec.catalog.hazard_text(v):
        lines.append(f"**Hazard:** {as_markdown(hazard)}")
    lines.append(f"Claim: {v.claim}. [{v.opcode}]({v.opcode}.html#variants)")
    return "\n\n".join(lines)

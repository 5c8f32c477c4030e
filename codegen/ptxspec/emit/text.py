"""The text that all emitters share: the templates of a root, and the stamp that begins every generated file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from ..diagnostics import PtxspecError, display_path, visible

Files = dict[str, str]
_PRE = re.compile(r"<pre>.*?</pre>", re.DOTALL)


def as_lines(value: object, depth: int = 2) -> str:
    """Return JSON with one line for each entry of the named parts, so that a diff shows what changed."""
    if not depth or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{as_lines(k, 0)}:{as_lines(v, depth - 1)}" for k, v in value.items()) + "\n}"
    return "[\n" + ",\n".join(as_lines(v, depth - 1) for v in value) + "\n]"


def encoded(text: str) -> bytes:
    """Return the bytes of a file. The few files that are not text represent their bytes as surrogates (PEP 383)."""
    return text.encode("utf-8", "surrogateescape")


class _Loader(jinja2.FileSystemLoader):
    """Templates in files. Errors name the place that cannot be read."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        try:
            return super().get_source(environment, template)
        except UnicodeDecodeError as e:
            raise PtxspecError(_not_text(f"templates/{template}", e)) from None


def read(path: Path, name: str) -> str:
    """Return the text of a file that is shown or copied. Raises PtxspecError with the given name."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as e:
        raise PtxspecError(_not_text(name, e)) from None
    except OSError as e:
        raise PtxspecError(f"{name}:1:1: error: cannot be read: {e}") from None


def _not_text(name: str, e: UnicodeDecodeError) -> str:
    before = e.object[: e.start]
    line, column = before.count(b"\n") + 1, len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
    return f"{name}:{line}:{column}: error: not UTF-8: byte 0x{e.object[e.start]:02x} cannot be read; save it as UTF-8"


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates from a previous run, by Jinja's name for them."""

    def __init__(self, known: dict[str, bytes]) -> None:
        self._known = known

    def load_bytecode(self, bucket: Bucket) -> None:
        if found := self._known.get(f"{bucket.key} {bucket.checksum}"):
            bucket.bytecode_from_string(found)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._known[f"{bucket.key} {bucket.checksum}"] = bucket.bytecode_to_string()


@dataclass(frozen=True)
class Templates:
    """The templates of one root. `compiled` contains those of a previous run, and later also those compiled in this
    one."""

    root: Path
    compiled: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def _environment(self) -> jinja2.Environment:
        # All HTML comes from templates with .html in their names. Markdown contains both text and code, so its
        # templates use filters.
        environment = jinja2.Environment(
            loader=_Loader(self.root / "templates"),
            autoescape=lambda name: bool(name and ".html" in name),
            undefined=jinja2.StrictUndefined,
            keep_trailing_newline=True,
            bytecode_cache=_Compiled(self.compiled),
        )
        environment.filters["literal"] = _literal
        environment.filters["plain"] = as_markdown
        environment.filters["span"] = _span
        environment.filters["fenced"] = _fenced
        environment.filters["coded"] = _coded
        environment.filters["sections"] = _sections
        environment.filters["breakable"] = _breakable
        return environment

    def render(self, template: str, sources: Iterable[str], comment: str = "# {}", **values: object) -> str:
        """Fill a template. Its variable `stamp` is the comment that names the template and the `sources`."""
        stamp = comment.format(_stamp([*sources, f"templates/{template}"]))
        try:
            text = self._environment.get_template(template).render(stamp=stamp, **values)
            return _PRE.sub(_quoted, text) if ".html" in template else text
        except jinja2.TemplateSyntaxError as e:
            raise PtxspecError(f"templates/{e.name or template}:{e.lineno}: error: {e.message}") from None
        except jinja2.TemplateNotFound as e:
            raise PtxspecError(f"templates/{e.name}: error: the template is missing") from None
        except jinja2.TemplateError as e:
            raise PtxspecError(f"templates/{template}: error: {e.message}") from None

    def plain(self, folder: str) -> Files:
        """Return the files of templates/`folder` that are copied unchanged, below a stamp, by name."""
        found = {}
        for path in sorted((self.root / "templates" / folder).iterdir()):
            if path.is_file() and path.suffix != ".j2":
                found[path.name] = plain(path, display_path(path, self.root))
        return found


def plain(path: Path, name: str) -> str:
    """Return a file's unchanged text below a stamp with its name."""
    text = read(path, name)
    comment = {".c": "/* {} */", ".h": "/* {} */", ".js": "// {}"}.get(path.suffix, "# {}")
    # An empty file is a marker, such as py.typed.
    return f"{comment.format(_stamp([name]))}\n{text}" if text else ""


def _literal(text: object) -> str:
    """Return text as a Python literal."""
    return json.dumps(str(text), ensure_ascii=False)


def as_markdown(text: object) -> str:
    """Return text escaped for Markdown, including cells of tables: it begins no column, HTML, link or emphasis."""
    escaped = re.sub(r"[\\|]|<(?=[a-zA-Z/!?])|\](?=[(\[:])", r"\\\g<0>", str(text))
    # Between backquotes Markdown has no emphasis and would show a backslash.
    parts = enumerate(re.split("(`[^`]*`)", escaped))
    return "".join(part if n % 2 else re.sub(r"\*|(?<!\w)_|_(?!\w)", r"\\\g<0>", part) for n, part in parts)


def _span(text: object) -> str:
    """Return text as a code span in Markdown, usable in table cells."""
    said = str(text).replace("|", "\\|")
    fence, blank = _fence(said, 1), " " * ("`" in said)
    return f"{fence}{blank}{said}{blank}{fence}"


def _fenced(text: object) -> str:
    """Return lines as a code block in Markdown."""
    said = str(text)
    fence = _fence(said, 3)
    return f"{fence}\n{said}{fence}"


def _fence(text: str, least: int) -> str:
    """Return a fence of more backquotes than any run of them in the text, which would otherwise end it."""
    return "`" * max(least, *(len(run) + 1 for run in re.findall("`+", text)), 0)


def _coded(text: object) -> Markup:
    """Return text escaped for HTML, with the parts between backquotes as code."""
    parts = [escape(part) for part in str(text).split("`")]
    return Markup("").join(Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts))


def _sections(text: object, pages: Iterable[Any]) -> Markup:
    """Return text in which section numbers of NVIDIA's manual are links, if the page lists the sections among its
    sources."""
    known = {p.section for p in pages}
    parts = re.split(r"((?<![\w.])\d+(?:\.\d+){2,}(?![\w.]))", str(text))
    link = Markup('<a href="#section-{0}">{0}</a>')
    return Markup("").join(link.format(part) if part in known else escape(part) for part in parts)


def _breakable(notation: str) -> Markup:
    """Return a notation as HTML with possible line breaks before each part."""
    return Markup("<wbr>").join(re.split(r"(?<!^)(?=\{\.|(?<!\{)\.)", notation))


def _quoted(match: re.Match[str]) -> str:
    """Return preformatted text with its quotes unescaped: outside attributes they need no escape, which would make up
    half of some pages."""
    return match[0].replace("&#34;", '"').replace("&#39;", "'")


def _stamp(sources: Iterable[str]) -> str:
    sources = list(sources)
    for name in sources:
        # A newline would end the comment.
        if not name.isprintable():
            raise PtxspecError(f"{visible(name)}:1:1: error: the name of this file has a character that is not seen")
    return f"Generated by ptxspec from {', '.join(sources)}; do not edit."

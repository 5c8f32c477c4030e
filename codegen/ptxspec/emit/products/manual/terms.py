"""Links from a page to the glossary: each word of the glossary is a link where a page first uses it."""

from __future__ import annotations

import re

from ...markdown import anchor

# A title that ends in a note, such as "open (of a result)", is for a word that also has an everyday meaning. Authors
# link it by hand.
_TITLE = re.compile(r"^### ([^(\n]+)$", re.MULTILINE)
# The parts of a page that stay unchanged: code, links and images, headings, heads of tables and comments; in HTML also
# controls, the basis of a statement and texts for screen readers.
_MARKDOWN = (
    r"(?P<fence>`{3,})[^`].*?(?P=fence)|(?P<code>`+)(?!`).*?(?<!`)(?P=code)(?!`)|!?\[[^\]]*\](?:\([^)]*\))?|<!--.*?-->"
    r"|^(?:\#| {4}).*?$|^\|[^\n]*\n\| ---"
)
_HTML = (
    r"<(?P<tag>a|button|code|figure|h\d|label|legend|option|pre|script|select|style|summary|svg|thead)\b.*?</(?P=tag)>"
    r"|<th\b.*?(?=</?t[dhr]\b)|<span class=\"(?:basis|unseen)\">.*?</span>|<[^>]*>"
)


class Terms:
    """The words of the glossary, which is Markdown with a heading for each."""

    def __init__(self, glossary: str) -> None:
        self._forms = {title: re.compile(_form(title), re.IGNORECASE) for title in _TITLE.findall(glossary)}
        self._markdown = self._pattern(_MARKDOWN)
        self._html = self._pattern(_HTML)

    def in_markdown(self, page: str) -> str:
        """Return a page in Markdown with links to `glossary.md`."""
        return self._linked(self._markdown, page, "[{1}](glossary.md#{0})")

    def in_html(self, page: str) -> str:
        """Return a page in HTML with links to `glossary.html` in its main part."""
        frame, main, text = page.partition('<main id="main">')
        return frame + main + self._linked(self._html, text, '<a href="glossary.html#{0}">{1}</a>')

    def _pattern(self, kept: str) -> re.Pattern[str]:
        terms = "|".join(sorted((f.pattern for f in self._forms.values()), key=len, reverse=True)) or "(?!)"
        pattern = rf"{kept}|(?<![\w.:/-])(?P<term>{terms})(?![\w/-]|\.\w)"
        return re.compile(pattern, re.DOTALL | re.MULTILINE | re.IGNORECASE)

    def _linked(self, pattern: re.Pattern[str], text: str, link: str) -> str:
        seen: set[str] = set()

        def replaced(match: re.Match[str]) -> str:
            used = match["term"]
            title = used and next(t for t, form in self._forms.items() if form.fullmatch(used))
            if not title or title in seen:
                return match[0]
            seen.add(title)
            return link.format(anchor(title), used)

        return pattern.sub(replaced, text)


def _form(title: str) -> str:
    """Return the pattern of a title in running text, which also matches the plural and a line break."""
    return r"\s+".join(rf"{re.escape(word)}(?:e?s)?" for word in title.split())

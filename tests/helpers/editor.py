"""An editor, as far as a language server sees one."""

from __future__ import annotations

import asyncio

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient


class Editor:
    """A file that is open in an editor."""

    def __init__(self, client: LanguageClient, uri: str) -> None:
        self._client, self.uri, self._version = client, uri, 0
        self.document = lsp.TextDocumentIdentifier(uri)

    async def open(self, text: str, language: str) -> list[lsp.Diagnostic]:
        item = lsp.TextDocumentItem(self.uri, language, self._version, text)
        self._client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    async def change(self, start: tuple[int, int], end: tuple[int, int], new: str) -> list[lsp.Diagnostic]:
        self._version += 1
        document = lsp.VersionedTextDocumentIdentifier(self._version, self.uri)
        where = lsp.Range(lsp.Position(*start), lsp.Position(*end))
        change = lsp.TextDocumentContentChangePartial(where, new)
        self._client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        return await self.diagnostics()

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        """Wait for what is said of the last version."""
        for _ in range(10_000):
            said = self._client.said.get(self.uri)
            if said and said.version == self._version:
                return list(said.diagnostics)
            await asyncio.sleep(0.01)
        raise AssertionError(f"nothing is said of {self.uri}")

    async def hover(self, line: int, character: int) -> str:
        where = lsp.HoverParams(self.document, lsp.Position(line, character))
        found = await self._client.text_document_hover_async(where)
        return found.contents.value if found and isinstance(found.contents, lsp.MarkupContent) else ""

    async def completions(self, line: int, character: int) -> list[lsp.CompletionItem]:
        where = lsp.CompletionParams(self.document, lsp.Position(line, character))
        found = await self._client.text_document_completion_async(where)
        return sorted(found.items, key=lambda i: i.sort_text or "") if isinstance(found, lsp.CompletionList) else []

    async def actions(self, line: int, character: int) -> list[lsp.CodeAction]:
        at = lsp.Range(lsp.Position(line, character), lsp.Position(line, character))
        asked = lsp.CodeActionParams(self.document, at, lsp.CodeActionContext([]))
        found = await self._client.text_document_code_action_async(asked) or []
        return [a for a in found if isinstance(a, lsp.CodeAction)]

    async def hints(self, lines: int) -> list[lsp.InlayHint]:
        asked = lsp.InlayHintParams(self.document, lsp.Range(lsp.Position(0, 0), lsp.Position(lines, 0)))
        return list(await self._client.text_document_inlay_hint_async(asked) or [])

"""The language server, on standard input and output.

A second thread checks texts, one after the other. Changes are accepted meanwhile, and a changed text is checked again.
The same thread answers requests about a text, after its check. Only completions do not wait: the check of a text starts
again after them."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import BinaryIO, TypeVar
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.uris import to_fs_path

from ..lint.configuration import FILES
from ..lint.findings import Finding
from ..ptx.complaints import ERROR, NOTE, WARNING
from ..query.database import Database
from ..release import release
from ..roots import Root
from .actions import Action, actions
from .completion import Item, complete
from .hints import Hint, hints
from .hover import hover
from .judged import AbandonedError, CheckedText, TextChecker
from .positions import Lines, TextDocument

_SEVERITIES = {
    ERROR: lsp.DiagnosticSeverity.Error,
    WARNING: lsp.DiagnosticSeverity.Warning,
    NOTE: lsp.DiagnosticSeverity.Information,
}
# The beginning of editors' names for languages whose unnamed files are certainly CUDA.
_CUDA = "cuda"
_NAME = "ptxspec"
# Seconds after which a check lets other work go on, such as reading the next change.
_SHARE = 0.0005

T = TypeVar("T")


class _Open:
    """A text that is open in the editor, with its last result and the running check of its newest version."""

    def __init__(self, uri: str, document: TextDocument, path: str, language: str) -> None:
        self.uri, self.document, self.path, self.language = uri, document, path, language
        self.last = CheckedText(document.text, path, language)
        self.judging: asyncio.Task[CheckedText | None] | None = None


class _Protocol(LanguageServerProtocol):
    """The protocol without pygls' own copy of a text. That splits lines at more characters than editors do, and alters
    the places of a change accordingly."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Iterator[object]:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server:
    """A language server with one database. `root` has the manual."""

    def __init__(self, db: Database, root: Root) -> None:
        self._db, self._manual = db, root.generated / "manual"
        self._open: dict[str, _Open] = {}
        self._worker = ThreadPoolExecutor(1)
        self._judge = TextChecker(db, self._tell, self._folders)
        self._told: set[str] = set()
        self._completing = 0
        self.server = LanguageServer(_NAME, release() or "0", protocol_cls=_Protocol)
        self._features()

    def run(self, source: BinaryIO, to: BinaryIO) -> None:
        """Serve until the editor ends it."""
        # An editor shows standard error to the user, and a failed request already gets its error in the answer.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
        sys.setswitchinterval(_SHARE)
        try:
            self.server.start_io(source, to)
        finally:
            self._worker.shutdown(cancel_futures=True)

    def _features(self) -> None:
        def feature(name: str, options: object = None) -> Callable[[Callable[..., object]], object]:
            # `feature` sets attributes of the function that it gets, which methods do not allow.
            return lambda method: self.server.feature(name, options)(partial(method))

        feature(lsp.INITIALIZED)(self._begun)
        feature(lsp.TEXT_DOCUMENT_DID_OPEN)(self._opened)
        feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(self._changed)
        feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(self._closed)
        feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)(self._configured)
        feature(lsp.TEXT_DOCUMENT_DID_SAVE)(self._configured)
        feature(lsp.TEXT_DOCUMENT_HOVER)(self._hover)
        feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))(self._complete)
        kinds = [lsp.CodeActionKind.QuickFix]
        feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))(self._actions)
        feature(lsp.TEXT_DOCUMENT_INLAY_HINT)(self._hints)

    def _tell(self, message: str) -> None:
        """Show a message in the editor, from any thread."""
        shown = lsp.ShowMessageParams(lsp.MessageType.Warning, f"ptxspec: {message}")
        self._loop.call_soon_threadsafe(self.server.window_show_message, shown)

    def _begun(self, params: lsp.InitializedParams) -> None:
        """Ask the editor to tell when a configuration changes, so that it takes effect at once."""
        workspace = self.server.client_capabilities.workspace
        told = workspace.did_change_watched_files if workspace else None
        if told and told.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(f"**/{name}") for name in FILES]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
            asked = lsp.Registration("configurations", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.server.client_register_capability(lsp.RegistrationParams([asked]))

    def _folders(self) -> Iterator[str]:
        """Yield the folders that are open in the editor."""
        workspace = self.server.workspace
        yield from filter(None, [workspace.root_path, *(to_fs_path(f.uri) for f in list(workspace.folders.values()))])

    # Texts

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        about = params.text_document
        path = to_fs_path(about.uri) or unquote(urlsplit(about.uri).path) or "untitled"
        if not about.uri.startswith("file:") and about.language_id.startswith(_CUDA):
            path += ".cu"
        language = self._judge.language(path, about.language_id)
        if language is not None:
            document = TextDocument(about.text, self._encoding, about.version)
            self._open[about.uri] = _Open(about.uri, document, path, language)
            self._start(about.uri)

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        text = self._open.get(params.text_document.uri)
        if text is None:
            return
        version = params.text_document.version
        for change in params.content_changes:
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                places = (start.line, start.character), (end.line, end.character)
                text.document = text.document.changed(*places, change.text, version)
            else:
                text.document = TextDocument(change.text, self._encoding, version)
        self._start(text.uri)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        if self._open.pop(params.text_document.uri, None):
            self._publish(params.text_document.uri, [])

    def _configured(self, params: object) -> None:
        """Check all texts again, because a configuration may have changed."""
        for uri in self._open:
            self._start(uri)

    def _start(self, uri: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._open[uri].judging = asyncio.create_task(self._judged_and_told(self._open[uri]))

    async def _judged_and_told(self, text: _Open) -> CheckedText | None:
        """Check a text and send the findings; None if the text changed before the end."""
        document = text.document

        def is_stale() -> bool:
            return self._open.get(text.uri) is not text or text.document is not document

        def is_unwanted() -> bool:
            return self._completing > 0 or is_stale()

        def judged() -> CheckedText | None:
            try:
                return self._judge.judge(document.text, text.path, text.language, is_unwanted)
            except AbandonedError:
                return None

        found = None
        while found is None and not is_stale():
            found = await self._aside(judged)
        if found is None or is_stale():
            return None
        text.last = found
        if found.unread and found.unread not in self._told:
            self._told.add(found.unread)
            self._tell(found.unread)
        lines = Lines(document.text, self._encoding)
        self._publish(text.uri, [_diagnostic(f, lines) for f in found.findings], document.version)
        return found

    async def _aside(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _publish(self, uri: str, found: list[lsp.Diagnostic], version: int | None = None) -> None:
        self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    async def _last(self, uri: str) -> tuple[CheckedText, Lines] | None:
        """Return the current text, checked."""
        while (text := self._open.get(uri)) is not None and text.judging is not None:
            if (found := await text.judging) is not None:
                return found, Lines(found.text, self._encoding)
        return None

    @property
    def _encoding(self) -> str:
        return lsp.PositionEncodingKind(self.server.workspace.position_encoding or "utf-16").value

    # Requests

    async def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        if (last := await self._last(params.text_document.uri)) is None:
            return None
        judged, lines = last
        offset = lines.offset(params.position.line, params.position.character)
        found = await self._aside(lambda: hover(self._db, judged, offset, self._manual))
        if found is None:
            return None
        start, end, text = found
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), _range(lines, start, end))

    async def _complete(self, params: lsp.CompletionParams) -> lsp.CompletionList | None:
        text = self._open.get(params.text_document.uri)
        if text is None:
            return None
        # Targets change less often than the text, and nobody waits for a check while typing.
        now, lines = text.last._replace(text=text.document.text), Lines(text.document.text, self._encoding)
        offset = lines.offset(params.position.line, params.position.character)
        self._completing += 1
        try:
            found = await self._aside(lambda: complete(self._db, now, offset))
        finally:
            self._completing -= 1
        return lsp.CompletionList(False, [_completion(item, i, lines, offset) for i, item in enumerate(found)])

    async def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        if params.context.only and not any(
            lsp.CodeActionKind.QuickFix.value.startswith(k) for k in params.context.only
        ):
            return None
        if (last := await self._last(params.text_document.uri)) is None:
            return None
        judged, lines = last
        start, end = (lines.offset(p.line, p.character) for p in (params.range.start, params.range.end))
        again = partial(self._judge.judge, path=judged.path, language=judged.language)
        found = await self._aside(lambda: list(actions(judged, start, end, partial(_span, lines=lines), again)))
        return [_action(a, params.text_document.uri, lines) for a in found]

    async def _hints(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint] | None:
        if (last := await self._last(params.text_document.uri)) is None:
            return None
        judged, lines = last
        start, end = (lines.offset(p.line, p.character) for p in (params.range.start, params.range.end))
        return [_hint(h, lines) for h in hints(self._db, judged, start, end)]


# The protocol's objects


def _position(lines: Lines, offset: int) -> lsp.Position:
    return lsp.Position(*lines.place(offset))


def _range(lines: Lines, start: int, end: int) -> lsp.Range:
    return lsp.Range(_position(lines, start), _position(lines, end))


def _span(f: Finding, lines: Lines) -> tuple[int, int]:
    """Return the place of a finding. A string may continue on the next line, but an underline may not."""
    start = lines.start(f.line) + f.column - 1
    return start, min(start + f.length, max(start, lines.end(start)))


def _diagnostic(f: Finding, lines: Lines) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        range=_range(lines, *_span(f, lines)),
        message=f.text,
        severity=_SEVERITIES[f.severity],
        code=f.code,
        source=_NAME,
    )


def _edit(lines: Lines, start: int, end: int, new: str) -> lsp.TextEdit:
    return lsp.TextEdit(_range(lines, start, end), new)


def _completion(item: Item, place: int, lines: Lines, offset: int) -> lsp.CompletionItem:
    kind = lsp.CompletionItemKind.Function if item.is_opcode else lsp.CompletionItemKind.EnumMember
    return lsp.CompletionItem(
        label=item.word,
        kind=kind,
        detail=item.about,
        # Without this an editor would sort alphabetically.
        sort_text=f"{not item.is_next:d}{place:04}",
        text_edit=_edit(lines, item.start, offset, item.word),
    )


def _action(action: Action, uri: str, lines: Lines) -> lsp.CodeAction:
    change = action.change
    return lsp.CodeAction(
        title=action.title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(action.finding, lines)],
        is_preferred=(action.mends and not change.doubt) or None,
        edit=lsp.WorkspaceEdit(changes={uri: [_edit(lines, change.start, change.end, change.new)]}),
    )


def _hint(hint: Hint, lines: Lines) -> lsp.InlayHint:
    return lsp.InlayHint(_position(lines, hint.at), hint.label, tooltip=hint.about, padding_left=True)

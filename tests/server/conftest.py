"""A language server as editors start it, and a client that speaks to it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

COMMAND = [sys.executable, "-m", "ptxspec", "server"]


def new_client() -> LanguageClient:
    """A client that keeps of which version something was said."""
    client = LanguageClient()
    client.said = {}
    client.watched = []

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def _publish(params: lsp.PublishDiagnosticsParams) -> None:
        client.said[params.uri] = params

    @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def _register(params: lsp.RegistrationParams) -> None:
        for asked in params.registrations:
            client.watched += [watcher["globPattern"] for watcher in asked.register_options["watchers"]]

    @client.feature(lsp.WINDOW_SHOW_MESSAGE)
    def _show(params: lsp.ShowMessageParams) -> None:
        client.messages.append(params)

    return client


@pytest.fixture(scope="module", autouse=True)
def no_other_loop() -> Iterator[None]:
    """Where tests had a browser in this process, playwright's loop counts as running until it ends."""
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the editor has open. Its name has a space."""
    return tmp_path_factory.mktemp("a repository")


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=COMMAND, client_factory=new_client), scope="module", loop_scope="module"
)
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    capabilities = client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=capabilities, root_uri=folder.as_uri()))
    yield
    await lsp_client.shutdown_session()

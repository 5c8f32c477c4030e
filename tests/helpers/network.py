"""A network that nobody may ask."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator

import pytest


class AskedError(BaseException):
    """An error that even code which catches every `Exception` lets through."""


def forbidden(patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield a list of what is asked of the network meanwhile, all of which is refused. Sockets of the machine itself,
    through which processes speak, are allowed."""
    asked: list[str] = []

    def refuse(*arguments: object, **_: object) -> None:
        asked.append(str(arguments))
        raise AskedError(asked[-1])

    connect = socket.socket.connect

    def connected(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            refuse(address)
        connect(self, address)  # type: ignore[arg-type]

    patch.setattr(socket.socket, "connect", connected)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        patch.setattr(socket, name, refuse)
    patch.setattr(urllib.request, "urlopen", refuse)
    yield asked
    assert not asked

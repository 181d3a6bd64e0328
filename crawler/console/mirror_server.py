"""Serve a mirror on this machine, for pages whose scripts need a server."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import Site
from twisted.web.static import File

from crawler.console.command_line import CommandError
from crawler.console.escaping import say
from crawler.lab.app.binding import BindingError, Door, bind
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.mirror_files import FileTable
from crawler.mirror.paths import INDEX, STATE_FOLDER
from crawler.mirror.serving import ServedFiles
from crawler.mirror.targets import Targets
from crawler.mirror.versions import versions_folder
from crawler.storage.database import open_for_reading
from crawler.url_rules.variants import PageKeys

if TYPE_CHECKING:
    from pathlib import Path

    from twisted.web.server import Request

_UNKNOWN_TYPE = "application/octet-stream"
_NOTHING = (
    "<!doctype html><title>Not in the mirror</title><p>The mirror has no file for this address.</p>"
    f'<p><a href="/{INDEX}">To its first page</a></p>\n'
).encode()


def serve(folder: Path, host: str, port: str | None) -> int:
    """Serve a mirror until Ctrl-C; return the exit status.

    Args:
        folder: Folder of the mirror.
        host: Address of this machine to listen on.
        port: Port; None: the usual one if it is free, else any.

    Raises:
        CommandError: The address cannot be had.
        JobError: There is no mirror, or its database cannot be read.
    """
    state = folder / STATE_FOLDER
    with (
        closing(open_for_reading(state)) as connection,
        MirrorFolder(folder, read_only=True) as of,
        ExitStack() as opened,
    ):
        table = FileTable(connection.execute)
        targets = Targets(connection.execute, table, PageKeys(connection.execute))
        place, versions = versions_folder(folder), None
        if place.is_dir() and not place.is_symlink():
            versions = opened.enter_context(MirrorFolder(place, read_only=True))
        files = ServedFiles(of, table, targets, versions)
        try:
            bound = bind(host, port)
        except BindingError as error:
            raise CommandError(str(error)) from None
        with bound.listening as listening:
            if bound.token is not None:
                say(f"everyone who reaches {host} can read the mirror now")
            say(f"{replace(bound, token=None).address}  (Ctrl-C ends it)", flush=True)
            listening.setblocking(False)  # of the library
            loop: Any = reactor
            site = Site(_Mirror(folder, files, Door.of(bound)))
            loop.adoptStreamPort(listening.fileno(), listening.family, site)
            loop.run()
    return os.EX_OK


class _Mirror(Resource):
    """Answers with the files of a mirror, of which a browser may ask for a part.

    Refused are a foreign Host (a name that was pointed to this machine), and what a page of another
    site asks for within itself: a mirror may hold what its owner alone may read.
    """

    isLeaf = True  # noqa: N815  # of the library

    def __init__(self, folder: Path, files: ServedFiles, door: Door) -> None:
        Resource.__init__(self)
        self._folder = folder
        self._files = files
        self._door = door

    def render_GET(  # noqa: N802  # of the library
        self, request: Request
    ) -> bytes | int:
        if not self._is_own(request):
            request.setResponseCode(403)
            return b"not the address of this mirror\n"
        # An update may change a file whose date, that of the site, tells nothing of it; and another
        # mirror is served at the same address later.
        request.setHeader("cache-control", "no-store")
        request.requestHeaders.removeHeader("if-modified-since")
        target = request.uri.decode("ascii", "replace")
        found = self._files.find(target, request.getHeader("referer") or "")
        if found is None:
            request.setResponseCode(404)
            request.setHeader("content-type", "text/html; charset=utf-8")
            return _NOTHING
        if found.address:
            request.redirect(found.address.encode())
            return b""
        file = File(str(self._folder / found.path))
        file.type, file.encoding = _as_header(found.content_type), None
        answer: bytes | int = file.render_GET(request)
        return answer

    def _is_own(self, request: Request) -> bool:
        if not self._door.is_ours(request.getHeader("host") or ""):
            return False
        is_foreign = request.getHeader("sec-fetch-site") == "cross-site"
        return not is_foreign or request.getHeader("sec-fetch-mode") == "navigate"


def _as_header(content_type: str | None) -> str:
    """Return a type that Twisted sends: of some sites it has other characters."""
    written = (content_type or _UNKNOWN_TYPE).encode("ascii", "ignore").decode()
    return "".join(filter(str.isprintable, written)) or _UNKNOWN_TYPE

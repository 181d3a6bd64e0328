"""Serve a mirror on this machine, for pages whose scripts need a server."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import Site
from twisted.web.static import File

from crawler.console.escaping import say
from crawler.lab.app.binding import Door, bind
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_table import OWN
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.mirror_files import open_mirror
from crawler.mirror.paths import INDEX, OUR_FILES, SEARCH_FOLDER, STATE_FOLDER
from crawler.mirror.reports import FOLDER as VERSIONS_FOLDER
from crawler.mirror.reports import versions_folder

if TYPE_CHECKING:
    from pathlib import Path

    from twisted.web.server import Request

    from crawler.mirror.mirror_files import OpenMirror

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
        BindingError: The address cannot be had.
        JobError: There is no mirror, or its database cannot be read.
    """
    with open_mirror(folder) as mirror, ExitStack() as opened:
        place, versions = versions_folder(folder), None
        if place.is_dir() and not place.is_symlink():
            versions = opened.enter_context(MirrorFolder(place, read_only=True))
        files = ServedFiles(mirror, versions)
        bound = bind(host, port)
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
    """Answers with the files of a mirror; a browser may ask for a part of one.

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


_VERSIONS = f"{STATE_FOLDER}/{VERSIONS_FOLDER}/"
_OF_OUR_FILES = {"html": "text/html; charset=utf-8", "json": "application/json"}


class ServedFile(NamedTuple):
    """Answers a request.

    Attributes:
        path: Path of the file below the mirror's folder.
        content_type: The type that the site sent with it; None if it sent none.
        address: Address to which the browser is redirected, or "": relative links of the file are
            right at its own address alone.
    """

    path: str
    content_type: str | None
    address: str = ""


class ServedFiles:
    """Answers by the paths of the files, and by the URLs that scripts make on the served site.

    A script asks for ``/search.json`` or ``data.json?v=3`` as it did on its site. The host that it
    means is that of the page which asks, and the file is the one to which a link with that URL
    leads.

    Args:
        mirror: The mirror.
        versions: Folder of the earlier versions; None: there is none.
    """

    def __init__(self, mirror: OpenMirror, versions: MirrorFolder | None) -> None:
        self._folder, self._table, self._targets, _ = mirror
        self._versions = versions

    def find(self, target: str, referer: str = "") -> ServedFile | None:
        """Return what answers a request, or None. Complexity: O(redirects).

        Args:
            target: Path and query as the browser sends them, percent-encoded.
            referer: The header of that name, or "".
        """
        path, _, query = target.partition("?")
        if not query:
            return self._at(path) or self._at_url(target, referer)
        # The file without the query is the page whose script reads the query.
        return self._at_url(target, referer) or self._at(path)

    def _at(self, address: str) -> ServedFile | None:
        path = unquote(address).removeprefix("/")
        if not path or path.endswith("/"):
            path += INDEX
        if path in OUR_FILES:
            kind = _OF_OUR_FILES[path.rpartition(".")[2]]
            return ServedFile(path, kind) if self._is_there(path) else None
        if path.startswith(_VERSIONS):
            return self._of_version(path)
        if path.startswith(f"{SEARCH_FOLDER}/"):
            return ServedFile(path, "text/javascript") if self._is_there(path) else None
        row = self._table.of_path(path)
        if row is None or row.state != OWN or not self._is_there(path):
            return None
        return ServedFile(path, row.content_type)

    def _of_version(self, path: str) -> ServedFile | None:
        """Return a file of an earlier version, with the type that the newest one came with."""
        named = path.removeprefix(_VERSIONS)
        if self._versions is None or not _is_in(self._versions, named):
            return None
        within = named.partition("/")[2]
        row = self._table.of_path(within) if within else None
        kind = _OF_OUR_FILES.get(path.rpartition(".")[2]) or guess_type(path, strict=False)[0]
        return ServedFile(path, kind if row is None else row.content_type)

    def _at_url(self, target: str, referer: str) -> ServedFile | None:
        """Return a redirect to the file of a URL on the host of the request, or of its referrer."""
        whole = target.removeprefix("/")
        folder, _, rest = whole.partition("/")
        origin = self._origin(folder)
        if origin is None:
            origin, rest = self._origin(_first_folder(referer)), whole
        if origin is None:
            return None
        found = self._targets.find(f"{origin}/{rest}")
        row = None if found is None else self._table.get(found.id)
        if row is None or not self._is_there(row.path):
            return None
        query = target.partition("?")[2]
        address = f"/{quote(row.path)}" + (f"?{query}" if query else "")
        return ServedFile(row.path, row.content_type, "" if address == target else address)

    def _origin(self, folder: str) -> str | None:
        """Return scheme and host of the URLs whose files are in a folder of the mirror."""
        row = self._table.below(unquote(folder)) if folder else None
        if row is None:
            return None
        parts = urlsplit(row.url)
        return f"{parts.scheme}://{parts.netloc}"

    def _is_there(self, path: str) -> bool:
        return _is_in(self._folder, path)


def _is_in(folder: MirrorFolder, path: str) -> bool:
    """Return whether an ordinary file is there; what a symbolic link leads to is not served."""
    try:
        return folder.exists(path)
    except MirrorError:
        return False


def _first_folder(url: str) -> str:
    try:
        return urlsplit(url).path.removeprefix("/").partition("/")[0]
    except ValueError:
        return ""

"""Show the pages of a WACZ file in ReplayWeb.page, in a browser that has no network.

The player is a page with a service worker that reads the file in ranges. The browser gets both
from this process, by the requests that Playwright hands over: no server is needed.
"""

from __future__ import annotations

import asyncio
import re
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

from crawler.mirror.errors import MirrorError

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = ("index.html", "ui.js", "sw.js")
"""Files of the npm package ``replaywebpage`` that make the player."""

# A browser runs service workers of this host without TLS. Nothing listens there.
_ORIGIN = "http://localhost:9"
_ARCHIVE, _BASE = "/archive.wacz", "/replay/"
_REPLAYED = re.compile(r"/\d{14}(?:mp|js|cs|im|if|oe|id)?_/(?P<url>.+)")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_MAX_PIECE_BYTES = 32 << 20
_LOOK_SECS = 0.1
_PAGE = """<!doctype html><style>body {{ margin: 0 }}
replay-web-page {{ display: block; width: 100vw; height: 100vh }}</style>
<script src="{base}ui.js"></script>
<replay-web-page source="{archive}" url="{url}" replayBase="{base}" embed="replayonly">
</replay-web-page>
"""


class Player:
    """Answers the requests of the player, and finds the page that it shows.

    Args:
        program: Folder with the player's files.
        archive: The WACZ file.

    Raises:
        MirrorError: The folder has no player.
    """

    def __init__(self, program: Path, archive: Path) -> None:
        missing = [name for name in PROGRAM if not (program / name).is_file()]
        if missing:
            raise MirrorError(
                f"{program}: no {missing[0]} in it; unpack what `npm pack replaywebpage` brings, "
                "and name its folder"
            )
        self._program = program
        self._archive = archive

    async def answer(self, route: Any) -> None:
        """Answer a request of the player or of its service worker; any other one fails."""
        request = route.request
        parts = urlsplit(request.url)
        folder, _, name = parts.path.rpartition("/")
        if f"{parts.scheme}://{parts.netloc}" != _ORIGIN:
            await route.abort("failed")
        elif parts.path == _ARCHIVE:
            status, headers, body = await asyncio.to_thread(
                self._piece, request.headers.get("range", ""), request.method
            )
            await route.fulfill(status=status, headers=headers, body=body)
        elif f"{folder}/" == _BASE and (name or PROGRAM[0]) in PROGRAM:
            await route.fulfill(path=self._program / (name or PROGRAM[0]))
        elif parts.path == "/":
            url = parse_qs(parts.query).get("url", [""])[0]  # a replayed page may ask for it too
            page = _PAGE.format(archive=_ARCHIVE, base=_BASE, url=escape(url))
            await route.fulfill(body=page, content_type="text/html; charset=utf-8")
        else:
            await route.fulfill(status=404, body="")

    def _piece(self, asked: str, method: str) -> tuple[int, dict[str, str], bytes]:
        """Return the part of the archive that a request asks for; the whole only if it is small."""
        total = self._archive.stat().st_size
        wanted = _RANGE.fullmatch(asked)
        first, last = wanted.groups() if wanted else ("", "")
        begin = int(first) if first else max(total - int(last), 0) if last else 0
        end = min(int(last) + 1 if first and last else total, begin + _MAX_PIECE_BYTES, total)
        with self._archive.open("rb") as file:
            file.seek(begin)
            body = b"" if method == "HEAD" else file.read(max(end - begin, 0))
        headers = {"Accept-Ranges": "bytes", "Content-Type": "application/wacz"}
        if not wanted and end == total:
            return 200, headers, body
        return 206, {**headers, "Content-Range": f"bytes {begin}-{end - 1}/{total}"}, body

    async def show(self, page: Any, url: str, timeout_ms: int, failed: set[str]) -> Any:
        """Show a page of the archive; return its frame.

        Args:
            page: A page of the browser, whose requests ``answer`` answers.
            url: URL of the archived page.
            timeout_ms: Milliseconds that it may take.
            failed: Gets the URLs that the page asks for and the archive lacks.

        Raises:
            MirrorError: The player does not show it in time.
        """

        def note(answer: Any) -> None:
            replayed = _REPLAYED.search(answer.url)
            if replayed is not None and answer.status >= HTTPStatus.BAD_REQUEST:
                failed.add(replayed["url"])

        page.on("response", note)
        await page.goto(f"{_ORIGIN}/?url={quote(url, safe='')}", timeout=timeout_ms)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while True:
                    for frame in page.frames:
                        replayed = _REPLAYED.search(frame.url)
                        if replayed is not None:
                            await frame.wait_for_load_state("load", timeout=timeout_ms)
                            return frame
                    await asyncio.sleep(_LOOK_SECS)
        except TimeoutError:
            raise MirrorError("the player does not show it") from None

"""Prove a mirror or its archive: show pages in Chromium, and beside it as they were recorded."""

from __future__ import annotations

import asyncio
import base64
import re
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urljoin, urlsplit

from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import original

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
    from pathlib import Path

    from crawler.mirror.file_table import FileRow
    from crawler.mirror.mirror_files import OpenMirror
    from crawler.rendering.browser import Browser

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
    """Shows the pages of a WACZ file in ReplayWeb.page, in a browser that has no network.

    The player is a page with a service worker that reads the file in ranges. The browser gets both
    from this process, by the requests that Playwright hands over: no server is needed.

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


MAX_DIFFERENCE = 0.01
"""A page looks worse than recorded where more than this share of its pixels differs."""

_VIEWPORT = {"width": 1280, "height": 1024}
_PAGE_MS = 20_000
_QUIET_MS = 500
_PROOF_SECS = 90.0
_CHANNEL_STEPS = 16
"""Take pixels for the same where no channel differs by more than this, of 255: smoothed edges."""

_DIFFERING = """
async ([one, other, steps]) => {
  const pixels = async (data) => {
    const image = new Image();
    image.src = "data:image/png;base64," + data;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = await Promise.all([pixels(one), pixels(other)]);
  const width = Math.max(a.width, b.width), height = Math.max(a.height, b.height);
  let same = 0;
  for (let y = 0; y < Math.min(a.height, b.height); y++)
    for (let x = 0; x < Math.min(a.width, b.width); x++) {
      const i = 4 * (y * a.width + x), j = 4 * (y * b.width + x);
      const far = [0, 1, 2].some((c) => Math.abs(a.data[i + c] - b.data[j + c]) > steps);
      same += far ? 0 : 1;
    }
  return 1 - same / (width * height);
}
"""


class Seen(NamedTuple):
    """Text, failed files and picture of a page in a browser.

    Attributes:
        text: Its visible text, with single spaces.
        failed: URLs that it asked for in vain.
        picture: The window as PNG.
    """

    text: str
    failed: frozenset[str]
    picture: bytes


@dataclass(frozen=True, slots=True)
class Proof:
    """A page from the disk, or in a player, beside the same page as it was recorded.

    Attributes:
        url: URL of the page.
        path: Path of its file.
        recorded: What is shown of the recorded answers, without a network; None if it failed.
        stored: What is shown of the file, or by the player; None if it failed.
        difference: Share of the pixels that differ.
        failed: What fails there alone: URLs, and paths of files.
        why: Why the browser does not show it; "" where it does.
    """

    url: str
    path: str
    recorded: Seen | None = None
    stored: Seen | None = None
    difference: float = 0.0
    failed: tuple[str, ...] = ()
    why: str = ""

    @property
    def faults(self) -> list[str]:
        """The respects in which it is worse than recorded; empty for a page that is not."""
        if self.why:
            return [self.why]
        faults = []
        if self.recorded is not None and self.stored is not None:
            if self.recorded.text != self.stored.text:
                faults.append("the text differs")
            if self.difference > MAX_DIFFERENCE:
                faults.append(f"{self.difference:.1%} of the picture differs")
        if self.failed:
            more = f" and {len(self.failed) - 1:,} more" if len(self.failed) > 1 else ""
            faults.append(f"{self.failed[0]}{more} did not load")
        return faults


class Prover:
    """Shows pages of a mirror in a Chromium that has no network.

    The recorded page is made of the answers from which the files were written: its requests get the
    bytes that the site sent, whatever the links in the files are now.

    Args:
        browser: A browser that is started.
        mirror: The mirror.
        player: Shows the pages of an archive, which are proved instead of the files.
    """

    def __init__(self, browser: Browser, mirror: OpenMirror, player: Player | None = None) -> None:
        self._browser = browser
        self._folder, self._table, self._targets, _ = mirror
        self._player = player
        self._blank: Any = None

    async def prove(self, rows: Iterable[FileRow]) -> AsyncIterator[Proof]:
        """Yield the proof of each page. Complexity: two page loads each."""
        for row in rows:
            try:
                original(self._folder, row)
                yield await asyncio.wait_for(self._prove(row), _PROOF_SECS)
            except TimeoutError:
                yield Proof(row.url, row.path, why=f"not shown within {_PROOF_SECS:g} s")
            except Exception as error:  # whatever Playwright raises
                lines = str(error).strip().splitlines() or [type(error).__name__]
                yield Proof(row.url, row.path, why=lines[0])

    async def _prove(self, row: FileRow) -> Proof:
        recorded = await self._see(row.url, self._answer)
        if self._player is not None:
            stored = await self._see(row.url, self._player.answer, self._player)
        else:
            place = (self._folder.root / row.path).resolve().as_uri()
            stored = await self._see(place)
        failed = sorted(
            self._named(url) for url in stored.failed if self._is_worse(url, recorded.failed)
        )
        difference = await self._difference(recorded.picture, stored.picture)
        return Proof(row.url, row.path, recorded, stored, difference, tuple(failed))

    async def _see(
        self,
        url: str,
        answer: Callable[[Any], Awaitable[None]] | None = None,
        player: Player | None = None,
    ) -> Seen:
        """Return what is shown of a URL.

        Args:
            url: The URL.
            answer: Answers the requests of the browser; None: they fail, but those of files.
            player: Shows the URL within a page of its own.
        """
        context = await self._browser.new_context(
            viewport=_VIEWPORT,
            service_workers="allow" if player else "block",
            reduced_motion="reduce",
        )
        try:
            page = await context.new_page()
            failed: set[str] = set()
            page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.dismiss()))
            if answer is not None:
                await context.route("**/*", answer)
            shown = page
            if player is None:
                page.on("requestfailed", lambda request: failed.add(request.url))
                await page.goto(url, wait_until="load", timeout=_PAGE_MS)
            else:
                shown = await player.show(page, url, _PAGE_MS, failed)
            await page.wait_for_timeout(_QUIET_MS)
            text = " ".join((await shown.evaluate("document.body?.innerText ?? ''")).split())
            return Seen(text, frozenset(failed), await page.screenshot(animations="disabled"))
        finally:
            with suppress(Exception):  # the browser has ended
                await context.close()

    async def _answer(self, route: Any) -> None:
        """Answer a request of a recorded page with the bytes that the site sent."""
        found = self._targets.find(route.request.url.partition("#")[0])
        row = None if found is None else self._table.get(found.id)
        if row is None:
            await route.abort("failed")
            return
        try:
            body = original(self._folder, row)
        except MirrorError:
            await route.abort("failed")
            return
        headers = {"content-type": row.content_type} if row.content_type else {}
        await route.fulfill(status=200, headers=headers, body=body)

    def _is_worse(self, url: str, recorded: frozenset[str]) -> bool:
        """Return whether a URL that failed from the disk did not fail as recorded."""
        if not url.startswith("file:"):
            return url not in recorded
        path = self._named(url)
        if self._table.of_path(path) is not None:
            return True  # the mirror should have it; the recorded page lacks it too
        host, _, rest = path.partition("/")
        beside = self._table.below(host)
        return beside is None or urljoin(beside.url, f"/{rest}") not in recorded

    def _named(self, url: str) -> str:
        """Return the path of a file below the mirror's folder; any other URL as it is."""
        root = f"{self._folder.root.resolve().as_uri()}/"
        return unquote(urlsplit(url.removeprefix(root)).path) if url.startswith(root) else url

    async def _difference(self, one: bytes, other: bytes) -> float:
        """Return the share of pixels that differ in two PNGs; a missing edge differs."""
        if one == other:
            return 0.0
        if self._blank is None:
            self._blank = await (await self._browser.new_context()).new_page()
        given = [base64.b64encode(each).decode() for each in (one, other)]
        return float(await self._blank.evaluate(_DIFFERING, [*given, _CHANNEL_STEPS]))

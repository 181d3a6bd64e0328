"""Render pages of served sites by a renderer of a test's own."""

from __future__ import annotations

import asyncio
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.rendering.browser import arguments, tree_of
from crawler.rendering.rendered_pages import PageToRender, RenderOptions, SubAnswer
from crawler.rendering.renderer import Renderer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.rendering.rendered_pages import Cookie, RenderedPage, SubRequest

HTML = (("Content-Type", "text/html; charset=utf-8"),)


def document(script: str, body: str = "<p id=p>nothing yet</p>") -> bytes:
    return f"<!DOCTYPE html><title>T</title><body>{body}<script>{script}</script>".encode()


async def fetch(wanted: SubRequest) -> SubAnswer | None:
    """Answer by HTTP, from this machine alone."""
    return await asyncio.to_thread(_fetch, wanted.url)


def _fetch(url: str) -> SubAnswer:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return SubAnswer(answer.status, tuple(answer.headers.items()), answer.read())
    except urllib.error.HTTPError as error:
        return SubAnswer(error.code, tuple(error.headers.items()), error.read())


def render(
    *pages: tuple[str, bytes], options: RenderOptions | None = None, cookies: Sequence[Cookie] = ()
) -> list[RenderedPage]:
    """Render pages one after the other, by a renderer that is closed then."""

    async def rendered() -> list[RenderedPage]:
        renderer = Renderer(options or RenderOptions(), fetch)
        try:
            return [
                await renderer.render(PageToRender(url, body, 200, HTML, tuple(cookies)))
                for url, body in pages
            ]
        finally:
            await renderer.close()

    return asyncio.run(rendered())


def browsers_of(pid: int) -> list[int]:
    """Return the processes that are descendants of one and were given our mark."""
    found = tree_of(pid)
    marked = [each for each in found if any(b"--crawl-render=" in a for a in arguments(each))]
    return [each for each in marked if is_alive(each)]


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def own_browsers() -> list[int]:
    return browsers_of(os.getpid())


def own_browsers_and_pages() -> list[int]:
    """Return the processes of pages in our browsers: other tests have browsers of their own."""
    tree = [pid for browser in own_browsers() for pid in tree_of(browser)]
    return [pid for pid in tree if b"--type=renderer" in arguments(pid)]

"""Render pages in a Chromium that has no network of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.rendering.pages import Fetch, PageToRender, RenderedPage, RenderOptions


class Renderer:
    """Renders pages, some at a time.

    Args:
        options: What rendering may cost.
        fetch: Answers the requests of the pages.
    """

    def __init__(self, options: RenderOptions, fetch: Fetch) -> None:
        self._options = options
        self._fetch = fetch

    async def start(self) -> None:
        """Start a browser.

        Raises:
            NoBrowserError: There is none, or it does not start.
        """
        raise NotImplementedError

    async def render(self, page: PageToRender) -> RenderedPage:
        """Render a page within its time; a page that fails has a result with ``failed``.

        Raises:
            NoBrowserError: The browser has ended, and another one does not start.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """End all browsers; pages that are being rendered fail."""
        raise NotImplementedError

"""A site that is nothing but a graph of links, and that answers in the order that it is told."""

from __future__ import annotations

from collections import Counter
from threading import Condition
from typing import TYPE_CHECKING

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tests.sites.serving import Request

PATIENCE_SECS = 20


class GraphSite(MadeSite):
    """Serves pages on a loopback port while a ``with`` block lasts.

    Args:
        links: Where each page leads, by path; what starts with ``>`` is where it redirects.
        waits: Pages that are answered only after another one was asked for, or never more.
        texts: Pages that say what another page says, by path; all others say something new.
        patience_secs: After so long a page is answered whatever was asked for.
    """

    def __init__(
        self,
        links: Mapping[str, Sequence[str]],
        waits: Mapping[str, str] | None = None,
        texts: Mapping[str, str] | None = None,
        patience_secs: float = PATIENCE_SECS,
    ) -> None:
        super().__init__()
        self.links = links
        self._waits = dict(waits or {})
        self._texts = texts or {}
        self._patience_secs = patience_secs
        self._asked: list[str] = []
        self._changed = Condition()

    @property
    def seeds(self) -> str:
        """Where a fleet begins."""
        return f"{self.origin}/"

    @property
    def asked(self) -> list[str]:
        """Every page so far, in the order of arrival."""
        with self._changed:
            return list(self._asked)

    @property
    def counts(self) -> Counter[str]:
        """How often each page was asked for so far."""
        return Counter(self.asked)

    def wait_for(self, path: str) -> None:
        """Return when a page was asked for."""
        with self._changed:
            assert self._changed.wait_for(lambda: path in self._asked, PATIENCE_SECS)

    def release(self, path: str) -> None:
        """Answer a page that waits."""
        with self._changed:
            self._waits.pop(path, None)
            self._changed.notify_all()

    def forget(self) -> None:
        """Begin to count anew."""
        with self._changed:
            self._asked.clear()

    def text_of(self, path: str) -> str:
        """What a page says."""
        return prose(self._texts.get(path, path), 80)

    def answer(self, path: str) -> Sequence[str] | None:
        """Where a page leads, when it is to be answered; None where there is none."""
        if path not in self.links:
            return None
        with self._changed:
            self._asked.append(path)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._may_answer(path), self._patience_secs)
        return self.links[path]

    def _may_answer(self, path: str) -> bool:
        return path not in self._waits or self._waits[path] in self._asked

    def respond(self, request: Request) -> Response:
        path = request.target.partition("?")[0]
        links = self.answer(path)
        if links is None:
            return NOT_FOUND
        if links and links[0].startswith(">"):
            return Response(status=302, headers={"Location": links[0][1:]})
        return Response(self._page(path, links))

    def _page(self, path: str, links: Sequence[str]) -> bytes:
        anchors = "".join(f'<a href="{to}">{to}</a> ' for to in links)
        return (
            f"<!DOCTYPE html><html lang=en><title>{path}</title><body><main><article>"
            f"<h1>Graph</h1><p>{self.text_of(path)}</p></article></main>"
            f"<nav>{anchors}</nav></body></html>"
        ).encode()

    def __exit__(self, *exc: object) -> None:
        with self._changed:
            self._waits.clear()
            self._changed.notify_all()
        super().__exit__(*exc)


def nearest(links: Mapping[str, Sequence[str]], start: str) -> dict[str, int]:
    """How many links each page is away from the start, at least: plain breadth first."""
    depths = {start: 0}
    ring: Iterable[str] = [start]
    while ring := list(ring):
        following = []
        for path in ring:
            for to in links[path]:
                if to not in depths:
                    depths[to] = depths[path] + 1
                    following.append(to)
        ring = following
    return depths

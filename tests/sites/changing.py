"""A site whose pages a test writes, edits, moves and takes away between two visits."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Self

from tests.sites.hostile import HostileSite
from tests.sites.prose import prose
from tests.sites.serving import OF_EVERY_HOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.sites.exchange import Exchange

CONDITIONS = ("if-none-match", "if-modified-since")


def page(text: str, links: Sequence[str] = (), *, head: str = "", title: str = "A page") -> bytes:
    """A page with a text and, outside of it, links."""
    items = "".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>' for link in links)
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body><nav><ul>{items}</ul>"
        f"</nav><main><article><h1>{title}</h1><p>{text}</p></article></main></body></html>"
    ).encode()


@dataclass(frozen=True)
class Served:
    """One page as it is served; ``validators`` are sent, and honoured, as ETag or Last-Modified."""

    body: bytes
    validators: tuple[tuple[str, str], ...]
    status: int = 200

    def __call__(self, exchange: Exchange) -> None:
        pairs = zip(CONDITIONS, self.validators, strict=False)
        asked = [(exchange.headers.get(condition), value) for condition, (_, value) in pairs]
        same = [given == value for given, value in asked if given is not None]
        headers = {name: value for name, value in self.validators if value}
        if same and all(same):
            exchange.head(304, headers)
        else:
            exchange.answer(self.body, status=self.status, headers=headers)


class ChangingSite(HostileSite):
    """``/`` links to what ``linked`` says, as everywhere; every other page is put there.

    Pages have an ETag of their version, unless they are to have none.
    """

    def __init__(self, linked: tuple[str, ...] = ()) -> None:
        super().__init__(linked=linked)
        self._versions = 0
        self._heard = 0

    def put(
        self, path: str, text: str, links: Sequence[str] = (), *, etag: bool = True, head: str = ""
    ) -> None:
        """Serve a page from now on; ``text`` names its prose where it is one word."""
        self._versions += 1
        written = prose(text, 200) if " " not in text else text
        tag = f'"{self._versions}"' if etag else ""
        self.added[path] = Served(page(written, links, head=head), (("ETag", tag),))

    def entitle(self, path: str, title: str) -> None:
        """Serve the page with another title, and the same text and headings."""
        served = self.added[path]
        assert isinstance(served, Served)
        before, _, rest = served.body.partition(b"<title>")
        body = before + f"<title>{escape(title)}".encode() + rest[rest.index(b"</title>") :]
        self._versions += 1
        self.added[path] = Served(body, (("ETag", f'"{self._versions}"'),))

    def date(self, path: str, modified: str) -> None:
        """Serve the page with this Last-Modified, and no ETag."""
        served = self.added[path]
        assert isinstance(served, Served)
        self.added[path] = Served(served.body, (("ETag", ""), ("Last-Modified", modified)))

    def fail(self, path: str, status: int) -> None:
        """Answer with an error from now on."""
        self.added[path] = lambda exchange: exchange.answer(b"<p>Error.", status=status)

    def drop(self, path: str) -> None:
        """End every connection that asks for a page."""
        self.added[path] = lambda exchange: exchange.reset()

    def move(self, path: str, target: str, status: int = 301) -> None:
        """Redirect from now on."""
        headers = {"Location": target}
        self.added[path] = lambda exchange: exchange.answer(b"", status=status, headers=headers)

    def forget(self) -> None:
        """Begin to count anew, the versions of pages too."""
        with self._lock:
            self._asked.clear()
        self._versions = self._heard = 0

    def news(self) -> list[str]:
        """The paths that were asked for since this was called last."""
        new = [asked.path for asked in self.asked[self._heard :] if asked.path not in OF_EVERY_HOST]
        self._heard = len(self.asked)
        return new

    def conditions(self, path: str) -> dict[str, str]:
        """The conditions with which a path was asked for last."""
        last = next(asked for asked in reversed(self.asked) if asked.path == path)
        return {name: last.headers[name] for name in CONDITIONS if name in last.headers}

    def __enter__(self) -> Self:
        super().__enter__()
        return self

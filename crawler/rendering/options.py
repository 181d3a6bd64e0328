"""Say how pages are rendered, what is rendered, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping


class RenderError(Exception):
    """No page can be rendered; the message is one line that says why."""


class Behaviour(StrEnum):
    """What is done with a page once it is loaded, each a script in ``scripts``.

    Attributes:
        SCROLL: Scroll to the end until nothing comes that was not there.
        OPEN: Open what is closed: details, tabs, menus, "more". No link, form or checkbox.
        ROUTES: Click what looks like a link and is none, to learn the URL that it leads to.
    """

    SCROLL = "scroll"
    OPEN = "open"
    ROUTES = "routes"


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """The options of rendering.

    Attributes:
        secs: Seconds of one page, behaviours included.
        max_requests: Requests of one page at most.
        max_bytes: Bytes that come in answer to them at most.
        wait_for: CSS selector of what must be there before a page counts as loaded; empty for none.
        behaviours: What is done with a loaded page, in this order.
        browser: Path of Chromium; empty looks for one.
        user_agent: User agent that scripts see.
        concurrency: Pages rendered at the same time.
        max_mb: A browser whose processes hold more memory is replaced.
        max_pages: A browser is replaced after so many pages.
    """

    secs: float = 20.0
    max_requests: int = 200
    max_bytes: int = 33_554_432
    wait_for: str = ""
    behaviours: tuple[Behaviour, ...] = ()
    browser: str = ""
    user_agent: str = ""
    concurrency: int = 1
    max_mb: int = 1_500
    max_pages: int = 500


class PageToRender(NamedTuple):
    """An answer that the browser is handed for a page, which is not fetched again."""

    url: str
    status: int
    content_type: str
    body: bytes


class SubRequest(NamedTuple):
    """A request of a page for something else."""

    url: str
    page_url: str
    kind: str
    """What it is for, in Chromium's words: ``script``, ``xhr``, ``stylesheet``, ..."""


class SubAnswer(NamedTuple):
    """The answer to a request of a page, without any transfer coding."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Fetch: TypeAlias = "Callable[[SubRequest], Awaitable[SubAnswer | None]]"
"""Fetch something for a page; None where the request is refused or fails."""


@dataclass(slots=True)
class RenderedPage:
    """What a page is after its scripts ran.

    Attributes:
        html: The document, UTF-8, with open shadow trees as declared ones and without ``noscript``;
            None where the browser did not give it.
        failure: Reason in a few words why there is none, empty where there is.
        missed: What kept the page from being complete, in a few words each.
        routes: URLs that scripts went to, or would have.
    """

    html: bytes | None = None
    failure: str = ""
    missed: list[str] = field(default_factory=list)
    routes: list[str] = field(default_factory=list)

"""A walk through a mirror from page to page, each held beside the page as served."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from tests.browsing.mirror import file_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.chromium import Browser
    from tests.browsing.mirror import Mirror
    from tests.browsing.view import View

_SHOWN_WORDS = 8


@dataclass(frozen=True)
class Walked:
    """The pages seen, in order, and what was wrong with them as ``page: fault``."""

    pages: list[Path] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Browsers:
    """One that has no network, one that reaches this machine."""

    offline: Browser
    online: Browser

    @contextmanager
    def without_scripts(self) -> Iterator[Self]:
        """The same while pages run no script: some show other things where they are on a disk."""
        for one in (self.offline, self.online):
            one.run_scripts(are_on=False)
        try:
            yield self
        finally:
            for one in (self.offline, self.online):
                one.run_scripts(are_on=True)


def walk(mirror: Mirror, browsers: Browsers, pages: int, pictures: Path) -> Walked:
    """Open up to so many pages of a mirror, breadth first from ``index.html``.

    Of each page with a fault a picture is taken, and one of the page as served.
    """
    walked = Walked()
    queue = deque([mirror.start])
    known = {file_of(mirror.start)}
    while queue and len(walked.pages) < pages:
        asked = queue.popleft()
        view = browsers.offline.view(asked)
        if not mirror.is_page(page := file_of(view.url)):
            walked.faults.append(f"{asked}: ends at {view.url}: {view.failed}")
            continue
        known.add(page)
        if page in walked.pages:
            continue
        walked.pages.append(page)
        faults = list(_faults(mirror, browsers.online, page, view))
        walked.faults.extend(f"{page.relative_to(mirror.root)}: {fault}" for fault in faults)
        if faults:
            _take_pictures(browsers, pictures, len(walked.pages))
        for link in view.links:
            file = file_of(link) if link.startswith("file:") else None
            if file and file not in known and mirror.is_page(file):
                known.add(file)
                queue.append(file.as_uri())
    return walked


def _take_pictures(browsers: Browsers, pictures: Path, number: int) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    browsers.offline.screenshot(pictures / f"{number:03}-disk.png")
    browsers.online.screenshot(pictures / f"{number:03}-served.png")


def _faults(mirror: Mirror, online: Browser, page: Path, view: View) -> Iterator[str]:
    url = mirror.served.get(page)
    if url is None:
        # Only the page that forwards to the first is the mirror's own.
        if view.url != mirror.start:
            yield "nobody knows where this was served"
        served = None
    else:
        served = online.view(url)
        yield from _differences(view, served)
    yield from _failures(mirror, view, served)
    for link in dict.fromkeys(view.links):
        if fault := mirror.fault_of_link(link):
            yield fault


def _failures(mirror: Mirror, view: View, served: View | None) -> Iterator[str]:
    for url, reason in view.failed.items():
        if url.startswith("file:"):
            yield f"not got: {url}: {reason}"
    for url in dict.fromkeys(view.asked):
        if mirror.is_of_the_site(url) and not (served and url in served.failed):
            yield f"asked of the network: {url}"


def _differences(view: View, served: View) -> Iterator[str]:
    if view.text != served.text:
        yield f"other text: {_first_difference(view.text.split(), served.text.split())}"
    if view.images != served.images:
        pairs = zip(view.images, served.images, strict=False)
        wrong = [f"{one} for {other}" for one, other in pairs if one != other]
        counts = f"{len(view.images)} of {len(served.images)}"
        yield f"other images, {counts}: {', '.join(wrong[:3])}"
    if view.looks != served.looks:
        pairs = zip(view.looks, served.looks, strict=False)
        wrong = [f"{one!r} for {other!r}" for one, other in pairs if one != other]
        yield f"other looks of {len(wrong)} elements: {', '.join(wrong[:1])}"


def _first_difference(words: list[str], served: list[str]) -> str:
    same = 0
    while same < min(len(words), len(served)) and words[same] == served[same]:
        same += 1
    ours, theirs = (" ".join(one[same : same + _SHOWN_WORDS]) for one in (words, served))
    return f"{ours!r} for {theirs!r} after {same} words"

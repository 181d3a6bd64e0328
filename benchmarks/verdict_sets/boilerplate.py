"""Judge sets as a crawl does that counts boilerplate, and a site on which it is a small share."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.pages.boilerplate import is_counted
from crawler.pages.wall_clusters import host_of
from neardup import Deduplicator
from neardup.boilerplate import MIN_TEXTS, BlockCounts, block_hashes
from tests.quality.judged import judge_all
from tests.sites.prose import prose
from tests.sites.templates.copies import MadePage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neardup import Parameters
    from tests.quality.judged import Outcome
    from tests.quality.labelled import Labelled

OTHERS = 1_900
"""Pages of a site that have nothing in common."""

SIBLINGS = 100
"""Pages on one template of that site, each shown twice."""


@dataclass(slots=True)
class CountedSet:
    """The boilerplate of the hosts of a set: implements ``neardup.boilerplate.Boilerplate``.

    Args:
        labelled: The documents, whose ids are their places.
    """

    labelled: Sequence[Labelled]
    _counts: defaultdict[int, BlockCounts] = field(
        default_factory=lambda: defaultdict(BlockCounts), init=False
    )

    def group(self, id: int) -> int:  # noqa: A002  # neardup's name for it
        return _host(self.labelled[id])

    def blocks(self, group: int | None) -> BlockCounts | None:
        counts = None if group is None else self._counts.get(group)
        return counts if counts is not None and counts.texts >= MIN_TEXTS else None

    def count(self, parameters: Parameters) -> None:
        """Count all documents by their verdicts without boilerplate, as ``rejudge`` does."""
        with Deduplicator(parameters) as deduplicator:
            for number, one in enumerate(self.labelled):
                verdict = deduplicator.judge_document(number, one.document)
                original = verdict.duplicate_of
                original_url = None if original is None else _url(self.labelled[original])
                if is_counted(verdict.kind, _url(one), original_url):
                    self._counts[_host(one)].add(block_hashes(one.document.text))


def _url(one: Labelled) -> str:
    """Return the URL of a document; NumPy's labels are a version and a path."""
    url = one.label.partition(" (")[0]
    return url if "://" in url else f"http://docs/{url.replace(':', '/', 1)}"


def _host(one: Labelled) -> int:
    return host_of(_url(one))


def judge_without_boilerplate(labelled: Sequence[Labelled], parameters: Parameters) -> Outcome:
    """Judge a set, and leave aside what the texts of each host repeat."""
    grouped = [replace(one, document=replace(one.document, group=_host(one))) for one in labelled]
    counted = CountedSet(grouped)
    counted.count(parameters)
    return judge_all(grouped, parameters, counted)


def small_share() -> Iterator[MadePage]:
    """Yield the pages of a site, of which a twentieth are nameless pages on one template."""
    wording = "".join(f"<p>{prose(f'wording {number}', 60)}</p>" for number in range(5))
    step = OTHERS // SIBLINGS
    for number in range(OTHERS):
        url = f"http://portal.example/news/{number}"
        yield _page(url, f"news {number}", f"<p>{prose(f'news {number}', 120)}</p>")
        if number % step == 0:
            own = f"<p>The fee of case {number} is {prose(f'fee {number}', 12)}</p>"
            url = f"http://portal.example/act/{number}"
            yield _page(url, f"act {number}", f"{wording}{own}")
            yield _page(
                f"{url}?print=1", f"act {number}", f"{wording}{own}<p>Printed.</p>", "print"
            )


def _page(url: str, identity: str, body: str, way: str = "") -> MadePage:
    html = (
        "<!DOCTYPE html><html lang=en><title>The portal</title><body><main><article>"
        f"{body}</article></main></body></html>"
    )
    return MadePage(url, identity, html.encode(), way)

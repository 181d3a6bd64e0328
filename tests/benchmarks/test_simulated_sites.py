"""Sites without a network: their contents are to be found by their links."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest
from rules_peers.simulated_sites import SIMULATED

if TYPE_CHECKING:
    from rules_peers.simulated_site import SimulatedSite

MAX_URLS = 40_000
"""So many suffice for every site, though each page of some has a new URL in each link."""

# The large one takes minutes; that of one part has 7,000 links on a page.
SMALL = [name for name in SIMULATED if name not in {"made, 12,000 contents", "made, one part"}]


def contents_by_links(site: SimulatedSite) -> set[str]:
    """Follow the links of each new content, breadth first, until all contents are found.

    Where every link has a new token, those of what was met before lead to nothing else.
    """
    waiting = deque(site.seeds)
    seen = set(waiting)
    found: set[str] = set()
    for _ in range(MAX_URLS):
        if not waiting or site.truth <= found:
            break
        answer = site.answer(waiting.popleft())
        if answer is not None and answer.content not in found:
            found.add(answer.content)
            new = [link for link in answer.links if link not in seen]
            seen.update(new)
            waiting += new
    return found


def test_twenty_sites_and_more_have_no_planted_exceptions() -> None:
    assert len([name for name in SIMULATED if "differ" not in name]) >= 20


@pytest.mark.parametrize("name", SMALL)
def test_every_content_is_reached_by_links(name: str) -> None:
    site = SIMULATED[name](1)
    assert site.truth - contents_by_links(site) == set()


@pytest.mark.parametrize("name", ["print, 3 % differ", "share, 10 % differ, late", "phpBB"])
def test_a_seed_chooses_which_pages_differ(name: str) -> None:
    make = SIMULATED[name]
    assert make(1).truth == make(1).truth
    assert make(1).truth != make(2).truth


@pytest.mark.parametrize(("third", "least", "most"), [("early", 1, 104), ("late", 210, 314)])
def test_exceptions_are_planted_in_the_third_that_is_named(
    third: str, least: int, most: int
) -> None:
    names = [name for name in SIMULATED[f"AMP, 10 % differ, {third}"](1).truth if " " in name]
    numbers = [int(name.split()[0]) for name in names]
    assert len(numbers) == 32
    assert least <= min(numbers) <= max(numbers) <= most

"""Sites of several hosts: each has pages of its own, and all run one software."""

from __future__ import annotations

from random import Random
from urllib.parse import urlsplit

from rules_peers.simulated_site import Answer

KINDS = ("news", "wiki", "forum", "shop", "files", "people")


class Hosts:
    """Hosts that are met one after the other; each link carries a mark of where it stands.

    Attributes:
        seeds: The first page of the first host; the last page of each links to the next host.
    """

    def __init__(
        self, seed: int = 1, hosts: int = 4, size: int = 150, kinds: tuple[str, ...] = KINDS
    ) -> None:
        self._chance = Random(seed)
        self._hosts, self._size, self._kinds = hosts, size, kinds
        self.seeds = [self._url(0, 0)]
        self.truth = frozenset(f"{one} {n}" for one in range(hosts) for n in range(size))

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        parts = urlsplit(url)
        host = int((parts.hostname or "").removeprefix("host").partition(".")[0])
        number = int(parts.path.rpartition("/")[2])
        if host >= self._hosts or number >= self._size:
            return None
        following = range(3 * number + 1, min(3 * number + 4, self._size))
        links = [self._url(host, n) for n in (*following, *following, number // 3, 0)]
        if number == self._size - 1 and host + 1 < self._hosts:
            links.append(self._url(host + 1, 0))
        return Answer(f"{host} {number}", links)

    def _url(self, host: int, number: int) -> str:
        kind = self._kinds[number % len(self._kinds)]
        mark = f"from=m{self._chance.randrange(40)}"
        return f"http://host{host}.site{host}.test/{kind}/{number}?{mark}"

"""Sites with the URLs of well-known software, each with the views that it offers of one page."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from rules_peers.simulated_site import SITE, Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

LOGIN = "log in"
"""What a page says that wants a user; it is no content that is to be found."""


def _asked(url: str, separator: str = "&") -> tuple[str, dict[str, str]]:
    parts = urlsplit(url)
    return parts.path, dict(parse_qsl(parts.query, separator=separator))


def _tree(number: int, size: int, children: int = 4) -> range:
    first = children * number + 1
    return range(first, min(first + children, size))


class MediaWiki:
    """Pages by title, short and long, with their newest revision and one that said less before."""

    def __init__(self, seed: int = 1, size: int = 300) -> None:
        self._size = size
        self._edited = set(Random(seed).sample(range(size), size // 4))
        self.seeds = [f"{SITE}/wiki/Page_0"]
        old = [f"{number} before" for number in self._edited]
        self.truth = frozenset([*map(str, range(size)), *old])

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        path, query = _asked(url)
        title = path.removeprefix("/wiki/") if path != "/index.php" else query.get("title", "")
        found = re.fullmatch(r"Page_(\d+)", title)
        if found is None or int(found[1]) >= self._size:
            return None
        number, here = int(found[1]), f"{SITE}/index.php?title={title}"
        action = query.get("action", "view")
        if action in {"edit", "delete"}:
            return Answer(LOGIN, [])
        if action in {"history", "info"}:
            ids = (2 * number, 2 * number + 1) if number in self._edited else (2 * number + 1,)
            return Answer(f"{action} {number}", [f"{here}&oldid={one}" for one in ids])
        is_old = query.get("oldid") == str(2 * number)
        links = [f"{SITE}/wiki/Page_{n}" for n in _tree(number, self._size)]
        links += [f"{here}&action={name}" for name in ("edit", "history", "info")]
        links += [f"{here}&printable=yes", f"{here}&oldid={2 * number + 1}", f"{here}&redirect=no"]
        return Answer(f"{number} before" if is_old else str(number), links)


class Trac:
    """Tickets, and lists of them by state, which say the same in every order."""

    _STATES = ("new", "open", "done", "lost")
    _ORDERS = ("id", "owner", "priority", "time")

    def __init__(self, seed: int = 1, size: int = 300) -> None:
        self._tickets: dict[str, list[int]] = {state: [] for state in self._STATES}
        chance = Random(seed)
        for number in range(size):
            self._tickets[chance.choice(self._STATES)].append(number)
        self._size = size
        self.seeds = [f"{SITE}/query?status=new"]
        self.truth = frozenset([*(f"#{n}" for n in range(size)), *self._STATES])

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        path, query = _asked(url)
        if path == "/login":
            return Answer(LOGIN, [])
        state = query.get("status", "")
        if path == "/query" and state in self._tickets:
            return Answer(state, [*self._lists(state), *self._rows(state)])
        found = re.fullmatch(r"/ticket/(\d+)", path)
        if found is None or int(found[1]) >= self._size or "format" in query:
            return None  # a table or a feed is no page
        here = f"{SITE}{path}"
        links = [f"{here}?format={kind}" for kind in ("csv", "tab", "rss")]
        links += [f"{here}?cversion=0&cnum_hist={n}" for n in range(1, 3)]
        links += [f"{SITE}/login?referer={path}", f"{here}?replyto=description"]
        return Answer(f"#{found[1]}", links)

    def _lists(self, state: str) -> list[str]:
        here = f"{SITE}/query?status={state}"
        orders = [f"{here}&order={order}" for order in self._ORDERS]
        orders += [f"{here}&desc=1&order={order}" for order in self._ORDERS]
        return [*orders, *(f"{SITE}/query?status={other}" for other in self._STATES)]

    def _rows(self, state: str) -> list[str]:
        return [f"{SITE}/ticket/{number}" for number in self._tickets[state]]


class Gitweb:
    """Repositories, of whose files each commit changes one; most commits show what others show."""

    def __init__(self, seed: int = 1, repositories: int = 3, commits: int = 30) -> None:
        chance = Random(seed)
        self._files = 8
        self._versions: dict[tuple[str, int], list[int]] = {}
        for repository in range(repositories):
            versions = [0] * self._files
            for commit in range(commits):
                if commit:
                    versions[chance.randrange(self._files)] += 1
                self._versions[f"r{repository}", commit] = list(versions)
        self._last = commits - 1
        self.seeds = [f"{SITE}/?p=r{repository};a=summary" for repository in range(repositories)]
        names = [f"r{repository} summary" for repository in range(repositories)]
        for (name, commit), versions in self._versions.items():
            names += [f"{name} {view} {commit}" for view in ("commit", "commitdiff", "tree")]
            names += [f"{name} file{n} v{version}" for n, version in enumerate(versions)]
        self.truth = frozenset(names)

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        _, query = _asked(url, ";")
        name, view = query.get("p", ""), query.get("a", "")
        commit = self._commit(query)
        versions = self._versions.get((name, commit))
        if versions is None:
            return None
        here = f"{SITE}/?p={name}"
        if view == "summary":
            views = [f"{here};a={view};h=c{self._last}" for view in ("commit", "commitdiff")]
            return Answer(f"{name} summary", [*views, f"{here};a=tree", f"{here};a=summary"])
        if view == "blob":
            return self._blob(query, versions)
        links = [f"{here};a=summary", f"{here};a=tree;h=t{commit};hb=c{commit}"]
        links += [f"{here};a=tree;hb=c{commit}", f"{here};a=commitdiff;h=c{commit}"]
        if commit:
            links += [f"{here};a=commit;h=c{commit - 1}"]
        if view == "tree":
            for number, version in enumerate(versions):
                file = f"{here};a=blob;f=file{number}"
                links += [f"{file};h=b{version};hb=c{commit}", f"{file};hb=c{commit}"]
                links += [f"{file};hb=HEAD"]
        is_view = view in {"commit", "commitdiff", "tree"}
        return Answer(f"{name} {view} {commit}", links) if is_view else None

    def _blob(self, query: Mapping[str, str], versions: list[int]) -> Answer | None:
        number = int(query["f"].removeprefix("file"))
        version = query.get("h", f"b{versions[number]}").removeprefix("b")
        return Answer(f"{query['p']} file{number} v{version}", [f"{SITE}/?p={query['p']};a=tree"])

    def _commit(self, query: Mapping[str, str]) -> int:
        named = query.get("hb") or (query.get("h") if query.get("a") != "blob" else "") or "HEAD"
        return self._last if named == "HEAD" else int(named[1:])


class PhpBB:
    """Topics, one in five with a second page, linked by their posts too, with session ids."""

    def __init__(self, seed: int = 1, size: int = 300) -> None:
        self._chance = Random(seed)
        self._long = set(self._chance.sample(range(size), size // 5))
        self._size = size
        self.seeds = [f"{SITE}/viewtopic.php?t=0"]
        second = [f"topic {number} from 15" for number in self._long]
        members = [f"member {number}" for number in range(size // 10)]
        self.truth = frozenset([*(f"topic {n}" for n in range(size)), *second, *members])

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        path, query = _asked(url)
        if path == "/posting.php":
            return Answer(LOGIN, [])
        if path == "/memberlist.php":
            member = int(query.get("u", "-1"))
            return Answer(f"member {member}", []) if member < self._size // 10 else None
        # Ten posts a topic in their order; a topic of two pages has one of them on the second.
        topic = int(query["p"]) // 10 if "p" in query else int(query.get("t", "-1"))
        if path != "/viewtopic.php" or not 0 <= topic < self._size:
            return None
        is_second = query.get("start") == "15" or query.get("p", "").endswith("9")
        links = [f"viewtopic.php?t={n}" for n in _tree(topic, self._size)]
        links += [f"viewtopic.php?p={10 * topic + post}#p{post}" for post in (0, 4, 9)]
        links += [f"viewtopic.php?t={topic}&start=0", f"posting.php?mode=reply&t={topic}"]
        links += [f"memberlist.php?mode=viewprofile&u={topic % (self._size // 10)}"]
        if topic in self._long:
            links += [f"viewtopic.php?t={topic}&start=15"]
        suffix = " from 15" if is_second and topic in self._long else ""
        return Answer(f"topic {topic}{suffix}", [self._with_session(link) for link in links])

    def _with_session(self, link: str) -> str:
        address, mark, fragment = link.partition("#")
        return f"{SITE}/{address}&sid={self._chance.getrandbits(40):010x}{mark}{fragment}"


class Blog:
    """Posts by month with links to answer and to share, listed on pages and under tags."""

    def __init__(self, seed: int = 1, size: int = 300) -> None:
        chance = Random(seed)
        self._size = size
        self._tags = [chance.randrange(12) for _ in range(size)]
        self.seeds = [f"{SITE}/"]
        lists = [f"page {number}" for number in range(1, size // 10 + 1)]
        tags = [f"tag {number}" for number in set(self._tags)]
        self.truth = frozenset([*(f"post {n}" for n in range(size)), *lists, *tags])

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        path, _ = _asked(url)
        post = re.fullmatch(r"/\d{4}/\d\d/post-(\d+)/", path)
        if post:
            number = int(post[1])
            return self._post(number, f"{SITE}{path}") if number < self._size else None
        tag = re.fullmatch(r"/tag/(\d+)/", path)
        if tag:
            under = [n for n, one in enumerate(self._tags) if one == int(tag[1])]
            return Answer(f"tag {tag[1]}", list(map(self._url, under)))
        page = re.fullmatch(r"/(?:page/(\d+)/)?", path)
        number = int(page[1] or 1) if page else 0
        if not 0 < number <= self._size // 10:
            return None
        links = [self._url(n) for n in range(10 * number - 10, 10 * number)]
        return Answer(f"page {number}", [*links, f"{SITE}/page/{number + 1}/", f"{SITE}/page/1/"])

    def _post(self, number: int, here: str) -> Answer:
        links = [f"{here}?share={name}" for name in ("facebook", "mastodon", "email")]
        links += [f"{here}?replytocom={10 * number + n}#respond" for n in range(3)]
        links += [f"{here}?like_comment={10 * number}", f"{SITE}/tag/{self._tags[number]}/"]
        return Answer(f"post {number}", [*links, self._url((number + 1) % self._size)])

    def _url(self, number: int) -> str:
        return f"{SITE}/{2000 + number // 60}/{number // 5 % 12 + 1:02}/post-{number}/"


class Languages:
    """Pages in three languages; of every five, one is a picture that says the same in each."""

    _NAMES = ("en", "de", "fr")

    def __init__(self, seed: int = 1, size: int = 200) -> None:
        self._pictures = set(Random(seed).sample(range(size), size // 5))
        self._size = size
        self.seeds = [f"{SITE}/en/p/0"]
        self.truth = frozenset(
            self._content(name, number) for name in self._NAMES for number in range(size)
        )

    def _content(self, name: str, number: int) -> str:
        return f"picture {number}" if number in self._pictures else f"{number} {name}"

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        found = re.fullmatch(r"/(en|de|fr)/p/(\d+)", urlsplit(url).path)
        if found is None or int(found[2]) >= self._size:
            return None
        name, number = found[1], int(found[2])
        links = [f"{SITE}/{other}/p/{number}" for other in self._NAMES]
        links += [f"{SITE}/{name}/p/{n}" for n in _tree(number, self._size)]
        return Answer(self._content(name, number), links)


class Versions:
    """A manual in two versions, the newest under a name too; one page in two never changed."""

    def __init__(self, seed: int = 1, size: int = 200) -> None:
        self._changed = set(Random(seed).sample(range(size), size // 2))
        self._size = size
        self.seeds = [f"{SITE}/docs/latest/0.html"]
        self.truth = frozenset(
            self._content(name, number) for name in ("1.0", "2.0") for number in range(size)
        )

    def _content(self, name: str, number: int) -> str:
        return f"{number} of 1.0" if name == "1.0" and number in self._changed else str(number)

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        found = re.fullmatch(r"/docs/(latest|1\.0|2\.0)/(\d+)\.html", urlsplit(url).path)
        if found is None or int(found[2]) >= self._size:
            return None
        name, number = found[1], int(found[2])
        links = [f"{SITE}/docs/{other}/{number}.html" for other in ("latest", "2.0", "1.0")]
        links += [f"{SITE}/docs/{name}/{n}.html" for n in _tree(number, self._size)]
        return Answer(self._content(name, number), links)

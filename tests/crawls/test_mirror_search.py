"""A mirror with a search that works from the disk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawler.mirror.offline_search import shard_of, words_of
from tests.crawls.mirrored import Mirrored, check, mirror
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browsing.walk import Browsers

pytestmark = pytest.mark.slow

TEXTS = {
    "/cafe": f"Überzahl of crème brûlée. {prose('one', 60)}",
    "/han": f"全文検索は図書館にあります。{prose('two', 60)}",
    "/library": f"A quokka sleeps. {prose('three', 60)}",
}
WORDS = [
    "Crème BRÛLÉE, x_y, don't 3½ ﬁne ²",
    "ΟΔΥΣΣΕΥΣ İstanbul STRASSE straße Ǆ",
    "全文検索は図書館 ภาษาไทย हिन्दी עִבְרִית العربية 한국어",
    "a" * 60 + " \U0001f600 \U00010400 \U00020000",
]


@pytest.fixture(scope="module")
def site() -> Iterator[ChangingSite]:
    with ChangingSite(tuple(TEXTS)) as site:
        for path, text in TEXTS.items():
            site.put(path, text)
        site.entitle("/library", "Of quokkas")
        yield site


@pytest.fixture(scope="module")
def mirrored(site: ChangingSite, tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    return mirror(site.url, tmp_path_factory.mktemp("search") / "mirror", "--search")


def found(browsers: Browsers, mirrored: Mirrored, query: str) -> str:
    browsers.offline.view(f"{(mirrored.folder / 'search.html').as_uri()}?q={query}")
    driver = browsers.offline.driver
    return str(
        wait_until(
            lambda: driver.execute_script(
                "return document.getElementById('state').textContent"
                " && [...document.querySelectorAll('#found a')].map(a => a.textContent).join()"
                " + '|' + document.getElementById('state').textContent"
            )
        )
    )


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("creme", "A page|1 page"),
        ("CRÈME über", "A page|1 page"),
        ("quok", "Of quokkas|1 page"),  # the beginning of the last word
        ("quok sleeps", "|0 pages"),
        ("図書館", "A page|1 page"),
        ("nothingness", "|0 pages"),
    ],
)
def test_pages_are_found_by_folded_words_and_beginnings(
    query: str, titles: str, mirrored: Mirrored, browsers: Browsers
) -> None:
    assert found(browsers, mirrored, query).removeprefix("null") == titles


def test_page_folds_words_as_the_index_does(mirrored: Mirrored, browsers: Browsers) -> None:
    found(browsers, mirrored, "quokkas")
    driver = browsers.offline.driver
    for text in WORDS:
        ours = list(words_of(text))
        theirs = driver.execute_script("return wordsOf(arguments[0])", text)
        assert ours == theirs
        shards = driver.execute_script("index.shards = 64; return arguments[0].map(shardOf)", ours)
        assert shards == [f"words-{shard_of(word, 64)}" for word in ours]


def test_all_pages_are_listed_where_nothing_is_searched(
    mirrored: Mirrored, browsers: Browsers
) -> None:
    assert found(browsers, mirrored, "").endswith("|4 pages")


def test_search_is_of_the_mirror_and_follows_it(site: ChangingSite, mirrored: Mirrored) -> None:
    assert "search.html: 4 pages" in mirrored.done.stdout
    assert 'href="search.html"' in (mirrored.folder / "index.html").read_text()
    assert check(mirrored.folder).returncode == 0
    before = {path for path in mirrored.files if path.startswith("search/")}
    site.put("/library", f"A wombat digs. {prose('three', 60)}")
    again = mirror(site.url, mirrored.folder)
    assert "--search" in again.done.stdout
    after = {path for path in again.files if path.startswith("search/")}
    assert after
    assert not before & after
    words = [json.loads(again.read(path).decode().split(",", 1)[1].rstrip().rstrip(")"))
             for path in after if "words-" in path]  # fmt: skip
    assert any("wombat" in each for each in words)
    assert not any("quokka" in each for each in words)
    removed = mirror(site.url, mirrored.folder, "--no-search")
    assert not {path for path in removed.files if path.startswith("search")}
    assert check(mirrored.folder).returncode == 0

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.page_context import Fetched, blank_row
from crawler.pages.page_store import PageStore
from crawler.storage.database import Database
from crawler.url_rules.file_links import FileLinks, Released, has_releasable
from crawler.url_rules.kinds import PAGE_OF_FILE, PAGE_OF_PLACE
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from pathlib import Path

MIN_FILES, MIN_GUESSES, PAGES_OF = PAGE_OF_FILE.enough, PAGE_OF_PLACE.enough, 20
ENDINGS = frozenset({"jpg", "js", "gz"})


def key(number: int) -> bytes:
    return payload_digest(str(number).encode())


def offer(links: FileLinks, count: int, folder: str = "/img", first: int = 0) -> list[bool]:
    """Offer links; say of each whether it was put aside."""
    found = []
    for number in range(first, first + count):
        url = f"http://site.example{folder}/{number}.jpg"
        kind = links.kind(url)
        assert kind is not None
        found.append(links.put_aside(kind, url, key(number), 1))
    return found


def answer(links: FileLinks, count: int, folder: str = "/img", *, is_page: bool = False) -> None:
    kind = links.kind(f"http://site.example{folder}/0.jpg")
    assert kind is not None
    for _ in range(count):
        links.note(kind, is_page=is_page)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://a.example/wiki/Node.js", "a.example/wiki/*.js"),
        ("http://a.example/wiki/File:Boat.JPG", "a.example/wiki/*:.jpg"),
        ("http://a.example/a/b/c/d/x.tar.gz", "a.example/a/b/*.gz"),
        ("http://a.example/x.jpg?size=9", "a.example/*?.jpg"),
        ("http://a.example/x.html", None),
        ("http://a.example/jpg", None),
        ("http://a.example/", None),
    ],
)
def test_kinds_are_told_by_host_folder_and_ending(url: str, name: str | None) -> None:
    with closing(Database(None)) as database:
        kind = FileLinks(database, ENDINGS).kind(url)
    assert (None if kind is None else kind.name) == name


def test_one_in_twenty_is_asked_however_many_were_files() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, ENDINGS)
        offer(links, MIN_FILES)
        answer(links, 3_000)
        assert 1800 < sum(offer(links, 2000, first=100)) < 1980


def test_the_rest_is_put_aside_and_sampled() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, ENDINGS)
        assert not any(offer(links, MIN_FILES))
        answer(links, MIN_FILES)
        aside = offer(links, 2000, first=100)
        assert 1800 < sum(aside) < 1980
        assert links.release() == []
        # Elsewhere on the host nothing is known.
        assert not any(offer(links, MIN_FILES, "/wiki", 5000))


def test_what_an_earlier_visit_asked_for_is_asked_again() -> None:
    """A link to it may be met before the visit queues what it knows."""
    with closing(Database(None)) as database:
        links, store = FileLinks(database, ENDINGS), PageStore(database)
        offer(links, MIN_FILES)
        answer(links, MIN_FILES)
        for number in range(100, 200):
            fetched = Fetched("", "", key(number), 0, 200, b"")
            store.insert(blank_row(store.new_id(), fetched, 1))
        assert not any(offer(links, 100, first=100))
        assert any(offer(links, 100, first=200))


def test_one_page_brings_all_back() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, ENDINGS)
        offer(links, MIN_FILES)
        answer(links, MIN_FILES)
        aside = sum(offer(links, 1000, first=100))
        answer(links, 1, "/wiki", is_page=True)
        released = []
        while found := links.release():
            released += found
        assert len(released) == len(set(released)) == aside
        assert not any(offer(links, 1000, first=5000))


def test_what_was_not_answered_is_asked_of_others() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, ENDINGS)
        offer(links, MIN_FILES)
        aside = sum(offer(links, 200, first=100))
        answer(links, MIN_FILES - 10)
        assert len(links.release()) == 10
        assert len(links.release()) == 10
        answer(links, 10)
        assert links.release() == []
        (left,) = database.read("SELECT count(*) FROM file_links").fetchone()
        assert left == aside - 20


def test_what_was_learned_holds_in_the_next_process(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        links = FileLinks(database, ENDINGS)
        offer(links, MIN_FILES)
        answer(links, MIN_FILES)
    with closing(Database(tmp_path)) as database:
        links = FileLinks(database, ENDINGS)
        assert any(offer(links, 50, first=100))
        answer(links, 1, is_page=True)
    with closing(Database(tmp_path)) as database:
        links = FileLinks(database, ENDINGS)
        assert not any(offer(links, 50, first=200))
        assert links.release()


def guess(links: FileLinks, numbers: range) -> list[bool]:
    """Offer guesses; say of each whether it was put aside."""
    urls = [f"http://site.example/{number}" for number in numbers]
    kinds = [links.place(url, "script") for url in urls]
    return [
        links.put_aside(kind, url, key(number), 1)
        for kind, url, number in zip(kinds, urls, numbers, strict=True)
    ]


def test_guesses_end_soon_where_none_is_a_page() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, frozenset())
        assert not any(guess(links, range(MIN_GUESSES)))
        for _ in range(MIN_GUESSES):
            links.note(links.place("http://site.example/", "script"), is_page=False)
        aside = guess(links, range(100, 1100))
        assert 970 < sum(aside) < 1000
        assert links.release() == []
        other = links.place("http://other.example/", "script")
        assert not links.put_aside(other, "http://other.example/", key(1), 1)


def test_guesses_go_on_while_one_in_twenty_is_a_page(tmp_path: Path) -> None:
    kind = FileLinks.place("http://site.example/", "script")
    with closing(Database(tmp_path)) as database:
        links = FileLinks(database, frozenset())
        guess(links, range(MIN_GUESSES))
        for number in range(MIN_GUESSES):
            links.note(kind, is_page=number < 2)
        assert not any(guess(links, range(100, 200)))
    with closing(Database(tmp_path)) as database:
        links = FileLinks(database, frozenset())
        assert not any(guess(links, range(200, 300)))
        for _ in range(PAGES_OF):
            links.note(kind, is_page=False)
        aside = sum(guess(links, range(300, 400)))
        assert aside > 80
        links.note(kind, is_page=True)
        assert {link.place for link in links.release()} == {"script"}


def test_guesses_that_are_never_answered_end() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, frozenset())
        guess(links, range(1000))
        released = []
        while batch := links.release():
            released += batch
        assert len(released) == MIN_GUESSES
        database.commit()
        assert not has_releasable(database.read)


def test_a_file_that_was_guessed_first_is_released_as_a_file() -> None:
    with closing(Database(None)) as database:
        links = FileLinks(database, ENDINGS)
        guess(links, range(MIN_GUESSES))
        offer(links, MIN_FILES)
        answer(links, MIN_FILES)
        url, number = "http://site.example/img/boat.jpg", 1
        place, file = links.place(url, "embedded"), links.kind(url)
        assert file is not None
        for other in range(100, 100 + MIN_GUESSES):
            links.put_aside(place, url, key(other), 1)
        assert links.put_aside(place, url, key(number), 2, "http://site.example/first")
        assert links.put_aside(file, url, key(number), 3, "http://site.example/later")
        for _ in range(MIN_GUESSES):
            links.note(place, is_page=False)
        assert links.put_aside(place, url, key(number), 1)
        links.note(file, is_page=True)
        assert links.release() == [Released(url, 1, None, "http://site.example/first")]


class TestFileLinksProperties:
    @given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=300), st.data())
    def test_no_link_is_lost(self, steps: list[tuple[int, bool]], data: st.DataObject) -> None:
        """Once a page was seen, each link was let through or released."""
        with closing(Database(None)) as database:
            links, made, offered = FileLinks(database, ENDINGS), set(), 0
            kind = None
            for folder, answers in steps:
                for _ in range(7):
                    url = f"http://site.example/{folder}/{offered}.jpg"
                    kind = links.kind(url)
                    assert kind is not None
                    if not links.put_aside(kind, url, key(offered), 0):
                        made.add(url)
                    offered += 1
                if answers and kind is not None:
                    links.note(kind, is_page=False)
                if data.draw(st.booleans()):
                    made.update(link.url for link in links.release())
            answer(links, 1, "/0", is_page=True)
            while found := links.release():
                made.update(link.url for link in found)
        assert len(made) == offered

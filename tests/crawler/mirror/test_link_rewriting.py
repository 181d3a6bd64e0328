"""Links are rewritten as often as a mirror changes, and files have the time that a server said."""

from __future__ import annotations

import errno
import os
import re
import time
import tracemalloc
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.errors import MirrorError
from crawler.mirror.file_store import ReadDocuments, original
from crawler.mirror.link_rewriting import said_time
from tests.crawler.mirror.made import HTML, KilledError, MadeMirror

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SITE = "http://host.example/"
FRONT = b'<a href="/a">a</a> <a href="b#x">b</a> <a href="http://other.example/">o</a>'

SAME = b'<meta charset="utf-8">same'


@pytest.fixture
def made(tmp_path: Path) -> Iterator[MadeMirror]:
    mirror = MadeMirror(tmp_path / "m")
    yield mirror
    mirror.close()


def inodes(mirror: MadeMirror, names: str) -> int:
    return len({mirror.folder.stat(f"host.example/{name}.html").st_ino for name in names})


def serve_same(mirror: MadeMirror, names: str) -> None:
    """Serve pages of the same bytes, in which nothing is edited."""
    for name in names:
        mirror.serve(SITE + name, SAME, is_seed=True)


def serve_three(mirror: MadeMirror) -> None:
    mirror.serve(SITE, FRONT, is_seed=True)
    mirror.serve(SITE + "a", b'<a href="./">up</a><img src="p.png">')
    mirror.serve(SITE + "b", b'<a href="a">a</a>')
    mirror.serve(SITE + "p.png", b"\x89PNG", "image/png")


class TestLinks:
    def test_they_lead_to_files_and_back_to_what_was_served(self, made: MadeMirror) -> None:
        serve_three(made)
        found = made.finish()
        assert (found.documents, found.rewritten) == (3, 3)
        assert b'href="a.html"' in made.read(SITE)
        assert b'href="b.html#x"' in made.read(SITE)
        assert b'href="http://other.example/"' in made.read(SITE)
        row = made.table.of_path("host.example/index.html")
        assert row is not None
        assert original(made.folder, row) == FRONT
        assert made.check().problems == 0

    def test_documents_that_were_read_are_rewritten_as_those_that_were_not(
        self, made: MadeMirror
    ) -> None:
        pages = {
            SITE: FRONT,
            SITE + "a": '<base href="/b/"><a href="é">é</a><svg><a xlink:href=x>'.encode(),
            SITE + "b": "<a href='/a'>é</a>".encode("utf-16"),
        }
        served = [(url, body, HTML) for url, body in pages.items()]
        served.append((SITE + "c", "<a href='/é'>é</a>".encode("shift_jisx0213"), "text/html"))
        for url, body, content_type in served:
            made.serve(url, body, content_type, is_seed=True)
        assert made.finish().rewritten == 4
        rewritten = [made.read(url) for url, *_ in served]
        made.store.note_stale()
        again = made.finish()
        assert (again.documents, again.rewritten) == (4, 0)  # read from the files
        assert [made.read(url) for url, *_ in served] == rewritten

    def test_another_content_is_read_in_place_of_the_one_that_was(self, made: MadeMirror) -> None:
        made.serve(SITE, b'<a href="/a">a</a>', is_seed=True)
        made.serve(SITE, b'<p><a href="/b">b</a>', is_seed=True)
        made.finish()
        assert b'<p><a href="http://host.example/b">' in made.read(SITE)

    def test_documents_without_room_are_read_again(self, made: MadeMirror) -> None:
        made.store.documents = ReadDocuments(room_bytes=2_000)
        serve_three(made)
        found = made.finish()
        assert (found.documents, found.rewritten) == (3, 3)
        assert b'href="a.html"' in made.read(SITE)
        assert b'href="a.html"' in made.read(SITE + "b")

    @pytest.mark.parametrize(
        "page",
        [
            b'<img src="data:image/png;base64,%s">' % (b"A" * 500_000),
            b'<base href="/%s/">%s' % (b"z" * 5_000, b"<a href=%03d>" * 100 % (*range(100),)),
            b"<script src=%03d integrity=x crossorigin></script>" * 1_000 % (*range(1_000),),
            b"<meta http-equiv=Content-Security-Policy content=x>" * 3_000,
        ],
    )
    def test_documents_are_held_by_the_memory_that_they_take(self, page: bytes) -> None:
        tracemalloc.start()
        try:
            document = read_document(page, SITE, "text/html; charset=utf-8")
            assert document is not None
            document.put_away()
            took = tracemalloc.get_traced_memory()[0]
            assert took < 1.5 * document.held_bytes() < 4 * took
        finally:
            tracemalloc.stop()

    def test_nothing_is_done_where_nothing_was_stored(self, made: MadeMirror) -> None:
        serve_three(made)
        made.finish()
        assert made.finish().documents == 0

    def test_what_comes_later_is_linked(self, made: MadeMirror) -> None:
        made.serve(SITE, FRONT, is_seed=True)
        made.finish()
        assert b'href="http://host.example/a"' in made.read(SITE)
        made.serve(SITE + "a", b"new")
        made.finish()
        assert b'href="a.html"' in made.read(SITE)

    def test_a_redirect_is_followed_and_remembered(self, made: MadeMirror) -> None:
        serve_three(made)
        made.serve(SITE + "old", b"x")
        made.redirect(SITE + "moved", SITE + "b")
        made.serve(SITE, b'<a href="moved">m</a> <a href="old">old</a>', is_seed=True)
        made.finish()
        assert made.read(SITE).endswith(b'<a href="b.html">m</a> <a href="old.html">old</a>')
        made.database.write("DELETE FROM redirects")
        made.redirect(SITE + "old", SITE + "a")
        made.finish()
        assert made.read(SITE).endswith(b'<a href="b.html">m</a> <a href="a.html">old</a>')

    def test_a_link_opens_where_the_last_redirect_with_a_fragment_leads(
        self, made: MadeMirror
    ) -> None:
        serve_three(made)
        for url, target, fragment in (
            ("moved", "b", "part"),
            ("twice", "moved", "no"),
            ("far", "plain", "there"),
            ("plain", "a", ""),
        ):
            made.redirect(SITE + url, SITE + target, fragment)
        links = ("moved", "moved#own", "twice", "far#own", "plain#own")
        made.serve(SITE, "".join(f'<a href="{link}">' for link in links).encode(), is_seed=True)
        made.finish()
        found = re.findall(r'href="([^"]*)', made.read(SITE).decode())
        assert found == ["b.html#part"] * 3 + ["a.html#there", "a.html#own"]
        made.redirect(SITE + "moved", SITE + "b", "other")
        made.finish()
        assert b'<a href="b.html#other">' in made.read(SITE)

    def test_redirects_in_a_circle_lead_to_the_network(self, made: MadeMirror) -> None:
        made.serve(SITE, b'<a href="/one">1</a>', is_seed=True)
        made.redirect(SITE + "one", SITE + "two")
        made.redirect(SITE + "two", SITE + "one")
        made.finish()
        assert b'href="http://host.example/one"' in made.read(SITE)

    def test_what_nothing_leads_to_is_in_the_contents(self, made: MadeMirror) -> None:
        serve_three(made)
        made.serve(SITE + "lonely", b"alone")
        made.finish()
        assert b'href="host.example/lonely.html"' in made.folder.read("contents.html")
        assert made.check().problems == 0
        made.serve(SITE + "b", b'<a href="lonely">no more</a> <a href="a">a</a>')
        made.finish()
        assert not made.folder.exists("contents.html")
        assert made.check().problems == 0


class TestSharing:
    def test_equal_documents_are_one_file(self, made: MadeMirror) -> None:
        made.serve(SITE, b'<a href="x">x</a><a href="y">y</a>', is_seed=True)
        made.serve(SITE + "x", b'<a href="http://o.example/">o</a>')
        made.serve(SITE + "y", b'<a href="//o.example/">o</a>')
        made.finish()
        assert inodes(made, "xy") == 1, "their links were spelt otherwise"

    def test_equal_documents_that_need_no_edit_are_one_file(self, made: MadeMirror) -> None:
        serve_same(made, "xy")
        found = made.finish()
        assert inodes(made, "xy") == 1
        assert found.size == len(SAME)

    def test_a_document_that_edits_make_equal_to_a_later_one_is_one_file_with_it(
        self, made: MadeMirror
    ) -> None:
        made.serve(SITE + "x.css", b'@import "/z.css";', "text/css", is_seed=True)
        made.serve(SITE + "y.css", b'@import "z.css";', "text/css", is_seed=True)
        made.serve(SITE + "z.css", b"", "text/css")
        made.finish()
        assert made.read(SITE + "x.css") == b'@import "z.css";'
        stats = [made.folder.stat(f"host.example/{name}.css") for name in "xy"]
        assert len({stat.st_ino for stat in stats}) == 1

    def test_copies_are_counted_and_made_once_where_there_are_no_hard_links(
        self, made: MadeMirror, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))  # as FAT and exFAT do

        monkeypatch.setattr(os, "link", refuse)
        serve_same(made, "xy")
        assert made.finish().size == 2 * len(SAME)
        before = made.folder.stat("host.example/y.html")
        made.serve(SITE + "z.png", b"\x89PNG", "image/png", is_seed=True)
        assert made.finish().size == 2 * len(SAME) + 4
        assert made.folder.stat("host.example/y.html").st_ino == before.st_ino

    def test_a_document_that_somebody_changed_is_linked_to_by_none(self, made: MadeMirror) -> None:
        serve_same(made, "xyz")
        (made.root / "host.example" / "x.html").write_bytes(b"mine")
        assert made.finish().damaged == ("host.example/x.html",)
        assert made.read(SITE + "x") == b"mine"
        assert made.read(SITE + "y") == SAME
        assert inodes(made, "yz") == 1

    def test_a_change_of_one_leaves_the_other(self, made: MadeMirror) -> None:
        for name in "xy":
            made.serve(SITE + name, b"same", is_seed=True)
        made.finish()
        made.serve(SITE + "x", b"other")
        made.finish()
        assert made.read(SITE + "y").endswith(b"same")

    def test_a_file_that_somebody_changed_is_linked_to_by_none(self, made: MadeMirror) -> None:
        made.serve(SITE + "one.png", b"\x89PNG", "image/png", is_seed=True)
        os.chmod(made.root / "host.example" / "one.png", 0o644)
        (made.root / "host.example" / "one.png").write_bytes(b"\x89PNX")
        made.serve(SITE + "two.png", b"\x89PNG", "image/png", is_seed=True)
        assert made.read(SITE + "two.png") == b"\x89PNG"


class TestDamage:
    def test_a_changed_document_is_left_and_named(self, made: MadeMirror) -> None:
        serve_three(made)
        made.finish()
        (made.root / "host.example" / "b.html").write_bytes(b"mine")
        made.serve(SITE + "c", b"new")
        assert made.finish().damaged == ("host.example/b.html",)
        assert made.read(SITE + "b") == b"mine"
        assert made.check().counts["files changed since they were written"] == 1

    def test_what_is_not_held_is_not_taken_for_unchanged(self, made: MadeMirror) -> None:
        serve_three(made)
        made.finish()
        row = made.table.of_path("host.example/b.html")
        assert row is not None
        (made.root / "host.example" / "b.html").unlink()
        with pytest.raises(MirrorError):
            made.store.still(row.key)


class TestKilled:
    @settings(max_examples=40, deadline=None)
    @given(moment=st.integers(0, 12), again=st.integers(0, 12))
    def test_at_any_moment_the_next_process_ends_with_the_same_files(
        self, tmp_path_factory: pytest.TempPathFactory, moment: int, again: int
    ) -> None:
        root = tmp_path_factory.mktemp("killed") / "m"
        made = MadeMirror(root)
        serve_three(made)
        made.finish()
        # What was there changes, and what comes makes all of it change.
        made.serve(SITE, FRONT + b'<a href="c">c</a>', is_seed=True)
        for left in (moment, again):
            made.serve(SITE + "c", b'<a href="/b">b</a> %d' % left)
            made.folder.left = left
            try:
                made.finish()
            except KilledError:
                made.die()
                made = MadeMirror(root)
            made.folder.left = None
        made.finish()
        assert made.check().problems == 0, made.check().findings
        assert b'href="c.html"' in made.read(SITE)
        assert b'href="b.html"' in made.read(SITE + "c")
        made.close()


NINES = "9" * 20


@pytest.mark.parametrize(
    ("modified", "secs"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Sun, 06 Nov 1994 09:49:37 +0100", 784_111_777),
        ("Mon, 01 Jan 1601 00:00:00 GMT", None),
        (f"Mon, 01 Jan {NINES} 00:00:00 GMT", None),
        (f"Mon, 01 Jan 2020 {NINES}:00:00 GMT", None),
        (f"Mon, 01 Jan 2020 00:00:00 +{NINES}", None),
        ("yesterday", None),
        ("0", None),
        ("", None),
    ],
)
def test_what_is_no_time_since_1970_dates_nothing(
    modified: str, secs: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        context.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        found = said_time(modified)
    time.tzset()
    assert found == secs


class TestSaidTimeProperties:
    @given(st.integers(0, 2**37))
    def test_round_trip(self, secs: int) -> None:
        assert said_time(formatdate(secs, usegmt=True)) == secs

    @given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ Jan \d+ \d+:\d+(:\d+)? [+-]\d+"))
    def test_any_text_is_a_time_or_none(self, modified: str) -> None:
        found = said_time(modified)
        assert found is None or found >= 0

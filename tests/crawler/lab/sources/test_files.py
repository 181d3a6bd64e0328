"""Files of texts, of HTML and of WARC records as sources."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.lab.sources.several import open_source, open_sources
from crawler.lab.sources.source import SourceError
from crawler.reading.content.content_text import shown_text
from neardup import Parameters, analyse
from neardup.fingerprints.digest import payload_digest
from tests.crawler.lab.sources.reading import paths_of, read_all, texts_of
from tests.crawler.pages.test_capture import LONG, OTHER, html
from tests.crawler.pages.test_revisits import OPTIONS, Visiting
from tests.crawler.warc.exchanges import exchange, record_all

if TYPE_CHECKING:
    from pathlib import Path

TEXT_LINE = {"url": "http://example.com/a", "title": "A", "text": LONG}


def write(path: Path, *rows: Any) -> Path:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "PAGES.JL"])
def test_line_with_a_text_is_a_page(tmp_path: Path, name: str) -> None:
    source = open_source(write(tmp_path / name, TEXT_LINE, {"text": ""}, {"text": "\ud800 half"}))
    pages = read_all(source)
    expected = analyse(LONG)
    assert (pages[0].url, pages[0].title, pages[0].words) == (
        "http://example.com/a",
        "A",
        expected.words,
    )
    assert (pages[0].text_digest, pages[0].fingerprint) == (expected.digest, expected.fingerprint)
    assert pages[0].is_main
    assert pages[0].payload_digest is None
    assert pages[0].verdict == ""
    assert texts_of(source, pages) == [LONG, "", "? half"]
    assert source.progress == 1
    assert source.notes == []
    source.close()


def test_html_is_read_as_a_crawl_reads_it(tmp_path: Path) -> None:
    page = html(LONG, "A title").decode()
    rows = [
        {"url": "http://example.com/a", "html": page},
        {"url": "http://example.com/b", "html": page},
        {"html": "<meta name=robots content=noindex><p>mine"},
        {"url": "http://example.com/none", "text": None},
    ]
    source = open_source(write(tmp_path / "pages.jsonl", *rows))
    first, second = pages = read_all(source)
    assert first.title == second.title == "A title"
    assert first.payload_digest == second.payload_digest == payload_digest(page.encode())
    assert first.text_digest == second.text_digest
    assert first.is_main
    said, same = texts_of(source, pages)
    assert said == same
    assert said is not None
    assert LONG in said
    assert source.notes == [
        "lines left out: 1: without text or html",
        "pages left out: 1: it asks not to be kept (noindex)",
    ]
    source.close()
    source.close()


def test_html_is_shown_as_a_crawl_shows_it_and_a_text_as_it_is(tmp_path: Path) -> None:
    pages = [
        {"html": html(text, head=head).decode()} for text, head in ((LONG, ""), (LONG, "<!---->"))
    ]
    rows = [TEXT_LINE, *pages, pages[0], {"html": html(OTHER).decode()}]
    files = [
        write(tmp_path / "one.jsonl", *rows),
        write(tmp_path / "two.jsonl", TEXT_LINE, pages[0]),
    ]
    sources = open_sources(files)
    ids = [page.id for page in read_all(sources)]
    shown = [content and shown_text(content.xml_zstd) for content in sources.contents(ids[::-1])]
    same, other = f"A page\n{LONG}", f"A page\n{OTHER}"
    assert shown == [same, None, other, same, same, same, None]
    sources.close()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"url": "u"}\n', 'row 1: a field "text" or "html" expected, there are url'),
        (b'{"text": "a"}\n{"text": 7}\n', 'row 2: field "text" must be a text'),
        (b'{"text": "a"}\nno\n', "row 2: a line that is no JSON"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(content)
    source = open_source(path)
    with pytest.raises(SourceError, match=complaint):
        read_all(source)
    source.close()


def test_damaged_gzip_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "pages.jsonl.gz", *[TEXT_LINE] * 2000)
    path.write_bytes(path.read_bytes()[:-50])
    source = open_source(path)
    with pytest.raises(SourceError, match=r"pages\.jsonl\.gz: damaged: "):
        read_all(source)
    source.close()


def test_archive_gives_each_url_once(tmp_path: Path) -> None:
    record_all(
        tmp_path / "warc",
        exchange("/a", html(LONG)),
        exchange("/b", html(OTHER), secs=1),
        exchange("/a", html("Another text."), secs=2),
        exchange("/missing", b"gone", status=404, secs=3),
        exchange("/same", html(LONG), secs=4),
        exchange(
            "/c",
            gzip.compress(html("Packed words.")),
            secs=5,
            headers=((b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip")),
        ),
        exchange(
            "/hidden",
            html("Hidden."),
            secs=6,
            headers=((b"Content-Type", b"text/html"), (b"X-Robots-Tag", b"noindex")),
        ),
    )
    source = open_source(tmp_path / "warc")
    pages = read_all(source)
    assert paths_of(pages) == ["a", "b", "same", "c"]
    assert pages[0].text_digest == pages[2].text_digest
    first, *_, packed = texts_of(source, pages)
    assert first is not None
    assert LONG in first
    assert packed is not None
    assert "Packed words" in packed
    assert source.progress == 1
    assert set(source.notes) == {
        "records left out: 1: URLs that were fetched again",
        "records left out: 1: HTTP errors",
        "records left out: 1: they ask not to be kept (noindex)",
    }
    source.close()


def test_damage_of_an_archive_is_told_and_the_rest_read(tmp_path: Path) -> None:
    record_all(tmp_path / "warc", exchange("/a", html(LONG)), exchange("/b", html(OTHER), secs=1))
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    file.write_bytes(file.read_bytes()[:-30])
    source = open_source(file)
    assert paths_of(read_all(source))[0] == "a"
    assert any("damaged at byte" in note for note in source.notes)
    source.close()


class TestSeveral:
    def test_ids_are_unique_and_texts_come_in_the_order_asked_for(self, tmp_path: Path) -> None:
        one = write(tmp_path / "one.jsonl", {"text": "one"}, {"text": "two"})
        other = write(tmp_path / "other.jsonl", {"text": "three"})
        sources = open_sources([one, other])
        pages = read_all(sources)
        assert [page.id for page in pages] == [0, 1, 2]
        assert list(sources.texts([2, 0, 1, 2])) == ["three", "one", "two", "three"]
        assert sources.name == f"{one}, {other}"
        sources.close()

    def test_originals_are_named_by_the_new_ids(self, tmp_path: Path) -> None:
        path = write(tmp_path / "one.jsonl", {"text": "one"})
        visiting = Visiting(tmp_path / "job")
        visiting.get("/image", b"%PDF-1.4 " + b"\x93" * 60)
        visiting.get("/a", html(LONG))
        visiting.get("/b", html(LONG))
        visiting.job.commit()
        sources = open_sources([path, tmp_path / "job"])
        assert [page.duplicate_of for page in read_all(sources)] == [None, None, 1]
        visiting.get("/c", html(LONG))
        visiting.close()
        (new,) = read_all(sources)
        assert (new.id, new.duplicate_of) == (3, 1)
        sources.close()

    def test_fingerprints_of_other_features_do_not_go_together(self, tmp_path: Path) -> None:
        visiting = Visiting(tmp_path, replace(OPTIONS, parameters=Parameters(verify=False)))
        visiting.close()
        path = write(tmp_path / "one.jsonl", {"text": "one"})
        with pytest.raises(SourceError, match="of word-1-log_count, and of word-3-set"):
            open_sources([tmp_path, path])


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nowhere", "no such file or directory"),
        ("empty", "no crawl in it"),
        ("page.html", "its ending says no format; a crawl directory"),
    ],
)
def test_what_is_no_source_is_refused(tmp_path: Path, name: str, complaint: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "page.html").write_text("<p>")
    with pytest.raises(SourceError, match=complaint):
        open_source(tmp_path / name)

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.reading.content.blocks import MAX_BLOCKS
from crawler.reading.content.content_text import markdown, shown_text
from crawler.reading.content.content_xml import content_of_lines, pack_lines, unpack_content
from crawler.reading.content.main_content import read_content
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.link_kinds import NAMES
from crawler.reading.metadata.metadata_record import PageHeaders
from crawler.reading.page_reading import PageReader, shown_content, with_absolute_links
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import ReadingTask
from crawler.reading.visible_text import read_visible
from neardup.fingerprints.digest import text_digest, words_digest
from neardup.whole import part_of
from tests.crawler.reading.pages import NAVIGATION, PROSE, article, page, read_page

if TYPE_CHECKING:
    import random

    from crawler.reading.reading import Reading

URL = "http://host.example/a/b.html"
OPTIONS = ReadingOptions(keep_html=True)
HEAD = (
    '<title>Lamps</title><meta name="author" content="Ada"><base href="/c/">'
    '<meta name="robots" content="noindex"><link rel="canonical" href="lamps">'
    '<meta http-equiv="refresh" content="9; url=next"><meta name="date" content="2024-05-31">'
)
SAMPLES = [
    article(),
    page(f"<h1>Lamps</h1><p>{PROSE}</p><ul>{NAVIGATION}</ul><a href=x rel=nofollow>x</a>", HEAD),
    page("<table><tr><td>" + "</td><td>".join(PROSE.split()) + "</td></tr></table>" * 3),
    page("<div class=comments><blockquote><pre>x\n y</pre></blockquote></div><form><p>z</form>"),
    b"<frameset><frame src=a><noframes><a href=b>b</a></noframes></frameset>",
    '<script type="application/ld+json">{"articleBody": "a b"}</script><p>&#1;\ufffe\0'.encode(),
]


def read(body: bytes, content_type: str | None = "text/html") -> Reading:
    return read_page(URL, body, content_type, OPTIONS)


def test_links_of_the_content_are_whole_urls() -> None:
    prose = f'<article><h1>Lamps</h1><p>{PROSE} <a href="oil">oil</a></p><p>{PROSE}</p></article>'
    extract = read(page(prose, '<base href="http://other.example/shop/">')).extract
    assert extract is not None
    assert "(http://other.example/shop/oil)" in markdown(unpack_content(extract.shown.xml_zstd))


def test_links_of_the_content_take_no_room_without_end() -> None:
    """A base of 100 KB made a content of 400 MB."""
    links = "".join(f"<p>{PROSE} <a href=l{number}>it</a></p>" for number in range(1_000))
    reading = read(page(f"<main>{links}</main>", f"<base href='/{'a' * 100_000}/'>"))
    assert reading.extract is not None
    content = unpack_content(reading.extract.shown.xml_zstd)
    targets = [str(ref.get("target")) for ref in content.iter("ref")]
    assert len(targets) == 1_000
    assert sum(map(len, targets)) < 2 * 2**20
    assert targets[-1] == "l999"


def test_markdown_of_many_formulas_is_written_line_by_line() -> None:
    body = unpack_content(pack_lines("\\( " * 50_000))  # minutes, if each looked for its end
    assert markdown(body).count("\\(") == 50_000


def test_a_page_is_read_whole() -> None:
    reading = read(page(f"<p>{PROSE}</p><a href=other>other</a>", HEAD))
    assert reading.failure is None
    assert reading.not_html is None
    assert reading.metadata[:3] == ("Lamps", "Ada", "2024-05-31")
    assert reading.metadata.language == "en"
    assert reading.metadata.canonical_url == "http://host.example/c/lamps"
    assert reading.metadata.robots == ("noindex",)
    assert {link.url for link in reading.links} == {
        "http://host.example/c/lamps",
        "http://host.example/c/other",
        "http://host.example/c/next",
    }
    assert reading.text is not None
    assert PROSE in reading.text
    document = reading.document(50)
    assert document is not None
    assert part_of(document.text) == reading.text
    assert document.name == reading.name == reading.metadata.name(reading.text).packed()
    assert reading.visible_digest == text_digest(PROSE + "\nother")
    assert reading.html_zstd is not None
    assert reading.encoding == "utf-8"
    assert reading.parse_secs > 0
    assert reading.extract_secs > 0


def test_html_is_carried_only_on_demand() -> None:
    assert read_page(URL, article(), None, ReadingOptions()).html_zstd is None


@pytest.mark.parametrize("body", SAMPLES)
def test_a_page_shown_by_lines_is_judged_as_any_other(body: bytes) -> None:
    whole = read(body)
    lines = read_page(URL, body, "text/html", ReadingOptions(keep_html=True, shows_lines=True))
    assert whole.extract is not None
    assert lines.extract is not None
    assert lines.document(50) == whole.document(50)
    assert replace(lines.extract, content=whole.extract.content) == whole.extract
    assert lines.extract.shown == content_of_lines(lines.extract.text)


@pytest.mark.parametrize("body", SAMPLES)
def test_the_cheap_text_is_that_of_a_crawl(body: bytes) -> None:
    whole = read(body)
    text = read_page(URL, body, "text/html", ReadingOptions(extractor="blocks"))
    assert whole.extract is not None
    assert text.extract is not None
    assert text.extract.judged_text == whole.extract.judged_text
    assert text.extract.is_main == whole.extract.is_main
    assert (text.visible_digest, text.metadata) == (whole.visible_digest, whole.metadata)
    assert (text.links, text.extract.content) == ((), None)


def test_what_is_no_page_says_so() -> None:
    reading = read(b"%PDF-1.7", "application/pdf")
    assert reading.not_html == "a PDF document"
    assert reading.document(50) is None


def test_a_wrong_charset_does_not_lose_the_page() -> None:
    body = f"<p>{PROSE} für Köln</p>".encode("latin-1")
    reading = read(body, "text/html; charset=utf-8")
    assert reading.text is not None
    assert "für Köln" in reading.text


def test_only_links_are_read_where_only_links_are_wanted() -> None:
    reader = PageReader(OPTIONS)
    parsed = reader.parse(
        ReadingTask(URL, article(before="<a href=x>x</a>"), None, links_only=True)
    )
    assert [link.url for link in parsed.links] == ["http://host.example/a/x"]
    assert parsed.visible_digest is None
    with pytest.raises(RuntimeError):
        reader.extract()


def test_what_could_not_be_stored_as_text_is_replaced() -> None:
    reading = read(
        b'<script type="application/ld+json">{"articleBody": "' + b"a\\ud800 " * 100 + b'"}'
    )
    assert reading.text is not None
    reading.text.encode()


@pytest.mark.parametrize(
    ("row", "source"),
    [
        ("<p>row {}", "unlinked"),
        ("<li><a href=/x>row {}</a>", "visible"),
    ],
)
def test_a_page_of_too_many_blocks_is_shown_to_its_end(row: str, source: str) -> None:
    count = MAX_BLOCKS + 100
    html = "".join(row.format(number) for number in range(count)) + "<p>The end</p>"
    root = parse(html.encode())
    found = read_content(root, flatten(root))
    shown = shown_content(found, URL, read_visible(flatten(root)))
    lines = shown_text(shown.xml_zstd).split("\n")
    assert [line for line in lines if line] == [f"row {n}" for n in range(count)] + ["The end"]
    assert shown.source == source
    assert shown.kind is not None


class TestReadPageProperties:
    @settings(max_examples=150, deadline=None)
    @given(st.sampled_from(SAMPLES), st.randoms(use_true_random=False), st.integers(0, 12))
    def test_mutilated_pages_are_read(
        self, sample: bytes, rng: random.Random, mutations: int
    ) -> None:
        check(read(mutilated(sample, rng, mutations)))

    @settings(max_examples=100, deadline=None)
    @given(st.binary(max_size=400), st.sampled_from(["text/html", "text/html; charset=gbk"]))
    def test_any_bytes_are_read(self, body: bytes, content_type: str) -> None:
        reading = read(body, content_type)
        if reading.not_html is None:
            check(reading)


def check(reading: Reading) -> None:
    """What holds of every page that was read."""
    assert reading.failure is None
    document = reading.document(50)
    assert document is not None
    assert reading.text == part_of(document.text)
    assert reading.extract is not None
    assert reading.extract.words_digest == words_digest(document.text)
    assert (document.fingerprint is None) or document.words >= 50
    assert len({link.key for link in reading.links}) == len(reading.links)


def mutilated(body: bytes, rng: random.Random, mutations: int) -> bytes:
    for _ in range(mutations):
        start = rng.randrange(len(body) + 1)
        end = min(len(body), start + rng.choice([1, 5, 50]))
        piece = rng.choice(
            [b"", b"<", b">", b'"', b"&#", b"\xff", b"<!--", b"</div>", b"<a href=", body[:90]]
        )
        body = body[:start] + piece + body[end:]
    return body


def test_a_link_of_very_many_unseen_marks_takes_no_time_squared() -> None:
    xml = f'<p><ref target="#x">{chr(0x200B) * 300_000}x</ref></p>'
    assert with_absolute_links(xml, "http://host.example/a") == xml.replace(
        "#x", "http://host.example/a#x"
    )


@pytest.mark.parametrize("sign", ["¶", "\u200b", "\uf0c1", "↩"])
def test_the_sign_by_which_a_heading_links_to_itself_is_left_out(sign: str) -> None:
    heading = f'<h2 id=a>Lamps<a class="headerlink" href="#a">{sign}</a></h2>'
    before = f"<h1>Lights</h1><p>{PROSE}</p>"
    body = page(f'<main>{before}{heading}<p>{PROSE[::-1]} <a href="#b">below</a></p></main>')
    extract = read(body).extract
    assert extract is not None
    text = markdown(unpack_content(extract.shown.xml_zstd))
    assert "## Lamps\n" in text
    assert "[below](http://host.example/a/b.html#b)" in text


@pytest.mark.parametrize("name", ["refresh", "content_location", "location"])
def test_a_header_that_is_no_url_leads_nowhere(name: str) -> None:
    address = "http://[bad/x"
    headers = PageHeaders(**{name: f"0; url={address}" if name == "refresh" else address})
    reader = PageReader(ReadingOptions(link_kinds=NAMES))
    task = ReadingTask("http://host.example/a//b/", page("<a href=x>x</a>"), headers=headers)
    assert [link.url for link in reader.parse(task).links] == ["http://host.example/a//b/x"]


class TestPlaces:
    """Places of a page, and its links to places."""

    def places(self, body: str, url: str = URL) -> tuple[list[str] | None, dict[str, list[str]]]:
        reader = PageReader(replace(OPTIONS, places=True))
        found = reader.parse(ReadingTask(url, body.encode(), "text/html")).places
        assert found is not None
        return found

    def test_they_take_no_second_look_at_the_links(self) -> None:
        """A page of 99,000 anchors at a long URL took longer than a page may, and was lost."""
        url = f"http://host.example/{'a/' * 4000}"
        anchors = "".join(f"<a href='./#n{number}' id=n{number}>x</a>" for number in range(50_000))
        body = anchors.encode()
        plain, noted = (
            PageReader(replace(OPTIONS, places=places)).parse(ReadingTask(url, body, "text/html"))
            for places in (False, True)
        )
        assert noted.places is not None
        assert (len(noted.places[0] or ()), noted.places[1]) == (50_000, {})
        assert noted.secs < 5 * plain.secs + 1

    def test_each_is_noted_once_and_the_top_is_everywhere(self) -> None:
        links = ("x#nope", "http://host.example/a/x#nope", "x#%54op", "x#tOp", "x#", "x#a:~:text=b")
        body = "".join(f"<a href='{link}'>x</a>" for link in links)
        assert self.places(body) == ([], {"http://host.example/a/x": ["nope", "a"]})

    def test_names_are_not_known_of_a_page_that_is_nested_too_deeply(self) -> None:
        assert self.places("<b>" * 2600 + "<h2 id=there>x</h2>")[0] is None

    def test_a_prefix_that_a_script_looks_for_is_no_part_of_the_name(self) -> None:
        body = '<a href="#setup">x</a><a id="user-content-setup">y</a>'
        assert self.places(body) == (["user-content-setup"], {})

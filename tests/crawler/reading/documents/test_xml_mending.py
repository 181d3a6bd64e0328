"""Feeds whose XML is at fault: what follows the fault is read."""

from __future__ import annotations

import random
import time
from xml.sax import ContentHandler, SAXParseException, parseString

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.documents.feeds import mended, read_feed

ENTRY = "<item><title>Ferry {0}</title><link>http://a.test/{0}</link><description>{1}</description>"


def feed(*said: str) -> bytes:
    entries = "".join(ENTRY.format(n, text) + "</item>" for n, text in enumerate(said))
    return f"<rss><channel><title>News</title>{entries}</channel></rss>".encode()


@pytest.mark.parametrize(
    ("fault", "read"),
    [
        ("late</b>", ["late"]),
        ("late</p></div>", ["late"]),
        ("late</b></b></b></i>", ["late"]),
        ("late</description></description>", ["late"]),
        ("late</rss></rss>", ["late"]),
        ("late<br>again", ["late", "again"]),
        ("<p>late<b>again</p>", ["lateagain"]),
        ("5 < 6 <", ["5 < 6 <"]),
        ("late</>", ["late"]),
        ("<img src='x>late", ["late"]),
        ("<img src=x alt>late", ["late"]),
        ("late<b", ["late"]),
        ("late</item></channel></rss>", ["late"]),
    ],
)
def test_entries_behind_a_fault_are_read(fault: str, read: list[str]) -> None:
    found = read_feed(feed("one", fault, "two", "three"), None)
    said = found.text.split("\n")
    assert said[:3] == ["News", "Ferry 0", "one"]
    assert said[-4:] == ["Ferry 2", "two", "Ferry 3", "three"]
    assert set(found.links) >= {f"http://a.test/{n}" for n in (0, 1, 2, 3)}
    if not fault.endswith("<b"):  # the tag that it begins ends with the next one
        assert said[4:-4] == read


def test_a_feed_cut_anywhere_gives_what_stands_before_the_cut() -> None:
    whole = feed("one &amp; two", "<![CDATA[<p>three</p>]]>", "<!-- none -->four")
    entries = [whole.index(f"Ferry {n}</title>".encode()) for n in range(3)]
    for end in range(whole.index(b"<item>"), len(whole)):
        found = read_feed(whole[:end], None)
        assert found.metadata.title == "News"
        for number, place in enumerate(entries):
            if place + len("Ferry 0") <= end:
                assert f"Ferry {number}" in found.text


def test_a_feed_with_lost_and_doubled_bytes_is_read_or_refused() -> None:
    source = random.Random(18)
    whole = feed(*(f"entry {n}" for n in range(20)))
    titles = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(3):
            place = source.randrange(len(damaged))
            damaged[place : place + 1] = source.choice([b"", b"<", b">", b"</x>", b"&", b"\x00"])
        try:
            titles += read_feed(bytes(damaged), None).text.count("Ferry")
        except UnreadableError:
            continue
    assert titles >= 0.95 * 300 * 20


@given(
    st.lists(
        st.sampled_from(
            "<a> </a> <b> </b> <c/> x <!-- --> <![CDATA[ ]]> < > <?y?> </ a 'q \" &amp;".split()
        ),
        max_size=30,
    )
)
def test_the_tags_of_mended_xml_match(pieces: list[str]) -> None:
    xml = mended(f"<root>{''.join(pieces)}</root>".encode())
    assert mended(xml) == xml
    assert "mismatched" not in fault_of(xml)
    assert "no element" not in fault_of(xml)


def fault_of(xml: bytes) -> str:
    try:
        parseString(xml, ContentHandler())
    except SAXParseException as error:
        return error.getMessage()
    return ""


def test_matching_tags_stay_as_they_are() -> None:
    whole = feed("one &amp; two", "<![CDATA[<p></b>]]>", "<a t='>'><b/></a>")
    assert mended(whole) == whole


@pytest.mark.parametrize(
    "piece",
    ["<", "</", "<a", "<a>", "</a>", "<a '", "<a x='", "<!--", "<![CDATA[", "<?", "<a></b>", "<!"],
)
def test_marks_alone_take_linear_time(piece: str) -> None:
    xml = b"<rss>" + piece.encode() * (1_000_000 // len(piece))
    started = time.process_time()
    mended(xml)
    assert time.process_time() - started < 5

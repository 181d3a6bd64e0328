"""Pages in many scripts: order and spaces stay, and of two languages the main one is content."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from crawler.console.page_export import MEDIA_TYPES, PageWriter
from crawler.reading.content.content_text import shown_text
from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import read_page
from tests.sites.tongues import RIGHT_TO_LEFT, TONGUES, Tongue, article_of, page_of

URL = "http://site.example/blog/post.html"
ENGLISH = TONGUES["en"]
OPTIONS = ReadingOptions(workers=1)
ENCODINGS = {
    "ar": "windows-1256",
    "el": "iso-8859-7",
    "he": "windows-1255",
    "ja": "euc-jp",
    "ko": "euc-kr",
    "ru": "koi8-r",
    "th": "tis-620",
    "zh-Hans": "gb18030",
}

each_tongue = pytest.mark.parametrize("tongue", TONGUES.values(), ids=TONGUES)
each_foreign = pytest.mark.parametrize(
    "tongue", [one for one in TONGUES.values() if one is not ENGLISH]
)


def texts_of(body: bytes, content_type: str = "text/html") -> tuple[str, str]:
    """Return what is shown and what is judged of a page, as a crawl reads it."""
    extract = read_page(URL, body, content_type, OPTIONS).extract
    assert extract is not None
    return shown_text(extract.shown.xml_zstd), extract.text


def says_all(text: str, tongue: Tongue) -> bool:
    """Whether a text has the whole article in its order, each paragraph a line."""
    lines = [line.strip() for line in text.split("\n")]
    places = [lines.index(said) for said in tongue.paragraphs if said in lines]
    return len(places) == len(tongue.paragraphs) and places == sorted(places)


@each_tongue
@pytest.mark.parametrize("frame", [None, ENGLISH], ids=["own frame", "English frame"])
def test_the_article_is_content_and_the_frame_is_not(tongue: Tongue, frame: Tongue | None) -> None:
    around = frame or tongue
    for text in texts_of(page_of(tongue, frame=frame)):
        assert says_all(text, tongue)
        assert text.startswith(tongue.title)
        assert around.footer not in text
        lines = text.split("\n")
        assert not {*around.menu}.intersection(lines)
        others = {one.title for one in TONGUES.values() if one is not tongue}
        assert not others.intersection(lines)


@each_tongue
@pytest.mark.parametrize("kind", MEDIA_TYPES)
def test_each_format_holds_the_text_as_it_is(tongue: Tongue, kind: str) -> None:
    reading = read_page(URL, page_of(tongue), "text/html", OPTIONS)
    assert reading.extract is not None
    page = {"url": URL, "title": tongue.title, "language": reading.metadata.language}
    written = PageWriter(kind).write(page, reading.extract.shown.xml_zstd)
    for said in (tongue.title, *tongue.paragraphs):
        assert said in written
    if kind == "html":
        assert f'lang="{tongue.code}"' in written
        assert ('dir="rtl"' in written) == (tongue.code in RIGHT_TO_LEFT)


@pytest.mark.parametrize(("code", "encoding"), ENCODINGS.items())
def test_older_encodings_say_the_same(code: str, encoding: str) -> None:
    tongue = TONGUES[code]
    html = page_of(tongue).decode().replace("utf-8", encoding)
    shown, _ = texts_of(html.encode(encoding, "xmlcharrefreplace"))
    assert says_all(shown, tongue)


@each_foreign
def test_english_around_an_article_is_left_out(tongue: Tongue) -> None:
    cookies = f"<div class=cookie-consent><p>{ENGLISH.paragraphs[0]}</p><button>OK</button></div>"
    html = page_of(tongue, frame=ENGLISH).decode().replace("<header", f"{cookies}<header", 1)
    for text in texts_of(html.encode()):
        assert says_all(text, tongue)
        assert ENGLISH.paragraphs[0] not in text


@each_foreign
def test_a_summary_in_another_language_takes_nothing_from_the_article(tongue: Tongue) -> None:
    summary = f'<p lang="en" class="summary">{ENGLISH.paragraphs[0]}</p>'
    for text in texts_of(page_of(tongue, summary + article_of(tongue))):
        assert says_all(text, tongue)


@each_foreign
def test_of_parallel_texts_the_one_of_the_page_is_content(tongue: Tongue) -> None:
    parts = f'<div lang="{tongue.code}">{article_of(tongue)}</div>'
    parts += f'<div lang="en">{article_of(ENGLISH)}</div>'
    for text in texts_of(page_of(tongue, parts)):
        assert says_all(text, tongue)


@each_tongue
def test_marks_and_links_within_words_add_no_spaces(tongue: Tongue) -> None:
    first = tongue.paragraphs[0]
    middle = len(first) // 2
    marked = f"{first[:9]}<b>{first[9:12]}</b>{first[12:middle]}<a href=/x>{first[middle:-5]}</a>"
    body = article_of(tongue).replace(first, f"{marked}<i>{first[-5:]}</i>")
    assert says_all(texts_of(page_of(tongue, body))[0], tongue)


@pytest.mark.parametrize(
    "said",
    [
        "می\u200cخواهم به بندر بروم و پیش از غروب آفتاب برگردم.",
        "\u2068(North Wind)\u2069 تغادر الرصيف\u200f.",
        "श्रीमान\u200dजी \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f4\U000e0067\U000e007f",
        "&lt;p&gt; &amp; &#233; AT&T; R&D",
        "\U00010600\u200c\U00010601",
    ],
)
@pytest.mark.parametrize("kind", MEDIA_TYPES)
def test_marks_that_are_not_seen_stay(said: str, kind: str) -> None:
    written = said.replace("&", "&amp;")
    article = f"<h1>بندر</h1><p>{written}</p><p>{TONGUES['ar'].paragraphs[0]} <b>{written}</b></p>"
    extract = read_page(URL, page_of(TONGUES["ar"], article), "text/html", OPTIONS).extract
    assert extract is not None
    text = PageWriter(kind).write({"url": URL}, extract.shown.xml_zstd)
    if kind == "markdown":  # what a reader of the Markdown sees
        text = MarkdownIt().render(text)
    assert text.count(said if kind == "text" else written) == 2
    assert said in extract.text


@pytest.mark.parametrize(
    ("html", "language", "place"),
    [
        ("<html lang=ja><body lang=en>", "ja", "html:lang"),
        ("<html><body lang=ja>", "ja", "body:lang"),
        ("<html lang=''><body lang=zh-hant-tw>", "zh-Hant-TW", "body:lang"),
        ("<html><body>", None, None),
    ],
)
def test_the_language_is_the_declared_one(
    html: str, language: str | None, place: str | None
) -> None:
    metadata = read_page(URL, f"{html}<p>{ENGLISH.paragraphs[0]}".encode(), None, OPTIONS).metadata
    assert metadata.language == language
    assert dict(metadata.sources).get("language") == place

"""The author and the day that readers see beside the heading of a page."""

from __future__ import annotations

import time
from datetime import date
from typing import TYPE_CHECKING

import pytest
from babel import Locale
from babel.dates import format_date

from crawler.reading.html_parsing import parse
from crawler.reading.metadata.dates import iso_date, named_day
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.page_elements import collect

if TYPE_CHECKING:
    from crawler.reading.metadata.metadata_record import Metadata

PROSE = (
    "The ferry was late again, and those who waited on the quay had long stopped to ask why. " * 3
)
URL = "http://host.example/folder/page.html"


def said(body: str, url: str = URL) -> Metadata:
    html = f"<title>The late ferry</title><body>{body}"
    return read_metadata(collect(parse(html.encode("utf-8", "replace"))), url)


def beside(marks: str) -> Metadata:
    """Return the metadata of an article with some marks between heading and text."""
    return said(f"<article><h1>The late ferry</h1>{marks}<p>{PROSE}</article>")


@pytest.mark.parametrize(
    ("marks", "author"),
    [
        ("<p>By Ada Lovelace</p>", "Ada Lovelace"),
        ("<p>By <a href=/ada>Ada Lovelace</a></p>", "Ada Lovelace"),
        ("<span>By</span> <span>Ada Lovelace</span>", "Ada Lovelace"),
        ("<p>by Ada Lovelace - 2024-05-31</p>", "Ada Lovelace"),
        ("<p>Written by: Ada Lovelace | 4 min read", "Ada Lovelace"),
        ("<p>Published by Ada Lovelace on May 31, 2024", "Ada Lovelace"),
        ("<p>By the Harbour Team", "the Harbour Team"),
        ("<p>Von Ada Lovelace", "Ada Lovelace"),
        ("<p>Par Ada Lovelace, le 31 mai 2024", "Ada Lovelace"),
        ("<p>Автор: Ада Лавлейс", "Ада Лавлейс"),
        ("<p>作者：林小明", "林小明"),
        ("<p class=byline>Von <span class=author>Ada Lovelace</span> | 03.04.2024", "Ada Lovelace"),
        ("<p>Por <a>Ada Lovelace</a>", "Ada Lovelace"),
        ("<p>Av Ada Lovelace", "Ada Lovelace"),
        ("<p>Di Ada Lovelace | 31 maggio 2024", "Ada Lovelace"),
        ("<p>Di Ada Lovelace scrivono tutti.", None),
        ("<p class=author>文／<a>林小明</a>", "林小明"),
        ("<p class=author><span>Autor</span> <a>Ada Lovelace</a>", "Ada Lovelace"),
        ("<table><tr><td>Author<td>The name of its author", None),
        ("<div class=post-author>Ada Lovelace</div>", "Ada Lovelace"),
        ("<div class=byline><a>Ada Lovelace</a></div>", "Ada Lovelace"),
        ("<div>started by <a class=username>ada_l</a></div>", "ada_l"),
        ("<p>作者：林小明　发布时间：2024-05-31", "林小明"),
        ("<p>记者 林小明</p>", "林小明"),
        ("<p>Tekst: Ada Lovelace", "Ada Lovelace"),
        ("<p>Rédigé par Ada Lovelace et publié le 31 mai 2024", "Ada Lovelace"),
        ("<p>Door Ada van Lovelace op 31 mei 2024", "Ada van Lovelace"),
        ("<p>From: Dover, to: Calais", None),
        ("<p>By default all ferries are late.", None),
        ("<div class=author-bio>She writes on ferries</div>", None),
        ("<div class=authority>Ada Lovelace</div>", None),
        ("<p>By 2024 all ferries will be late.", None),
        ("<p>By admin", None),
        ("<nav><p>By Ada Lovelace</nav>", None),
        ("", None),
    ],
)
def test_the_author_beside_a_heading_is_read(marks: str, author: str | None) -> None:
    assert beside(marks).author == author


@pytest.mark.parametrize(
    ("marks", "date", "modified"),
    [
        ("<p>31 May 2024", "2024-05-31", None),
        ("<p>Published: May 31st, 2024 at 10:12", "2024-05-31", None),
        ("<p>Published: <b>May 31, 2024</b>", "2024-05-31", None),
        ("<p>Last updated: 31 May 2024", "2024-05-31", "2024-05-31"),
        ("<p>Updated <b>31 May 2024</b>, published <b>1 May 2024</b>", "2024-05-01", "2024-05-31"),
        ("<p>Published 1 May 2024. Updated 31 May 2024.", "2024-05-01", "2024-05-31"),
        ("<p>Posted May 1, 2024; last revised: May 31, 2024", "2024-05-01", "2024-05-31"),
        ("<p>From 1 May 2024 to 31 May 2024", None, None),
        ("<p>Veröffentlicht am 31. Mai 2024", "2024-05-31", None),
        ("<p>Aktualisiert: 31.05.2024", "2024-05-31", "2024-05-31"),
        ("<p>Опубликовано 31 мая 2024 г.", "2024-05-31", None),
        ("<p>发布于 2024年5月31日", "2024-05-31", None),
        ("<p>2024년 5월 31일", "2024-05-31", None),
        ("<p>نُشر في ٣١ مايو ٢٠٢٤", "2024-05-31", None),
        ("<p>31 พฤษภาคม 2567", "2024-05-31", None),
        ("<span class=date>05/31/2024</span>", "2024-05-31", None),
        ("<span class=date>03/04/2024</span>", None, None),
        ("<p>31.05.24, 10:11 Uhr", "2024-05-31", None),
        ("<p>31-May-24", "2024-05-31", None),
        ("<p>May 31, ’24", "2024-05-31", None),
        ("<i>Fri May 31 10:12:14 UTC 2024</i>", "2024-05-31", None),
        ("<p>Version 10.05.24.1", None, None),
        ("<p>31 May 10:24", None, None),
        (
            "<p>Publié le 1 mai 2024 à 10h20 - Mis à jour le 31 mai 2024 à 11h00",
            "2024-05-01",
            "2024-05-31",
        ),
        ("<p>Joined: <b>31 May 2024</b>", None, None),
        ("<p>Copyright 2024-05-31", None, None),
        ("<p>The day:</p><pre>&gt;&gt;&gt; <b>print(day)</b>\n2024-05-01", None, None),
        (
            "<pre><b>1 May 2024</b><b>2 May 2024</b><b>3 May 2024</b></pre><p>31 May 2024",
            "2024-05-31",
            None,
        ),
        ("<p>Nobody who was there will forget the storm of 31 May 2024.", None, None),
        ("<ul><li>1 May 2024<li>2 May 2024<li>3 May 2024</ul>", None, None),
    ],
)
def test_the_days_beside_a_heading_are_read(
    marks: str, date: str | None, modified: str | None
) -> None:
    found = beside(marks)
    assert (found.date, found.modified) == (date, modified)


@pytest.mark.parametrize(
    ("language", "date"),
    [
        ("fr", "2024-04-03"),
        ("en-GB", "2024-04-03"),
        ("sv", "2024-04-03"),
        ("vi", "2024-04-03"),
        ("en-US", "2024-03-04"),
        ("en-CA", None),
        ("en", None),
        ("es-US", None),
        ("hu", None),
        ("", None),
    ],
)
def test_the_language_tells_whether_the_day_or_the_month_is_first(
    language: str, date: str | None
) -> None:
    html = f"<html lang='{language}'><title>The late ferry</title><h1>The late ferry</h1>"
    root = parse(f"{html}<p>03/04/2024<p>{PROSE}".encode())
    assert read_metadata(collect(root), URL).date == date


def test_the_day_of_a_comment_is_not_that_of_the_page() -> None:
    comment = "<div id=comments><ol><li><p><time datetime=2024-05-31>yesterday</time></ol></div>"
    assert said(f"<h1>The late ferry</h1><p>{PROSE}<p>{PROSE}{comment}").date is None


def test_a_day_before_the_heading_counts_where_none_follows() -> None:
    before = "<div><p>News</p><p>31 May 2024</p></div><h1>The late ferry</h1>"
    assert said(f"{before}<p>{PROSE}").date == "2024-05-31"
    assert said(f"{before}<p>1 June 2024</p><p>{PROSE}").date == "2024-06-01"


def test_days_and_names_behind_the_first_long_paragraphs_are_not_taken() -> None:
    comments = "<p>By Bob Marsh<p>31 May 2024"
    found = said(f"<h1>The late ferry</h1><p>{PROSE}<p>{PROSE}{comments}")
    assert (found.author, found.date) == (None, None)


def test_the_heading_that_the_title_names_is_the_one() -> None:
    body = "<h1>Harbour news</h1><p>1 May 2024</p><h2>The late ferry</h2><p>By Ada Lovelace"
    found = said(f"{body}<p>31 May 2024<p>{PROSE}")
    assert (found.author, found.date) == ("Ada Lovelace", "2024-05-31")


def test_what_a_page_declares_comes_before_what_it_shows() -> None:
    marks = "<meta name=author content='Bob Marsh'><meta name=date content=2024-05-01>"
    found = beside(f"{marks}<p>By Ada Lovelace<p>31 May 2024")
    assert (found.author, found.date) == ("Bob Marsh", "2024-05-01")


def test_the_day_beside_the_heading_comes_before_the_first_time_of_the_page() -> None:
    teaser = "<aside><time datetime=2026-01-01>today</time></aside>"
    found = said(f"{teaser}<h1>The late ferry</h1><p>31 May 2024<p>{PROSE}")
    assert found.date == "2024-05-31"
    assert dict(found.sources)["date"] == "byline"


def test_each_value_has_its_place() -> None:
    found = beside("<p>By Ada Lovelace<p>Updated <time datetime=2024-05-31>yesterday</time>")
    places = dict(found.sources)
    assert (found.author, places["author"]) == ("Ada Lovelace", "byline")
    assert (found.modified, places["modified"]) == ("2024-05-31", "byline:modified")
    marked = beside("<b class=author>Ada Lovelace</b>")
    assert dict(marked.sources)["author"] == "class:author"


def test_a_home_page_has_no_byline() -> None:
    body = f"<h1>The late ferry</h1><p>By Ada Lovelace<p>31 May 2024<p>{PROSE}"
    found = said(body, "http://host.example/")
    assert (found.author, found.date) == (None, None)


@pytest.mark.parametrize(
    "body",
    [
        "<h1>The late ferry</h1>" + "<p>" * 200_000,
        "<p>" * 200_000 + "<h1>The late ferry</h1><i></i>",
        "<h1>The late ferry</h1><div class=author>" + "<b></b>" * 200_000 + "</div>",
        "<h1>The late ferry</h1><div class=author>" + "<b>1" * 10_000,
        "<h2>x</h2>" * 100_000,
        "<h1>The late ferry</h1><p>by " + "by " * 300_000,
        "<h1>The late ferry</h1>" + "<p>1. 2 3" * 100_000,
    ],
)
def test_pages_of_marks_alone_take_no_time(body: str) -> None:
    root = parse(f"<title>The late ferry</title><body>{body}".encode())
    started = time.process_time()
    read_metadata(collect(root), URL)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "written",
    [
        "12 March 2024",
        "12th of March 2024",
        "March 12th, 2024",
        "12-Mar-2024",
        "12. März 2024",
        "12 mars 2024",
        "12 de marzo de 2024",
        "12 de março de 2024",
        "12 marzo 2024",
        "12 maart 2024",
        "12 marca 2024",
        "12. března 2024",
        "12 марта 2024 г.",
        "12 березня 2024",
        "12 Mart 2024",
        "2024. március 12.",
        "12 Μαρτίου 2024",
        "12. maaliskuuta 2024",
        "12 Maret 2024",
        "12 مارس 2024",
        "12 במרץ 2024",
        "12 मार्च 2024",
        "12 มีนาคม 2567",
        "2024年3月12日",
        "2024년 3월 12일",
        "2024/3/12",
        "12. marts 2024",
        "ngày 12 tháng 3 năm 2024",
        "12 martie 2024",
        "12. ožujka 2024.",
        "12. marec 2024",
        "12. märts 2024",
        "2024 m. kovo 12 d.",
        "2024. gada 12. marts",
        "১২ মার্চ, ২০২৪",
        "12 Mac 2024",
        "2024(e)ko martxoaren 12a",
        "2024ko martxoak 12",
        "12 d'març de 2024",
        "令和6年3月12日",
        "平成３６年３月１２日",
        "民國113年3月12日",
        "Tue, 12 Mar 24 10:00:00 GMT",
        "12.03.2024",
        "12.3.2024 10:15",
        "03/12/2024 or so, that is 12 March 2024",
    ],
)
def test_the_months_of_many_languages_are_read(written: str) -> None:
    assert iso_date(written) == "2024-03-12"


@pytest.mark.parametrize(
    "written",
    [
        *("marble 12, 2024", "1.2.3.2024", "10.11.12.2013", "32 May 2024", "2024-13-01", "12 2024"),
        *(
            "2024-03",
            "202403",
            "2024-03-00",
            "March 2024",
            "Mar 24",
            "03/2024",
            "2024年3月",
            "12:30 Mar 2024",
        ),
        # October in Croatian, November in Polish; the year may be first where no language is known.
        *("12 listopada 2024", "24/10/17"),
    ],
)
def test_what_is_no_day_is_none(written: str) -> None:
    assert iso_date(written) is None


LANGUAGES = (
    "af ar az be bg bn bs ca cs cy da de el en en-GB en-US es et eu fa fi fil fr gl gu he hi "
    "hr hu hy id is it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl pa pl pt pt-BR "
    "ro ru si sk sl sq sr sr-Latn sv sw ta te th tr uk ur uz vi zh zh-Hant"
).split()
FEW_LONG_ONES = {"hy", "mn"}  # "2026 թ. մարտի 4", "2026 оны гуравдугаар сарын 4"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["full", "long", "medium", "short"])
def test_no_other_day_is_read_than_the_one_that_babel_writes(language: str, form: str) -> None:
    locale = Locale.parse(language, sep="-")
    days = [date(2026, month, number) for month in range(1, 13) for number in (4, 17)]
    found = [iso_date(format_date(day, form, locale), language) for day in days]
    assert all(one in {day.isoformat(), None} for one, day in zip(found, days, strict=True))
    if form == "long" and language not in FEW_LONG_ONES:
        assert found.count(None) <= 4


@pytest.mark.parametrize(
    ("written", "language", "day"),
    [
        ("12. listopada 2024.", "hr-HR", "2024-10-12"),
        ("12 listopada 2024", "pl", "2024-11-12"),
        ("24. 3. 12.", "ko", None),
        ("24.03.12", "ko", "2024-03-12"),
        ("24.03.12", "de", "2012-03-24"),
        ("12 मई 2024", "hi", "2024-05-12"),
        ("12 มี.ค. 2567", "th", "2024-03-12"),
        ("4/3/2026", "no language", None),
        ("24/03/12", "ja", "2024-03-12"),
        # Their years are first in figures, and last in words and in older figures.
        *(("05/03/24", language, None) for language in ("fr-CA", "sv", "en-CA")),
        ("05.03.24", "sv", None),
        ("Sat Sep  7 00:00:01 2002", "en", "2002-09-07"),
        ("令和６年3月12日", "ja", "2024-03-12"),
        *((f"令和{year}年3月12日", "ja", None) for year in ("0", "００")),
    ],
)
def test_the_language_tells_the_month(written: str, language: str, day: str | None) -> None:
    assert iso_date(written, language) == day


def test_the_place_of_a_day_in_a_line_is_known() -> None:
    line = "by Ada, 31 May 2024, in the harbour"
    found = named_day(line)
    assert found is not None
    day, start, end = found
    assert (day, line[start:end]) == ("2024-05-31", "31 May 2024")


@pytest.mark.parametrize(
    ("end", "day"),
    [
        ("<footer><p>&copy; 2001-2023<br>Last updated on May 31, 2024 (08:18 UTC).</footer>", True),
        ("<div><i>This page was last modified on 2024-05-31 13:08:22Z</i></div><hr>", True),
        ("<p>Zuletzt aktualisiert: 31.05.2024</p><ul><li><a>One</a><li><a>Two</a></ul>", True),
        ("<p>Last modified: <time>2024/05/31</time> by <b>ada</b>", True),
        ("<address>Generated on Fri May 31 2024 10:11:12 for Ferries by doxygen</address>", True),
        ("<p>Posted on May 31, 2024</p>", False),
        (f"<p>Updated on May 31, 2024: {PROSE}</p>", False),
        ("<script>// updated 2024-05-31</script>", False),
    ],
)
def test_the_last_lines_say_when_a_page_was_changed(end: str, *, day: bool) -> None:
    found = said(f"<main><h1>The late ferry</h1>{f'<p>{PROSE}' * 9}</main>{end}")
    assert (found.date, found.modified) == (("2024-05-31",) * 2 if day else (None, None))


@pytest.mark.parametrize(
    ("marks", "author"),
    [
        ("<meta name=citation_author content='Lovelace, Ada'>" * 2, "Lovelace, Ada"),
        (
            "<meta name=DC.creator content='Lovelace, Ada'><meta name=dc.creator content=Babbage>",
            "Lovelace, Ada; Babbage",
        ),
        (
            '<script type=application/ld+json>[{"author": [{"@id": "#1"}, {"@id": "#2"}]},'
            ' {"@id": "#2", "name": "Ada"}, {"@id": "#1", "name": "Grace"}]</script>',
            "Grace, Ada",
        ),
        ('<script type=application/ld+json>{"author": {"@id": ["#1"]}}</script>', None),
    ],
)
def test_all_authors_are_named(marks: str, author: str | None) -> None:
    assert said(marks).author == author


@pytest.mark.parametrize(
    "footer",
    [
        "This page was generated on 2026-12-01 12:40 in 0.031 seconds",
        "Written by hand. All rights reserved",
        "Published by Penguin Books, 12 May 1999",
    ],
)
def test_a_footer_that_tells_of_something_else_gives_no_author_and_no_day(footer: str) -> None:
    metadata = said(f"<h1>The ferry</h1><p>{PROSE * 9}</p><footer>{footer}</footer>")
    assert (metadata.author, metadata.date, metadata.modified) == (None, None, None)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html_parsing import parse
from crawler.reading.metadata.metadata_reader import read_metadata
from crawler.reading.metadata.page_titles import folded_name, host_names, title_of, without_site
from crawler.reading.page_elements import collect

NAMES = frozenset({"acme", "acmelamps"})
TEXTS = st.text(st.sampled_from("ab Acme|-–:·»"), max_size=40)


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("Lamps | Acme", "Lamps"),
        ("Lamps|Acme", "Lamps"),
        ("Lamps - ACME", "Lamps"),
        ("Lamps – The Acme", "Lamps"),
        ("Lamps— Acme Lamps", "Lamps"),
        ("Lamps · Acme", "Lamps"),
        ("Lamps :: Acme", "Lamps"),
        ("Acme: Lamps", "Lamps"),
        ("Acme » Lamps", "Lamps"),
        ("Lamps | Acme Lamps | Acme", "Lamps"),
        ("Lamps - of brass | Acme", "Lamps - of brass"),
        ("Lamps - Acme's Forum", "Lamps"),
        ("Lamps - Acme Community", "Lamps"),
        ("Acme Blog: Lamps", "Lamps"),
        ("Lamps [Acme Documentation]", "Lamps"),
        ("Lamps. Acme", "Lamps"),
        ("Lamps | Acme US", "Lamps"),
        ("Lamps | Acme Co-op", "Lamps"),
        ("Lamps | Forum", "Lamps | Forum"),
        ("Lamps [Brass]", "Lamps [Brass]"),
        ("Lamps. Brass", "Lamps. Brass"),
        # Nothing tells that these parts are the site's.
        ("Lamps | Brass", "Lamps | Brass"),
        ("Lamps | Acme Watch", "Lamps | Acme Watch"),
        ("Lamps-Acme", "Lamps-Acme"),
        ("Lamps of Acme", "Lamps of Acme"),
        # A title that is nothing else stays.
        ("Acme", "Acme"),
        ("Acme | Acme Lamps", "Acme | Acme Lamps"),
        ("| Acme", "| Acme"),
        ("", ""),
    ],
)
def test_titles_without_names_of_the_site(title: str, short: str) -> None:
    assert without_site(title, NAMES) == short


@pytest.mark.parametrize("heading", ["Lamps | Acme", "Other"])
def test_the_name_of_the_site_is_cut_off_where_two_places_have_it(heading: str) -> None:
    assert title_of("Lamps | Acme | All", NAMES, heading, ["Lamps | Acme"]) == "Lamps"


def test_a_home_page_keeps_the_name_in_front_of_its_motto() -> None:
    assert without_site("Acme | Lamps", NAMES, only_last=True) == "Acme | Lamps"
    assert without_site("Lamps | Acme", NAMES, only_last=True) == "Lamps"


@pytest.mark.parametrize(
    ("title", "heading", "others", "short"),
    [
        ("Brass lamps | Shop | Acme", "Brass lamps", [], "Brass lamps"),
        ("Brass lamps | Shop | Acme", "", ["Brass Lamps"], "Brass lamps"),
        ("Brass lamps: a history", "Brass lamps", [], "Brass lamps: a history"),
        ("Buy lamps | Acme", "All lamps", ["All Lamps"], "All lamps"),
        ("Buy lamps | Acme", "All lamps", ["Other lamps"], "Buy lamps"),
        # The heading of a logo is no title.
        ("Acme | Brass lamps", "Acme", ["Acme"], "Brass lamps"),
    ],
)
def test_what_a_page_says_alone_is_its_title(
    title: str, heading: str, others: list[str], short: str
) -> None:
    assert title_of(title, NAMES, heading, others) == short


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("http://www.acme.example/a", {"acme", "acmeexample"}),
        ("http://shop.acme.co.uk/a", {"acme", "acmecouk", "shopacmecouk"}),
        ("http://127.0.0.1/a", set()),
        ("http://localhost/a", set()),
        ("http://[broken/a", set()),
        ("", set()),
    ],
)
def test_names_of_hosts(url: str, names: set[str]) -> None:
    assert host_names(url) == names


@pytest.mark.parametrize(
    ("url", "body", "title"),
    [
        ("http://acme.example/a", "<title>Lamps | Acme</title>", "Lamps"),
        (
            "http://x.example/a",
            "<title>Lamps | Acme</title><meta property=og:site_name content=Acme>",
            "Lamps",
        ),
        (
            "http://x.example/a",
            "<title>Lamps | Acme</title><script type=application/ld+json>"
            '{"@graph": [{"@type": "WebSite", "name": "ACME"}]}</script>',
            "Lamps",
        ),
        (
            "http://x.example/a",
            "<title>Lamps | Acme</title><script type=application/ld+json>"
            '{"@type": "Article", "publisher": {"name": "Acme"}}</script>',
            "Lamps",
        ),
        ("http://acme.example/", "<title>Acme | Lamps</title>", "Acme | Lamps"),
        ("http://x.example/a", "<title>Lamps | Acme</title>", "Lamps | Acme"),
    ],
)
def test_names_of_the_site_are_those_that_pages_and_hosts_give(
    url: str, body: str, title: str
) -> None:
    metadata = read_metadata(collect(parse(body.encode())), url)
    assert metadata.title == title
    assert metadata.full_title in {"Lamps | Acme", "Acme | Lamps"}
    # What a page is called decides verdicts, and is told by the whole title.
    assert metadata.name().title == metadata._replace(title=metadata.full_title).name().title


class TestPageTitlesProperties:
    @given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3))
    def test_a_title_is_a_part_of_the_title_or_the_heading(
        self, title: str, heading: str, others: list[str]
    ) -> None:
        short = title_of(title, NAMES, heading, others)
        assert short == heading or short in title
        assert bool(folded_name(short)) or short == title

    @given(TEXTS)
    def test_a_title_is_cut_once(self, title: str) -> None:
        short = without_site(title, NAMES)
        assert without_site(short, NAMES) == short

    @given(st.text(max_size=100), st.text(max_size=100))
    def test_any_texts_are_read(self, title: str, url: str) -> None:
        assert without_site(title, frozenset(host_names(url))) in title


def test_a_title_of_many_parts_takes_little_time() -> None:
    title = " | ".join(["Acme"] * 300)
    assert title_of(title, NAMES, "Acme", ["Acme"] * 50)

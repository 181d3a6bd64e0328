from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html_parsing import parse
from crawler.reading.link_extraction import LinkReader, PageLinks, base_url, resolve
from crawler.reading.link_kinds import ANCHOR
from crawler.reading.page_elements import collect
from crawler.urls.canonical import Canonicalizer

PAGE = "http://host.example/folder/page.html"
CANONICALIZER = Canonicalizer()


def found(body: str, *, limit: int = 1000, encoding: str = "utf-8") -> PageLinks:
    page = collect(parse(body.encode()))
    return LinkReader(CANONICALIZER, limit).read(page, base_url(page.base, PAGE), encoding)


def urls(body: str) -> list[str]:
    return [link.url for link in found(body).links]


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("other.html", "http://host.example/folder/other.html"),
        ("/top", "http://host.example/top"),
        ("../up.html", "http://host.example/up.html"),
        ("?page=2", "http://host.example/folder/page.html?page=2"),
        ("//cdn.example/x", "http://cdn.example/x"),
        ("https://Other.Example/A b", "https://Other.Example/A b"),
        ("  spaced.html\n", "http://host.example/folder/spaced.html"),
        ("\x01\x1fx.html", "http://host.example/folder/x.html"),
        ("bro\nken\t.html", "http://host.example/folder/broken.html"),
        ("back\\slash.html?q=\\", "http://host.example/folder/back/slash.html?q=\\"),
        ("HTTP://HOST.example/x", "http://HOST.example/x"),
        ("x;a=1;b=2", "http://host.example/folder/x;a=1;b=2"),
        ("mailto:a@b.example", None),
        ("javascript:go()", None),
        (" JavaScript:go()", None),
        ("java\nscript:go()", None),
        ("data:text/html,x", None),
        ("ftp://host.example/x", None),
        ("http:///other.example/x", "http://other.example/x"),
        ("https:////other.example/x", "https://other.example/x"),
        ("///other.example/x", "http://other.example/x"),
        ("?", "http://host.example/folder/page.html?"),
        ("?#top", "http://host.example/folder/page.html?#top"),
        ("http://", None),
    ],
)
def test_addresses_resolve_as_browsers_do(address: str, url: str | None) -> None:
    assert resolve(PAGE, address) == url


def test_what_is_no_url_raises() -> None:
    with pytest.raises(ValueError, match="IPv6"):
        resolve(PAGE, "http://[::1/x")


def test_a_query_is_sent_in_the_encoding_of_the_page() -> None:
    assert resolve(PAGE, "s?q=ü", "cp1252") == "http://host.example/folder/s?q=%FC"
    assert resolve(PAGE, "s?q=ü", "utf-8") == "http://host.example/folder/s?q=ü"
    assert resolve(PAGE, "ü?q=%41&b", "cp1252") == "http://host.example/folder/ü?q=%41&b"
    assert resolve(PAGE, "s?q=aЖ", "cp1252") == "http://host.example/folder/s?q=a%26%231046%3B"
    assert resolve(PAGE, "s?q=日é", "cp932") == "http://host.example/folder/s?q=%93%FA%26%23233%3B"


@pytest.mark.parametrize(
    "body",
    [
        '<a href="x">',
        '<map><area href="x"></map>',
        '<frameset><frame src="x"></frameset>',
        '<iframe src="x"></iframe>',
        '<link rel="next" href="x">',
        '<link rel="prev" href="x">',
        '<link rel="alternate" hreflang="de" href="x">',
        '<link rel="alternate" type="text/html" href="x">',
        '<noscript><a href="x">y</a></noscript>',
        '<svg><a xlink:href="x">y</a></svg>',
        '<base href="http://host.example/folder/"><a href="x">',
        '<base href="/folder/"><a href="x">',
        '<base href="/folder/"><base href="/else/"><a href="x">',
        '<base href="javascript:x"><a href="x">',
        '<base href="http://[broken"><a href="x">',
    ],
)
def test_where_links_are_found(body: str) -> None:
    assert urls(body) == ["http://host.example/folder/x"]


@pytest.mark.parametrize(
    "body",
    [
        '<a name="x">',
        '<link rel="stylesheet" href="x">',
        '<link rel="alternate stylesheet" href="x">',
        '<link rel="alternate" type="application/rss+xml" href="x">',
        '<link rel="icon" href="x">',
        '<img src="x"><script src="x"></script>',
        '<form action="x"></form>',
        '<!-- <a href="x"> -->',
        "<script>document.write('<a href=x>')</script>",
    ],
)
def test_where_there_are_none(body: str) -> None:
    assert urls(body) == []


def test_links_are_distinct_by_key_and_as_first_written() -> None:
    body = (
        '<a href="b#one"><a href="b#two"><a href="./b"><a href="http://HOST.example:80/folder/b">'
        '<a href="a?utm_source=x"><a href="a">'
    )
    assert urls(body) == [
        "http://host.example/folder/b",
        "http://host.example/folder/a?utm_source=x",
    ]


def test_keys_are_those_of_the_canonicalizer() -> None:
    (link,) = found('<a href="A?b=1&a=2#x">').links
    assert link.key == CANONICALIZER.key("http://host.example/folder/A?b=1&a=2")


@pytest.mark.parametrize("rel", ["nofollow", "NoFollow", "ugc nofollow", "nofollow noopener"])
def test_nofollow_is_flagged(rel: str) -> None:
    assert [link.nofollow for link in found(f'<a href=x rel="{rel}">').links] == [True]


def test_a_link_followed_anywhere_is_followed() -> None:
    links = found('<a href=x rel=nofollow><a href=y rel=nofollow><a href="./x">').links
    assert [(link.url[-1], link.nofollow) for link in links] == [("x", False), ("y", True)]


def test_links_beyond_the_limit_are_counted() -> None:
    body = "".join(f'<a href="{number % 30}">' for number in range(60))
    result = found(body, limit=10)
    assert (len(result.links), result.cut) == (10, 20)


def test_links_that_are_too_long_are_counted() -> None:
    long = "x" * 9000
    result = found(f'<a href="{long}"><a href="data:,{long}"><a href=ok><a href="/{long}#x">')
    assert [link.url[-2:] for link in result.links] == ["ok"]
    assert result.too_long == 2


def test_a_long_base_takes_the_room_of_the_links() -> None:
    """Each took milliseconds, so that a page of 500 ran out of time."""
    body = f"<base href='/{'a' * 200_000};/'>" + "".join(f"<a href='{n} x'>" for n in range(500))
    result = found(body, limit=100)
    assert result.links == []
    assert result.too_long + result.cut == 500
    assert result.too_long < 10


def test_links_that_a_base_makes_long_are_too() -> None:
    base = f'<base href="/{"b" * 8000}/">'
    result = found(base + "".join(f'<a href="{number:0200}">' for number in range(5)))
    assert (result.links, result.too_long) == ([], 5)


def test_all_links_together_have_room_for_a_mean_length() -> None:
    base = f'<base href="/{"b" * 8000}/">'
    result = found(base + "".join(f"<a href={number}>" for number in range(1000)), limit=1000)
    taken = sum(len(link.url) for link in result.links)
    assert 2**20 <= taken <= 2**20 + 1000 * 256 + 8192
    assert len(result.links) + result.cut == 1000


_NO_URLS = (
    "http://[::1", "http://a..b:x/", "http://", "//", "http://a:65536/", "http://a b.example/",
    "htp://a.example/", "htttps://a.example/", "mailto:nobody", "mailto:a(at)example.org",
)  # fmt: skip
_NO_FAULTS = (
    "mailto:a@example.org", "mailto:?subject=Hi", "mailto:a%40example.org", "mailto:", "", "#",
    "mailto:?to=a@example.org", "tel:+49", "javascript:void(0)", "data:,a", "sms:1", "x-app://a",
    "http://u:p@a.example/", "http://a.example:0/", "http://[::1]/", "http://b\u00fccher.example",
)  # fmt: skip


@pytest.mark.parametrize("written", _NO_URLS)
def test_what_is_no_url_is_told_with_its_words_and_leaves_the_rest(written: str) -> None:
    result = found(f'<a href=" {written}\n">What it shows</a><a href=ok>')
    assert [link.url[-2:] for link in result.links] == ["ok"]
    assert result.malformed == ((written, "What it shows"),)


@pytest.mark.parametrize("written", _NO_FAULTS)
def test_what_leads_somewhere_or_to_a_program_is_not_malformed(written: str) -> None:
    assert found(f'<a href="{written}">x</a>').malformed == ()


def test_of_a_page_full_of_what_is_no_url_the_first_are_told() -> None:
    result = found("".join(f'<a href="http://[{"a" * 600}{number}">' for number in range(30)))
    assert [len(written) for written, _ in result.malformed] == [500] * 20


def test_fragments_make_pages_where_the_rule_is_off() -> None:
    page = collect(parse(b'<a href="#!/one"><a href="#!/two">'))
    reader = LinkReader(Canonicalizer(["fragment"]), 10, keep_fragments=True)
    assert [link.url for link in reader.read(page, PAGE, "utf-8").links] == [
        PAGE + "#!/one",
        PAGE + "#!/two",
    ]


class TestLinkProperties:
    @given(st.lists(st.text(max_size=30), max_size=20))
    def test_any_addresses_give_distinct_http_links(self, addresses: list[str]) -> None:
        page = collect(parse(b"<p>"))
        result = LinkReader(CANONICALIZER, 1000).read(
            page, PAGE, "utf-8", dict.fromkeys(addresses, ANCHOR)
        )
        keys = [link.key for link in result.links]
        assert len(set(keys)) == len(keys)
        for link in result.links:
            assert link.url.startswith(("http://", "https://"))
            assert "#" not in link.url
            assert link.key == CANONICALIZER.key(link.url)

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(
                    [
                        "http://a.example/b/c.html",
                        "http://a.example/b/d/?q",
                        "http://a.example/e",
                        "http://b.example/b/c.html",
                        "http://a.example/b/" + "long/" * 200,
                        "http://a.example",
                    ]
                ),
                st.lists(
                    st.sampled_from(
                        "x x/y ../x /x /x?y=z ?x http://b.example/x http://[::1 //b.example/x"
                        " mailto:x x;y".split()
                    )
                    | st.text("ax/.?#", max_size=6),
                    max_size=6,
                ),
                st.booleans(),
            ),
            max_size=6,
        )
    )
    def test_pages_read_before_change_no_link(
        self, pages: list[tuple[str, list[str], bool]]
    ) -> None:
        reader = LinkReader(CANONICALIZER, 1000, max_url_length=300)
        for base, addresses, is_nofollow in pages:
            page = collect(parse(b""))
            (page.not_followed if is_nofollow else page.followed).update(
                dict.fromkeys(addresses, "")
            )
            fresh = LinkReader(CANONICALIZER, 1000, max_url_length=300)
            assert reader.read(page, base, "utf-8") == fresh.read(page, base, "utf-8")


def test_links_held_for_other_pages_are_bounded() -> None:
    reader = LinkReader(CANONICALIZER, 100_000)
    page = collect(parse(b""))
    page.followed = {f"page-{number}/" + "x" * 400: "" for number in range(500)}
    tracemalloc.start()
    try:
        for number in range(200):
            reader.read(page, f"http://host.example/{number}/", "utf-8")
        held_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held_bytes < 40_000_000


@pytest.mark.parametrize(
    "head",
    [
        "<link rel=prefetch href=x><link rel=next href=x>",
        "<link rel=preload as=document href=x><iframe src=x></iframe>",
        "<link rel='next preload' href=x>",
        "<link rel='alternate feed' href=x>",
    ],
)
def test_a_page_that_is_named_as_a_file_too_is_followed(head: str) -> None:
    assert urls(head) == ["http://host.example/folder/x"]


def test_spellings_of_different_kinds_are_kept() -> None:
    (link,) = found("<a href='x?b=2&amp;a=1'>x</a><link rel=next href='x?a=1&amp;b=2'>").links
    assert link.others == ("http://host.example/folder/x?a=1&b=2",)

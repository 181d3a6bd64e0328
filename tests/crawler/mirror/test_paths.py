from __future__ import annotations

import sys
import unicodedata
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.mirror.paths import (
    PATH_MAX_UNITS,
    SEGMENT_MAX_BYTES,
    address_between,
    path_key,
    path_of,
)
from crawler.urls.parts import MalformedUrl
from tests.crawler.mirror.strategies import (
    PATH_PIECES,
    QUERY_PIECES,
    joined,
    media_types,
    nasty_urls,
    reduced,
)

_HTML = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("url", "media_type", "path"),
    [
        ("https://example.org", _HTML, "example.org/index.html"),
        ("https://example.org/", None, "example.org/index.html"),
        ("http://Example.ORG./a/#part", _HTML, "example.org/a/index.html"),
        ("https://example.org/a/", _HTML, "example.org/a/index.html"),
        ("https://example.org/a", _HTML, "example.org/a.html"),
        ("https://example.org/a.htm", _HTML, "example.org/a.htm"),
        ("https://example.org/A.HTML#part", _HTML, "example.org/A.HTML"),
        ("https://example.org/a.xhtml", "application/xhtml+xml", "example.org/a.xhtml"),
        ("https://example.org/x.php?id=3", _HTML, "example.org/x.php@id=3.html"),
        ("https://example.org/?q=a+b&p=2", _HTML, "example.org/index@q=a+b&p=2.html"),
        ("https://example.org/style.css?v=3", "text/css", "example.org/style@v=3.css"),
        ("https://example.org/style.css?v=3", None, "example.org/style@v=3.css"),
        ("https://example.org/style.css?12", "text/css", "example.org/style@=12.css"),
        ("https://example.org/logo@2x.png", "image/png", "example.org/logo@2x.png"),
        ("https://example.org/@user", _HTML, "example.org/@user.html"),
        ("https://example.org/~user/", _HTML, "example.org/~user/index.html"),
        ("https://example.org/script.php", "text/javascript", "example.org/script.php.js"),
        ("https://example.org/photo.jpeg", "image/jpeg", "example.org/photo.jpeg"),
        ("https://example.org/README", "text/plain", "example.org/README.txt"),
        ("https://example.org/main.c", "text/plain", "example.org/main.c"),
        ("https://example.org/a.html", "text/plain", "example.org/a.html.txt"),
        ("https://example.org/data.tar.gz", "application/x-a", "example.org/data.tar.gz"),
        ("https://example.org/download", "application/octet-stream", "example.org/download"),
        ("https://h/site.webmanifest", "application/manifest+json", "h/site.webmanifest"),
        ("https://h/Site.WebManifest", "application/json", "h/Site.WebManifest"),
        ("https://example.org/caf%C3%A9%20au%20lait", _HTML, "example.org/café au lait.html"),
        ("https://example.org/wiki/C%23_(x)", _HTML, "example.org/wiki/C#_(x).html"),
        ("https://example.org/wiki/Help:A", _HTML, "example.org/wiki/Help%3AA.html"),
        ("https://example.org/100%25", _HTML, "example.org/100%25.html"),
        ("https://example.org/a%FF.png", "image/png", "example.org/a%FF.png"),
        ("https://example.org/a%2Fb", None, "example.org/a%2Fb"),
        ("https://example.org/a//b", None, "example.org/a/%2F/b"),
        ("https://example.org/../%2e%2e/x", None, "example.org/%2E%2E/%2E%2E/x"),
        ("https://example.org/a%5C..%00", None, "example.org/a%5C..%00"),
        ("https://example.org/.htaccess", None, "example.org/%2Ehtaccess"),
        ("https://example.org/a./b%20", None, "example.org/a%2E/b%20"),
        ("https://example.org/con.txt", None, "example.org/co%6E.txt"),
        ("https://example.org/aux/lpt¹.c", None, "example.org/au%78/lpt%C2%B9.c"),
        ("https://example.org/CONIN$", None, "example.org/CONI%4E$"),
        ("https://example.org/console", None, "example.org/console"),
        ("https://example.org/a\u202eb", None, "example.org/a%E2%80%AEb"),
        ("https://example.org/a~0123abcd.png", None, "example.org/a%7E0123abcd.png"),
        ("https://example.org/PROGRA~1", None, "example.org/PROGRA%7E1"),
        ("https://example.org:443/a.png", None, "example.org/a.png"),
        ("http://example.org:443/a.png", None, "example.org+443/a.png"),
        ("http://[::1]:8000/a.png", None, "[--1]+8000/a.png"),
        ("https://bücher.example/a.png", None, "xn--bcher-kva.example/a.png"),
        ("https://index.html/", None, "index%2Ehtml/index.html"),
        ("https://nul.example/a.png", None, "nu%6C.example/a.png"),
    ],
)
def test_names_are_readable_and_portable(url: str, media_type: str | None, path: str) -> None:
    assert path_of(url, media_type) == path


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [
        ("https://h/wiki/Help:A", "https://h/wiki/Help%3AA"),
        ("https://h/a?b=%3A", "https://h/a?b=:"),
        ("https://h/a?b=c", "https://h/a@b=c"),
        ("https://h/a//b", "https://h/a/%2F/b"),
        ("https://h/100%25", "https://h/100%"),
        ("https://h/a", "https://user@h/a"),
        ("https://h/a?12", "https://h/a?=12"),
    ],
)
def test_of_two_urls_with_one_readable_name_the_unusual_has_a_digest(
    usual: str, unusual: str
) -> None:
    stem = path_of(usual, _HTML).removesuffix(".html")
    assert path_of(unusual, _HTML)[: len(stem) + 1] == stem + "~"
    assert len(path_of(unusual, _HTML)) == len(stem) + len("~01234567.html")


def test_what_is_no_url_is_refused() -> None:
    for text in ("", "/a", "file:///etc/passwd", "http:///a", "http://a b/", "http://h/\ud800"):
        with pytest.raises(MalformedUrl):
            path_of(text)


def test_long_names_keep_their_beginning_and_their_ending() -> None:
    long = "é" * 300
    first, second = path_of(f"https://h/{long}a", _HTML), path_of(f"https://h/{long}b", _HTML)
    assert first != second
    assert first.startswith("h/éééé")
    assert first.endswith(".html")
    # What is in one folder stays together.
    below = [path_of(f"https://h/{'x' * 205}/{name}", "image/png") for name in ("a.png", "b.png")]
    assert [path.rpartition("/")[2] for path in below] == ["a.png", "b.png"]
    assert below[0].rpartition("/")[0] == below[1].rpartition("/")[0]


def test_deep_paths_end_in_an_outer_folder() -> None:
    paths = {path_of(f"https://h/{'folder/' * 100}{name}", "image/png") for name in "abc"}
    assert len(paths) == 3
    for path in paths:
        assert path.startswith("h/folder/folder/")
        assert len(path) <= PATH_MAX_UNITS


class TestPathProperties:
    @given(url=nasty_urls, media_type=media_types)
    @settings(max_examples=400)
    def test_every_part_is_a_name_on_every_system(self, url: str, media_type: str | None) -> None:
        try:
            path = path_of(url, media_type)
        except MalformedUrl:
            return
        assert len(path.encode("utf-16-le")) // 2 <= PATH_MAX_UNITS
        host, *rest = path.split("/")
        assert rest
        assert path_key(host) not in ("index.html", "changes.json", "duplicates.json")
        for part in (host, *rest):
            assert part.isprintable()
            assert not set(part) & set('\\:<>"|?*')
            assert part[0] not in ". "
            assert part[-1] not in ". "
            assert len(part.encode()) <= SEGMENT_MAX_BYTES
            assert part.split(".")[0].rstrip(" ").lower() not in ("con", "nul", "com1", "com¹")

    @given(url=nasty_urls)
    def test_it_is_a_pure_function(self, url: str) -> None:
        try:
            assert path_of(url) == path_of(url) == path_of(url.partition("#")[0])
        except MalformedUrl:
            return

    @pytest.mark.parametrize(
        ("media_type", "endings"),
        [("text/html", (".html", ".htm")), ("text/css", (".css",)), ("text/x-a", ())],
    )
    def test_two_urls_have_one_path_only_if_they_differ_in_what_it_need_not_tell(
        self, media_type: str, endings: tuple[str, ...]
    ) -> None:
        told: dict[str, tuple[str, str | None]] = {}
        for number, path in enumerate(joined(PATH_PIECES)):
            # With all queries every short path, and some of the others.
            for query in (None, *joined(QUERY_PIECES)) if number % 31 < 2 else (None, "x=1", "a"):
                url = f"https://h/{path}" + ("" if query is None else f"?{query}")
                tells = reduced(path, query, endings)
                assert told.setdefault(path_key(path_of(url, media_type)), tells) == tells, url


class TestPathKey:
    def test_no_letter_differs_from_its_other_forms(self) -> None:
        for letter in map(chr, range(sys.maxunicode + 1)):
            forms = {letter.lower(), letter.upper(), letter.title(), letter.casefold()}
            forms |= {unicodedata.normalize(form, letter) for form in ("NFC", "NFD")}
            if forms == {letter}:
                continue
            key = path_key(letter)
            assert {path_key(form) for form in forms} == {key}, ascii(letter)
            assert path_key(key) == key
            assert not set(key) & set("/\\.")

    def test_the_dotless_and_the_dotted_i_are_one(self) -> None:
        assert path_key("ıİiI") == "iiii"

    @given(st.text(), st.sampled_from(["NFC", "NFD"]))
    def test_case_and_form_of_a_text_do_not_matter(self, text: str, form: str) -> None:
        key = path_key(text)
        assert path_key(key) == key
        assert path_key(unicodedata.normalize(form, text)) == key  # type: ignore[arg-type]
        assert path_key(text.casefold()) == key

    def test_different_names_have_different_keys(self) -> None:
        assert len({path_key(name) for name in ("a", "b", "é", "e", "a/b", "a.b", "日")}) == 7


_names = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=6
).filter(lambda name: name not in (".", ".."))
_relative = st.lists(_names, min_size=1, max_size=4).map("/".join)


class TestAddressBetween:
    @pytest.mark.parametrize(
        ("source", "target", "fragment", "address"),
        [
            ("h/a.html", "h/b.html", "", "b.html"),
            ("h/a.html", "h/a.html", "part", "#part"),
            ("h/a.html", "h/a.html", "", "a.html"),
            ("h/a/b/c.html", "h/d/e.css", "", "../../d/e.css"),
            ("h/a.html", "h2/d e.html", "f g", "../h2/d%20e.html#f%20g"),
            ("index.html", "h/index.html", "", "h/index.html"),
            ("h/a.html", "h/x@id=3&b='(1)'.html", "", "x@id=3%26b=%27%281%29%27.html"),
            ("h/a.html", "h/%2Ehtaccess", "", "%252Ehtaccess"),
            ("h/a.html", "h/b:c", '%C3%A9("', "b%3Ac#%C3%A9%28%22"),
        ],
    )
    def test_it_is_short_and_safe_in_attributes(
        self, source: str, target: str, fragment: str, address: str
    ) -> None:
        assert address_between(source, target, fragment) == address

    @given(_relative, _relative, st.sampled_from(["", "part", "a b"]))
    @example("h/a.html", "h/a/b.html", "")
    @settings(max_examples=400)
    def test_it_leads_to_the_target(self, source: str, target: str, fragment: str) -> None:
        address = address_between(source, target, fragment)
        assert not set(address) & set(" \"'()<>\\\t\n&")
        assert address.isascii()
        # The base is spelled by the same rules, as that of a browser would be.
        base = "file:///mirror/" + address_between("", source)
        found = urlsplit(urljoin(base, address))
        assert unquote(found.path) == f"/mirror/{target}"
        assert unquote(found.fragment) == fragment

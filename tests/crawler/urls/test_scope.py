"""Which URLs belong to a crawl, by their hosts and names, also after a seed was redirected."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.canonical import MalformedUrl
from crawler.urls.scope import KINDS, Scope, domain_or_suffix, moved_scope, scope_folder, scope_name
from tests.crawler.urls.strategies import texts, urls

CASES = [
    # seed, target, a URL that is in scope then, one that is not
    ("http://h.com/docs", "http://h.com/docs/", "http://h.com/docs/a", "http://h.com/a"),
    ("http://h.com/3.12/", "http://h.com/3.13/", "http://h.com/3.13/a", "http://h.com/3.12/a"),
    ("http://h.com/", "http://h.com/en/", "http://h.com/en/a", "http://h.com/de/a"),
    ("http://h.com/app/", "http://h.com/login", "http://h.com/app/a", "http://h.com/a"),
    ("http://h.com/a/", "https://h.com/a/", "https://h.com/a/b", "https://h.com/b"),
    ("http://h.com/a/", "https://www.h.com/a/", "https://www.h.com/a/b", "https://www.h.com/b"),
]

SEED = "https://docs.python.org/3/library/index.html"

ALLOWED = {
    "prefix": [
        SEED,
        "https://docs.python.org/3/library/",
        "http://docs.python.org/3/library/asyncio.html#top",
        "https://docs.python.org/3/library/a/b?q=../../x",
        "HTTPS://Docs.Python.ORG.:443/3/%6Cibrary/a",
        "https://user@docs.python.org/3/library/a",
        "https://docs.python.org/3/howto/../library/a",
        " https://docs.python.org/3/library/a\n",
        "https://docs.python.org\\3\\library\\a",
        "https://docs.python.org/3/library//x/.hidden",
        "https://docs.python.org/3/library/a;jsessionid=1?utm_source=x",
    ],
    "host": [SEED, "http://docs.python.org/", "https://docs.python.org/2?x#y"],
    "domain": [
        SEED,
        "http://python.org/",
        "https://www.python.org/a",
        "https://a.b.python.org:8080/",
        "https://PYTHON.org/",
    ],
}
REFUSED = {
    "prefix": [
        "https://docs.python.org/3/library",
        "https://docs.python.org/3/libraryx/",
        "https://docs.python.org/3/Library/a",
        "https://docs.python.org/3/library/../secret",
        "https://docs.python.org/3/library/%2e%2e/secret",
        "https://docs.python.org/3/library\\..\\secret",
        "https://docs.python.org/",
        "https://docs.python.org:8080/3/library/a",
        "https://docs.python.org@evil.org/3/library/a",
        "https://evil.org\\@docs.python.org/3/library/a",
        "https://evil.org/docs.python.org/3/library/a",
        "https://xdocs.python.org/3/library/a",
        "//docs.python.org/3/library/a",
        "ftp://docs.python.org/3/library/a",
        "",
        "\ud800",
    ],
    "host": [
        "https://python.org/",
        "https://docs.python.org:8443/",
        "http://docs.python.org:443/",
        "https://docs.python.org.evil.org/",
        "https://a.docs.python.org/",
    ],
    "domain": ["https://xpython.org/", "https://python.org.evil.org/", "https://org/", "http:///"],
}


@pytest.mark.parametrize(("seed", "target", "inside", "outside"), CASES)
def test_scope_moves_with_the_seed(seed: str, target: str, inside: str, outside: str) -> None:
    scope = moved_scope(Scope([seed]), seed, target)
    assert scope is not None
    assert scope.allows(inside)
    assert not scope.allows(outside)


@pytest.mark.parametrize("target", ["http://other.com/", "http://127.0.0.1/", "http://h.org/"])
def test_a_site_of_somebody_else_is_not_followed(target: str) -> None:
    assert moved_scope(Scope(["http://h.com/a/"]), "http://h.com/a/", target) is None


@pytest.mark.parametrize("target", ["http://other.com/y/a", "https://h.com/y/a", "http://h.com/y/"])
def test_what_another_seed_covers_is_followed_and_the_scope_stays(target: str) -> None:
    seeds = ["http://h.com/x/", "http://other.com/y/", "http://h.com/y/b", "https://h.com/y/"]
    scope = Scope(seeds)
    assert moved_scope(scope, "http://h.com/x/", target) is scope


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("www.a.co.uk", "a.co.uk"),
        ("me.github.io", "me.github.io"),
        ("www.xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("www.site.test", "site.test"),
        ("localhost", ""),
        ("127.0.0.1", ""),
        ("::1", ""),
    ],
)
def test_each_name_has_a_domain_but_addresses_and_single_labels(name: str, domain: str) -> None:
    assert domain_or_suffix(name) == domain


class TestKinds:
    @pytest.mark.parametrize(
        ("kind", "url"), [(kind, url) for kind, found in ALLOWED.items() for url in found]
    )
    def test_url_near_the_seed_is_in_scope(self, kind: str, url: str) -> None:
        assert Scope([SEED], kind).allows(url)

    @pytest.mark.parametrize(
        ("kind", "url"), [(kind, url) for kind, found in REFUSED.items() for url in found]
    )
    def test_url_elsewhere_is_out_of_scope(self, kind: str, url: str) -> None:
        assert not Scope([SEED], kind).allows(url)

    @pytest.mark.parametrize(
        ("seed", "folder", "outside"),
        [
            ("http://h", "http://h/a/b", "http://i/"),
            ("http://h/3", "http://h/", "http://h:1/"),
            ("http://h/3/", "http://h/3/a", "http://h/4"),
            ("http://h/a%20b/c", "http://h/a b/d", "http://h/a/d"),
            ("http://[::1]:8000/a/", "http://[0::1]:8000/a/b", "http://[::1]/a/b"),
            ("http://127.0.0.1/a/?b=/c/", "http://127.1/a/d", "http://127.0.0.1/d"),
        ],
    )
    def test_prefix_is_the_folder_of_the_seed(self, seed: str, folder: str, outside: str) -> None:
        scope = Scope([seed])
        assert scope.allows(folder)
        assert not scope.allows(outside)

    @pytest.mark.parametrize(
        ("seed", "inside", "outside"),
        [
            ("http://a.co.uk/", "http://b.a.co.uk/", "http://b.co.uk/"),
            ("http://me.github.io/", "http://x.me.github.io/", "http://you.github.io/"),
            ("http://bücher.ch/", "http://www.xn--bcher-kva.ch/", "http://ch/"),
            ("http://localhost:1/", "http://localhost:2/", "http://a.localhost:1/"),
            ("http://1.2.3.4/", "http://1.2.3.4:8080/", "http://5.2.3.4/"),
            ("http://[::1]/", "http://[0:0::1]:8080/", "http://[::2]/"),
            ("http://wiki.local/", "http://wiki.local/a", "http://a.wiki.local/"),
            ("http://co.uk/", "http://co.uk/a", "http://a.co.uk/"),
        ],
    )
    def test_domain_is_the_registered_one(self, seed: str, inside: str, outside: str) -> None:
        scope = Scope([seed], "domain")
        assert scope.allows(inside)
        assert not scope.allows(outside)

    def test_several_seeds_are_a_union(self) -> None:
        scope = Scope(["http://h/a/", "http://h/b/", "https://i/"])
        assert all(map(scope.allows, ["https://h/a/1", "http://h/b/1", "http://i/x"]))
        assert not scope.allows("http://h/c/1")

    def test_no_seeds_allow_nothing(self) -> None:
        assert not any(Scope([], kind).allows(SEED) for kind in KINDS)


class TestExpressions:
    def test_allow_must_be_found_and_deny_must_not(self) -> None:
        scope = Scope(["http://h/"], allow=r"/docs/|\?page=", deny=r"\.pdf$")
        assert scope.allows("http://h/docs/a")
        assert scope.allows("http://h/x?page=2")
        assert not scope.allows("http://h/x")
        assert not scope.allows("http://h/docs/a.pdf")
        assert not scope.allows("http://i/docs/a")

    def test_seed_is_allowed_whatever_they_say(self) -> None:
        scope = Scope(["http://h/start?b=1&a=2"], allow="/docs/", deny="start")
        assert scope.allows("HTTP://h:80/start?a=2&b=1#x")
        assert not scope.allows("http://h/start")


class TestErrors:
    def test_unknown_kind_is_named_with_the_known_ones(self) -> None:
        with pytest.raises(ValueError, match=r"^scope: 'page' is none of prefix, host, domain$"):
            Scope([SEED], "page")

    @pytest.mark.parametrize("argument", ["allow", "deny"])
    @pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", "*", "a{99999999999}", "(" * 9999])
    def test_bad_expression_is_named_in_one_line(self, argument: str, pattern: str) -> None:
        with pytest.raises(ValueError, match=f"^{argument}: .* is not a regular") as caught:
            Scope([SEED], **{argument: pattern})
        assert str(caught.value).isprintable()

    def test_malformed_seed_is_refused(self) -> None:
        with pytest.raises(MalformedUrl):
            Scope([SEED, "docs.python.org"])


class TestWidened:
    def test_widened_scope_covers_both_and_keeps_the_rest(self) -> None:
        narrow = Scope(["http://h/3"], allow="x", deny="y")
        wide = narrow.with_seeds([*narrow.seeds, "https://www.h/3/"])
        assert wide.allows("http://h/x")
        assert wide.allows("http://www.h/3/x")
        assert wide.allows("https://www.h/3/")
        assert not wide.allows("http://www.h/3/xy")
        assert not wide.allows("http://www.h/x")
        assert not narrow.allows("http://www.h/3/x")
        assert wide.seeds == ("http://h/3", "https://www.h/3/")

    def test_widening_by_no_url_is_refused(self) -> None:
        with pytest.raises(MalformedUrl):
            Scope([SEED]).with_seeds([SEED, "/3/"])


class TestScopeProperties:
    @given(texts)
    def test_allows_never_raises(self, text: str) -> None:
        for kind in KINDS:
            assert Scope(["http://h/a/"], kind, deny="x").allows(text) in (True, False)

    @given(urls)
    def test_a_seed_is_in_its_own_scope(self, url: str) -> None:
        for kind in KINDS:
            try:
                scope = Scope([url], kind, allow="(?!)", deny="")
            except MalformedUrl:
                continue
            assert scope.allows(url)
            assert pickle.loads(pickle.dumps(scope)).allows(url)

    @given(urls)
    def test_kinds_contain_each_other(self, url: str) -> None:
        seeds = ["http://h.org/a/", "http://localhost:8080/", "http://1.2.3.4/a"]
        prefix, host, domain = (Scope(seeds, kind).allows(url) for kind in KINDS)
        assert prefix <= host <= domain


NAMES = [
    (["http://h.org/a/"], "prefix", "h.org/a/", "h.org+a"),
    (["https://H.org:443/a/x.html?q#f"], "prefix", "h.org/a/", "h.org+a"),
    (["http://h.org/3.12/library/"], "prefix", "h.org/3.12/library/", "h.org+3.12+library"),
    (["http://h.org"], "prefix", "h.org/", "h.org++host"),
    (["http://h.org/a/b"], "host", "h.org/", "h.org++host"),
    (["http://localhost:8000/b/"], "prefix", "localhost:8000/b/", "localhost_8000+b"),
    (["http://docs.h.org/a/"], "domain", "*.h.org", "docs.h.org++domain"),
    (["http://127.0.0.1/a/"], "domain", "*.127.0.0.1", "127.0.0.1++domain"),
    (["http://h.org/a/", "http://h.org/a/b/"], "prefix", "h.org/a/", "h.org+a"),
]


@pytest.mark.parametrize(("seeds", "kind", "name", "folder"), NAMES)
def test_a_scope_and_its_folder_are_named(
    seeds: list[str], kind: str, name: str, folder: str
) -> None:
    assert scope_name(seeds, kind) == name
    assert scope_folder(seeds, kind) == folder


def test_several_seeds_have_one_name_in_any_order() -> None:
    seeds = ["http://h.org/b/", "http://h.org/a/"]
    assert scope_name(seeds, "prefix") == scope_name(seeds[::-1], "prefix") == "h.org/a/, h.org/b/"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h.org/A/", "http://h.org/a/"),
        ("http://h.org/a%20b/", "http://h.org/a_b/"),
        ("http://h.org/a+b/", "http://h.org/a/b/"),
        ("http://h.org//host/", "http://h.org/"),
        ("http://h.org/%E7%81%AF/", "http://h.org/%E5%A1%94/"),
        (f"http://h.org/{'x' * 80}/", f"http://h.org/{'x' * 81}/"),
    ],
)
def test_other_scopes_have_other_folders(one: str, other: str) -> None:
    assert scope_name([one], "prefix") != scope_name([other], "prefix")
    assert scope_folder([one], "prefix") != scope_folder([other], "prefix")


PATHS = st.lists(st.sampled_from(["a", "b", "A", "a+b", "a b", ".", "..", "host"]), max_size=3).map(
    lambda segments: "/" + "".join(f"{segment}/" for segment in segments)
)


class TestScopeNameProperties:
    @given(PATHS, PATHS)
    def test_two_scopes_have_one_name_just_where_they_cover_each_other(
        self, one: str, other: str
    ) -> None:
        first, second = (f"http://h.org{path}".replace(" ", "%20") for path in (one, other))
        covers = Scope([first]).allows(second) and Scope([second]).allows(first)
        assert (scope_name([first], "prefix") == scope_name([second], "prefix")) == covers
        assert (scope_folder([first], "prefix") == scope_folder([second], "prefix")) == covers

"""What is left of a robots.txt says the same as the whole of it, to this crawler."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from crawler.downloading.robots_groups import lines_for

AGENT = "crawl-once/0.1"

# No token of which another one begins with: there Protego takes half a token for a whole one.
TOKENS = [
    "*",
    "crawl-once",
    "Crawl-Once",
    "CRAWL-ONCE/2",
    "other",
    "once",
    "my-crawl-once",
    "",
    "*x*",
]
PATHS = ["/a", "/a/b", "/b", "/*b", "/a$", "/", "", "/a/*/c"]
URLS = [f"http://x.example{path}" for path in ("/", "/a", "/a/b", "/a/b/c", "/b", "/c")]

LINES = st.one_of(
    st.tuples(st.sampled_from(["User-agent", "user agent", "USERAGENT"]), st.sampled_from(TOKENS)),
    st.tuples(st.sampled_from(["Allow", "Disallow", "Dissallow"]), st.sampled_from(PATHS)),
    st.tuples(st.sampled_from(["Crawl-delay"]), st.sampled_from(["1", "2", "x", ""])),
    st.tuples(st.sampled_from(["Sitemap", "Host", "Unheard-of"]), st.sampled_from(["/s", ""])),
    st.tuples(st.sampled_from(["", "# a comment", "noise"]), st.just("")),
)
FILES = st.lists(
    st.builds(lambda line, colon: colon.join(line), LINES, st.sampled_from([":", ": ", " "])),
    max_size=14,
).map("\n".join)


class TestRobotsGroupsProperties:
    @given(FILES)
    @example("User-agent:CRAWL-ONCE/2\nCrawl-delay:1")
    @example("User-agent:*\nDisallow:/a\nUser-agent:CRAWL-ONCE/2")
    def test_says_what_the_whole_file_says(self, text: str) -> None:
        """A version is no part of a product token (RFC 9309, 2.2.1); Protego compares it."""
        whole = Protego.parse(text.replace("CRAWL-ONCE/2", "CRAWL-ONCE"))
        part = Protego.parse(lines_for(text, AGENT).as_text())
        for url in URLS:
            assert part.can_fetch(url, AGENT) == whole.can_fetch(url, AGENT)
        assert part.crawl_delay(AGENT) == whole.crawl_delay(AGENT)
        assert set(part.sitemaps) == set(whole.sitemaps)

    @given(st.text(max_size=60))
    def test_reads_anything(self, text: str) -> None:
        assert lines_for(text, AGENT).as_text().startswith("User-agent: *")


@pytest.mark.parametrize(
    ("token", "is_ours"),
    [
        ("crawl-once", True),
        ("CRAWL-Once", True),
        ("crawl-once/9.9", True),
        ("crawl-once (our archive)", True),
        ("crawl-once; v2", True),
        ("*", True),
        ("crawl", False),
        ("once", False),
        ("crawl-once-news", False),
        ("my-crawl-once", False),
        ("", False),
    ],
)
def test_a_token_is_compared_whole_and_without_case(token: str, *, is_ours: bool) -> None:
    found = lines_for(f"User-agent: {token}\nDisallow: /", AGENT)
    assert found.rules == (["Disallow: /"] if is_ours else [])


@pytest.mark.parametrize(
    ("agent", "tokens"),
    [
        ("crawl-once/0.1 (+https://www.example.org/bot)", {"crawl-once"}),
        ("Crawl-Once", {"crawl-once"}),
        ("Mozilla/5.0 (compatible; Foobot/1.0; +https://example.org)", {"foobot"}),
        ("Mozilla/5.0 AppleWebKit/5 (KHTML, like Gecko; compatible; Foobot/1.0)", {"foobot"}),
        ("Mozilla/5.0 (Linux) Safari/5.3 (compatible; Foobot/1.0; +https://a.org)", {"foobot"}),
        ("Mozilla/5.0 (X11; Linux x86_64) Foobot/1.0", {"mozilla"}),
        ("(a comment alone)", set()),
        ("", set()),
    ],
)
def test_of_an_agent_its_product_token_is_compared_alone(agent: str, tokens: set[str]) -> None:
    names = {"crawl-once", "foobot", "mozilla", "example", "bot", "www", "comment", "linux"}
    rule = "Disallow: /x"
    ours = {name for name in names if lines_for(f"User-agent: {name}\n{rule}", agent).rules}
    assert ours == tokens


def test_groups_of_the_same_token_are_one_and_that_of_everybody_is_not_added() -> None:
    text = (
        "User-agent: crawl-once\nDisallow: /a\n\n"
        "User-agent: *\nDisallow: /everybody\nSitemap: /map\n\n"
        "User-agent: other\nUser-agent: Crawl-Once\nDisallow: /b\nDisallow: /a\n"
    )
    found = lines_for(text, AGENT)
    assert found.rules == ["Disallow: /b", "Disallow: /a"]
    assert found.site_wide == ["Sitemap: /map"]


class TestCost:
    """By counts: a rule is left once, whoever else it is for."""

    def test_rules_are_not_multiplied_by_user_agents(self) -> None:
        agents = "".join(f"User-agent: agent{number}\n" for number in range(1500))
        rules = "".join(f"Disallow: /{number}\n" for number in range(2500))
        ours = f"{agents}User-agent: crawl-once\n{rules}"
        assert len(lines_for(ours, AGENT).rules) == 2500
        assert lines_for(agents + rules, AGENT).rules == []

    def test_what_is_said_again_and_again_is_one_rule(self) -> None:
        found = lines_for("User-agent: *\n" + "Disallow: /a\n" * 1000, AGENT)
        assert found.rules == ["Disallow: /a"]

"""To whom a password is sent, and to whom not."""

from __future__ import annotations

import pytest
from scrapy import Request

from crawler.downloadermiddlewares.http_auth import HttpAuth


@pytest.mark.parametrize(
    ("seeds", "domain", "url", "is_sent"),
    [
        (["http://a.example/"], "", "http://a.example/x", True),
        (["http://a.example/"], "", "https://a.example/x", True),
        (["https://a.example/"], "", "https://a.example/x", True),
        (["https://a.example/"], "", "http://a.example/x", False),
        (["https://a.example/", "http://a.example/"], "", "http://a.example/x", True),
        (["http://a.example/"], "", "http://b.example/x", False),
        (["http://a.example/"], "", "http://www.a.example/x", False),
        (["http://a.example/"], "b.example", "http://www.b.example/", True),
        (["http://a.example/"], "b.example", "http://a.example/", False),
    ],
)
def test_it_goes_to_the_hosts_of_the_seeds_and_never_in_the_clear_where_they_are_not(
    seeds: list[str], domain: str, url: str, *, is_sent: bool
) -> None:
    auth = HttpAuth("user", "secret", domain, seeds)
    request = Request(url)
    auth.process_request(request)
    assert (b"Authorization" in request.headers) is is_sent

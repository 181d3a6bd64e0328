"""Which answers are kept for other pages, and for how long."""

from __future__ import annotations

import pytest

from crawler.rendering.rendered_pages import SubAnswer, SubRequest
from crawler.rendering.traffic import AnswerKey, KeptAnswers, kept_secs, key_of

URL = "http://example.com/a"
JSON = ("Content-Type", "application/json")


def asked(kind: str = "script", method: str = "GET", **headers: str) -> SubRequest:
    return SubRequest(URL, method, tuple(headers.items()), kind, "http://example.com/")


def answer(*headers: tuple[str, str], status: int = 200, body: bytes = b"x") -> SubAnswer:
    return SubAnswer(status, headers, body)


@pytest.mark.parametrize(
    ("kind", "headers", "secs"),
    [
        ("script", (), float("inf")),
        ("stylesheet", (("Cache-Control", "no-cache"),), float("inf")),
        ("script", (("Cache-Control", "no-store"),), 0),
        ("script", (("Cache-Control", "private, max-age=9"),), 0),
        ("script", (("Vary", "Accept-Encoding, Origin"),), float("inf")),
        ("script", (("Vary", "Cookie"),), 0),
        ("script", (("Vary", "Accept"), ("Vary", "*")), 0),
        ("fetch", (JSON,), 0),
        ("fetch", (JSON, ("Cache-Control", "max-age=60")), 60),
        ("xhr", (JSON, ("Cache-Control", "public, max-age=60")), 60),
        ("xhr", (JSON, ("Cache-Control", "no-cache, max-age=60")), 0),
        ("xhr", (JSON, ("Cache-Control", "s-maxage=60")), 0),
        ("fetch", (("Cache-Control", "max-age=60"),), 0),
    ],
)
def test_time_for_which_an_answer_is_kept(
    kind: str, headers: tuple[tuple[str, str], ...], secs: float
) -> None:
    assert kept_secs(asked(kind), answer(*headers)) == secs


@pytest.mark.parametrize("status", [206, 301, 404, 500])
def test_only_whole_good_answers_are_kept(status: int) -> None:
    assert kept_secs(asked(), answer(status=status)) == 0


@pytest.mark.parametrize(
    "request_", [asked("image"), asked(method="HEAD"), asked("fetch", authorization="Bearer x")]
)
def test_requests_that_are_never_shared(request_: SubRequest) -> None:
    assert key_of(request_) is None


def test_answers_for_one_origin_are_not_given_to_another() -> None:
    answers = KeptAnswers()
    one, other = asked(origin="http://a.example"), asked(origin="http://b.example")
    key, other_key = key_of(one), key_of(other)
    assert key is not None
    assert other_key is not None
    answers.keep(key, one, answer())
    assert answers.get(key) == answer()
    assert answers.get(other_key) is None


def keep(answers: KeptAnswers, number: int, body: bytes) -> AnswerKey:
    """Keep the answer to a script of its own; return its key."""
    request = SubRequest(f"{URL}{number}", "GET", (), "script", URL)
    key = key_of(request)
    assert key is not None
    answers.keep(key, request, answer(body=body))
    return key


def test_small_answers_are_bounded_too() -> None:
    answers = KeptAnswers(max_bytes=100_000)
    keys = [keep(answers, number, b"") for number in range(1_000)]
    assert sum(answers.get(key) is not None for key in keys) == 50


def test_headers_of_scripts_tell_requests_apart() -> None:
    assert key_of(asked("fetch", x_page="1")) != key_of(asked("fetch", x_page="2"))
    assert key_of(asked("fetch", referer="/1")) == key_of(asked("fetch", referer="/2"))


def test_what_was_used_longest_ago_goes_first() -> None:
    size = 20_000
    answers = KeptAnswers(max_bytes=4 * (size + 2_000))
    keys = []
    for number in range(5):
        keys.append(keep(answers, number, b"x" * size))
        answers.get(keys[0])
    assert [answers.get(key) is not None for key in keys] == [True, False, True, True, True]

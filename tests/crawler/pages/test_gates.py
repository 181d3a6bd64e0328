"""Answers of known pages that wait until they are known to be no gate's."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.pages.gates import GateError, GateWatch, UndecidedError


def page(number: int, text: bytes, size: int = 10) -> Any:
    """A known page whose text is this one now."""
    return SimpleNamespace(
        reading=SimpleNamespace(extract=SimpleNamespace(digest=text, fingerprint=None), signs=None),
        previous=known(number),
        payload=text,
        fetched=SimpleNamespace(size=size),
    )


def known(number: int) -> Any:
    digest = number.to_bytes(16)
    url = f"http://h.example/{number}"
    return SimpleNamespace(
        key=digest,
        url=url,
        text_digest=digest,
        last_payload_digest=digest,
        has_own_words=True,
    )


async def outcomes(watch: GateWatch, pages: list[Any]) -> list[object]:
    """Return what becomes of answers, each in its turn; the crawl ends with the last."""
    tasks = []
    for one in pages:
        tasks.append(asyncio.ensure_future(watch.pass_known(one, None, is_same=False)))
        await asyncio.sleep(0)
    watch.decide_all()
    return await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("unchanged", "texts", "is_gate"),
    [
        (0, [b"gate"] * 5, True),
        (4, [b"gate"] * 4, False),
        (5, [b"gate"] * 5, True),
        (6, [b"gate"] * 5, False),
        (0, [b"a", b"b", b"c", b"d", b"e", b"f"], False),
        (0, [b"gate", b"a", b"gate", b"b", b"gate", b"c", b"gate", b"gate"], True),
        (500, [b"gate"] * 19, False),
        (500, [b"gate"] * 20, True),
    ],
)
def test_half_of_the_pages_with_one_text_are_a_gate(
    unchanged: int, texts: list[bytes], is_gate: bool
) -> None:
    watch = GateWatch(is_on=True)
    for number in range(unchanged):
        watch.note_answered(b"other %d" % number)
    pages = [page(number, text) for number, text in enumerate(texts)]
    found = asyncio.run(outcomes(watch, pages))
    gated = [text for text, one in zip(texts, found, strict=True) if isinstance(one, GateError)]
    assert gated.count(b"gate") == (texts.count(b"gate") if is_gate else 0)
    assert watch.waiting == 0


def test_urls_of_one_page_count_once() -> None:
    watch = GateWatch(is_on=True)
    found = asyncio.run(outcomes(watch, [page(1, b"changed") for _ in range(9)]))
    assert set(found) == {None}


def test_large_pages_do_not_wait_until_nothing_more_is_asked_for() -> None:
    watch, waiting_bytes = GateWatch(is_on=True), []
    watch.after_wait = lambda: waiting_bytes.append(watch.waiting * 1_800_000)
    large = [page(number, bytes([number]), 1_800_000) for number in range(9)]
    asyncio.run(outcomes(watch, large))
    assert max(waiting_bytes) < 5_000_000, "Scrapy's limit of what is under way"


def test_nothing_waits_when_the_crawl_is_closed() -> None:
    watch = GateWatch(is_on=True, is_closing=lambda: True)
    with pytest.raises(UndecidedError):
        asyncio.run(watch.pass_known(page(1, b"changed"), None, is_same=False))
    assert watch.waiting == 0


@pytest.mark.parametrize(("unchanged", "is_gate"), [(0, True), (5, True), (6, False)])
def test_redirects_are_asked_for_twice_before_they_are_believed(
    unchanged: int, is_gate: bool
) -> None:
    watch = GateWatch(is_on=True)
    for number in range(unchanged):
        watch.note_answered(b"other %d" % number)
    for number in range(5):
        assert watch.must_wait(known(number), f"http://h.example/login?next=/{number}", 9)
    again = [known(number) for number in range(5)]
    if is_gate:
        with pytest.raises(GateError, match=r"lead to http://h\.example/login now"):
            watch.must_wait(again[0], "http://h.example/login?next=/0", 9)
    else:
        assert not any(watch.must_wait(one, "http://h.example/login?next=/0", 9) for one in again)


def test_redirects_wait_while_others_may_lead_to_the_same() -> None:
    """Some came twice before the others came once: a gate took the place of three pages."""
    watch = GateWatch(is_on=True)
    led = [known(number) for number in range(3)]
    assert all(watch.must_wait(one, "http://h.example/gate", 10) for one in led * 2)
    for number in range(3, 10):
        assert watch.must_wait(known(number), "http://h.example/gate", 10)
    with pytest.raises(GateError):
        watch.must_wait(led[0], "http://h.example/gate", 10)


def test_redirects_are_believed_when_nothing_else_is_to_be_answered() -> None:
    watch = GateWatch(is_on=True)
    assert watch.must_wait(known(0), "http://h.example/new", 1)
    assert not watch.must_wait(known(0), "http://h.example/new", 1)


def test_pages_that_came_after_all_are_led_nowhere() -> None:
    watch = GateWatch(is_on=True)
    for number in range(4):
        assert watch.must_wait(known(number), "http://h.example/new", 9)
        watch.note_answered(known(number).key)
    for number in range(4, 7):
        watch.note_answered(known(number).key)
    assert watch.must_wait(known(7), "http://h.example/new", 2)
    assert not watch.must_wait(known(7), "http://h.example/new", 2)

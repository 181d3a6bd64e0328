"""Huge pages through real workers: read within the limits, or given up with a reason."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import PROSE, page
from tests.crawler.reading.test_bad_input import ONE, read

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: page(f"<p>{PROSE}</p>" * (30_000_000 // len(PROSE))), 74),
        (lambda: page(f"<p>{PROSE * (30_000_000 // len(PROSE))}"), 74),
        (lambda: page(f"<p>{'x' * 30_000_000}"), 1),
        (lambda: page(f"<table>{('<tr>' + '<td>7</td>' * 100) * 10_000}</table>"), 1_000_000),
        (lambda: page(f"<table>{'<tr><td>late ferry' * 500_000}</table>"), 1_000_000),
        (lambda: page("<a href=/x>y</a> " * 500_000), 500_000),
        (lambda: page("<!-- x -->" * 1_000_000 + f"<p>{PROSE}"), 74),
        (lambda: page(f"<p>{'&amp; ' * 3_000_000}{PROSE}"), 74),
    ],
    ids="paragraphs paragraph word cells rows links comments references".split(),
)
def test_a_huge_page_is_read_within_the_limits(make: Callable[[], bytes], words: int) -> None:
    body = make()
    started = time.monotonic()
    reading = read(body)
    assert time.monotonic() - started < 120
    assert reading.failure is None
    assert reading.extract is not None
    assert reading.extract.words >= words
    assert reading.parse_secs + reading.extract_secs < ONE.timeout_secs


def test_what_takes_longer_than_the_limit_has_a_reason() -> None:
    names = " ".join(f"a{number}=1" for number in range(200_000))
    options = ReadingOptions(workers=1, timeout_secs=3)
    reading = read(page(f"<p {names}>{PROSE}"), options=options)
    assert reading.failure == "took longer than 3 s"

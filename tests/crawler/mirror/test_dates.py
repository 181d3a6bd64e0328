"""Files of mirrors have the time that a server said, whatever it said."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.link_rewriting import said_time

NINES = "9" * 20


@pytest.mark.parametrize(
    ("modified", "secs"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Sun, 06 Nov 1994 09:49:37 +0100", 784_111_777),
        ("Mon, 01 Jan 1601 00:00:00 GMT", None),
        (f"Mon, 01 Jan {NINES} 00:00:00 GMT", None),
        (f"Mon, 01 Jan 2020 {NINES}:00:00 GMT", None),
        (f"Mon, 01 Jan 2020 00:00:00 +{NINES}", None),
        ("yesterday", None),
        ("0", None),
        ("", None),
    ],
)
def test_what_is_no_time_since_1970_dates_nothing(
    modified: str, secs: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        context.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        found = said_time(modified)
    time.tzset()
    assert found == secs


class TestSaidTimeProperties:
    @given(st.integers(0, 2**37))
    def test_round_trip(self, secs: int) -> None:
        assert said_time(formatdate(secs, usegmt=True)) == secs

    @given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ Jan \d+ \d+:\d+(:\d+)? [+-]\d+"))
    def test_any_text_is_a_time_or_none(self, modified: str) -> None:
        found = said_time(modified)
        assert found is None or found >= 0

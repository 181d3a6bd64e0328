import time

import pytest

from crawler.lab.app.effort import Effort


def test_little_may_be_done_again_at_once() -> None:
    made = Effort()
    assert made.may_be_repeated
    with made.counted():
        pass
    assert made.may_be_repeated


def test_what_took_long_is_of_use_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    made = Effort()
    with made.counted():
        now += 10
    assert not made.may_be_repeated
    now += 39
    assert not made.may_be_repeated
    now += 1
    assert made.may_be_repeated

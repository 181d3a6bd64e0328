"""Which answers of name servers may be used, by what crawls have said so far."""

from __future__ import annotations

import pytest

from crawler.urls.private_hosts import AddressGuard, may_resolve

INSIDE = "10.0.0.1"
PUBLIC = "93.184.215.14"


@pytest.mark.parametrize("address", [INSIDE, "127.0.0.1", "169.254.169.254", "0.0.0.0"])
def test_a_name_that_a_public_page_led_to_is_not_private(address: str) -> None:
    guard = AddressGuard()
    guard.note_asked("x.example.com", allowed=False)
    assert not may_resolve("x.example.com", address)
    assert guard.is_private("x.example.com")


def test_a_public_answer_may_be_used() -> None:
    guard = AddressGuard()
    guard.note_asked("x.example.com", allowed=False)
    assert may_resolve("x.example.com", PUBLIC)
    assert not guard.is_private("x.example.com")


def test_a_name_that_nobody_asked_for_is_nobodys_business() -> None:
    guard = AddressGuard()
    assert may_resolve("proxy.example.com", INSIDE)
    assert guard.allows("proxy.example.com") is None


def test_a_start_may_be_private_and_lead_on() -> None:
    guard = AddressGuard(["start.example.com"])
    guard.note_asked("start.example.com", allowed=False)
    assert may_resolve("start.example.com", INSIDE)
    assert guard.may_lead("start.example.com", "other.example.com")
    guard.note_asked("other.example.com", allowed=True)
    assert may_resolve("other.example.com", INSIDE)


def test_a_name_private_by_its_spelling_was_judged_before() -> None:
    guard = AddressGuard()
    guard.note_asked("localhost", allowed=False)
    assert may_resolve("localhost", "127.0.0.1")


def test_crawls_of_one_process_do_not_forbid_each_other_anything() -> None:
    strict, free = AddressGuard(), AddressGuard()
    strict.note_asked("shared.example.com", allowed=False)
    free.note_asked("shared.example.com", allowed=True)
    assert may_resolve("shared.example.com", INSIDE)
    assert strict.is_private("shared.example.com")


def test_what_a_private_start_led_to_is_remembered_for_the_next_process() -> None:
    found: list[str] = []
    guard = AddressGuard(["intranet.test"], remember=found.append)
    guard.note_asked("wiki.test", allowed=True)
    guard.note_asked("hostile.test", allowed=False)
    for name in ("intranet.test", "wiki.test", "hostile.test", "wiki.test"):
        guard.note_private(name)
    assert found == ["intranet.test", "wiki.test"]
    assert AddressGuard(["intranet.test"], found).may_lead("intranet.test", "wiki.test")
    assert not AddressGuard(["intranet.test"]).may_lead("intranet.test", "wiki.test")

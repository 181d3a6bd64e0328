"""How hosts are shared out among workers."""

from __future__ import annotations

import pytest

from crawler.fleet.worker_crawl import IDLE_SECS, PATIENCE, HostShare


def nothing(_: int) -> bool:
    return False


@pytest.mark.parametrize(
    ("hosts", "workers", "share"),
    [(0, 1, 1), (8, 1, 8), (8, 3, 3), (8, 100, 1), (1000, 2, 50), (5, 0, 5)],
)
def test_hosts_are_shared_out_evenly(hosts: int, workers: int, share: int) -> None:
    hostshare = HostShare(50)
    hostshare.reckon(hosts, workers)
    assert hostshare.share == share


def owning(*hosts: int, share: int) -> HostShare:
    found = HostShare(50)
    for host in hosts:
        found.note(host, 0.0)
    found.reckon(share, 1)
    return found


def test_keeps_a_host_that_is_bound_after_it_was_to_be_left() -> None:
    hosts = owning(1, 2, share=1)
    for _ in range(PATIENCE):
        chosen = hosts.surplus({1: 1}, nothing)
    assert chosen == [2]
    assert hosts.idle({1: 1}, lambda host: host == 2, 0.0) == []
    assert hosts.rooms({1: 1}, lambda host: 8) == {1: 7, 2: 8}


def test_leaves_the_surplus_once_it_lasts() -> None:
    hosts = owning(1, 2, 3, 4, share=2)
    held = {1: 5, 2: 1, 3: 3, 4: 2}
    for _ in range(PATIENCE - 1):
        assert hosts.surplus(held, nothing) == []
    assert hosts.surplus(held, nothing) == [2, 4]
    assert hosts.surplus(held, nothing) == []
    assert hosts.rooms(held, lambda host: 8) == {1: 3, 3: 5}


def test_a_host_of_which_a_rule_skips_something_stays() -> None:
    hosts = owning(1, 2, 3, share=1)
    found = [hosts.surplus({}, lambda host: host == 1) for _ in range(PATIENCE)]
    assert sorted(found[-1]) == [2, 3]
    assert 1 not in hosts.idle({}, lambda host: host == 1, 2 * IDLE_SECS)


def test_a_host_is_given_back_when_nothing_of_it_came_for_a_while() -> None:
    hosts = owning(1, 2, share=2)
    assert hosts.idle({1: 1}, nothing, IDLE_SECS / 2) == []
    assert hosts.idle({1: 1}, nothing, IDLE_SECS) == [2]
    assert hosts.idle({}, nothing, IDLE_SECS * 1.2) == [2]
    hosts.forget([2])
    assert hosts.idle({}, nothing, IDLE_SECS * 3) == [1]


def test_what_is_to_be_left_is_given_back_as_soon_as_nothing_of_it_is_under_way() -> None:
    hosts = owning(1, 2, share=1)
    for _ in range(PATIENCE):
        hosts.surplus({1: 2, 2: 1}, nothing)
    assert hosts.idle({1: 2, 2: 1}, nothing, 0.1) == []
    assert hosts.idle({1: 2}, nothing, 0.2) == [2]


def test_asks_for_no_more_than_a_host_may_have() -> None:
    hosts = owning(1, 2, share=2)
    assert hosts.rooms({1: 3, 2: 9}, lambda host: 4) == {1: 1, 2: 0}

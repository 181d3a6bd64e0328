"""Crawls without a network, and the figures that come of them."""

from __future__ import annotations

import pytest
from rules_peers.simulated_crawl import simulate
from rules_peers.simulated_sites import SIMULATED
from rules_peers.simulating import chosen_names, judged, table


def test_a_site_without_duplicates_is_fetched_page_by_page() -> None:
    site = SIMULATED["no duplicates"](1)
    simulated = simulate(site, 10_000)
    assert sorted(map(str, simulated.names)) == sorted(site.truth)
    assert simulated.has_ended
    assert not simulated.lost


def test_without_learning_every_url_is_fetched() -> None:
    site = SIMULATED["slash"](1)
    simulated = simulate(site, 10_000, is_learning=False)
    assert len(simulated.names) == 2 * len(site.truth) + 1  # and the seed, which is page 0 too
    assert not simulated.rules


def test_learning_saves_fetches() -> None:
    site = SIMULATED["slash"](1)
    simulated = simulate(site, 10_000)
    assert len(simulated.names) < 1.6 * len(site.truth)
    assert simulated.rules
    assert not simulated.lost


def test_a_session_and_a_source_that_differ_at_once_are_learned() -> None:
    simulated = simulate(SIMULATED["session and source"](1), 10_000)
    # A session that is another one in each link may be a page's revision, and is tried as such.
    assert len(simulated.names) < 1.6 * 315
    assert simulated.has_ended
    assert not simulated.lost


def test_a_crawl_ends_at_its_number_of_fetches() -> None:
    simulated = simulate(SIMULATED["session in the path"](1), 50)
    assert len(simulated.names) == 50
    assert not simulated.has_ended
    assert len(simulated.lost) >= 315 - 50


@pytest.mark.parametrize("name", ["slash", "phpBB", "made"])
def test_two_simulations_with_one_seed_are_the_same(name: str) -> None:
    assert simulate(SIMULATED[name](1), 300).names == simulate(SIMULATED[name](1), 300).names


def test_figures_are_those_of_all_seeds() -> None:
    row = judged("no duplicates", 2)
    assert (row.seeds, row.contents, row.fetches_a_page) == (2, 315, 1.0)
    assert (row.lost, row.losing, row.ended) == (0, 0, 2)
    # One page a fetch, then nothing until eight times as many: 1/16 is above the curve.
    assert row.area == pytest.approx(15 / 16, abs=0.001)
    assert "| no duplicates | 315 | 1.00 | 0 | 0 of 2 | 2 of 2 | 0.938 |" in table([row])


def test_names_are_chosen_by_patterns_and_large_sites_by_name_alone() -> None:
    assert chosen_names(["wiki", "blog"]) == ["wiki", "blog"]
    assert len(chosen_names(["slash, * differ*"])) == 9
    assert "made, 12,000 contents" not in chosen_names([])
    assert chosen_names(["made, 12,000*"]) == ["made, 12,000 contents"]
    assert not chosen_names(["no such site"])

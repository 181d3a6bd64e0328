"""Options of charts are plain JSON, and say what the numbers say."""

import json
import re

import pytest

from crawler.lab.app.charts import (
    DROPPED,
    KEPT,
    Options,
    distance_histogram,
    doublings,
    similarity_scatter,
    size_bars,
)
from crawler.lab.app.evidence_tab import evidence_curves
from crawler.lab.distance_evidence import EvidenceLine
from neardup import Parameters

COUNTS = [3, 0, 1, 5, 0, 7, 0, 0, 1, 2] + [0] * 54 + [4]
LINES = [EvidenceLine(bits, 3, bits, 0) for bits in range(3)]
ALL = [
    distance_histogram(COUNTS, Parameters()),
    distance_histogram([0] * 65, Parameters(verify=False)),
    similarity_scatter([0, 3, 12], [1.0, 0.8, 0.1], Parameters()),
    similarity_scatter([], [], Parameters()),
    size_bars([2, 3, 9]),
    size_bars([]),
    evidence_curves("bits", LINES, "1"),
    evidence_curves("bits", []),
]


@pytest.mark.parametrize("options", ALL)
def test_options_are_json(options: Options) -> None:
    assert json.loads(json.dumps(options, allow_nan=False)) == options


@pytest.mark.parametrize("options", ALL)
def test_every_colour_follows_the_page(options: Options) -> None:
    assert not re.search(r"#[0-9a-f]{3}|rgba?\(", json.dumps(options))


class TestHistogram:
    def test_bars_are_coloured_by_what_the_bounds_say(self) -> None:
        parameters = Parameters(max_distance=3)
        (series,) = distance_histogram(COUNTS, parameters)["series"]
        looks = {bar["value"][0]: tuple(bar["itemStyle"].values()) for bar in series["data"]}
        assert [looks[bits] for bits in (0, 2, 3)] == [(DROPPED, 1)] * 3
        assert [looks[bits] for bits in (5, 8, 9, 64)] == [(DROPPED, 0.6)] * 4
        assert {bar["value"][0]: bar["value"][1] for bar in series["data"]}[64] == 4

    def test_the_bound_lies_behind_the_last_bit_that_counts(self) -> None:
        (series,) = distance_histogram(COUNTS, Parameters(max_distance=2))["series"]
        assert [line["xAxis"] for line in series["markLine"]["data"]] == [2.5]

    def test_where_distance_decides_alone_what_is_farther_is_kept(self) -> None:
        (series,) = distance_histogram(COUNTS, Parameters(verify=False))["series"]
        looks = {bar["value"][0]: bar["itemStyle"]["color"] for bar in series["data"]}
        assert (looks[3], looks[5]) == (DROPPED, KEPT)


class TestScatter:
    def test_points_stay_with_their_bit_and_in_their_order(self) -> None:
        distances = [4] * 500 + [5]
        (series,) = similarity_scatter(distances, [0.25] * 501, Parameters())["series"]
        assert [round(bits) for bits, _ in series["data"]] == distances
        assert len({bits for bits, _ in series["data"]}) > 300

    def test_nothing_is_not_drawn_as_many_points(self) -> None:
        assert similarity_scatter([], [], Parameters())["series"][0]["large"] is False
        assert similarity_scatter([1], [0.5], Parameters())["series"][0]["large"] is True

    def test_shaded_is_what_makes_a_duplicate(self) -> None:
        parameters = Parameters(min_similarity=0.7)
        (series,) = similarity_scatter([1], [0.5], parameters)["series"]
        (corners,) = series["markArea"]["data"]
        assert corners == [{"xAxis": -1, "yAxis": 0.7}, {"xAxis": 9, "yAxis": 1}]

    def test_without_confirmation_similarity_counts_for_nothing(self) -> None:
        alone = Parameters(max_distance=4, verify=False)
        (series,) = similarity_scatter([1], [0.5], alone)["series"]
        assert series["markArea"]["data"][0][0]["yAxis"] == 0
        assert series["markArea"]["data"][0][1]["xAxis"] == 4.5
        assert series["markLine"]["data"] == []


class TestSizes:
    def test_sizes_are_counted_by_doublings(self) -> None:
        assert doublings([2, 2, 3, 4, 5, 16, 1]) == [(1, 2), (2, 2), (3, 1), (4, 1)]

    def test_steps_in_between_are_named_and_empty(self) -> None:
        options = size_bars([2, 9])
        assert options["xAxis"]["data"] == ["2", "3–4", "5–8", "9–16"]
        assert options["series"][0]["data"] == [1, None, None, 1]

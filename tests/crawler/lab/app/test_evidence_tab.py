from dataclasses import replace

from crawler.lab.app.evidence_tab import HEADS, basis_words, cells, evidence_curves
from crawler.lab.distance_evidence import JACCARD, LABELS, DistanceEvidence, EvidenceLine

NOTHING = EvidenceLine(0, 0, 0, 4)
SOME = EvidenceLine(1, 1200, 900, 1000)
EVIDENCE = DistanceEvidence(LABELS, 38, 30, 0, "pairs", (NOTHING, SOME), (), 1, "1: because")


def test_cells_stand_under_their_heads() -> None:
    assert len(cells(SOME)) == len(HEADS)
    assert cells(SOME)[:3] == ["1,200", "900", "0.750"]
    assert cells(SOME)[3].startswith("0.725\u20130.7")


def test_share_of_nothing_is_no_number() -> None:
    assert cells(NOTHING)[2:4] == ["\u2013", ""]
    series = evidence_curves("bits", [NOTHING, SOME])["series"]
    low, height, precision, _, _, recall = (one["data"] for one in series)
    assert (precision[0], low[0], height[0]) == (None, None, None)
    assert recall == [0.0, 0.9]
    assert low[1] < 0.75 < low[1] + height[1]


def test_no_lines_make_empty_curves() -> None:
    assert [one["data"] for one in evidence_curves("bits", [])["series"]] == [[]] * 6


def test_suggestion_is_drawn_in_and_taken_away() -> None:
    *_, line = evidence_curves("bits", [NOTHING, SOME], "1")["series"]
    assert line["markLine"]["data"] == [{"xAxis": "1"}]
    *_, line = evidence_curves("bits", [NOTHING, SOME])["series"]
    assert line["markLine"]["data"] == []


def test_basis_is_said() -> None:
    assert basis_words(EVIDENCE, 0.8) == (
        "38 labelled pairs: 30 duplicate, 8 different. Recall is a share of the pairs."
    )
    assert "Not counted, too far apart or not held: 2." in basis_words(
        replace(EVIDENCE, beyond=2), 0.8
    )
    assert "Nothing is labelled yet" in basis_words(replace(EVIDENCE, basis=JACCARD), 0.8)

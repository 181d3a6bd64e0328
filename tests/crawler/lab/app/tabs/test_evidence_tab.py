from dataclasses import replace

from crawler.lab.app.tabs.evidence_tab import HEADS, basis_words, cells, curves
from crawler.lab.distance_evidence import JACCARD, LABELS, DistanceEvidence, EvidenceLine
from neardup.evaluation.metrics import wilson

NOTHING = EvidenceLine(0, 0, 0, 4, None, wilson(0, 4))
SOME = EvidenceLine(1, 1200, 900, 1000, wilson(900, 1200), wilson(900, 1000))
EVIDENCE = DistanceEvidence(LABELS, 38, 30, 0, "pairs", (NOTHING, SOME), (), 1, "1: because")


def test_cells_stand_under_their_heads() -> None:
    assert len(cells(SOME)) == len(HEADS)
    assert cells(SOME)[:3] == ["1,200", "900", "0.750"]
    assert cells(SOME)[3].startswith("0.725\u20130.7")


def test_share_of_nothing_is_no_number() -> None:
    assert cells(NOTHING)[2:4] == ["\u2013", ""]
    precision, recall = curves([NOTHING, SOME])
    assert (precision.shares[0], precision.low[0], precision.high[0]) == (None, None, None)
    assert recall.shares == [0.0, 0.9]
    assert precision.low[1] is not None
    assert precision.low[1] < 0.75 < (precision.high[1] or 0)


def test_no_lines_make_empty_curves() -> None:
    assert [list(curve.shares) for curve in curves([])] == [[], []]


def test_basis_is_said() -> None:
    assert basis_words(EVIDENCE, 0.8) == (
        "38 labelled pairs: 30 duplicate, 8 different. Recall is a share of the pairs."
    )
    assert "Not counted, too far apart or not held: 2." in basis_words(
        replace(EVIDENCE, beyond=2), 0.8
    )
    assert "Nothing is labelled yet" in basis_words(replace(EVIDENCE, basis=JACCARD), 0.8)

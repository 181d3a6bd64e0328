"""The tab Evidence in a browser: what labels of another process suggest, and trying it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.lab.app.parameter_trial import choice_key
from crawler.lab.judgement import Choice
from crawler.lab.labels import label_of, store_labels
from crawler.lab.session import loaded
from tests.crawls.lab import Page, lab
from tests.crawls.test_lab_threshold import key, make_families

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.lab.near_pairs import NearPair
    from tests.browsing.walk import Browsers

LEAST, BITS = 0.7, 5


def label_pairs(folder: Path, is_duplicate: Callable[[NearPair], bool]) -> None:
    """Say of pairs whether they are duplicates, in place of what was said before."""
    session = loaded([folder], lambda _share, _words: None).session
    store_labels(
        [folder],
        [
            label_of(
                session.pages[pair.first],
                session.pages[pair.second],
                is_duplicate=is_duplicate(pair),
            )
            for pair in session.pairs(Choice(), range(9))
        ],
    )


def test_labels_suggest_bounds_which_can_be_tried(browsers: Browsers, tmp_path: Path) -> None:
    folder = make_families(tmp_path)
    with lab(str(folder)) as running:
        page = Page(browsers.online, running.address)
        page.tab("Evidence")
        page.wait(lambda: "Nothing is labelled yet" in page.text())
        label_pairs(folder, lambda pair: (pair.similarity or 0) >= LEAST)
        page.wait(lambda: f"Suggested min_similarity: {LEAST:g}" in page.text())
        assert f"No pair labelled different from {LEAST:g} on" in page.text()
        # The one that Jaccard suggested is not drawn any more.
        assert "No suggestion for max_distance yet" in page.text()
        page.wait(lambda: page.text().count("\nsuggested ") == 1)
        assert [one.text.split()[-1] for one in page.all(".suggestion")] == ["0.7", "yet"]
        page.press(f"Try {LEAST:g}")
        page.tab("Threshold")
        page.wait(lambda: key(page) == choice_key(Choice().with_parameters(min_similarity=0.7)))
        page.tab("Evidence")
        label_pairs(folder, lambda pair: pair.distance <= BITS)
        page.wait(lambda: f"Suggested max_distance: {BITS}" in page.text())
        page.press(f"Try {BITS}")
        page.tab("Threshold")
        page.wait(
            lambda: (
                key(page)
                == choice_key(Choice().with_parameters(min_similarity=0.7, max_distance=BITS))
            )
        )

"""A comparison as lines and cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.app.tabs.compare_tab import bit_cells, pair_lines, side_lines, verdict_lines
from crawler.lab.comparison import compare
from tests.sites.prose import prose

WORDS = st.lists(st.sampled_from("a few words of which texts are made".split()), max_size=80)


class TestLines:
    def test_every_measure_has_a_line(self) -> None:
        found = compare(prose("one", 100), prose("one", 100))
        said = dict(pair_lines(found))
        assert said["digests"] == "equal"
        assert said["Hamming distance"] == "0 bits"
        assert said["Jaccard, exact"] == "1.000"
        assert said["Jaccard by MinHash"].startswith("1.000 ± ")
        assert len(said) == 9
        assert [bits for bits, _, _ in verdict_lines(found)] == list("012345678")

    def test_texts_without_words_have_no_distance(self) -> None:
        found = compare("", "!")
        assert dict(pair_lines(found))["Hamming distance"] == "–"
        assert bit_cells(found) == []
        assert len(list(side_lines(found))) == 5


class TestCellProperties:
    @given(WORDS, WORDS)
    def test_so_many_cells_differ_as_there_are_bits_of_distance(
        self, first: list[str], second: list[str]
    ) -> None:
        found = compare(" ".join(first), " ".join(second))
        cells = bit_cells(found)
        if found.distance is None:
            assert cells == []
            return
        assert len(cells) == 64
        assert sum(kind == "bit differs" for kind, _ in cells) == found.distance
        ours = int("".join(words.split(": ")[1][0] for _, words in cells), 2)
        assert ours == found.first.fingerprint

"""URLs of a short while ago."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.recent import RecentUrls


class TestRecentUrlsProperties:
    @given(st.lists(st.text("abcdefgh", min_size=1, max_size=1)))
    def test_a_url_is_new_the_first_time_and_known_while_it_is_recent(
        self, urls: list[str]
    ) -> None:
        recent = RecentUrls(size=4)
        for place, url in enumerate(urls):
            is_new = recent.is_new(url, 1)
            if url not in urls[:place]:
                assert is_new
            if url in urls[max(0, place - 4) : place]:
                assert not is_new, "met within the last four"

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3))))
    def test_a_url_is_new_again_from_nearer(self, met: list[tuple[str, int]]) -> None:
        recent = RecentUrls(size=4)
        for place, (url, depth) in enumerate(met):
            before = [other for name, other in met[:place] if name == url]
            assert recent.is_new(url, depth) == (not before or depth < min(before))

    @given(st.lists(st.integers(0, 1000), max_size=300))
    def test_no_more_than_twice_the_size_is_held(self, numbers: list[int]) -> None:
        recent = RecentUrls(size=8)
        for number in numbers:
            recent.is_new(str(number), 1)
            assert len(recent._young) + len(recent._old) <= 16

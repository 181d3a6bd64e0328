"""What speaks for a rule is counted once a text, in a bounded memory."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.learning.evidence import (
    MAX_GROUPS,
    PageContent,
    RuleEvidence,
    Sight,
    agreement,
    lower_bound,
)


def said(content: int, similarity: float = 1.0, *, counts: bool = True) -> PageContent:
    return PageContent(content.to_bytes(8, "big"), content, similarity, content, counts=counts)


def sight(form: object, after_rules: int, content: int, *, counts: bool = True) -> Sight:
    return Sight((form,), after_rules, said(content, counts=counts))


def chance_of_no_failure(share: float, tries: int, failures: int = 0) -> float:
    """Of at most so many failures in so many tries: the binomial sum."""
    return sum(
        comb(tries, k) * (1 - share) ** k * share ** (tries - k) for k in range(failures + 1)
    )


def clopper_pearson(tries: int) -> float:
    """The exact bound, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if chance_of_no_failure(middle, tries) < 0.05:
            low = middle
        else:
            high = middle
    return low


class TestLowerBound:
    @pytest.mark.parametrize("positives", [*range(1, 60), 100, 1_000, 10_000])
    def test_equals_the_exact_one(self, positives: int) -> None:
        assert lower_bound(positives) == pytest.approx(clopper_pearson(positives), abs=1e-9)

    def test_nothing_seen_says_nothing(self) -> None:
        assert lower_bound(0) == 0


saids = st.builds(
    PageContent,
    st.sampled_from([b"a", b"b", b"c"]),
    st.integers(1, 2),
    st.sampled_from([0.8, 0.94, 0.95, 1.0]),
    st.integers(1, 3),
)


class TestAgreement:
    @pytest.mark.parametrize(
        ("one", "other", "agree"),
        [
            (PageContent(b"a", 1, 1.0, 1), PageContent(b"a", 2, 0.8, 2), True),
            (PageContent(b"a", 1, 1.0, 1), PageContent(b"b", 2, 1.0, 2), False),
            (PageContent(b"a", 1, 1.0, 1), PageContent(b"b", 1, 0.96, 2), True),
            (PageContent(b"a", 1, 1.0, 1), PageContent(b"b", 1, 0.9, 2), None),
            (PageContent(b"a", 1, 0.96, 3), PageContent(b"b", 1, 0.97, 2), True),
        ],
    )
    def test_what_two_pages_say_of_each_other(
        self, one: PageContent, other: PageContent, agree: bool | None
    ) -> None:
        assert agreement(one, other) is agree

    @given(saids, saids)
    def test_it_is_mutual(self, one: PageContent, other: PageContent) -> None:
        assert agreement(one, other) is agreement(other, one)
        assert agreement(one, one) is True


class TestEvidence:
    def test_each_text_speaks_once(self) -> None:
        evidence = RuleEvidence()
        assert evidence.count(sight("a", 1, 7), sight("b", 2, 7), "/x?")
        assert evidence.count(sight("c", 3, 7), sight("d", 4, 7), "/x?")  # its values are news
        assert not evidence.count(sight("c", 3, 7), sight("d", 4, 7), "/x?")
        assert evidence.count(sight("a", 5, 8), sight("b", 6, 8), "/y?")
        assert (evidence.texts, evidence.positives()) == (2, 2)
        assert evidence.fewest_values == 4

    def test_what_stayed_the_same_is_no_evidence(self) -> None:
        evidence = RuleEvidence()
        one, other = Sight(("a", "same"), 1, said(7)), Sight(("b", "same"), 2, said(7))
        assert not evidence.count(one, other, "/x?")
        assert evidence.texts == 0

    @pytest.mark.parametrize("counts", [(True, False), (False, True), (False, False)])
    def test_pages_of_a_large_cluster_say_nothing(self, counts: tuple[bool, bool]) -> None:
        evidence = RuleEvidence()
        one, other = sight("a", 1, 7, counts=counts[0]), sight("b", 2, 7, counts=counts[1])
        assert not evidence.count(one, other, "/x?")
        assert (evidence.texts, evidence.is_useful) == (0, False)

    def test_it_is_of_use_where_other_rules_leave_two_apart(self) -> None:
        evidence = RuleEvidence()
        evidence.count(sight("a", 1, 7), sight("b", 1, 7), "/x?")
        assert not evidence.is_useful
        evidence.count(sight("a", 1, 8), sight("b", 2, 8), "/x?")
        assert evidence.is_useful

    @pytest.mark.parametrize(
        ("patterns", "wanted"),
        [
            ({"/x": 30}, 0),
            ({"/x": 30, "/y": 4}, 0),
            ({"/x": 5, "/y": 5}, 10),
            (dict.fromkeys("abcdefg", 1), 0),
            (dict.fromkeys("abcdefgh", 1), 8),
        ],
    )
    def test_of_a_whole_host_only_what_is_spread_speaks(
        self, patterns: dict[str, int], wanted: int
    ) -> None:
        evidence = RuleEvidence(spreads=True)
        content = 0
        for pattern, texts in patterns.items():
            for number in range(texts):
                content += 1
                cluster = f"{pattern}?{'id' if number % 2 else ''}"
                evidence.count(sight("a", 1, content), sight("b", 2, content), cluster)
        assert (evidence.texts, evidence.positives()) == (content, wanted)

    def test_starting_over_keeps_what_was_counted(self) -> None:
        evidence = RuleEvidence()
        evidence.first_of(3, sight("a", 1, 7))
        evidence.count(sight("a", 1, 7), sight("b", 2, 7), "/x?")
        evidence.start_over()
        assert evidence.first_of(3, sight("b", 2, 7)) is None
        assert (evidence.texts, evidence.is_useful) == (1, False)


class TestEvidenceProperties:
    @given(st.lists(st.integers(0, 2**61 - 1), max_size=1500))
    def test_a_group_is_followed_from_its_first_address_or_not_at_all(
        self, keys: list[int]
    ) -> None:
        evidence = RuleEvidence()
        firsts: dict[int, Sight] = {}
        for number, key in enumerate(keys):
            found = evidence.first_of(key, sight(number, number, number))
            assert found is None or found is firsts[key]
            firsts.setdefault(key, sight(number, number, number))
            if found is None:
                held = evidence._groups.get(key)
                firsts[key] = held if held is not None else firsts[key]
            assert len(evidence._groups) <= MAX_GROUPS

    def test_many_groups_are_sampled_by_their_hash(self) -> None:
        evidence = RuleEvidence()
        keys = [hash((number, "group")) for number in range(20_000)]
        for key in keys:
            evidence.first_of(key, sight("a", 1, 1))
        held = [key for key in keys if evidence.first_of(key, sight("b", 2, 1)) is not None]
        assert MAX_GROUPS // 4 < len(held) <= MAX_GROUPS
        assert len({key & 7 for key in held}) == 1

    def test_texts_and_values_are_bounded(self) -> None:
        evidence = RuleEvidence()
        for number in range(5_000):
            one, other = sight(number, 1, number), sight(-number - 1, 2, number)
            evidence.count(one, other, "/x?")
        assert evidence.texts == len(evidence.contents) == 256
        assert evidence.fewest_values == 24
        assert len(evidence.values[0]) == 24

"""When a hypothesis is believed, and what refutes it."""

from __future__ import annotations

import pytest

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample, PageContent, RuleEvidence
from crawler.url_rules.learning.hypothesis import (
    MAX_EXCEPTIONS,
    Hypothesis,
    LearningPolicy,
    Observation,
    narrowness,
)
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    Compound,
    DropArguments,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    SortSegments,
    Transform,
)
from crawler.urls.path_patterns import PathPatterns

HOST = "a.test"
SID = DropArguments(("sid",))
NARROW = Context(HOST, "/x")
POLICY = LearningPolicy()
SESSION = ReplaceSegments(False, 0, ("s", ANYTHING), ("s", "*"))
SESSION_AND_SID = Compound(SESSION, SID)


def hypothesis(transform: Transform = SID, context: Context = NARROW) -> Hypothesis:
    return Hypothesis(context, transform, RuleEvidence())


def seen(target: str, content: int, page: int = 1, host: str = HOST) -> Observation:
    address = Address.parse(f"http://{host}{target}")
    said = PageContent(content.to_bytes(4, "big"), content, 1.0, page)
    pattern = PathPatterns()(address.segments)
    return Observation(address, address, pattern, said, hash(address))


def pairs(some: Hypothesis, texts: int, path: str = "/x", first: int = 0) -> None:
    for number in range(first, first + texts):
        some.observe(seen(f"{path}?id={number}&sid={2 * number}", number))
        some.observe(seen(f"{path}?id={number}&sid={2 * number + 1}", number))


def two_at_once(some: Hypothesis, texts: int) -> None:
    for number in range(texts):
        some.observe(seen(f"/s/{number}ab/x?id={number}&sid=a{number}", number))
        some.observe(seen(f"/s/{number}cd/x?id={number}&sid=b{number}", number))


class TestBelief:
    def test_fourteen_texts_are_enough(self) -> None:
        some = hypothesis()
        pairs(some, 13)
        assert not some.is_believed(POLICY)
        pairs(some, 1, first=13)
        assert some.is_believed(POLICY)
        assert not some.is_believed(LearningPolicy(confidence=0.9))

    def test_two_values_are_not_enough_where_any_is_spoken_of(self) -> None:
        some = hypothesis()
        for number in range(50):
            for sid in "ab":
                some.observe(seen(f"/x?id={number}&sid={sid}", number))
        assert not some.is_believed(POLICY)
        some.observe(seen("/x?id=1&sid=c", 1))
        some.observe(seen("/x?id=99&sid=a", 99))
        some.observe(seen("/x?id=99&sid=c", 99))
        assert some.is_believed(POLICY)

    def test_two_values_are_enough_where_they_are_named(self) -> None:
        some = hypothesis(ReplaceValues("sid", ("a",), ("b",)))
        for number in range(20):
            for sid in "ab":
                some.observe(seen(f"/x?id={number}&sid={sid}", number))
        assert some.is_believed(POLICY)

    def test_what_another_rule_does_already_needs_no_rule(self) -> None:
        some = hypothesis()
        place = Address.parse(f"http://{HOST}/x")
        for number in range(30):
            for sid in range(2):
                raw = seen(f"/x?id={number}&sid={number}{sid}", number)
                some.observe(raw._replace(place=place._replace(segments=(f"x{number}",))))
        assert not some.is_believed(POLICY)

    def test_an_order_is_proved_by_what_differs_in_order_alone(self) -> None:
        some = hypothesis(SortSegments(("x",)), Context(HOST))
        for number in range(30):
            for sid in "ab":
                one = seen(f"/x/b/{number}", number)
                raw = Address.parse(f"http://{HOST}/s/{sid}/x/b/{number}")
                some.observe(one._replace(raw=raw))
        assert some.evidence.texts == 0
        for number in range(14):
            assert not some.is_believed(POLICY)
            some.observe(seen(f"/x/{number}/b", number))
        assert some.is_believed(POLICY)


class TestTwoAtOnce:
    def test_what_differs_in_one_of_the_two_is_no_evidence(self) -> None:
        some = hypothesis(SESSION_AND_SID, Context(HOST))
        for number in range(50):
            some.observe(seen(f"/s/{number}ab/x?id={number}&sid=1", number))
            some.observe(seen(f"/s/{number}cd/x?id={number}&sid=1", number))
        assert some.evidence.texts == 0
        two_at_once(some, 14)
        assert some.evidence.texts == 14
        assert some.is_believed(POLICY)

    def test_a_few_words_in_the_path_are_not_enough(self) -> None:
        some = hypothesis(SESSION_AND_SID, Context(HOST))
        for number in range(50):
            for word in ("list", "grid", "plain"):
                some.observe(seen(f"/s/{word}/x?id={number}&sid={word}{number}", number))
        assert some.evidence.texts == 50
        assert not some.is_believed(POLICY)

    def test_a_page_that_differs_in_one_of_the_two_is_an_exception_of_both(self) -> None:
        some = hypothesis(SESSION_AND_SID, Context(HOST))
        two_at_once(some, 14)
        some.observe(seen("/s/1ab/y?sid=1&view=a", 77))
        some.observe(seen("/s/1ab/y?sid=2&view=a", 78))
        segments, arguments = some.parts()
        assert arguments.transform == SID
        for url in ("/s/5ab/y?sid=1&view=a", "/s/5ab/y?view=a"):
            place = Address.parse(f"http://{HOST}{url}")
            assert not arguments.context.holds(place, ("sid",))
            assert not segments.context.holds(place)
            assert segments.context.holds(seen("/s/5ab/x?sid=1&view=a", 1).place)


class TestRefutation:
    def test_one_order_that_differs_refutes_the_others(self) -> None:
        some = hypothesis(SortSegments(()), Context(HOST))
        for number in range(30):
            for target in (f"/x{number}/a", f"/a/x{number}"):
                some.observe(seen(target, number))
        assert some.is_believed(POLICY)
        some.observe(seen("/b/a", 70, page=8))
        some.observe(seen("/a/b", 71, page=9))
        assert some.refuted == CounterExample(9, 8)

    def test_a_page_that_differs_refutes_and_is_told(self) -> None:
        some = hypothesis()
        pairs(some, 30)
        assert some.observe(seen("/x?id=3&sid=z", 77, page=9))
        assert some.refuted == CounterExample(9, 1)
        assert not some.is_believed(POLICY)

    def test_a_page_elsewhere_says_nothing(self) -> None:
        some = hypothesis()
        pairs(some, 30)
        assert not some.observe(seen("/y?id=3&sid=z", 77))
        assert not some.observe(seen("/x?id=3&sid=z", 77, host="b.test"))
        assert some.refuted is None

    def test_what_is_neither_the_same_nor_another_says_nothing(self) -> None:
        some = hypothesis()
        some.observe(seen("/x?id=3&sid=a", 3))
        near = seen("/x?id=3&sid=b", 3)
        said = PageContent(b"other words", 3, 0.9, 2)
        assert not some.observe(near._replace(content=said))
        assert (some.evidence.texts, some.refuted) == (0, None)

    def test_the_page_that_counts_instead_is_looked_up(self) -> None:
        some = hypothesis(ReplaceSegments(False, 0, ("print",), ()), Context(HOST, "/print/*"))
        fetched = {Address.parse(f"http://{HOST}/1"): PageContent(b"other", 9, 1.0, 9)}
        assert some.observe(seen("/print/1", 1, page=2), fetched.get)
        assert some.refuted == CounterExample(2, 9)

    def test_what_a_copy_is_of_is_compared(self) -> None:
        some = hypothesis()
        one, other = seen("/x?id=1&sid=1", 1), seen("/x?id=1&sid=2", 1)
        assert some.compare(one, other)
        assert some.evidence.texts == 1
        assert not some.compare(one, seen("/x?id=2&sid=3", 1))

    def test_two_hosts_are_compared(self) -> None:
        transform = ReplaceHost("http", "www.a.test", "http", HOST)
        some = hypothesis(transform, Context("www.a.test"))
        for number in range(20):
            some.observe(seen(f"/x?id={number}", number, host="www.a.test"))
            some.observe(seen(f"/x?id={number}", number))
        assert some.is_believed(POLICY)
        some.observe(seen("/x?id=3", 99))
        assert some.refuted is None, "the host that stays says nothing of itself"
        some.observe(seen("/x?id=77", 77))
        some.observe(seen("/x?id=77", 78, host="www.a.test"))
        assert not some.is_believed(POLICY)
        assert [narrow.cluster for narrow in some.context.apart_from] == ["/x?id"]


class TestExceptions:
    def test_a_rule_for_a_host_leaves_out_the_kind_of_page_that_differs(self) -> None:
        some = hypothesis(SID, Context(HOST))
        pairs(some, 20)
        pairs(some, 2, "/moody", first=500)
        some.observe(seen("/moody?id=500&sid=z", 900))
        assert some.refuted is None
        assert some.context == Context(HOST).apart(Context(HOST, "/moody", frozenset({"id"})))
        assert some.evidence.texts == 20
        assert not some.observe(seen("/moody?id=501&sid=y", 901))
        assert some.is_believed(POLICY)

    def test_as_many_exceptions_as_kinds_of_pages_refute_it(self) -> None:
        some = hypothesis(SID, Context(HOST))
        pairs(some, 20)
        for number, path in enumerate(("/one", "/two")):
            assert some.refuted is None
            some.observe(seen(f"{path}?sid=1", 100 + 2 * number))
            some.observe(seen(f"{path}?sid=2", 101 + 2 * number))
        assert some.refuted is not None

    def test_more_than_a_few_refute_it_always(self) -> None:
        some = hypothesis(SID, Context(HOST))
        for number in range(30):
            pairs(some, 1, f"/{'abcdefghijklmnopqrstuvwxyzabcd'[: number + 1]}", first=number)
        for number in range(MAX_EXCEPTIONS + 1):
            assert some.refuted is None
            some.observe(seen(f"/{'z' * (number + 1)}?sid=1", 100 + 2 * number))
            some.observe(seen(f"/{'z' * (number + 1)}?sid=2", 101 + 2 * number))
        assert some.refuted is not None


@pytest.mark.parametrize(
    ("sooner", "later"),
    [
        ((Context(HOST), SID), (NARROW, SID)),
        ((NARROW, SID), (Context(HOST, "/x", frozenset()), SID)),
        ((Context(HOST), DropArguments(("a", "b"))), (Context(HOST), SID)),
        (
            (Context(HOST), ReplaceSegments(False, 0, ("s",), ())),
            (Context(HOST), ReplaceSegments(False, 0, (ANYTHING,), ())),
        ),
        (
            (Context(HOST), ReplaceSegments(False, 0, ("s",), ())),
            (Context(HOST), ReplaceSegments(False, 1, ("s",), ())),
        ),
        ((Context(HOST), ReplaceSegments(False, 1, ("s",), ())), (Context(HOST), SortSegments(()))),
        (
            (Context(HOST), SortSegments(())),
            (Context(HOST), ReplaceSegments(False, 0, (ANYTHING,), ())),
        ),
        ((Context(HOST), SortSegments(("shop",))), (Context(HOST), SortSegments(()))),
    ],
)
def test_the_wider_rule_is_believed_first(
    sooner: tuple[Context, Transform], later: tuple[Context, Transform]
) -> None:
    assert narrowness(sooner) < narrowness(later)

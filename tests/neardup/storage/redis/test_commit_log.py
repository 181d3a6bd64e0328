"""Two judges at one moment: what comes between a judgement and its commit is looked at again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import Parameters
from neardup.kept_facts import all_marks_of, ordered
from neardup.names import Name, difference
from neardup.storage.redis.head_format import limits_of, recorded
from tests.neardup.storage.redis.fleet_of_judges import (
    FAR,
    NEAR,
    NEW,
    PAGE,
    PARAMETERS,
    Fleet,
    lone_text,
    with_fleet,
)
from tests.neardup.storage.redis.judges import Page, document_of, owner_of
from tests.neardup.texts import changed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from neardup.storage.redis.commit_log import Look
    from neardup.storage.redis.text_store import Findings


PARTS = st.sampled_from(["", "Widget", "Widget 2", "Shop", "shop "])


NAMES = st.builds(
    Name,
    title=st.lists(PARTS, max_size=3).map(" | ".join),
    heading=PARTS,
    identifiers=st.sampled_from([(), ("sku:12345",), ("sku:54321",), ("isbn:12345",)]),
)


def test_a_near_text_that_came_between_is_looked_at_again(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        await fleet.judge.judge(Page(1, PAGE))
        assert await fleet.commit(Page(2, NEAR), look) is None
        assert await fleet.commit(Page(2, PAGE), look) is None
        assert await fleet.commit(Page(3, FAR), look) == 1
        assert await fleet.commit(Page(1, NEAR), look) == 2

    with_fleet(url, use)


def test_a_text_that_came_between_and_shares_a_band_is_looked_at_again(url: str) -> None:
    words = PAGE.split()
    # Far away by its fingerprint, and a half of it is the page.
    half = " ".join(words[:300] + [f"other{number}" for number in range(60)])
    first, second = (document_of(Page(0, text), PARAMETERS) for text in (PAGE, half))
    assert first.fingerprint is not None
    assert second.fingerprint is not None
    assert (first.fingerprint ^ second.fingerprint).bit_count() > PARAMETERS.max_distance

    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        await fleet.judge.judge(Page(1, PAGE))
        assert await fleet.commit(Page(2, half), look) is None
        assert await fleet.commit(Page(2, half), await fleet.text_store.log.look()) == 1

    with_fleet(url, use)


@given(first=NAMES, second=NAMES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_log_passes_by_what_marks_tell_to_be_of_another_name(
    redis_url: str, first: Name, second: Name
) -> None:
    marks = np.array([all_marks_of(first)], np.uint32)
    ordered_one = ordered(np.zeros(1, np.int64), np.zeros(1, np.uint64), marks, 0, second)

    async def use(fleet: Fleet) -> None:
        await fleet.server.run("FLUSHALL")
        look = await fleet.text_store.log.look()
        assert await fleet.commit(Page(1, PAGE, name=first), look) == 0
        answer = await fleet.answer(Page(2, NEAR, name=second), look)
        if ordered_one.are_other[0]:
            assert (answer.number, answer.others, answer.near) == (1, 1, None)
            assert difference(first, second)
        else:
            assert (answer.number, answer.compared.below, answer.others) == (None, 1, 0)
            assert answer.near is not None
            assert answer.near.ids.tolist() == [0]
        # Equal texts are equal whatever they are called.
        assert await fleet.commit(Page(3, PAGE, name=second), look) is None

    with_fleet(redis_url, use)


def test_where_names_are_not_compared_they_pass_nothing_by(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        names = [Name(title=f"Lamp {number}") for number in range(2)]
        assert await fleet.commit(Page(1, PAGE, name=names[0]), look) == 0
        parameters = Parameters(compare_names=False)
        page = Page(2, NEAR, name=names[1])
        record = recorded(owner_of(2), document_of(page, PARAMETERS), b"")
        answer = await fleet.text_store.log.commit(
            record.head, record.packed(), look.compared, limits_of(parameters), keeps=False
        )
        assert (answer.number, answer.others) == (None, 0)

    with_fleet(redis_url, use)


@pytest.mark.parametrize(
    "name",
    [
        lambda number: Name(f"Lamp {number} | Shop", f"Lamp {number}"),
        # Marks leave these open: each commit refuses those that come at the same moment.
        lambda number: Name("Act", "Act", subheading=f"Section {number}"),
    ],
)
def test_siblings_judged_at_one_moment_are_looked_for_once_each(
    url: str, name: Callable[[int], Name], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    async def use(fleet: Fleet) -> None:
        for judge in (fleet.judge, fleet.other):
            text_store = judge.deduplicator._text_store
            monkeypatch.setattr(text_store, "find", _noted(text_store.find, looks))
        pages = [Page(n, changed(PAGE, n), name=name(n)) for n in range(24)]
        for page in pages[:4]:
            await fleet.judge.judge(page)
        judges = [fleet.judge, fleet.other] * 10
        told = await asyncio.gather(
            *(judge.judge(page) for judge, page in zip(judges, pages[4:], strict=True))
        )
        assert {verdict.kind for verdict in told} == {"same_template"}
        assert len(looks) == 24
        # One that is a copy of one of them is found.
        copy = await fleet.judge.judge(Page(99, changed(PAGE, 99), name=name(20)))
        assert copy.duplicate_of == 20

    with_fleet(url, use)


def _noted(
    find: Callable[..., Awaitable[tuple[Look, Findings]]], calls: list[str]
) -> Callable[..., object]:
    async def noted(*arguments: object) -> tuple[Look, Findings]:
        calls.append("find")
        return await find(*arguments)

    return noted


def test_of_siblings_judged_at_one_moment_the_first_alone_is_new(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        pages = [Page(n, changed(PAGE, n), name=Name(title=f"Lamp {n}")) for n in range(12)]
        judges = [fleet.judge, fleet.other] * 6
        told = await asyncio.gather(
            *(judge.judge(page) for judge, page in zip(judges, pages, strict=True))
        )
        kept = [one.original async for one in fleet.judge.deduplicator.kept()]
        owners = [int.from_bytes(one.owner) for one in kept]
        assert len(owners) == 12
        assert [told[number].kind for number in owners] == ["new", *["same_template"] * 11]
        for place, number in enumerate(owners[1:], 1):
            assert told[number].resembles in owners[:place]

    with_fleet(url, use)


def test_equal_short_texts_that_came_between_are_looked_at_again(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        await fleet.judge.judge(Page(1, "a few words"))
        assert await fleet.commit(Page(2, "A few words"), look) is None
        assert await fleet.commit(Page(2, "a few others"), look) == 1
        assert await fleet.commit(Page(3, "a few words"), look, keeps=True) == 2

    with_fleet(url, use)


def test_equal_bytes_that_came_between_are_looked_at_again(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        await fleet.judge.judge(Page(1, PAGE, b"p" * 16))
        assert await fleet.commit(Page(2, FAR, b"p" * 16), look) is None
        assert await fleet.commit(Page(2, FAR, b"q" * 16), look) == 1

    with_fleet(url, use)


def test_of_near_texts_judged_at_one_moment_one_is_kept(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        for cluster in range(20):
            pages = [
                Page(100 * cluster + number, changed(lone_text(cluster), number))
                for number in range(12)
            ]
            judges = [fleet.judge, fleet.other] * 6
            verdicts = await asyncio.gather(
                *(judge.judge(page) for judge, page in zip(judges, pages, strict=True))
            )
            (kept,) = [
                page.number
                for page, verdict in zip(pages, verdicts, strict=True)
                if not verdict.is_duplicate
            ]
            assert {verdict.duplicate_of for verdict in verdicts} == {None, kept}
        assert await fleet.judge.deduplicator.count() == 20
        assert await fleet.unwritten() == 0

    with_fleet(url, use)


def test_a_page_judged_by_two_at_one_moment_is_kept_once(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        for number in range(20):
            page = Page(number, lone_text(number))
            verdicts = await asyncio.gather(
                *(judge.judge(page) for judge in [fleet.judge, fleet.other] * 3)
            )
            assert verdicts == [NEW] * 6
        assert await fleet.judge.deduplicator.count() == 20

    with_fleet(url, use)


def test_a_text_is_kept_and_written_elsewhere_in_one_step(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        before = (await fleet.server.run("INFO", "commandstats"))["cmdstat_evalsha"]["calls"]
        assert await fleet.judge.judge(Page(1, PAGE)) == NEW
        after = (await fleet.server.run("INFO", "commandstats"))["cmdstat_evalsha"]["calls"]
        # The look with its questions, and the commit.
        assert after - before <= 2
        assert await fleet.unwritten() == 0
        look = await fleet.text_store.log.look()
        assert (look.compared.below, len(look.recent.ids)) == (1, 0)

    with_fleet(redis_url, use)


def test_answers_that_come_after_later_ones_miss_nothing(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        log = fleet.text_store.log
        asked = await log._ask({})
        await fleet.judge.judge(Page(1, PAGE))
        await log.look()
        look, _ = log._seen(*asked)
        assert look.compared.below == 0
        assert await fleet.commit(Page(2, NEAR), look) is None

    with_fleet(redis_url, use)

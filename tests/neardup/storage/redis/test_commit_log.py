"""What happens between two judges, or when one dies at a bad moment."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import Parameters, Verdict
from neardup.errors import ServerError
from neardup.kept_facts import all_marks_of, ordered
from neardup.names import Name, difference
from neardup.storage.redis import commit_log as module
from neardup.storage.redis import server as waiting
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.head_format import limits_of, recorded
from neardup.storage.redis.shelf import Shelf
from tests.neardup.storage.redis.cutting_off import cut
from tests.neardup.storage.redis.judges import Page, SharedJudge, document_of, owner_of
from tests.neardup.texts import changed
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from neardup.storage.redis.commit_log import Commit, Look
    from neardup.storage.redis.server import Server
    from neardup.storage.redis.shelf import Findings
    from tests.servers.redis import RedisServer

PARAMETERS = Parameters()
NEW = Verdict("new")


def _text(seed: int) -> str:
    """A text that shares no word with others, so that nothing but a copy of it is a candidate."""
    return " ".join(f"word{seed}x{number}" for number in range(400))


PAGE, FAR = _text(1), _text(2)
NEAR = changed(PAGE, 1)


PARTS = st.sampled_from(["", "Widget", "Widget 2", "Shop", "shop "])
NAMES = st.builds(
    Name,
    title=st.lists(PARTS, max_size=3).map(" | ".join),
    heading=PARTS,
    identifiers=st.sampled_from([(), ("sku:12345",), ("sku:54321",), ("isbn:12345",)]),
)


@pytest.fixture(params=["redis_url", "cluster_url"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


@dataclass
class Fleet:
    """Judges, and a sender that can stop at any of its steps."""

    server: Server
    judge: SharedJudge
    other: SharedJudge
    shelf: Shelf

    async def commit(self, page: Page, look: Look, *, keeps: bool = False) -> int | None:
        return (await self.answer(page, look, keeps=keeps)).number

    async def answer(self, page: Page, look: Look, *, keeps: bool = False) -> Commit:
        about = b'{"number": %d}' % page.number
        record = recorded(owner_of(page.number), document_of(page, PARAMETERS), about)
        return await self.shelf.log.commit(
            record.head, record.packed(), look.next, limits_of(PARAMETERS), keeps=keeps
        )

    async def unwritten(self) -> int:
        return int(await self.server.run("HLEN", "test:{test:log}:bodies"))


@asynccontextmanager
async def _fleet(url: str) -> AsyncIterator[Fleet]:
    servers = [await connect(url, "test:") for _ in range(3)]
    try:
        judge, other = [await SharedJudge.opened(server, PARAMETERS) for server in servers[:2]]
        yield Fleet(servers[2], judge, other, Shelf(servers[2], blocks=4))
    finally:
        for server in servers:
            await server.close()


def _with(url: str, use: Callable[[Fleet], Awaitable[None]]) -> None:
    async def used() -> None:
        async with _fleet(url) as fleet:
            await use(fleet)

    asyncio.run(used())


def test_a_near_text_that_came_between_is_looked_at_again(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        await fleet.judge.judge(Page(1, PAGE))
        assert await fleet.commit(Page(2, NEAR), look) is None
        assert await fleet.commit(Page(2, PAGE), look) is None
        assert await fleet.commit(Page(3, FAR), look) == 1
        assert await fleet.commit(Page(1, NEAR), look) == 2

    _with(url, use)


def test_a_text_that_came_between_and_shares_a_band_is_looked_at_again(url: str) -> None:
    words = PAGE.split()
    # Far away by its fingerprint, and a half of it is the page.
    half = " ".join(words[:300] + [f"other{number}" for number in range(60)])
    first, second = (document_of(Page(0, text), PARAMETERS) for text in (PAGE, half))
    assert first.fingerprint is not None
    assert second.fingerprint is not None
    assert (first.fingerprint ^ second.fingerprint).bit_count() > PARAMETERS.max_distance

    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        await fleet.judge.judge(Page(1, PAGE))
        assert await fleet.commit(Page(2, half), look) is None
        assert await fleet.commit(Page(2, half), await fleet.shelf.log.look()) == 1

    _with(url, use)


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
        look = await fleet.shelf.log.look()
        assert await fleet.commit(Page(1, PAGE, name=first), look) == 0
        answer = await fleet.answer(Page(2, NEAR, name=second), look)
        if ordered_one.are_other[0]:
            assert (answer.number, answer.others, answer.near) == (1, 1, None)
            assert difference(first, second)
        else:
            assert (answer.number, answer.next, answer.others) == (None, 1, 0)
            assert answer.near is not None
            assert answer.near.ids.tolist() == [0]
        # Equal texts are equal whatever they are called.
        assert await fleet.commit(Page(3, PAGE, name=second), look) is None

    _with(redis_url, use)


def test_where_names_are_not_compared_they_pass_nothing_by(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        names = [Name(title=f"Lamp {number}") for number in range(2)]
        assert await fleet.commit(Page(1, PAGE, name=names[0]), look) == 0
        parameters = Parameters(compare_names=False)
        page = Page(2, NEAR, name=names[1])
        record = recorded(owner_of(2), document_of(page, PARAMETERS), b"")
        answer = await fleet.shelf.log.commit(
            record.head, record.packed(), look.next, limits_of(parameters), keeps=False
        )
        assert (answer.number, answer.others) == (None, 0)

    _with(redis_url, use)


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
            shelf = judge.deduplicator._shelf
            monkeypatch.setattr(shelf, "find", _noted(shelf.find, looks))
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

    _with(url, use)


def _noted(find: Callable[..., Awaitable[Findings]], calls: list[str]) -> Callable[..., object]:
    async def noted(*arguments: object) -> Findings:
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

    _with(url, use)


def test_a_sibling_whose_judge_died_gets_its_verdict(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        pages = [Page(n, changed(PAGE, n), name=Name(title=f"Lamp {n}")) for n in range(3)]
        await fleet.judge.judge(pages[0])
        assert await fleet.commit(pages[1], await fleet.shelf.log.look()) == 1
        await fleet.judge.judge(pages[2])
        again = await fleet.other.judge(pages[1])
        assert (again.kind, again.resembles) == ("same_template", 0)
        assert await fleet.unwritten() == 0

    _with(url, use)


def test_equal_short_texts_that_came_between_are_looked_at_again(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        await fleet.judge.judge(Page(1, "a few words"))
        assert await fleet.commit(Page(2, "A few words"), look) is None
        assert await fleet.commit(Page(2, "a few others"), look) == 1
        assert await fleet.commit(Page(3, "a few words"), look, keeps=True) == 2

    _with(url, use)


def test_equal_bytes_that_came_between_are_looked_at_again(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        await fleet.judge.judge(Page(1, PAGE, b"p" * 16))
        assert await fleet.commit(Page(2, FAR, b"p" * 16), look) is None
        assert await fleet.commit(Page(2, FAR, b"q" * 16), look) == 1

    _with(url, use)


def test_a_commit_whose_reply_was_lost_is_found_to_be_ones_own(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        assert await fleet.commit(Page(1, PAGE), look) == 0
        assert await fleet.commit(Page(1, PAGE), look) is None
        assert await fleet.commit(Page(1, PAGE), look, keeps=True) is None
        assert await fleet.unwritten() == 1
        # Judged again, as after the death of its judge, it is written elsewhere too.
        assert await fleet.judge.judge(Page(1, PAGE)) == NEW
        assert await fleet.unwritten() == 0
        assert await fleet.judge.deduplicator.count() == 1

    _with(url, use)


def test_bytes_beside_a_text_are_held_once_it_is_kept(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        asked = []

        async def judge(page: Page, beside: bytes) -> int:
            def told() -> bytes:
                asked.append(page.number)
                return beside

            deduplicator = fleet.judge.deduplicator
            document = document_of(page, deduplicator.parameters)
            about = (owner_of(page.number), document, b"{}")
            return (await deduplicator.judge(*about, beside=told)).verdict.duplicate_of or 0

        await judge(Page(1, PAGE), b"of the first")
        await judge(Page(2, PAGE), b"of a duplicate")
        await judge(Page(3, FAR), b"")
        assert asked == [1, 3]
        # A judge that died before it wrote them: the next one of the same page does.
        again = Page(4, "a few words")
        number = await fleet.commit(again, await fleet.shelf.log.look())
        assert number is not None
        assert await fleet.shelf.beside(number) is None
        await judge(again, b"of the fourth")
        await judge(again, b"said again")
        held = [await fleet.judge.deduplicator.beside(each) for each in range(number + 1)]
        assert held == [b"of the first", None, b"of the fourth"]

    _with(url, use)


def test_what_a_dead_judge_left_in_the_log_is_found_and_told(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        await fleet.commit(Page(1, PAGE, b"p" * 16), await fleet.shelf.log.look())
        assert (await fleet.judge.judge(Page(2, NEAR))).duplicate_of == 1
        assert (await fleet.judge.judge(Page(3, PAGE))).duplicate_of == 1
        assert (await fleet.judge.judge(Page(4, FAR, b"p" * 16))).duplicate_of == 1
        assert await fleet.judge.find_payload(b"p" * 16, 4) is not None
        assert [stored.text async for stored in fleet.judge.deduplicator.kept()] == [PAGE]
        assert await fleet.unwritten() == 1

    _with(url, use)


def test_what_a_dead_judge_left_behind_is_written_by_another(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEFT_BEHIND_SECS", 0)

    async def use(fleet: Fleet) -> None:
        for number in range(3):
            page = Page(number, _text(number))
            await fleet.commit(page, await fleet.shelf.log.look())
        for number in range(3):
            near = Page(10, changed(_text(number), 1))
            assert (await fleet.judge.judge(near)).duplicate_of is not None
            assert await fleet.unwritten() == 2 - number
        look = await fleet.shelf.log.look()
        assert len(look.recent.ids) == 0
        assert look.next == 3
        # Found by its postings now.
        assert (await fleet.other.judge(Page(11, changed(_text(1), 2)))).is_duplicate

    _with(url, use)


def test_what_is_written_twice_is_stored_once(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        page = Page(1, PAGE, b"p" * 16)
        number = await fleet.commit(page, await fleet.shelf.log.look())
        assert number is not None
        packed = await fleet.shelf.log.body(number)
        assert packed is not None
        await fleet.shelf.post(number, packed)
        stored = await _everything(fleet.server)
        await fleet.shelf.post(number, packed)
        assert await _everything(fleet.server) == stored

    _with(redis_url, use)


async def _everything(server: Server) -> dict[bytes, bytes]:
    return {key: await server.run("DUMP", key) for key in await server.run("KEYS", "*")}


def test_a_judge_that_was_away_too_long_looks_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT_HEADS", 2)

    async def use(fleet: Fleet) -> None:
        look = await fleet.shelf.log.look()
        for number in range(5):
            await fleet.judge.judge(Page(number, _text(number)))
        assert await fleet.server.run("HLEN", "test:{test:log}:heads") == 2
        assert await fleet.commit(Page(9, FAR), look) is None
        assert await fleet.commit(Page(9, FAR), await fleet.shelf.log.look()) == 5
        assert await fleet.judge.judge(Page(10, _text(99))) == NEW

    _with(url, use)


def test_a_server_that_lost_texts_is_asked_anew(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        for number in range(5):
            await fleet.judge.judge(Page(number, _text(number)))
            # Read, so that it is remembered.
            await fleet.judge.judge(Page(100 + number, changed(_text(number), 1)))
        await fleet.server.run("FLUSHALL")
        for number in range(10, 20):
            page = Page(number, _text(number))
            number_there = await fleet.commit(page, await fleet.shelf.log.look())
            assert number_there == number - 10
        for number in range(10, 20):
            near = await fleet.judge.judge(Page(200 + number, changed(_text(number), 1)))
            assert near.kind == "near_duplicate"
        # Of what was lost nothing is known.
        assert await fleet.judge.judge(Page(300, changed(_text(1), 2))) == NEW

    _with(redis_url, use)


def test_of_near_texts_judged_at_one_moment_one_is_kept(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        for cluster in range(20):
            pages = [
                Page(100 * cluster + number, changed(_text(cluster), number))
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

    _with(url, use)


def test_replies_that_are_lost_change_nothing(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters, pages = 12, 8
    monkeypatch.setattr(waiting, "_MAX_WAIT_SECS", 0.01)
    monkeypatch.setattr(waiting, "_FIRST_WAIT_SECS", 0.01)

    async def use() -> None:
        async with cut(own_redis.port, random.Random(5)) as port, _fleet(own_redis.url) as fleet:
            servers = [await _connected(f"redis://127.0.0.1:{port}/0") for _ in range(2)]
            judges = [await SharedJudge.opened(server, PARAMETERS) for server in servers]
            for cluster in range(clusters):
                texts = [changed(_text(cluster), number) for number in range(pages)]
                verdicts = await asyncio.gather(*(
                    judges[number % 2].judge(Page(100 * cluster + number, text))
                    for number, text in enumerate(texts)
                ))  # fmt: skip
                assert [verdict.is_duplicate for verdict in verdicts].count(False) == 1
            assert await fleet.judge.deduplicator.count() == clusters
            assert await fleet.unwritten() == 0
            for server in servers:
                await server.close()

    asyncio.run(use())


async def _connected(url: str) -> Server:
    async def connected() -> Server | None:
        with suppress(ServerError):  # its first question was cut off
            return await connect(url, "test:")
        return None

    server = await eventually(connected)
    assert server is not None
    return server


def test_a_page_judged_by_two_at_one_moment_is_kept_once(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        for number in range(20):
            page = Page(number, _text(number))
            verdicts = await asyncio.gather(
                *(judge.judge(page) for judge in [fleet.judge, fleet.other] * 3)
            )
            assert verdicts == [NEW] * 6
        assert await fleet.judge.deduplicator.count() == 20

    _with(url, use)

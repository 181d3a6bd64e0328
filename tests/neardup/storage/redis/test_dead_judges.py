"""Judges that die at a bad moment, and replies that are lost."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from neardup.candidates import Candidates
from neardup.errors import ServerError
from neardup.indexes.arrays import Match
from neardup.names import Name
from neardup.storage.redis import commit_log as module
from neardup.storage.redis import server as waiting
from neardup.storage.redis.commit_log import Compared
from neardup.storage.redis.connecting import connect
from tests.neardup.storage.redis.cutting_off import cut
from tests.neardup.storage.redis.fleet_of_judges import (
    FAR,
    NEAR,
    NEW,
    PAGE,
    PARAMETERS,
    Fleet,
    fleet_of,
    lone_text,
    with_fleet,
)
from tests.neardup.storage.redis.judges import Page, SharedJudge, document_of, owner_of
from tests.neardup.texts import changed
from tests.waiting import eventually

if TYPE_CHECKING:
    from neardup import Verdict
    from neardup.storage.redis.server import Server
    from tests.servers.redis import RedisServer


def test_a_sibling_whose_judge_died_gets_its_verdict(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        pages = [Page(n, changed(PAGE, n), name=Name(title=f"Lamp {n}")) for n in range(3)]
        await fleet.judge.judge(pages[0])
        assert await fleet.commit(pages[1], await fleet.text_store.log.look()) == 1
        await fleet.judge.judge(pages[2])
        again = await fleet.other.judge(pages[1])
        assert (again.kind, again.resembles) == ("same_template", 0)
        assert await fleet.unwritten() == 0

    with_fleet(url, use)


def test_a_commit_whose_reply_was_lost_is_found_to_be_ones_own(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        assert await fleet.commit(Page(1, PAGE), look) == 0
        assert await fleet.commit(Page(1, PAGE), look) is None
        assert await fleet.commit(Page(1, PAGE), look, keeps=True) is None
        assert await fleet.unwritten() == 1
        # Judged again, as after the death of its judge, it is written elsewhere too.
        assert await fleet.judge.judge(Page(1, PAGE)) == NEW
        assert await fleet.unwritten() == 0
        assert await fleet.judge.deduplicator.count() == 1

    with_fleet(url, use)


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
        number = await fleet.commit(again, await fleet.text_store.log.look())
        assert number is not None
        assert await fleet.text_store.beside(number) is None
        await judge(again, b"of the fourth")
        await judge(again, b"said again")
        held = [await fleet.judge.deduplicator.beside(each) for each in range(number + 1)]
        assert held == [b"of the first", None, b"of the fourth"]

    with_fleet(url, use)


def test_what_a_dead_judge_left_in_the_log_is_found_and_told(url: str) -> None:
    async def use(fleet: Fleet) -> None:
        await fleet.commit(Page(1, PAGE, b"p" * 16), await fleet.text_store.log.look())
        assert (await fleet.judge.judge(Page(2, NEAR))).duplicate_of == 1
        assert (await fleet.judge.judge(Page(3, PAGE))).duplicate_of == 1
        assert (await fleet.judge.judge(Page(4, FAR, b"p" * 16))).duplicate_of == 1
        # On one server alone a judge leaves nothing there, and the payload alone is not looked for.
        if fleet.server.is_cluster:
            assert await fleet.judge.find_payload(b"p" * 16, 4) is not None
        assert [stored.text async for stored in fleet.judge.deduplicator.kept()] == [PAGE]
        assert await fleet.unwritten() == 1

    with_fleet(url, use)


def test_what_a_dead_judge_left_behind_is_written_by_another(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEFT_BEHIND_SECS", 0)

    async def use(fleet: Fleet) -> None:
        for number in range(3):
            page = Page(number, lone_text(number))
            await fleet.commit(page, await fleet.text_store.log.look())
        for number in range(3):
            near = Page(10, changed(lone_text(number), 1))
            assert (await fleet.judge.judge(near)).duplicate_of is not None
            assert await fleet.unwritten() == 2 - number
        look = await fleet.text_store.log.look()
        assert len(look.recent.ids) == 0
        assert look.compared.below == 3
        # Found by its postings now.
        assert (await fleet.other.judge(Page(11, changed(lone_text(1), 2)))).is_duplicate

    with_fleet(url, use)


def test_what_is_written_twice_is_stored_once(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        page = Page(1, PAGE, b"p" * 16)
        number = await fleet.commit(page, await fleet.text_store.log.look())
        assert number is not None
        packed = await fleet.text_store.log.body(number)
        assert packed is not None
        await fleet.text_store.post(number, packed)
        stored = await _everything(fleet.server)
        await fleet.text_store.post(number, packed)
        assert await _everything(fleet.server) == stored

    with_fleet(redis_url, use)


async def _everything(server: Server) -> dict[bytes, object]:
    # The order of the fields of a hash says nothing.
    return {
        key: await server.run("HGETALL" if await server.run("TYPE", key) == b"hash" else "GET", key)
        for key in await server.run("KEYS", "*")
    }


def test_a_judge_that_was_away_too_long_looks_again(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT_HEADS", 2)

    async def use(fleet: Fleet) -> None:
        look = await fleet.text_store.log.look()
        for number in range(5):
            await fleet.judge.judge(Page(number, lone_text(number)))
        # And next, low, oldest and last.
        assert await fleet.server.run("HLEN", "test:{test:log}:state") == 2 + 4
        assert await fleet.commit(Page(9, FAR), look) is None
        assert await fleet.commit(Page(9, FAR), await fleet.text_store.log.look()) == 5
        assert await fleet.judge.judge(Page(10, lone_text(99))) == NEW

    with_fleet(url, use)


def test_a_server_that_lost_texts_is_asked_anew(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        for number in range(5):
            await fleet.judge.judge(Page(number, lone_text(number)))
            # Read, so that it is remembered.
            await fleet.judge.judge(Page(100 + number, changed(lone_text(number), 1)))
        await fleet.server.run("FLUSHALL")
        for number in range(10, 20):
            page = Page(number, lone_text(number))
            number_there = await fleet.commit(page, await fleet.text_store.log.look())
            assert number_there == number - 10
        for number in range(10, 20):
            near = await fleet.judge.judge(Page(200 + number, changed(lone_text(number), 1)))
            assert near.kind == "near_duplicate"
        # Of what was lost nothing is known.
        assert await fleet.judge.judge(Page(300, changed(lone_text(1), 2))) == NEW

    with_fleet(redis_url, use)


def test_a_judgement_of_before_a_loss_tells_nothing_of_texts_after_it(redis_url: str) -> None:
    """It has read a text that was lost, and compares it when others have begun anew."""

    async def use(fleet: Fleet) -> None:
        await fleet.judge.judge(Page(1, PAGE))
        await fleet.other.judge(Page(2, lone_text(20)))
        source = fleet.other.deduplicator._source
        under_way = Candidates(NEAR, [], PARAMETERS, source.verifier, source.text_store.known)
        await fleet.server.run("FLUSHALL")
        await fleet.judge.judge(Page(3, FAR))
        await source.text_store.log.look()
        under_way.compare(Match(0, 0), PAGE)
        assert under_way.near[0].similarity
        near = await fleet.other.judge(Page(4, changed(FAR, 1)))
        assert (near.kind, near.duplicate_of) == ("near_duplicate", 3)

    with_fleet(redis_url, use)


async def save_one(fleet: Fleet, server: RedisServer) -> None:
    """Keep a text and write the file that the server begins with when it is started again."""
    await fleet.judge.judge(Page(1, lone_text(10)))
    with server.client() as client:
        client.save()


@pytest.mark.parametrize("lost", [1, 2])
def test_a_commit_to_a_server_that_began_anew_from_an_older_file_is_judged_again(
    redis_of_dumps: RedisServer, lost: int
) -> None:
    """Another judge writes as many entries as were ``lost``, the last one a near text."""

    async def use() -> None:
        async with fleet_of(redis_of_dumps.url) as fleet:
            await save_one(fleet, redis_of_dumps)
            for number in range(lost):
                await fleet.judge.judge(Page(2 + number, lone_text(20 + number)))
            restarts: list[Verdict] = []

            def beside() -> bytes:
                # Asked for between the look and the commit.
                if not restarts:
                    restarts.append(_judged_after_a_restart(redis_of_dumps, lost))
                return b""

            deduplicator = fleet.other.deduplicator
            document = document_of(Page(9, NEAR), deduplicator.parameters)
            told = await deduplicator.judge(owner_of(9), document, b"{}", beside=beside)
            assert restarts == [NEW]
            assert (told.verdict.kind, told.verdict.duplicate_of) == ("near_duplicate", lost)
            assert await deduplicator.count() == 1 + lost

    asyncio.run(use())


def test_a_commit_to_a_server_that_lost_an_entry_since_the_look_is_refused(
    redis_of_dumps: RedisServer,
) -> None:
    async def use() -> None:
        async with fleet_of(redis_of_dumps.url) as fleet:
            await save_one(fleet, redis_of_dumps)
            await fleet.judge.judge(Page(2, lone_text(20)))
            look = await fleet.text_store.log.look()
            redis_of_dumps.kill()
            redis_of_dumps.start()
            answer = await fleet.answer(Page(9, NEAR), look)
            assert (answer.number, answer.near) == (None, None)
            assert await fleet.commit(Page(9, NEAR), await fleet.text_store.log.look()) == 1
            # Nor is what was refused once taken by the number of the refusal.
            refused = await fleet.answer(
                Page(10, PAGE), look._replace(compared=Compared(0, 0, b""))
            )
            assert refused.near is not None
            assert refused.near.ids.tolist() == [1]
            redis_of_dumps.kill()
            redis_of_dumps.start()
            assert await fleet.commit(Page(3, PAGE), await fleet.text_store.log.look()) == 1
            again = look._replace(compared=refused.compared)
            assert await fleet.commit(Page(10, changed(PAGE, 2)), again) is None

    asyncio.run(use())


def _judged_after_a_restart(server: RedisServer, texts: int) -> Verdict:
    """Start a server anew, keep so many texts by another judge; return the verdict on the last."""

    async def judged() -> Verdict:
        async with fleet_of(server.url) as fleet:
            for number in range(texts - 1):
                await fleet.judge.judge(Page(50 + number, lone_text(30 + number)))
            return await fleet.judge.judge(Page(60, PAGE))

    server.kill()
    server.start()
    # A loop runs in this thread already.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, judged()).result()


def test_replies_that_are_lost_change_nothing(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters, pages = 12, 8
    monkeypatch.setattr(waiting, "_MAX_WAIT_SECS", 0.01)
    monkeypatch.setattr(waiting, "_FIRST_WAIT_SECS", 0.01)

    async def use() -> None:
        async with cut(own_redis.port, random.Random(5)) as port, fleet_of(own_redis.url) as fleet:
            servers = [await _connected(f"redis://127.0.0.1:{port}/0") for _ in range(2)]
            judges = [await SharedJudge.opened(server, PARAMETERS) for server in servers]
            for cluster in range(clusters):
                texts = [changed(lone_text(cluster), number) for number in range(pages)]
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

"""What another program wrote in Redis: it is named, and costs no page of others."""

from __future__ import annotations

import pytest

from neardup.errors import ServerError
from neardup.names import Name
from neardup.storage.redis.head_format import limits_of, recorded
from neardup.storage.redis.kept_documents import RedisDocuments
from neardup.storage.redis.record_lists import RecordLists
from tests.neardup.storage.redis.fleet_of_judges import (
    NEAR,
    NEW,
    PAGE,
    PARAMETERS,
    Fleet,
    with_fleet,
)
from tests.neardup.storage.redis.judges import Page, document_of, owner_of

pytestmark = pytest.mark.slow

_PAYLOAD = b"payload of this!"
_LISTS = "test:l:0"


def test_a_text_that_could_not_be_kept_is_no_original(redis_url: str) -> None:
    async def use(fleet: Fleet) -> None:
        page = Page(1, PAGE, _PAYLOAD)
        look = await fleet.text_store.log.look()
        await fleet.server.run("SET", _LISTS, "of another program")
        with pytest.raises(ServerError, match=f"WRONGTYPE.* in {_LISTS} "):
            await fleet.judge.judge(page)
        record = recorded(owner_of(1), document_of(page, PARAMETERS), b'{"number": 1}')
        limits = limits_of(PARAMETERS)
        with pytest.raises(ServerError, match="WRONGTYPE"):
            await fleet.text_store.keep(record, look.compared, limits, bytes, keeps=False)
        await fleet.server.run("DEL", _LISTS)
        # Nothing is left by which the next text would be a copy of one that is not kept.
        assert await fleet.other.judge(Page(2, PAGE)) == NEW
        assert (await fleet.judge.judge(Page(3, NEAR))).duplicate_of == 2

    with_fleet(redis_url, use)


def test_a_list_of_payloads_of_another_program_is_left_aside(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(fleet: Fleet) -> None:
        place = RecordLists(fleet.server).place(ord("p"), int.from_bytes(_PAYLOAD[:2]))
        await fleet.server.run("HSET", place.key, place.field, "of another")
        assert await fleet.judge.find_payload(_PAYLOAD, 1) is None
        assert f"another program at {place.field.hex()}" in caplog.text

    with_fleet(redis_url, use)


def test_a_list_of_names_of_another_program_is_left_aside(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(fleet: Fleet) -> None:
        document = document_of(Page(1, PAGE, name=Name(heading="Widget")), PARAMETERS)
        head = recorded(owner_of(1), document, b"").head
        assert head.name_key is not None
        lists = RecordLists(fleet.server)
        place = lists.place(ord("n"), int.from_bytes(head.name_key[:2]))
        await fleet.server.run("HSET", place.key, place.field, "of another")
        assert len(await RedisDocuments(fleet.server, lists).namesakes(head)) == 0
        assert f"another program at {place.field.hex()}" in caplog.text

    with_fleet(redis_url, use)

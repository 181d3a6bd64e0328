"""What a deduplicator does that many processes share, on one server and on a cluster."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from neardup import Parameters, Verdict
from neardup.errors import DocumentError, ParameterError, ServerError
from neardup.fingerprints.digest import payload_digest
from neardup.names import name_of
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.neardup.storage.redis.judges import (
    PARAMETERS,
    Page,
    SharedJudge,
    document_of,
    owner_of,
    shared,
)
from tests.neardup.texts import NEAR, PAGE, changed, prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.storage.redis.server import Command

NEW = Verdict("new")


async def _cost(judge: SharedJudge, page: Page) -> Counter[str]:
    """Judge a page, and count round trips and commands by name."""
    server = judge.deduplicator._server
    pipeline, counts = server.pipeline, Counter[str]()

    async def counted(commands: Sequence[Command]) -> list[Any]:
        counts["round trips"] += bool(commands)
        counts.update(str(command[0]) for command in commands)
        return await pipeline(commands)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "pipeline", counted)
        await judge.judge(page)
    return counts


class TestShared:
    """What only those do that many share."""

    def test_prefixes_share_nothing(self, url: str) -> None:
        async def use() -> Verdict:
            async with shared(url) as first, shared(url) as second:
                await first.judge(Page(1, PAGE))
                return await second.judge(Page(1, PAGE))

        assert asyncio.run(use()) == NEW

    def test_texts_of_the_same_page_are_no_duplicates(self, url: str) -> None:
        async def use() -> None:
            async with shared(url) as judge:
                assert await judge.judge(Page(1, PAGE)) == NEW
                assert await judge.judge(Page(1, NEAR)) == NEW
                assert (await judge.judge(Page(2, PAGE))).duplicate_of == 1

        asyncio.run(use())

    def test_a_page_that_goes_on_being_kept_is_not_asked_about(self, url: str) -> None:
        async def use() -> None:
            async with shared(url) as judge:
                await judge.judge(Page(1, PAGE))
                for _ in range(2):
                    assert await judge.judge(Page(2, PAGE), keeps=True) == NEW
                    assert await judge.judge(Page(3, NEAR), keeps=True) == NEW
                assert await judge.deduplicator.count() == 3
                # The first that has it is named.
                assert (await judge.judge(Page(4, PAGE))).duplicate_of == 1
                assert await judge.judge(Page(2, PAGE)) == NEW

        asyncio.run(use())

    def test_a_kept_page_judged_again_resembles_what_was_kept_before_it(self, url: str) -> None:
        pages = [
            Page(number, changed(PAGE, number), name=name_of(PAGE, title=f"Lamp {number}"))
            for number in range(5)
        ]

        async def use() -> None:
            async with shared(url) as judge:
                told = [await judge.judge(page) for page in pages]
                assert [one.kind for one in told] == ["new", *["same_template"] * 4]
                assert [await judge.judge(page) for page in pages] == told
                # Kept, it is no duplicate by stricter parameters either.
                judge.deduplicator.tune(Parameters(compare_names=False))
                assert [await judge.judge(page) for page in pages] == [NEW] * 5
                assert await judge.deduplicator.count() == 5

        asyncio.run(use())

    def test_a_copy_behind_nearer_siblings_is_found_and_few_texts_are_read(
        self, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.candidates.MAX_CANDIDATES", 5)

        def page(number: int, lamp: int) -> Page:
            text = changed(PAGE, number, 1 if number else 3)
            return Page(number, text, name=name_of(PAGE, title=f"Lamp {lamp} | Shop"))

        async def use() -> list[Counter[str]]:
            async with shared(redis_url) as judge:
                for number in range(30):
                    await judge.judge(page(number, number))
                costs = [await _cost(judge, page(30, 30))]
                for number in range(31, 90):
                    await judge.judge(page(number, number))
                costs.append(await _cost(judge, page(90, 90)))
                # All others are nearer to it than the page of its name.
                copy = await judge.judge(page(91, 0))
                assert (copy.kind, copy.duplicate_of) == ("near_duplicate", 0)
                return costs

        for cost in asyncio.run(use()):
            assert cost["round trips"] <= 9
            # Of 30 and of 90 siblings: texts of the nearest, and the head of the last.
            assert cost["GET"] <= 8
            assert cost["GETRANGE"] == 1

    def test_a_copy_is_found_by_its_name_where_lists_are_full(
        self, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.storage.redis.text_store.MAX_CANDIDATES", 5)
        monkeypatch.setattr("neardup.storage.redis.record_lists.MAX_LIST", 10)
        monkeypatch.setattr("neardup.storage.redis.record_lists.MAX_READ_PARTS", 0)
        monkeypatch.setattr("neardup.storage.redis.record_lists.MAX_PART", 1)

        def page(number: int, lamp: int) -> Page:
            name = name_of(PAGE, title=f"Lamp {lamp} | Shop")
            return Page(number, changed(PAGE, number), name=name)

        async def use() -> None:
            async with shared(redis_url) as judge:
                for number in range(40):
                    assert not (await judge.judge(page(number, number))).is_duplicate
                copy = await judge.judge(page(40, 39))
                assert (copy.kind, copy.duplicate_of) == ("near_duplicate", 39)

        asyncio.run(use())

    def test_copies_are_found_in_all_parts_of_full_lists(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.storage.redis.record_lists.MAX_LIST", 4)
        monkeypatch.setattr("neardup.storage.redis.record_lists.MAX_PART", 3)
        # The pages have most bands in common, and are too different to be one.
        pages = [Page(number, f"{prose(1, 150)} {prose(100 + number, 60)}") for number in range(12)]

        async def use() -> None:
            async with shared(url) as judge:
                for page in pages:
                    assert not (await judge.judge(page)).is_duplicate
                for number, page in enumerate(pages):
                    copy = await judge.judge(Page(100 + number, f"{page.text} More."))
                    assert (copy.kind, copy.duplicate_of) == ("near_duplicate", number)

        asyncio.run(use())

    def test_what_is_kept_is_told_whole(self, url: str) -> None:
        async def use() -> None:
            async with shared(url) as judge:
                pages = [Page(n, prose(n, 40 + n), payload_digest(b"%d" % n)) for n in range(200)]
                for page in [*pages, *pages]:
                    await judge.judge(page)
                kept = [stored async for stored in judge.deduplicator.kept()]
                assert [stored.original.number for stored in kept] == list(range(200))
                assert await judge.deduplicator.count() == 200
                for page, stored in zip(pages, kept, strict=True):
                    document = document_of(page, PARAMETERS)
                    assert stored.original.owner == owner_of(page.number)
                    assert stored.original.text_digest == document.digest
                    assert stored.text == page.text

        asyncio.run(use())

    def test_the_bytes_of_a_file_belong_to_the_first_that_asks(self, url: str) -> None:
        async def use() -> None:
            async with shared(url) as judge:
                digest, claim = payload_digest(b"file"), judge.deduplicator.claim_payload
                assert await claim(digest, owner_of(1), b"first") is None
                assert await claim(digest, owner_of(1), b"again") is None
                found = await claim(digest, owner_of(2), b"second")
                assert found is not None
                assert found.original is not None
                assert (found.original.owner, found.original.about) == (owner_of(1), b"first")
                assert found.verdict == Verdict("exact_duplicate", -1, 0, 1.0, "payload")

        asyncio.run(use())

    def test_other_fingerprints_are_refused_with_both_named(self, url: str) -> None:
        async def use() -> None:
            async with shared(url, prefix="one"), shared(url, prefix="one"):
                pass
            other = Parameters(verify=False)
            with pytest.raises(ServerError, match="features word-1-log_count, got word-3-set"):
                async with shared(url, other, prefix="one"):
                    pass
            with pytest.raises(ServerError, match="blocks 4, got 5"):
                async with shared(url, prefix="one", blocks=5):
                    pass

        asyncio.run(use())

    def test_parameters_can_be_tuned_but_not_what_fingerprints_are_of(self, redis_url: str) -> None:
        async def use() -> None:
            async with shared(redis_url) as judge:
                await judge.judge(Page(1, PAGE))
                judge.deduplicator.tune(Parameters(min_similarity=1.0))
                assert await judge.judge(Page(2, NEAR)) == NEW
                with pytest.raises(ParameterError, match="verify_shingle_size must stay 5"):
                    judge.deduplicator.tune(Parameters(verify_shingle_size=3))

        asyncio.run(use())

    def test_a_text_has_postings_by_bands_where_similarity_confirms(self, redis_url: str) -> None:
        async def bands(parameters: Parameters) -> int:
            prefix = str(uuid.uuid4())
            async with shared(redis_url, parameters, prefix) as judge:
                # As of a document that was stored before there were signatures.
                document = replace(document_of(Page(1, PAGE), parameters), signature=None)
                await judge.deduplicator.judge(owner_of(1), document, b"{}")
                server = judge.deduplicator._server
                fields = await server.run("HKEYS", f"{prefix}:l:0")
                return sum(field[0] < 16 for field in fields)

        assert asyncio.run(bands(PARAMETERS)) == 16
        assert asyncio.run(bands(Parameters(verify=False))) == 0

    def test_what_cannot_be_judged(self, redis_url: str) -> None:
        async def use() -> None:
            async with shared(redis_url) as judge:
                with pytest.raises(DocumentError, match="16 bytes, got 3"):
                    await judge.deduplicator.judge(
                        b"key", document_of(Page(1, PAGE), PARAMETERS), b""
                    )
                server = judge.deduplicator._server
                with pytest.raises(ParameterError, match=r"blocks must be 3\.\.6, got 9"):
                    SharedDeduplicator(server, PARAMETERS, blocks=9)

        asyncio.run(use())

"""The same contract for every deduplicator: of this process, on disk, shared, on a cluster."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, Verdict
from neardup.errors import DocumentError, ParameterError, ServerError
from neardup.fingerprints.digest import payload_digest
from neardup.names import NO_NAME, Name, name_of
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.neardup.storage.redis.judges import LocalJudge, Page, SharedJudge, document_of, owner_of
from tests.neardup.texts import FAR, NEAR, PAGE, SHORT, changed, prose

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from neardup.storage.redis.server import Command
    from tests.neardup.storage.redis.judges import Judge

Result = TypeVar("Result")

PARAMETERS = Parameters()
NEW = Verdict("new")
TOO_SHORT = Verdict("too_short")


@asynccontextmanager
async def shared(
    url: str, parameters: Parameters = PARAMETERS, prefix: str | None = None, blocks: int = 4
) -> AsyncIterator[SharedJudge]:
    server = await connect(url, f"{prefix or uuid.uuid4()}:")
    try:
        yield await SharedJudge.opened(server, parameters, blocks)
    finally:
        await server.close()


class Backend(Protocol):
    """Runs something with a judge that has kept nothing yet."""

    def __call__(
        self, parameters: Parameters, use: Callable[[Judge], Awaitable[Result]]
    ) -> Result: ...


@pytest.fixture(params=["memory", "sqlite", "redis_url", "cluster_url"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """Run something with a judge that has kept nothing yet."""
    url = request.getfixturevalue(request.param) if request.param.endswith("url") else None

    def local(parameters: Parameters, use: Callable[[Judge], Awaitable[Result]]) -> Result:
        path = None if request.param == "memory" else tmp_path_factory.mktemp("texts")
        with Deduplicator(parameters, path) as deduplicator:
            return asyncio.run(_awaited(use(LocalJudge(deduplicator))))

    def remote(parameters: Parameters, use: Callable[[Judge], Awaitable[Result]]) -> Result:
        async def used() -> Result:
            async with shared(str(url), parameters) as judge:
                return await use(judge)

        return asyncio.run(used())

    return local if url is None else remote


async def _awaited(result: Awaitable[Result]) -> Result:
    return await result


TEXTS = st.one_of(
    st.sampled_from(["", "☃", "short", "Short "]),
    st.builds(
        changed,
        st.builds(prose, st.integers(0, 2), st.sampled_from([25, 300])),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
)
PAYLOADS = st.one_of(st.none(), st.sampled_from([payload_digest(b) for b in (b"a", b"b", b"")]))
NAMES = st.sampled_from([NO_NAME, Name(title="Red lamp"), Name(title="Blue lamp")])
ANY_PARAMETERS = st.builds(
    Parameters,
    max_distance=st.sampled_from([0, 2, 3]),
    min_words=st.sampled_from([1, 30]),
    verify=st.booleans(),
    min_similarity=st.sampled_from([0.3, 0.8]),
)


class TestContract:
    """What every deduplicator does."""

    def _judged(
        self, backend: Backend, *pages: Page, parameters: Parameters = PARAMETERS
    ) -> list[Verdict]:
        async def use(judge: Judge) -> list[Verdict]:
            return [await judge.judge(page) for page in pages]

        return backend(parameters, use)

    def test_verdicts_name_the_kept_page(self, backend: Backend) -> None:
        near, far, equal, short, again, empty = self._judged(
            backend,
            Page(1, PAGE), Page(2, NEAR), Page(3, FAR), Page(4, PAGE.upper()), Page(5, SHORT),
            Page(6, SHORT), Page(7, " "),
        )[1:]  # fmt: skip
        assert (near.kind, near.duplicate_of, near.tier) == ("near_duplicate", 1, "simhash")
        assert near.similarity is not None
        assert near.similarity > 0.9
        assert far == NEW
        assert equal == Verdict("text_duplicate", 1, 0, 1.0, "text")
        assert short == TOO_SHORT
        assert again == Verdict("text_duplicate", 5, 0, 1.0, "text")
        assert empty == TOO_SHORT

    def test_a_page_judged_again_gets_its_verdict_again(self, backend: Backend) -> None:
        pages = [Page(1, PAGE), Page(2, NEAR), Page(3, SHORT)]
        verdicts = self._judged(backend, *pages, *pages)
        assert verdicts[:3] == verdicts[3:]

    def test_equal_bytes_are_told_before_the_text(self, backend: Backend) -> None:
        digest = payload_digest(b"body")

        async def use(judge: Judge) -> tuple[Verdict | None, ...]:
            return (
                await judge.find_payload(digest, 1),
                await judge.judge(Page(1, PAGE, digest)),
                await judge.find_payload(digest, 1),
                await judge.find_payload(digest, 2),
                await judge.judge(Page(2, FAR, digest)),
            )

        exact = Verdict("exact_duplicate", 1, 0, 1.0, "payload")
        assert backend(PARAMETERS, use) == (None, NEW, None, exact, exact)

    def test_what_a_budget_leaves_out_is_told(
        self, backend: Backend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.candidates.MAX_CHARACTERS", 0)
        words = PAGE.split()
        sentences = [words[at : at + 10] for at in range(0, len(words), 10)]
        source = random.Random(1)
        texts = [
            " ".join(" ".join(one) for one in source.sample(sentences, len(sentences)))
            for _ in range(4)
        ]
        pages = [Page(number, text) for number, text in enumerate(texts)]
        told = self._judged(backend, *pages, parameters=Parameters())
        # All have the fingerprint of the same words.
        assert told == [Verdict("new", left_out=number) for number in range(4)]

    def test_a_near_text_of_another_name_is_kept_and_names_what_it_resembles(
        self, backend: Backend
    ) -> None:
        red, blue = name_of(PAGE, title="Red lamp"), name_of(PAGE, title="Blue lamp")
        first, other, copy, unnamed = self._judged(
            backend, Page(1, PAGE, name=red), Page(2, NEAR, name=blue),
            Page(3, changed(PAGE, 9), name=blue), Page(4, changed(PAGE, 8)),
        )  # fmt: skip
        assert first == NEW
        assert (other.kind, other.duplicate_of, other.resembles) == ("same_template", None, 1)
        assert other.distance is not None
        assert other.similarity is not None
        assert other.similarity > 0.9
        assert (copy.kind, copy.duplicate_of, copy.resembles) == ("near_duplicate", 2, None)
        assert unnamed.kind == "near_duplicate"

    def test_names_count_only_where_they_are_compared(self, backend: Backend) -> None:
        pages = [Page(n, changed(PAGE, n), name=name_of(PAGE, title=f"Lamp {n}")) for n in range(2)]
        told = self._judged(backend, *pages, parameters=Parameters(compare_names=False))
        assert [verdict.kind for verdict in told] == ["new", "near_duplicate"]

    def test_no_bytes_tell_nothing(self, backend: Backend) -> None:
        digest = payload_digest(b"")

        async def use(judge: Judge) -> tuple[Verdict | None, ...]:
            return (
                await judge.judge(Page(1, PAGE, digest)),
                await judge.find_payload(digest, 2),
                await judge.judge(Page(2, FAR, digest)),
            )

        assert backend(PARAMETERS, use) == (NEW, None, NEW)

    @given(
        parameters=ANY_PARAMETERS,
        texts=st.lists(st.tuples(st.integers(0, 12), TEXTS, PAYLOADS, NAMES), max_size=12),
    )
    @settings(
        max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_verdicts_are_those_of_memory(
        self,
        backend: Backend,
        parameters: Parameters,
        texts: list[tuple[int, str, bytes | None, Name]],
    ) -> None:
        # A number stands for one text.
        pages = {said[0]: Page(*said) for said in texts}
        order = [pages[number] for number, *_ in texts]
        with Deduplicator(parameters) as oracle:
            judge = LocalJudge(oracle)
            expected = [asyncio.run(judge.judge(page)) for page in order]
        told = self._judged(backend, *order, parameters=parameters)
        judged: set[int] = set()
        for page, one, other in zip(order, told, expected, strict=True):
            # Of a kept text that is judged again, Redis tells what it resembles, too.
            is_told_more = one.kind == "same_template" and page.number in judged
            assert one == other or (is_told_more and other == NEW)
            judged.add(page.number)


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

    def test_processes_see_each_others_pages(self, url: str) -> None:
        async def use() -> Verdict:
            async with shared(url, prefix="one") as first, shared(url, prefix="one") as second:
                await first.judge(Page(1, PAGE))
                return await second.judge(Page(2, NEAR))

        assert asyncio.run(use()).duplicate_of == 1

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
        monkeypatch.setattr("neardup.storage.redis.shelf.MAX_CANDIDATES", 5)
        monkeypatch.setattr("neardup.storage.redis.postings.MAX_LIST", 10)
        monkeypatch.setattr("neardup.storage.redis.postings.MAX_READ_PARTS", 0)
        monkeypatch.setattr("neardup.storage.redis.postings.MAX_PART", 1)

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
        monkeypatch.setattr("neardup.storage.redis.postings.MAX_LIST", 4)
        monkeypatch.setattr("neardup.storage.redis.postings.MAX_PART", 3)
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
                    assert (stored.text, stored.payload) == (page.text, page.payload)
                    assert (stored.words, stored.fingerprint) == (
                        document.words,
                        document.fingerprint,
                    )

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
                return len(await server.run("KEYS", f"{prefix}:s*"))

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

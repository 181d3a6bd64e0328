"""The same contract for every deduplicator: of this process, on disk, shared, on a cluster."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, Verdict
from neardup.fingerprints.digest import payload_digest
from neardup.names import NO_NAME, Name, name_of
from tests.neardup.storage.redis.judges import (
    PARAMETERS,
    LocalJudge,
    Page,
    shared,
)
from tests.neardup.text_strategies import near_texts
from tests.neardup.texts import FAR, NEAR, PAGE, SHORT, changed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.neardup.storage.redis.judges import Judge

Result = TypeVar("Result")

NEW = Verdict("new")
TOO_SHORT = Verdict("too_short")


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
        texts=st.lists(st.tuples(st.integers(0, 12), near_texts, PAYLOADS, NAMES), max_size=12),
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

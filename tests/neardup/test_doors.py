"""Every door that judges texts one by one, and the compiled loops, decide as the cascade does.

``batch/test_deciding.py`` holds the SQL of a batch to the same.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from neardup import Deduplicator, Parameters, Verdict, analyse
from neardup.evaluation.judging import bounds_of, judge_all
from neardup.evaluation.near_arrays import LAYERS
from neardup.names import unpacked
from tests.neardup.evaluation.near import Crawl
from tests.neardup.judged_crawls import by_cascade, crawls, is_same, parameters_of_verdicts
from tests.neardup.storage.redis.judges import Page, shared
from tests.neardup.verdicts import without_parts

if TYPE_CHECKING:
    from collections.abc import Callable


def in_memory(parameters: Parameters, crawl: list[Page]) -> list[Verdict]:
    with Deduplicator(parameters) as deduplicator:
        return _judged(deduplicator, crawl)


def in_sqlite(parameters: Parameters, crawl: list[Page]) -> list[Verdict]:
    with tempfile.TemporaryDirectory() as path, Deduplicator(parameters, path) as deduplicator:
        return _judged(deduplicator, crawl)


def _judged(deduplicator: Deduplicator, crawl: list[Page]) -> list[Verdict]:
    return [
        without_parts(
            deduplicator.judge_document(
                page.number,
                replace(analyse(page.text, deduplicator.parameters), payload=page.payload),
            )
        )
        for page in crawl
    ]


def in_redis(url: str) -> Callable[[Parameters, list[Page]], list[Verdict]]:
    async def judged(parameters: Parameters, crawl: list[Page]) -> list[Verdict]:
        async with shared(url, parameters) as judge:
            return [await judge.judge(page) for page in crawl]

    return lambda parameters, crawl: asyncio.run(judged(parameters, crawl))


def in_compiled_loops(parameters: Parameters, crawl: list[Page]) -> list[Verdict]:
    names = [unpacked(analyse(page.text, parameters).name) for page in crawl]
    lists = Crawl([page.text for page in crawl], names=names)
    payloads: dict[bytes | None, int] = {None: -1}
    numbers = [payloads.setdefault(page.payload, len(payloads)) for page in crawl]
    words = [analyse(page.text, parameters).words for page in crawl]
    columns = lists.columns._replace(
        payloads=np.array(numbers, np.int32) - (np.array(numbers) > 0).astype(np.int32),
        words=np.array(words, np.int32),
    )
    found = judge_all(columns, lists.near(), bounds_of(parameters))
    rows = zip(
        found.original,
        found.distance,
        found.similarity,
        found.layer,
        found.resembles,
        strict=True,
    )
    kinds = {
        "payload": "exact_duplicate",
        "text": "text_duplicate",
        "simhash": "near_duplicate",
        "candidate": "near_duplicate",
    }
    verdicts = []
    for original, distance, similarity, number, resembled in rows:
        layer = LAYERS[number]
        is_measured = parameters.verify or layer in {"payload", "text"}
        if resembled >= 0:
            measured = float(similarity) if is_measured else None
            verdicts.append(
                Verdict(
                    layer,
                    distance=int(distance),
                    similarity=measured,
                    resembles=int(resembled),
                )
            )
            continue
        if original < 0:
            verdicts.append(Verdict(layer))
            continue
        verdicts.append(
            Verdict(
                kinds[layer],
                int(original),
                int(distance),
                float(similarity) if is_measured else None,
                layer,
            )
        )
    return verdicts


@pytest.fixture(params=["memory", "sqlite", "redis", "compiled loops"])
def door(request: pytest.FixtureRequest) -> Callable[[Parameters, list[Page]], list[Verdict]]:
    """Judge the pages of a crawl, one after the other."""
    if request.param == "redis":
        return in_redis(request.getfixturevalue("redis_url"))
    return {"memory": in_memory, "sqlite": in_sqlite, "compiled loops": in_compiled_loops}[
        request.param
    ]


class TestDoorsProperties:
    @settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(parameters=parameters_of_verdicts, crawl=crawls)
    def test_each_decides_as_the_cascade_does(
        self,
        door: Callable[[Parameters, list[Page]], list[Verdict]],
        parameters: Parameters,
        crawl: list[Page],
    ) -> None:
        expected = by_cascade(parameters, crawl)
        for page, found, wanted in zip(crawl, door(parameters, crawl), expected, strict=True):
            assert is_same(found, wanted), (page, found, wanted)

"""The shared index of kept texts: what a question and a text cost its Redis and its clients.

    python benchmarks/fleet.py [--sizes 1e5 1e6] [--clients 1 4] [--secs 5] [--json] [--write]

Starts a Redis of its own, on 127.0.0.1, fills it with lists of random fingerprints and bands and
asks it from several processes; 1e7 take 4 GB. Since these share the machine with it, both are told
in CPU time: what a server could do that has a core for itself, and how many cores of clients that
keeps busy. Nothing is written unless --write is given.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measuring import table, write

from neardup import Document, Parameters
from neardup.indexes.banding import CANDIDATE_SIGNATURE_BYTES
from neardup.storage.redis.commit_log import CommitLog
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.postings import (
    BAND_RECORD_BYTES,
    SKETCH_BYTES,
    RedisBands,
    RedisPostings,
    near,
    sharing,
)
from neardup.storage.redis.record_lists import RECORD_BYTES, RecordLists
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.servers.redis import redis_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import redis

    from neardup.storage.redis.server import Server
    from tests.servers.redis import RedisServer

PREFIX = "bench:"
DEEDS = (
    "insert",
    "query within 3 bits",
    "query within 8 bits",
    "query by bands",
    "judge a new text",
    "judge a near-duplicate",
)
HOW = (
    "Redis and its clients on the same cores, so that less is done a second than apart; "
    "a text of 200 words that is like no other, its fingerprint and its signature made before."
)
_AT_ONCE = 8
_BATCH = 200
_WORDS = 200
_COPIED = 64
_LISTS, _FIRST_BLOCK = 1 << 16, 0x20


@dataclass(frozen=True)
class Task:
    """What one client does."""

    url: str
    deed: str
    seed: int
    secs: float
    count: int = 0
    """So many, without a limit of time, where it is not 0."""


def fingerprints(seed: int) -> random.Random:
    """A source of fingerprints; those of two seeds have none in common."""
    return random.Random(seed)


async def insert(server: Server, source: random.Random) -> int:
    """Add a batch of fingerprints and bands."""
    lists = RecordLists(server)
    postings, bands = RedisPostings(lists), RedisBands(lists)
    calls = []
    for _ in range(_BATCH):
        number = source.getrandbits(39)
        additions = postings.additions(source.getrandbits(64), number)
        additions += bands.additions(source.randbytes(SKETCH_BYTES), number)
        calls += lists.calls(additions)
    await server.pipeline(calls)
    return _BATCH


def questioning(server: Server, radius: int) -> Callable[[Server, random.Random], Awaitable[int]]:
    """A deed that asks for one fingerprint, as a judgement does; radius -1: for bands."""
    log, lists = CommitLog(server, lambda: None), RecordLists(server)
    postings, bands = RedisPostings(lists), RedisBands(lists)

    async def query(_server: Server, source: random.Random) -> int:
        if radius < 0:
            sketch = source.randbytes(SKETCH_BYTES)
            _, stored = await log.look_and_ask(bands.questions(sketch))
            sharing(stored, sketch)
        else:
            fingerprint = source.getrandbits(64)
            _, stored = await log.look_and_ask(postings.questions(fingerprint, radius))
            near(stored, fingerprint, radius)
        return 1

    return query


def judging(
    server: Server, *, copies: bool = False
) -> Callable[[Server, random.Random], Awaitable[int]]:
    """A deed that judges one text that is like no other, or that repeats one of some."""
    deduplicator = SharedDeduplicator(server, Parameters())
    text = " ".join(f"word{number}" for number in range(_WORDS))

    def made(source: random.Random) -> Document:
        # What a text is made of is measured elsewhere.
        digest, fingerprint = source.randbytes(16), source.getrandbits(64)
        signature = source.randbytes(CANDIDATE_SIGNATURE_BYTES)
        said = f"{text} {digest.hex()}"
        return Document(_WORDS, digest, fingerprint, said, digest, signature=signature)

    kept: list[Document] = []

    async def judge(_: Server, source: random.Random) -> int:
        document = made(source)
        if copies and len(kept) >= _COPIED:
            # The same words under another digest, as of another spelling.
            original = kept[source.randrange(_COPIED)]
            document = replace(original, digest=document.digest, payload=document.payload)
        await deduplicator.judge(source.randbytes(16), document, b"{}")
        kept.append(document)
        return 1

    return judge


def deed_of(name: str, server: Server) -> Callable[[Server, random.Random], Awaitable[int]]:
    """The deed of a name."""
    questions = (questioning(server, radius) for radius in (3, 8, -1))
    deeds = (insert, *questions, judging(server), judging(server, copies=True))
    return dict(zip(DEEDS, deeds, strict=True))[name]


async def _work(task: Task) -> tuple[int, float]:
    server = await connect(task.url, PREFIX)
    deed, source, done = deed_of(task.deed, server), fingerprints(task.seed), 0
    await deed(server, source)
    started, ends = time.process_time(), time.monotonic() + task.secs

    async def worker() -> None:
        nonlocal done
        while done < task.count if task.count else time.monotonic() < ends:
            # In two steps: what is read before an await is old after it.
            more = await deed(server, source)
            done += more

    await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))
    spent = time.process_time() - started
    await server.close()
    return done, spent


def work(task: Task) -> tuple[int, float]:
    """Do a task in this process; how often it was done, and CPU seconds."""
    return asyncio.run(_work(task))


def measured(
    server: RedisServer, deed: str, clients: int, secs: float, seed: int
) -> dict[str, float]:
    """What a deed costs, done by so many processes at once."""
    tasks = [Task(server.url, deed, seed + number, secs) for number in range(clients)]
    with server.client() as client, multiprocessing.get_context("spawn").Pool(clients) as pool:
        pool.map(work, [Task(server.url, deed, seed + 500 + n, 0) for n in range(clients)])
        before, started = _spent(client), time.monotonic()
        found = pool.map(work, tasks, chunksize=1)
        passed, after = time.monotonic() - started, _spent(client)
    done = sum(count for count, _ in found)
    return {
        "a second": done / passed,
        "CPU us, server": 1e6 * (after[0] - before[0]) / done,
        "commands": (after[1] - before[1]) / done,
        "CPU us, client": 1e6 * sum(cpu for _, cpu in found) / done,
    }


def _spent(client: redis.Redis) -> tuple[float, int]:
    """CPU seconds of the server, and commands that it did, those in scripts too."""
    about = client.info("everything")
    cpu_secs = float(about["used_cpu_user"]) + float(about["used_cpu_sys"])
    return cpu_secs, int(about["total_commands_processed"])


def fill(server: RedisServer, count: int) -> None:
    """Write the lists of random fingerprints and signatures, as inserts would leave them."""
    source = np.random.default_rng(count)
    kinds = dict.fromkeys(range(16), BAND_RECORD_BYTES)
    kinds |= dict.fromkeys(range(_FIRST_BLOCK, _FIRST_BLOCK + 4), RECORD_BYTES)
    with server.client() as client:
        for kind, record_bytes in kinds.items():
            pipeline = client.pipeline(transaction=False)
            for first in range(0, _LISTS, 128):
                if lists := _lists(source, count, kind, first, record_bytes):
                    pipeline.execute_command("HSET", f"{PREFIX}l:0", *lists)
                if first % 8192 == 0:
                    pipeline.execute()
            pipeline.execute()


def _lists(
    source: np.random.Generator, count: int, kind: int, first: int, record_bytes: int
) -> list[bytes | memoryview]:
    """128 lists: the field of each, and its records."""
    ends = np.cumsum(source.poisson(count / _LISTS, 128))
    packed = memoryview(source.bytes(int(ends[-1]) * record_bytes))
    found: list[bytes | memoryview] = []
    start = 0
    for value, end in enumerate((ends * record_bytes).tolist(), first):
        if end > start:
            found += (bytes((kind,)) + value.to_bytes(3), packed[start:end])
        start = end
    return found


def held_bytes(server: RedisServer) -> int:
    """Memory of the server."""
    with server.client() as client:
        return int(client.info("memory")["used_memory"])


def measure(sizes: list[int], clients: list[int], secs: float) -> dict[int, dict[str, object]]:
    """All figures by size."""
    found: dict[int, dict[str, object]] = {}
    with redis_server("--appendonly", "no") as server:
        empty = held_bytes(server)
        for size in sizes:
            with server.client() as client:
                client.flushall()
            fill(server, size)
            memory = (held_bytes(server) - empty) / size
            rows = {
                f"{deed}, {count} process{'es' * (count > 1)}": measured(
                    server, deed, count, secs, 1_000_000 * size + 1000 * count
                )
                for deed in DEEDS
                for count in clients
            }
            found[size] = {"bytes a text": memory, "rows": rows}
            print(f"{size:,}: {found[size]}", file=sys.stderr)
    return found


def tables(found: dict[int, dict[str, object]]) -> list[str]:
    """The figures as Markdown."""
    parts = []
    for size, figures in found.items():
        rows = figures["rows"]
        assert isinstance(rows, dict)
        parts += [
            f"**{size:,} random fingerprints**, {figures['bytes a text']:.0f} bytes each in "
            "Redis (in 4 lists, and as many random signatures in 16; texts apart)",
            table(rows, "of fingerprints and texts"),
        ]
    return parts


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e5, 1e6])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--secs", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md")
    arguments = parser.parse_args()
    found = measure(sorted(map(int, arguments.sizes)), arguments.clients, arguments.secs)
    print(json.dumps(found) if arguments.json else "\n\n".join(tables(found)))
    if arguments.write:
        write("fleet.py", tables(found), how=HOW)


if __name__ == "__main__":
    main()

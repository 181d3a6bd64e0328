"""The frontier of a fleet on a Redis Cluster: what a page costs its nodes, by the number of parts.

    python benchmarks/fleet_shards.py [--shards N ...] [--hosts N ...] [--workers N] [--pages N]
                                      [--repeat N]

Starts a cluster of three nodes on 127.0.0.1 and crawls made pages of many hosts by workers of one
process, without any download or text: each finishes four pages at a time, and finds on each of
them a new link and four old ones, all to hosts at random. All numbers of parts take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from crawler.frontier.redis.shared_frontier import RedisFrontier
from crawler.frontier.request_records import QueuedLink
from neardup.storage.redis.connecting import connect
from tests.servers.redis import redis_cluster

if TYPE_CHECKING:
    from crawler.frontier.request_records import Leased
    from tests.servers.redis import RedisServer

OLD_LINKS = 4
BATCH = 4
LEASED = 64
WAIT_SECS = 0.02


@dataclass(frozen=True)
class Usage:
    """What a node has done so far."""

    cpu_secs: float
    commands: int
    scripts: int


def link(page: int, hosts: int) -> QueuedLink:
    """A link to a page; neighbours are of different hosts."""
    name = page % hosts
    host = int.from_bytes(hashlib.blake2b(b"%d" % name, digest_size=7).digest())
    key = hashlib.blake2b(b"page %d" % page, digest_size=16).digest()
    return QueuedLink(key, host, f"http://host{name}.example/{page}.html", 0, b"{}" * 20, 3)


def usage(nodes: list[RedisServer]) -> list[Usage]:
    """What all nodes have done."""
    found = []
    for node in nodes:
        with node.client() as client:
            about = client.info("everything")
        assert isinstance(about, dict)
        scripts = about.get("cmdstat_evalsha", {}).get("calls", 0)
        cpu_secs = about["used_cpu_user"] + about["used_cpu_sys"]
        found.append(Usage(cpu_secs, about["total_commands_processed"], scripts))
    return found


class MadeCrawl:
    """Workers that crawl until so many pages are done."""

    def __init__(self, hosts: int, workers: int, pages: int) -> None:
        self._hosts, self._workers, self._pages = hosts, workers, pages
        self._made, self.done = hosts, 0

    async def work(self, frontier: RedisFrontier, seed: int) -> None:
        """Lease pages, find links, finish the pages."""
        rng = random.Random(seed)
        held: list[Leased] = []
        while self.done < self._pages:
            if len(held) < LEASED // 2:
                counts = Counter(one.host for one in held)
                rooms = {host: LEASED // 2 - counts[host] for host in frontier.owned}
                share = -(-self._hosts // self._workers)
                held += await frontier.lease(LEASED - len(held), rooms, most_hosts=share)
            if not held:
                await asyncio.sleep(WAIT_SECS)
                continue
            ended, held = held[:BATCH], held[BATCH:]
            found = []
            for _ in ended:
                found.append(self._made)
                self._made += 1
                found += [rng.randrange(self._made) for _ in range(OLD_LINKS)]
            await frontier.push([link(page, self._hosts) for page in found])
            await frontier.finish(ended, [])
            self.done += len(ended)


async def measured(
    nodes: list[RedisServer], shards: int, hosts: int, arguments: argparse.Namespace, name: str
) -> list[float]:
    """Microseconds of all nodes a page, those of the busiest one, commands and scripts a page."""
    servers = [await connect(nodes[0].url, name) for _ in range(arguments.workers)]
    try:
        frontiers = [
            RedisFrontier(server, f"worker {number}", shards=shards)
            for number, server in enumerate(servers)
        ]
        for frontier in frontiers:
            await frontier.open("a plan", {})
        await frontiers[0].push([link(page, hosts) for page in range(hosts)])
        crawl, before = MadeCrawl(hosts, arguments.workers, arguments.pages), usage(nodes)
        await asyncio.gather(*map(crawl.work, frontiers, range(len(frontiers))))
        spent = list(zip(before, usage(nodes), strict=True))
    finally:
        for server in servers:
            await server.close()
    micros = [1e6 * (after.cpu_secs - then.cpu_secs) for then, after in spent]
    commands = sum(after.commands - then.commands for then, after in spent)
    scripts = sum(after.scripts - then.scripts for then, after in spent)
    return [each / crawl.done for each in (sum(micros), max(micros), commands, scripts)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--shards", type=int, nargs="+", default=[16, 8, 4], metavar="N")
    parser.add_argument("--hosts", type=int, nargs="+", default=[64, 1_000], metavar="N")
    parser.add_argument("--workers", type=int, default=4, metavar="N", help="default 4")
    parser.add_argument("--pages", type=int, default=4_000, metavar="N", help="default 4,000")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="default 3")
    arguments = parser.parse_args()
    kinds = [(hosts, shards) for hosts in arguments.hosts for shards in arguments.shards]
    found: dict[tuple[int, int], list[list[float]]] = {kind: [] for kind in kinds}
    with redis_cluster() as nodes:
        for turn in range(arguments.repeat):
            for hosts, shards in kinds:
                name = f"{turn}:{hosts}:{shards}:"
                run = asyncio.run(measured(nodes, shards, hosts, arguments, name))
                found[hosts, shards].append(run)
    print("| hosts | parts | us a page | of the busiest node | commands | scripts |")
    print("|--:|--:|--:|--:|--:|--:|")
    for (hosts, shards), runs in found.items():
        micros, busiest, commands, scripts = map(median, zip(*runs, strict=True))
        row = f"{micros:.0f} | {busiest:.0f} | {commands:.1f} | {scripts:.1f} |"
        print(f"| {hosts:,} | {shards} | {row}")


if __name__ == "__main__":
    main()

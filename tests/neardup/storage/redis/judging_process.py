"""A process that judges its share of the pages of some clusters; prints a line for each verdict.

Run with: URL, number of this process, number of processes, clusters, pages of a cluster.
"""

import asyncio
import json
import sys

from neardup import Parameters
from neardup.storage.redis.connecting import connect
from tests.neardup.storage.redis.judges import Page, SharedJudge
from tests.neardup.texts import changed

PREFIX = "test:"
PARAMETERS = Parameters()
_AT_ONCE = 4


def page_of(cluster: int, number: int) -> Page:
    """A page of a cluster: all of them are near each other, and to no page of another cluster."""
    text = " ".join(f"word{cluster}x{place}" for place in range(300))
    return Page(1000 * cluster + number, changed(text, number) if number else text)


async def main(url: str, process: int, processes: int, clusters: int, pages: int) -> None:
    """Judge the clusters in the same order as all other processes, so that they meet."""
    server = await connect(url, PREFIX)
    judge = await SharedJudge.opened(server, PARAMETERS)
    free = asyncio.Semaphore(_AT_ONCE)

    async def judged(page: Page) -> None:
        async with free:
            verdict = await judge.judge(page)
            print(json.dumps([page.number, verdict.duplicate_of]), flush=True)

    shares = [number for number in range(pages) if number % processes == process]
    async with asyncio.TaskGroup() as group:
        for cluster in range(clusters):
            for number in shares:
                group.create_task(judged(page_of(cluster, number)))
    print("through", flush=True)
    await server.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))

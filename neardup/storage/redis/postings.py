"""Which kept texts have a fingerprint near this one?"""

from collections.abc import Sequence

import numpy as np

from neardup.indexes.match import Match
from neardup.storage.redis.cutting import Cutting
from neardup.storage.redis.lists import append, unpack
from neardup.storage.redis.script import Call
from neardup.storage.redis.server import Command, Server

LONGEST_LIST = 4096
"""Fingerprints that share the value of a block; further ones are found by their other blocks, and
one of which all blocks are so common is not found: at worst a duplicate is kept."""


class RedisPostings:
    """Block values to the fingerprints that have them, spread by key over a cluster.

    Keys:
        ``b<block>:<bucket>``: a hash, a value of the block to a list of fingerprints, each with the
        number of its text.

    Args:
        server: Where they are.
        blocks: That a fingerprint is cut into, 3 to 6; the same for all who share it.

    Raises:
        ParameterError: Another number of blocks.
    """

    def __init__(self, server: Server, *, blocks: int = 4) -> None:
        self._server = server
        self._cutting = Cutting(blocks)

    async def add(self, fingerprint: int, number: int) -> None:
        """Hold a fingerprint; does no harm when it is held already."""
        await self._server.pipeline(self.additions(fingerprint, number))

    async def query(self, fingerprint: int, radius: int) -> list[Match]:
        """Find the fingerprints within the radius, nearest first, then by number.

        Complete but for lists that are longer than ``LONGEST_LIST``.

        Complexity: O(lists asked for + fingerprints in them); one round trip.
        """
        replies = await self._server.pipeline(self.questions(fingerprint, radius))
        return matches(replies, fingerprint, radius)

    def additions(self, fingerprint: int, number: int) -> list[Call]:
        """Return the calls that ``add`` makes."""
        return [
            append(self._key(place.block, place.bucket), place.field, fingerprint, number,
                   LONGEST_LIST)
            for place in self._cutting.places(fingerprint)
        ]  # fmt: skip

    def questions(self, fingerprint: int, radius: int) -> list[Command]:
        """Return the commands that ``query`` sends; ``matches`` reads their replies."""
        return [
            ("HMGET", self._key(block, bucket), *fields)
            for (block, bucket), fields in self._cutting.probes(fingerprint, radius).items()
        ]

    def _key(self, block: int, bucket: int) -> str:
        return f"{self._server.prefix}b{block}:{bucket:x}"


def matches(
    replies: Sequence[Sequence[bytes | None]], fingerprint: int, radius: int
) -> list[Match]:
    """Return what the replies hold within the radius, nearest first, then by number."""
    values, numbers = unpack([held for reply in replies for held in reply])
    distances = np.bitwise_count(values ^ np.uint64(fingerprint))
    near = np.flatnonzero(distances <= radius)
    # One that is near in several blocks is found in each.
    found = set(zip(distances[near].tolist(), numbers[near].tolist(), strict=True))
    return [Match(number, distance) for distance, number in sorted(found)]

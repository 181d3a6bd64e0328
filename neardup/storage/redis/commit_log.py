"""The log of commits: where it is decided, one after the other, which texts are kept.

Postings and digests are spread by key, over a cluster too, and no script may touch them all. So
that of two near-duplicates met at one moment exactly one is kept, each text takes its number here,
in one slot, and is written elsewhere afterwards:

1. ``look`` reads the *window*, the entries from ``low`` on, the oldest that is not written
   elsewhere yet. After that the sender asks for postings and digests. Whatever is below ``low`` was
   written before the question and is found by it; whatever is not is in the window.
2. The sender compares its text with all of these, and ``commit`` takes it only if no entry that
   came after the window is near. Otherwise it names those that are, and the sender compares with
   them alone and commits once more. So a text is compared with every one that has a lower number,
   and of two near each other the one with the higher number is a duplicate. Entries whose marks
   tell that they are of other names are passed by, since they make no duplicate.
3. The entry holds all of the text until it is written elsewhere (``posted``). A sender that dies
   between the two leaves it in the log, where others go on finding it, and after some seconds one
   of them writes it elsewhere: written twice, it is the same.

On one server alone all of this is one step: the text is written elsewhere by the script that takes
it, and the postings are asked for by the script that reads the window, which is empty then.

A commit whose reply is lost is sent again, meets its own entry, is refused, and its sender finds
the text to be its own.

A server that starts from an older file has lost the last entries, and gives their numbers to other
texts. So ``look`` and ``commit`` name the last entry that was read, and where the log has another
one in its place the text is judged again.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from neardup.storage.redis.commands import Argument, Script
from neardup.storage.redis.head_format import HEAD_BYTES, Head, Heads, Limits
from neardup.storage.redis.record_lists import (
    NUMBER_BYTES,
    Addition,
    ListPlace,
    RecordLists,
    by_key,
    in_order,
)
from neardup.storage.redis.server import Command, Server

_PACKAGE = "neardup.storage.redis"
_COMMIT = Script.read(_PACKAGE, "lists.lua", "heads.lua", "commit.lua")
_POSTED = Script.read(_PACKAGE, "heads.lua", "posted.lua")
_WINDOW = Script.read(_PACKAGE, "window.lua")

_KEPT_HEADS = 20_000
"""The number of heads that stay below ``low``: at most this many texts may be kept between one
sender's look and its commit.
"""
_LEFT_BEHIND_SECS = 5
_STAMP_BYTES = 4  # drawn by chance for each commit


class Compared(NamedTuple):
    """The part of the log that a text was compared with.

    Attributes:
        below: The number below which it was compared with each entry that may be near.
        end: The number of the next entry when the log was read.
        last: The entry before that one; empty where there was none.
    """

    below: int
    end: int
    last: bytes


class Look(NamedTuple):
    """The content of the log at one moment.

    Attributes:
        compared: The entries that are among the recent ones or found elsewhere.
        recent: The heads of the entries from ``low`` on, the oldest first: others may be missing
            in postings and digests.
        left_behind: ``low``, if its sender seems to have died; None otherwise.
    """

    compared: Compared
    recent: Heads
    left_behind: int | None


class Commit(NamedTuple):
    """The answer to a text that is to be kept.

    Attributes:
        number: Its number; None where it is not kept.
        compared: The entries that were compared with it.
        near: The heads of the entries that are why it is not kept. None where it is not kept since
            entries that were to be compared are not known any more, or are others: look again.
        others: How many entries are near, but for certain of other names.
    """

    number: int | None
    compared: Compared
    near: Heads | None
    others: int


class SideRecords(NamedTuple):
    """All that is written of a text apart from its entry, in the step that keeps it.

    Attributes:
        text_keys: The key of the text, but for its number.
        beside_keys: The key of the bytes beside it, but for its number.
        beside: These bytes; empty: there are none.
        lists: The records that are added to lists; the number in them is not known before.
    """

    text_keys: str
    beside_keys: str
    beside: bytes
    lists: Sequence[Addition]

    @property
    def keys(self) -> list[str | bytes]:
        """The key of its lists; one server alone has them in one hash."""
        return [*by_key(addition.place for addition in self.lists)]

    @property
    def args(self) -> list[Argument]:
        """The arguments of ``commit.lua`` about it."""
        args: list[Argument] = [_KEPT_HEADS, os.urandom(_STAMP_BYTES), self.text_keys]
        args += [self.beside_keys, self.beside, *RecordLists.limits()]
        for place, record in self.lists:
            args += [place.field, record[:-NUMBER_BYTES]]
        return args


@dataclass(slots=True)
class _Window:
    """Entries that this process knows, all from ``low`` to below ``next``, and the ``last``."""

    low: int = 0
    next: int = 0
    last: bytes = b""
    entries: dict[int, bytes] = field(default_factory=dict)


class CommitLog:
    """The order in which texts are kept.

    Keys, all in one slot:
        ``state``: number to head, with the second of its commit (4 bytes, big endian; random ones
        where nothing waits to be written elsewhere); ``next`` number, ``low``, ``last``, the head
        of the last number, and ``oldest``, the first head that is held.
        ``bodies``: number to record, until it is written elsewhere.

    Args:
        server: The server that holds it.
        forget: Called when the server has lost what it had told: numbers name other texts now.
    """

    def __init__(self, server: Server, forget: Callable[[], None]) -> None:
        self._forget = forget
        tag = f"{server.prefix}{{{server.prefix}log}}:"
        self._server = server
        self._state, self._bodies = f"{tag}state", f"{tag}bodies"
        self._window = _Window()

    async def look(self) -> Look:
        """Read the entries that postings and digests may lack. O(entries that are new here)."""
        return (await self.look_and_ask([]))[0]

    async def look_and_ask(self, places: Sequence[ListPlace]) -> tuple[Look, list[bytes | None]]:
        """Look, and read lists after that; return these too, without parts."""
        groups = by_key(places)
        fields = {key: [places[index].field for index in found] for key, found in groups.items()}
        if self._server.is_cluster:
            look, _ = self._seen(*await self._ask({}))
            commands: list[Command] = [("HMGET", key, *asked) for key, asked in fields.items()]
            replies = await self._server.pipeline(commands)
        else:
            look, replies = self._seen(*await self._ask(fields))
        return look, in_order(groups, replies)

    async def _ask(self, fields: Mapping[str, Sequence[bytes]]) -> tuple["_Window", list[Any]]:
        asked = self._window
        args: list[Argument] = [asked.next, asked.last]
        for each in fields.values():
            args += [len(each), *each]
        return asked, await self._server.call(_WINDOW, [self._state, *fields], args)

    def _seen(self, asked: "_Window", reply: list[Any]) -> tuple[Look, list[Any]]:
        """Take over what the log said to one who knew the window ``asked``."""
        is_true, low, after, last, now, first, answers, *packed = reply
        if not is_true and self._window is asked:
            self._window = _Window()
            self._forget()
        window = self._window
        window.entries.update(enumerate(packed, first))
        # Replies may come in another order than their questions.
        if after > window.next:
            window.next, window.last = after, last
        window.low = max(window.low, low)
        for number in [each for each in window.entries if each < window.low]:
            del window.entries[number]
        entries = dict(sorted(window.entries.items()))
        recent = Heads.of(list(entries), entries.values())
        # A later reply that came before this one has forgotten entries that its answers lack.
        known = after if low == window.low else low
        compared = Compared(known, after, last)
        return Look(compared, recent, _left_behind(entries, window.low, now)), answers

    async def commit(  # each is another thing
        self,
        head: Head,
        body: bytes,
        compared: Compared,
        limits: Limits,
        *,
        keeps: bool,
        side_records: SideRecords | None = None,
    ) -> Commit:
        """Keep a text, unless an entry that it was not compared with may be near.

        Args:
            head: Its head.
            body: All that is to be written elsewhere.
            compared: The entries that it was compared with.
            limits: The limits of being near.
            keeps: Whether nothing counts but the same text of the same owner.
            side_records: Records of the same step; None: they are written later, as a
                cluster needs it.
        """
        keys: list[str | bytes] = [self._state, self._bodies]
        args: list[Argument] = [*compared, *limits, int(keeps), head.packed(), body]
        if side_records is not None:
            keys += side_records.keys
            args += side_records.args
        number, end, last, others, *near = await self._server.call(_COMMIT, keys, args)
        compared = Compared(end, end, last)
        if number >= 0:
            return Commit(number, compared, None, others)
        return Commit(None, compared, Heads.of(near[::2], near[1::2]) if near else None, others)

    async def body(self, number: int) -> bytes | None:
        """Return the record of an entry; None where it is written elsewhere."""
        stored: bytes | None = await self._server.run("HGET", self._bodies, number)
        return stored

    async def posted(self, number: int) -> None:
        """Note that an entry is written elsewhere."""
        keys = [self._state, self._bodies]
        await self._server.call(_POSTED, keys, [number, _KEPT_HEADS])

    async def count(self) -> int:
        """Return the number of texts that were kept."""
        return int(await self._server.run("HGET", self._state, "next") or 0)


def _left_behind(entries: dict[int, bytes], low: int, now: int) -> int | None:
    entry = entries.get(low)
    if entry is None or now - int.from_bytes(entry[HEAD_BYTES:]) < _LEFT_BEHIND_SECS:
        return None
    return low

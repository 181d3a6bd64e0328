"""Learn of each host what changes from fetch to fetch of a page, and let it decide nothing.

Of texts that are the clocks and durations that ``neardup.volatile`` sets aside. A slot of theirs is
proven once something else stood there at a second fetch of a page, and content once the same did.

A slot of names (``neardup.volatile.slots``) is volatile where its word changed at two URLs and in
two visits while their texts said the same, and stayed at no later visit of any URL. Pages that get
new numbers change in one visit alone. A slot counts from the visit after the one in which that
showed, so that each page of a whole visit can contradict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.wall_clusters import host_of
from neardup.names import unpacked
from neardup.volatile.slots import change, filled, slots

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from crawler.pages.page_row import PageRow

    Execute = Callable[[str, Sequence[Any]], sqlite3.Cursor]

MAX_SLOTS = 10_000
"""Store at most this many slots of a host; where more are met, no further one becomes volatile."""

MIN_URLS = 2
"""A slot is volatile when its words changed at this many URLs."""

MAX_TEXT_SLOTS = 256
"""Set nothing aside in texts of a host where more slots were met: no template has as many."""

_OF_TEXTS = "text:"
_MAX_HOSTS = 64
_KEY_BYTES = 4  # of a URL's key: enough to tell MIN_URLS of one slot apart
_SELECT = "SELECT slot, keys, changed_visit, visit, is_fixed FROM name_slots WHERE host = ?"
_PUT = "INSERT OR REPLACE INTO name_slots VALUES (?, ?, ?, ?, ?, ?)"


class SlotState(NamedTuple):
    """The changes of a slot.

    Attributes:
        keys: Bytes of the keys of URLs at which its word changed.
        changed_visit: The first visit in which it changed; 0: it did not.
        visit: The visit in which it had changed often enough; 0: it did not.
        is_fixed: Whether its word was the same at a later visit.
    """

    keys: bytes = b""
    changed_visit: int = 0
    visit: int = 0
    is_fixed: int = 0


@dataclass(slots=True)
class _Host:
    slots: dict[str, SlotState]
    volatile: frozenset[str] = frozenset()
    proven: frozenset[int] = frozenset()
    fixed: tuple[int, ...] = ()
    names: dict[str, str] = field(default_factory=dict)


class VolatileSlots:
    """The table ``name_slots``.

    Args:
        read: Function that runs a query.
        write: Function that runs a statement.
    """

    def __init__(self, read: Execute, write: Execute) -> None:
        self._read = read
        self._write = write
        self._visit: int | None = None
        self._host = lru_cache(_MAX_HOSTS)(self._read_host)

    def begin_visit(self, visit: int) -> None:
        """Let count what was learned in the visits before this one; until then all of it counts."""
        self._visit = visit
        self._host.cache_clear()

    def stable(self, url: str, name: str | None) -> str:
        """Return a packed name in which volatile words of its host are the same."""
        if not name:
            return ""
        host = self._host(host_of(url))
        if not host.volatile:
            return name
        if name not in host.names:
            if len(host.names) >= MAX_SLOTS:
                host.names.clear()
            host.names[name] = filled(unpacked(name), host.volatile).packed()
        return host.names[name]

    def fixed(self, url: str) -> tuple[int, ...] | None:
        """Return the slots of texts that are content on a host; None: nothing is set aside."""
        host = self._host(host_of(url))
        return None if len(host.fixed) + len(host.proven) > MAX_TEXT_SLOTS else host.fixed

    def unproven(self, url: str, places: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        """Return the places of a text whose slots were not seen to move at its host."""
        host = self._host(host_of(url))
        return tuple((slot, said) for slot, said in places if slot not in host.proven)

    def prove(
        self, url: str, before: Sequence[tuple[int, str]], now: Sequence[tuple[int, str]]
    ) -> bool:
        """Compare what stands in some slots at two fetches of a page; return whether all moved.

        Those that did not are content from now on.
        """
        number, places = host_of(url), _by_slot(now)
        moved = {
            slot: len(said) == len(places.get(slot, ())) and not set(said) & set(places[slot])
            for slot, said in _by_slot(before).items()
        }
        for slot, is_moved in moved.items():
            new = _moved if is_moved else _stayed
            self._put(number, f"{_OF_TEXTS}{slot}", new)
        self._find_volatile(self._host(number))
        return all(moved.values())

    def note(
        self,
        visit: int,
        previous: PageRow,
        name: str,
        says_the_same: Callable[[Collection[str]], bool],
    ) -> None:
        """Learn from the name of a URL that was fetched before.

        Args:
            visit: The number of the present visit.
            previous: Its last capture.
            name: What it is called now, packed.
            says_the_same: Tells whether its texts are equal outside of some words.
        """
        if not previous.name or not name:
            return
        found = change(unpacked(previous.name), unpacked(name))
        if found is None:
            return
        number = host_of(previous.url)
        if previous.seen_visit < visit:
            for slot in found.fixed:
                self._put(number, slot, _stayed)
        if found.changed and says_the_same(found.words):
            for slot in found.changed:
                self._put(number, slot, lambda state: _changed(state, visit, previous.key))

    def note_same(self, visit: int, previous: PageRow) -> None:
        """Learn that a URL has the name that it had at an earlier visit."""
        if previous.name and previous.seen_visit < visit:
            number = host_of(previous.url)
            for slot in slots(unpacked(previous.name)):
                self._put(number, slot, _stayed)

    def _put(self, number: int, slot: str, new: Callable[[SlotState], SlotState]) -> None:
        host = self._host(number)
        state = host.slots.get(slot)
        if state is None and len(host.slots) >= MAX_SLOTS:
            return
        after = new(state or SlotState())
        if after != state:
            host.slots[slot] = after
            self._write(_PUT, (number, slot, *after))
            if after.visit:
                self._find_volatile(host)

    def _read_host(self, number: int) -> _Host:
        rows = self._read(_SELECT, (number,)).fetchall()
        host = _Host({slot: SlotState(*state) for slot, *state in rows})
        self._find_volatile(host)
        return host

    def _find_volatile(self, host: _Host) -> None:
        """Find the volatile slots of a host."""
        texts = {
            int(slot.removeprefix(_OF_TEXTS)): state
            for slot, state in host.slots.items()
            if slot.startswith(_OF_TEXTS)
        }
        host.fixed = tuple(slot for slot, state in texts.items() if state.is_fixed)
        host.proven = frozenset(texts).difference(host.fixed)
        volatile = frozenset(
            slot
            for slot, state in host.slots.items()
            if state.visit
            and not state.is_fixed
            and not slot.startswith(_OF_TEXTS)
            and (self._visit is None or state.visit < self._visit)
        )
        if volatile != host.volatile:
            host.volatile = volatile
            host.names.clear()


def _moved(state: SlotState) -> SlotState:
    return state._replace(visit=1)


def _stayed(state: SlotState) -> SlotState:
    return state._replace(is_fixed=1)


def _by_slot(places: Sequence[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for slot, said in places:
        found.setdefault(slot, []).append(said)
    return found


def _changed(state: SlotState, visit: int, key: bytes) -> SlotState:
    """Return the state of a slot whose word changed at the URL with a key."""
    one = key[:_KEY_BYTES]
    known = [state.keys[at : at + _KEY_BYTES] for at in range(0, len(state.keys), _KEY_BYTES)]
    if one not in known and len(known) < MIN_URLS:
        known.append(one)
    first = state.changed_visit or visit
    is_enough = len(known) == MIN_URLS and visit != first
    since = state.visit or (visit if is_enough else 0)
    return state._replace(keys=b"".join(known), changed_visit=first, visit=since)

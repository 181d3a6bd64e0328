"""Estimate what the URLs of a kind are worth, from what came of those that were tried.

A kind has a name: a pattern of host, path and arguments, an ending in a folder, or the place of a
link. Each question about kinds has an estimate of its own, in one table, and all are sampled by one
rule: where enough tries of a kind gained nothing, few of its URLs are tried, and never none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from crawler.url_rules.learning.template import WORD
from crawler.urls.path_patterns import REST, HostPatterns, PathPatterns
from crawler.urls.scope import domain_or_suffix

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.storage.database import Database
    from crawler.url_rules.learning.address import Address

OPEN, SLOW, CLOSED = "open", "slow", "closed"


class Question(NamedTuple):
    """A question that the tries of a kind answer by yes or no.

    Attributes:
        name: Its name in the table.
        enough: Number of tries without a gain after which not all URLs of a kind are tried.
        sampled_of: One in this many of them is tried then.
        min_share: All URLs of a kind are tried as long as this share of the tries gained.
        is_endless: Whether its kinds may have URLs without an end, of which ever fewer are tried.
    """

    name: str
    enough: int
    sampled_of: int
    min_share: float = 0.0
    is_endless: bool = False


NEW_TEXT: Final = Question("text", enough=300, sampled_of=20, is_endless=True)
"""Is the text of the page new?"""

MORE_IN_BROWSER: Final = Question("browser", enough=1, sampled_of=80)
"""Does a browser show more than came?"""

PAGE_OF_FILE: Final = Question("file", enough=59, sampled_of=20)
"""Is what ends like a file a page?

Where all of 59 are files, less than one in twenty of the others is a page, with a certainty of
95 %.
"""

PAGE_OF_PLACE: Final = Question("place", enough=29, sampled_of=100, min_share=1 / 20)
"""Does a place where a page may be named, such as a script, lead to a new page?

Where none of 29 does, less than one in ten of the others does, with a certainty of 95 %.
"""

PAGE_OF_LINK: Final = Question("link", enough=0, sampled_of=1)
"""Do links of a kind lead to new pages? It is told to people, and decides nothing."""

WINDOW: Final = 40
"""Tries of a kind that its share of gains is taken from, the last ones."""

_FULL = 1 << WINDOW

_TRIED_OF_BARREN = 15
"""Try one URL of an endless kind in ``barren / 15``, if that is fewer than ``sampled_of`` says.

However many links lead on from each page of a trap, there come to be less than one that is
fetched, and the trap ends.
"""

_CERTAINTY = 1.645
"""The 95 % quantile of the normal distribution."""

MAX_HELD = 20_000
"""Kinds of a question that are in memory: those that were met last."""


def upper_bound(gained: int, tried: int) -> float:
    """Return the largest share of gains that some tries allow, with 95 % certainty.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not tried:
        return 1.0
    square = _CERTAINTY**2
    share = gained / tried
    spread = _CERTAINTY * sqrt(share * (1 - share) / tried + square / (4 * tried**2))
    return (share + square / (2 * tried) + spread) / (1 + square / tried)


@dataclass(slots=True)
class Kind:
    """Counts of the URLs of a kind.

    Attributes:
        id: Its number; 0 before it is stored.
        name: Its name, as people read it.
        met: Its URLs that were found; see who asks the question for which.
        tried: Those that were tried.
        gained: Those of them for which the answer was yes.
        barren: Tries since the last gain.
        unclear: Tries with a doubtful no.
        deepest: The largest number of links that lead to one of ``met``.
        recent: The last tries, a bit each behind a 1, the newest last; 1 for a gain.
        state: "open"; "slow", after all others; or "closed".
        reason: Why it is not open.
    """

    id: int
    name: str
    met: int = 0
    tried: int = 0
    gained: int = 0
    barren: int = 0
    unclear: int = 0
    deepest: int = 0
    recent: int = 1
    state: str = OPEN
    reason: str | None = None

    def count(self, *, is_gain: bool, is_first: bool = True) -> None:
        """Count a try.

        Args:
            is_gain: Whether the answer was yes.
            is_first: Whether it was not counted before, with another answer.
        """
        self.tried += is_first
        self.gained += is_gain
        self.barren = 0 if is_gain else self.barren + 1
        recent = self.recent << 1 | is_gain
        self.recent = recent if recent < 2 * _FULL else recent % _FULL | _FULL

    @property
    def lately_tried(self) -> int:
        """Number of the last tries, ``WINDOW`` at most."""
        return self.recent.bit_length() - 1

    @property
    def lately_gained(self) -> int:
        return self.recent.bit_count() - 1

    def pays(self, question: Question) -> bool:
        """Return whether all URLs of the kind are tried, since enough of them gained."""
        return self.gained > 0 and self.gained >= question.min_share * self.tried

    def is_sampled(self, question: Question, number: int) -> bool:
        """Return whether a URL is tried although its kind is decided.

        Args:
            question: What the try is to answer.
            number: A hash of the URL, or its number in the order of arrival.
        """
        rarest = self.barren // _TRIED_OF_BARREN if question.is_endless else 0
        return number % max(question.sampled_of, rarest) == 0


AnyKind = TypeVar("AnyKind", bound=Kind)

_COLUMNS = "id, name, met, tried, gained, barren, unclear, deepest, recent, state, reason"
_MARKS = ", ".join("?" * len(_COLUMNS.split(", ")))
_SELECT = f"SELECT {_COLUMNS} FROM url_kinds WHERE question = ?"  # noqa: S608
_WRITE = f"INSERT OR REPLACE INTO url_kinds (question, {_COLUMNS}) VALUES (?, {_MARKS})"  # noqa: S608
_stored_part = attrgetter(*_COLUMNS.split(", "))


class Kinds(Generic[AnyKind]):
    """The kinds of one question in the table ``url_kinds``, with those met lately in memory.

    What changed is written before the next commit, with the pages that it is of.

    Args:
        database: The database.
        question: The question.
        make: The class of the kinds.
    """

    def __init__(
        self, database: Database, question: Question, make: Callable[..., AnyKind]
    ) -> None:
        self._database = database
        self.question = question
        self._make = make
        self._changed: dict[int, AnyKind] = {}
        self.load()
        database.before_commit.append(self.save)

    def load(self) -> None:
        """Read the newest kinds into memory, all of them where they are few."""
        sql = f"{_SELECT} ORDER BY id DESC LIMIT ?"
        rows = self._database.read(sql, (self.question.name, MAX_HELD)).fetchall()
        self._held = {row[1]: self._make(*row) for row in reversed(rows)}
        self._are_all_held = len(rows) < MAX_HELD

    def __iter__(self) -> Iterator[AnyKind]:
        """Yield the kinds in memory."""
        return iter(self._held.values())

    def __getitem__(self, name: str) -> AnyKind:
        """Return the kind of a name; one of which nothing is known is stored once it changes."""
        kind = self._held.pop(name, None) or self._stored(name)
        self._held[name] = kind
        if len(self._held) > MAX_HELD:
            self.save()
            self._are_all_held = False
            del self._held[next(iter(self._held))]
        return kind

    def _stored(self, name: str) -> AnyKind:
        row = None
        if not self._are_all_held:
            sql = f"{_SELECT} AND name = ?"
            row = self._database.read(sql, (self.question.name, name)).fetchone()
        return self._make(0, name) if row is None else self._make(*row)

    def note_met(self, name: str, count: int = 1) -> None:
        """Count URLs of a kind that were found."""
        kind = self[name]
        kind.met += count
        self.note_change(kind)

    def note_try(self, name: str, *, is_gain: bool) -> None:
        """Count a try of a kind."""
        kind = self[name]
        kind.count(is_gain=is_gain)
        self.note_change(kind)

    def note_change(self, kind: AnyKind) -> None:
        """Let a kind be stored, which gets its number now if it has none."""
        if not kind.id:
            row = self.question.name, None, *_stored_part(kind)[1:]
            kind.id = int(self._database.write(_WRITE, row).lastrowid or 0)
        self._changed[kind.id] = kind

    def save(self) -> None:
        """Write the kinds that changed."""
        rows = [(self.question.name, *_stored_part(kind)) for kind in self._changed.values()]
        self._changed.clear()
        if rows:
            self._database.write_many(_WRITE, rows)


def stored_kinds(
    read: Callable[..., sqlite3.Cursor], question: Question, make: Callable[..., AnyKind]
) -> Iterator[AnyKind]:
    """Yield the kinds of a question that a crawl has stored, in the order in which they came."""
    yield from (make(*row) for row in read(f"{_SELECT} ORDER BY id", (question.name,)))


_NUMBERED = "#"
"""The pattern of a number, unlike the one of a varying name: the two are learned separately."""

_OFTEN = 3
"""A path is circular if one segment occurs in it at least this many times."""

_MAX_ARGUMENTS = 12
_MAX_RECENT = 2_000
_MAX_PLACES = 20_000
_MAX_WORDS = 12


class ClusterNames:
    """Finds the cluster of an address; memory is bounded by hosts."""

    def __init__(self, most_hosts: int = 500) -> None:
        self._most_hosts = most_hosts
        self._patterns: dict[str, PathPatterns] = {}
        self._recent: dict[Address, str] = {}
        self._words: dict[str, set[str]] = {}
        self.host = HostPatterns(domain_or_suffix, _NUMBERED)

    def remember(self, name: str) -> None:
        """Restore the name of a cluster that another process found."""
        host, slash, rest = name.partition("/")
        path, _, names = rest.partition("?")
        self.host.remember(host)
        patterns = self._of(host)
        patterns.remember(slash + path)
        for kind in names.split("&"):
            patterns.remember_argument(slash + path, kind.removesuffix("="))

    def _of(self, host: str) -> PathPatterns:
        patterns = self._patterns.pop(host, None) or PathPatterns(_NUMBERED)
        self._patterns[host] = patterns
        if len(self._patterns) > self._most_hosts:
            del self._patterns[next(iter(self._patterns))]
        return patterns

    def __call__(self, address: Address) -> str:
        """Return the kinds of host, path and names of arguments.

        That of an address which was asked for lately is remembered: its parts may vary since.
        """
        name = self._recent.get(address)
        if name is None:
            if len(self._recent) >= _MAX_RECENT:
                self._recent.clear()
            name = self._recent[address] = self._name(address)
        return name

    def with_words(self, cluster: str, address: Address) -> str:
        """Return the name of a finer kind: that of the cluster, and the words that arguments have.

        ``action=history`` is another kind than ``action=edit``. An argument with more than a few
        words as values tells no kinds apart.
        """
        words = [
            f"{name}={value}"
            for name, value in address.arguments
            if value and WORD.fullmatch(value) and self._is_one_of_few(f"{cluster} {name}", value)
        ]
        return f"{cluster} {' '.join(words)}" if words else cluster

    def _is_one_of_few(self, place: str, word: str) -> bool:
        words = self._words.get(place)
        if words is None:
            if len(self._words) >= _MAX_PLACES:
                del self._words[next(iter(self._words))]
            words = self._words[place] = set()
        if len(words) <= _MAX_WORDS:
            words.add(word)
        return len(words) <= _MAX_WORDS

    def _name(self, address: Address) -> str:
        host = self.host(address.host)
        patterns = self._of(host)
        path = _path(patterns, address)
        names = sorted({patterns.argument(path, name) for name in address.names})
        written = [f"{name}=" for name in names[:_MAX_ARGUMENTS]]
        if len(names) > _MAX_ARGUMENTS:
            written.append(REST)
        return f"{host}{path}" + (f"?{'&'.join(written)}" if written else "")


def _path(patterns: PathPatterns, address: Address) -> str:
    turn = _turn(address.segments)
    if turn is None:
        return patterns(address.segments)
    return patterns(address.segments[:turn]).rstrip("/") + f"/{REST}"


def _turn(segments: tuple[str, ...]) -> int | None:
    """Return the first segment of a circular path that occurs again; None for any other path."""
    if len(segments) - len(set(segments)) < _OFTEN - 1:  # nearly all
        return None
    counts = Counter(filter(None, segments))
    if not counts or max(counts.values()) < _OFTEN:
        return None
    return next(place for place, segment in enumerate(segments) if counts[segment] > 1)

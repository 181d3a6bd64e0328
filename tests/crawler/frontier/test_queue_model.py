"""The queue on disk against the plain model, through kills at any moment and clean ends."""

from __future__ import annotations

import shutil
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from crawler.frontier.order import NewRequest, ShorterWay, Skip
from crawler.frontier.queue import RequestQueue
from crawler.storage.database import Database
from crawler.url_rules.skipped import SkippedRequests
from tests.crawler.frontier.model import ModelQueue

if TYPE_CHECKING:
    from crawler.frontier.order import QueuedRequest

HOSTS = 6
RULES = st.integers(1, 2)
LOADS = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=HOSTS, max_size=HOSTS)
SMALL = {
    "read_ahead.READ_HOSTS": 2,
    "read_ahead.MAX_HOSTS": 3,
    "read_ahead.MAX_CHANGES": 3,
    "read_ahead.MAX_TURNS": 3,
    "read_ahead.MAX_OF_A_HOST": 3,
    "read_ahead.MAX_BYTES": 1_000,
    "queue.MAX_UNWRITTEN": 4,
}
"""So that what is read ahead and put off reaches its bounds."""


_LINE = (
    "SELECT hosts.host, priority FROM hosts LEFT JOIN host_turns USING (host) GROUP BY hosts.host"
    " ORDER BY priority DESC, max(hosts.turn, coalesce(max(host_turns.turn), 0))"
)


def key_of(number: int) -> bytes:
    return number.to_bytes(16)


class QueueMachine(RuleBasedStateMachine):
    """Whatever is done, both hand out the same; a kill goes back to the last commit."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patches = pytest.MonkeyPatch()
        self.model = ModelQueue()
        self.pushed = 0
        self.found: dict[int, QueuedRequest] = {}
        self.saved = (deepcopy(self.model), self.pushed)

    @initialize(bounds=st.sampled_from([SMALL, {}]))
    def begin(self, bounds: dict[str, int]) -> None:
        for name, bound in bounds.items():
            self.patches.setattr(f"crawler.frontier.{name}", bound)
        self._open()

    def _open(self) -> None:
        self.database = Database(self.folder)
        self.queue = RequestQueue(self.database)

    @rule(host=st.integers(0, HOSTS - 1), priority=st.integers(-2, 2), depth=st.integers(0, 2))
    def push(self, host: int, priority: int, depth: int) -> None:
        self.pushed += 1
        self.queue.push(
            NewRequest(
                host,
                str(self.pushed),
                priority,
                b"%d" % self.pushed,
                key_of(self.pushed),
                depth=depth,
            )
        )
        self.model.push(self.pushed, host, priority, depth)

    @precondition(lambda self: self.pushed)
    @rule(data=st.data(), depth=st.integers(0, 1))
    def lower(self, data: st.DataObject, depth: int) -> None:
        number = data.draw(st.integers(1, self.pushed))
        host = self._host_of(number)
        way = ShorterWay(key_of(number), depth, host, str(number), 0, b"%d" % number)
        self.queue.lower(way)
        self.model.lower(number, depth)

    def _host_of(self, number: int) -> int:
        row = self.database.read("SELECT host FROM requests WHERE id = ?", (number,)).fetchone()
        return int(row[0])

    @rule(loads=LOADS)
    def lease(self, loads: list[int | None]) -> None:
        found = self.queue.lease(loads.__getitem__)
        expected = self.model.lease(loads.__getitem__)
        if found is None or expected is None:
            assert (found, expected) == (None, None)
            return
        assert (found.id, found.host, found.priority, found.depth) == (
            expected.id,
            expected.host,
            expected.priority,
            expected.depth,
        )
        assert found.request == found.url.encode() == b"%d" % expected.id
        self.found[found.id] = found

    @precondition(lambda self: self.model.leased)
    @rule(data=st.data(), failed=st.booleans())
    def finish(self, data: st.DataObject, failed: bool) -> None:
        leased = sorted(self.model.leased)
        ids = data.draw(st.lists(st.sampled_from(leased), unique=True))
        self.queue.finish(ids, failed=failed)
        self.model.finish(ids, failed=failed)

    @precondition(lambda self: self.model.leased)
    @rule(data=st.data(), lower=st.booleans())
    def ask_later(self, data: st.DataObject, lower: bool) -> None:
        found = self.found[data.draw(st.sampled_from(sorted(self.model.leased)))]
        changed = found._replace(priority=found.priority - lower)
        self.queue.put_back(changed, is_changed=lower)
        self.model.put_back(found.id, lower=lower)

    @precondition(lambda self: self.model.todo)
    @rule(data=st.data(), by=RULES)
    def set_aside(self, data: st.DataObject, by: int) -> None:
        request = data.draw(st.sampled_from(sorted(self.model.todo, key=lambda one: one.id)))
        skip = Skip(by, b"group")
        SkippedRequests(self.database, self.queue).set_aside(request.host, [(request.id, skip)])
        self.model.set_aside(request.id, by)

    @rule(by=RULES)
    def put_back(self, by: int) -> None:
        skipped = SkippedRequests(self.database, self.queue)
        assert skipped.put_back_rule(by) == self.model.put_back_rule(by)

    @rule()
    def commit(self) -> None:
        self.database.commit()
        self._committed()

    def _committed(self) -> None:
        """The table has the line as it is, and another process would find it."""
        self.saved = (deepcopy(self.model), self.pushed)
        lines = self.database.read(_LINE)
        expected = sorted(self.model.lines.items(), key=lambda item: (-item[1][0], item[1][1]))
        assert lines.fetchall() == [(host, priority) for host, (priority, _) in expected]

    @rule()
    def kill(self) -> None:
        self.database.fail("killed")
        self.database.close()
        model, self.pushed = self.saved
        self.model = deepcopy(model)
        self._open()
        self.model.reopen()

    @rule()
    def close(self) -> None:
        self.commit()
        self.database.close()
        self._open()
        self.model.reopen()

    @invariant()
    def check(self) -> None:
        assert len(self.queue) == len(self.model)

    def teardown(self) -> None:
        self.database.close()
        self.patches.undo()
        shutil.rmtree(self.folder)


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(deadline=None, max_examples=60, stateful_step_count=40)

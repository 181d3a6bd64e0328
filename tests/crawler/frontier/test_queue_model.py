"""The queue on disk against the plain model, through kills and clean ends."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.frontier.queue import RequestQueue
from crawler.pages.database import Database
from tests.crawler.frontier.model import ModelQueue

HOSTS = 5
LOADS = st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=HOSTS, max_size=HOSTS)


class QueueMachine(RuleBasedStateMachine):
    """Whatever is done, both hand out the same; a kill is a reopening without a close."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model = ModelQueue()
        self.pushed = 0
        self._open()

    def _open(self) -> None:
        self.database = Database(self.folder)
        self.queue = RequestQueue(self.database)

    @rule(host=st.integers(0, HOSTS - 1), priority=st.integers(-2, 2))
    def push(self, host: int, priority: int) -> None:
        self.pushed += 1
        self.queue.push(host, str(self.pushed), priority, b"%d" % self.pushed)
        self.model.push(self.pushed, host, priority)

    @rule(loads=LOADS)
    def lease(self, loads: list[int | None]) -> None:
        found = self.queue.lease(loads.__getitem__)
        expected = self.model.lease(loads.__getitem__)
        if found is None or expected is None:
            assert (found, expected) == (None, None)
            return
        assert (found.id, found.host, found.priority) == (
            expected.id,
            expected.host,
            expected.priority,
        )
        assert found.request == found.url.encode() == b"%d" % expected.id

    @precondition(lambda self: self.model.leased)
    @rule(data=st.data(), failed=st.booleans())
    def finish(self, data: st.DataObject, failed: bool) -> None:
        leased = sorted(self.model.leased)
        ids = data.draw(st.lists(st.sampled_from(leased), unique=True))
        self.queue.finish(ids, failed=failed)
        self.model.finish(ids, failed=failed)

    @rule()
    def commit(self) -> None:
        self.database.commit()

    @rule()
    def kill(self) -> None:
        """After a commit, so that the model need not forget; the other case has its own test."""
        self.database.commit()
        self.database.fail("killed")
        self.database.close()
        self._open()
        self.model.reopen()

    @rule()
    def close(self) -> None:
        self.database.close()
        self._open()
        self.model.reopen()

    @invariant()
    def check(self) -> None:
        assert len(self.queue) == len(self.model)
        lines = self.database.read("SELECT host, priority FROM hosts ORDER BY priority DESC, turn")
        expected = sorted(self.model.lines.items(), key=lambda item: (-item[1][0], item[1][1]))
        assert lines.fetchall() == [(host, priority) for host, (priority, _) in expected]

    def teardown(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder)


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(deadline=None, max_examples=40, stateful_step_count=40)

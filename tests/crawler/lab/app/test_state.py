"""What all windows of a lab share."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.lab.app.state import Lab, StoppedError
from crawler.lab.app.trial import Trial
from crawler.lab.choice import Choice
from crawler.lab.sources.source import SourceError
from neardup import Parameters
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from pathlib import Path

COUNT = 6


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Texts of which every second one repeats the one before it."""
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(map(_line, range(COUNT))))
    return path


def _line(number: int) -> str:
    row = {"url": f"http://a.example/{number}", "text": prose(f"text {number // 2}", 100)}
    return f"{json.dumps(row)}\n"


class TestLab:
    def test_pages_are_read_judged_and_shown(self, file: Path) -> None:
        async def use(lab: Lab) -> None:
            assert await lab.grow() == COUNT
            assert await lab.grow() == 0
            judged = await lab.judge(Choice())
            assert (judged.kept_count, judged.dropped_count) == (COUNT // 2, COUNT // 2)
            assert await lab.judge(Choice()) is judged
            assert await lab.page_text(3) == prose("text 1", 100)
            assert await lab.texts([0, 5]) == [prose("text 0", 100), prose("text 2", 100)]

        with closing(Lab([file])) as lab:
            asyncio.run(use(lab))

    def test_nothing_is_begun_when_it_is_closed(self, file: Path) -> None:
        lab = Lab([file])
        lab.close()
        lab.close()
        for begun in (lab.grow, lambda: lab.judge(Choice()), lambda: lab.look(print)):
            with pytest.raises(StoppedError):
                asyncio.run(_awaited(begun()))

    def test_what_cannot_be_opened_says_why(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="no such file or directory"):
            Lab([tmp_path / "nowhere"])


async def _awaited(begun: Awaitable[object]) -> object:
    return await begun


class TestTrial:
    HELD = Parameters()
    OTHER = replace(HELD, max_distance=5)

    def test_who_tries_nothing_goes_with_what_holds(self) -> None:
        trial = Trial(self.HELD)
        told: list[Choice] = []
        trial.on_change(lambda: told.append(trial.choice))
        asyncio.run(trial.hold(self.OTHER))
        assert trial.is_what_holds
        assert told == [Choice(self.OTHER)]

    def test_who_tries_something_goes_on_trying_it(self) -> None:
        trial = Trial(self.HELD)
        tried = Choice(replace(self.HELD, min_words=10))

        async def use() -> None:
            await trial.set(tried)
            await trial.hold(self.OTHER)
            assert trial.choice == tried
            await trial.reset()

        asyncio.run(use())
        assert trial.choice == Choice(self.OTHER)

    def test_nobody_is_told_of_what_did_not_change(self) -> None:
        trial = Trial(self.HELD)
        told: list[Choice] = []
        trial.on_change(lambda: told.append(trial.choice))
        asyncio.run(trial.set(Choice(self.HELD)))
        asyncio.run(trial.hold(self.HELD))
        assert told == []

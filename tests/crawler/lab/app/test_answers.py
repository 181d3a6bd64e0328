"""What a tab asks the lab, and what becomes of it."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

from nicegui import Client, ui

from crawler.lab.app.lab_state import Lab
from crawler.lab.app.parameter_trial import Answers, Trial
from tests.crawler.lab.crawls import make_text_crawl
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


def test_what_a_closed_lab_does_not_answer_is_not_asked_again(tmp_path: Path) -> None:
    folder = make_text_crawl(tmp_path, [("http://a.example/", prose("text", 100))])
    lab = Lab([folder])
    asked = []

    async def told() -> None:
        raise AssertionError

    trial = Trial(lab.running, told)

    async def answer() -> None:
        asked.append(trial.choice)
        assert len(asked) < 10
        await lab.judge(trial.choice)

    with closing(lab), Client(ui.page("/"), request=None):
        answers = Answers(lab, trial, tuple, answer)
        lab.close()
        asyncio.run(answers._work())
    assert asked == [trial.choice]

"""Every parameter that can be seen or moved has a hint, which begins with a question."""

from __future__ import annotations

from dataclasses import fields

import pytest

from crawler.lab.app.controls import HINTS, SWITCHES
from crawler.lab.app.parameter_trial import SCALES, shown_values
from crawler.lab.judgement import Choice
from crawler.pages.live_parameters import TUNABLE
from neardup import Features

FEATURES = {field.name for field in fields(Features)} - {"idf"}


def test_every_parameter_that_is_shown_has_a_hint() -> None:
    shown = {*TUNABLE, *shown_values(Choice()), *SWITCHES, "verify", "distances", *FEATURES}
    shown |= {scale.name for scale in SCALES}
    assert shown == HINTS.keys()


@pytest.mark.parametrize("hint", HINTS.values())
def test_a_hint_is_a_question_and_one_sentence(hint: str) -> None:
    question, answer = hint.split("? ")
    assert question.split()[0] in {"Are", "Is", "Do", "Does", "Has", "Would"}
    assert answer[0].isupper()
    assert answer.endswith(".")
    assert answer.count(".") == 1

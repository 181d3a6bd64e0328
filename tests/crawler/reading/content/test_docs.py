"""The examples of docs/text.md are what is written of a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.crawler.reading.content.test_formulas import written

TEXT = (Path(__file__).parents[4] / "docs" / "text.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(
    r"^(`{3,})html\n(.*?)\n\1\n\n(`{3,})markdown\n(.*?)\n\3$", TEXT, re.MULTILINE | re.DOTALL
)


def test_every_example_has_its_outcome() -> None:
    assert len(EXAMPLES) == len(re.findall("^`{3,}html$", TEXT, re.MULTILINE)) > 8


@pytest.mark.parametrize(("html", "expected"), [(html, out) for _, html, _, out in EXAMPLES])
def test_example_is_what_is_written(html: str, expected: str) -> None:
    assert written(html) == expected

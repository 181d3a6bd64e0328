"""Texts of the demo site: what a file becomes, and how an edition alters it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.demo.planted import CHAPTERS, Text, language_of, read_text

if TYPE_CHECKING:
    from crawler.demo.planted import Chapter


class TestReadText:
    def test_first_line_is_the_title(self) -> None:
        assert read_text("ropes", "bowline").title == "Bowline"

    def test_paragraphs_are_single_lines(self) -> None:
        paragraphs = read_text("harbour", "harbourmaster").paragraphs
        assert len(paragraphs) == 4
        assert not any("\n" in paragraph for paragraph in paragraphs)

    @pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
    def test_every_article_of_a_chapter_has_its_file(self, chapter: Chapter) -> None:
        texts = [read_text(chapter.name, name) for name in ("index", *chapter.articles)]
        assert all(text.title and text.paragraphs for text in texts)


class TestEdited:
    def test_passage_is_replaced(self) -> None:
        text = Text("T", ("one two", "three"))
        assert text.edited("two", "2") == Text("T", ("one 2", "three"))

    @pytest.mark.parametrize(("old", "times"), [("four", 0), ("e", 3)])
    def test_passage_must_stand_there_once(self, old: str, times: int) -> None:
        with pytest.raises(ValueError, match=f"stands there {times} times"):
            Text("T", ("one", "three")).edited(old, "x")


@pytest.mark.parametrize(
    ("folder", "language"), [("fr", "fr"), ("zh", "zh"), ("ropes", "en"), ("odd", "en")]
)
def test_language_of_a_folder(folder: str, language: str) -> None:
    assert language_of(folder) == language

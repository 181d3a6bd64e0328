"""PDFs of scripts that are shaped, as the real Chromium prints them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pypdfium2")

from bidi import get_display
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.documents.pdf import read_pdf
from crawler.reading.documents.pdf_shaped import logical
from crawler.rendering.browser import HEADLESS

if TYPE_CHECKING:
    from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, HEADLESS)), None)
FONTS = shutil.which("fc-list")

SENTENCES = {
    "ar": "كانت السفينة هادئة عندما وصلت العبارة إلى الميناء في عام 2024.",
    "fa": "وقتی کشتی به بندر رسید، ۱۲ نفر روی اسکله بودند.",
    "he": "הספינה הייתה שקטה (מאוד) כאשר המעבורת הגיעה לנמל בשנת 2024.",
    "ur": "جب کشتی بندرگاہ میں آئی تو سب خاموش تھے۔",
    "hi": "जब नौका बंदरगाह में आई तब क्षत्रिय शांत था और 12 लोग खड़े थे।",
    "bn": "নৌকা যখন বন্দরে এল তখন ক্ষমতা ও শ্রদ্ধা ছিল।",
    "ta": "கப்பல் துறைமுகத்திற்கு வந்தபோது அமைதியாக இருந்தது.",
    "th": "เมื่อเรือข้ามฟากมาถึงท่าเรือ น้ำก็นิ่ง ที่นี่เงียบสงบ",
    "km": "ពេលទូកមកដល់កំពង់ផែ វាស្ងប់ស្ងាត់ណាស់។",
    "my": "ဆိပ်ကမ်းသို့ လှေရောက်သောအခါ တိတ်ဆိတ်နေသည်။",
    "en": "An office was affluent when the ferry came into the harbour in 2024.",
}
WITHOUT_SPACES = {"th", "km", "my"}
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}


def printed(markup: str, language: str, folder: Path) -> bytes:
    """Print a page by Chromium."""
    assert BROWSER is not None
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    page = folder / "page.html"
    page.write_text(
        f"<!DOCTYPE html><html lang={language} dir={direction}><meta charset=utf-8>{markup}"
    )
    file = folder / "page.pdf"
    options = ("--no-sandbox", f"--print-to-pdf={file}", "--no-pdf-header-footer")
    told = subprocess.run(
        [BROWSER, *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=False
    )
    assert file.exists(), told.stderr[-2000:]
    return file.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not (BROWSER and FONTS), reason="no Chromium, or none of its fonts")
@pytest.mark.parametrize("language", SENTENCES)
def test_what_chromium_prints_is_read_as_it_was_written(language: str, tmp_path: Path) -> None:
    fonts = subprocess.run(["fc-list", f":lang={language}"], capture_output=True, check=True).stdout
    if not fonts:
        pytest.skip(f"no font of {language}")
    sentence = SENTENCES[language]
    heading = " ".join(sentence.split()[:2])
    many = " ".join([sentence] * 4)
    rows = f"<table><tr><td>{heading}<td>{heading}</table>"
    markup = f"<h1>{heading}</h1><p>{many}</p>{rows}<p>{sentence}</p>"
    blocks = read_pdf(printed(markup, language, tmp_path), 20).blocks
    texts = [block.text for block in blocks]
    if language in WITHOUT_SPACES:  # the end of a line may be a space or none
        texts[1], many = texts[1].replace(" ", ""), many.replace(" ", "")
    assert texts == [heading, many, f"{heading} {heading}", sentence]
    assert blocks[0].kind == "h1"


HEBREW = st.text("אבגדהוזחט", min_size=1, max_size=6)
LATIN = st.text("abcdef", min_size=1, max_size=2)
DIGITS = st.text("0123456789", min_size=1, max_size=4)


@given(
    st.lists(HEBREW, min_size=4, max_size=8),
    # A number beside a Latin word looks the same on either side of it.
    st.lists(LATIN, max_size=3) | st.lists(DIGITS, max_size=3),
    st.randoms(),
)
def test_a_line_is_turned_as_the_algorithm_for_bidirectional_text_has_it(
    own: list[str], others: list[str], random: object
) -> None:
    words = own[1:] + others
    random.shuffle(words)  # type: ignore[attr-defined]
    line = " ".join([own[0], *words])
    seen = get_display(line, base_dir="R")
    assert logical([(letter, False) for letter in seen]) == line


@given(st.lists(LATIN, min_size=6, max_size=9), st.lists(HEBREW, min_size=1, max_size=2))
def test_a_word_within_a_line_of_another_direction_is_turned(
    own: list[str], others: list[str]
) -> None:
    line = " ".join([*own[:3], *others, *own[3:]])
    if sum(map(len, others)) < sum(map(len, own)):
        assert logical([(one, False) for one in get_display(line, base_dir="L")]) == line

"""Pages that Chromium has printed are read back as they were written."""

from __future__ import annotations

import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pypdfium2")
pytest.importorskip("playa")

from crawler.reading.documents.pdf import read_pdf

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing"),
]

TEXTS = {
    "ar": (
        (
            "مرحبا بالعالم. هذه فقرة طويلة باللغة العربية كُتبت لاختبار "
            "قراءة ملفات PDF التي تطبعها المتصفحات، وفيها أرقام مثل 2024 "
            "و ١٢٣ وكلمة English في الوسط (بين قوسين)."
        ),
        "الفقرة الثانية أقصر.",
        "الكلمة English تأتي في وسط الجملة، وبعدها 😀 علامة.",
    ),
    "fa": (
        (
            "سلام دنیا. این یک بند بلند به زبان فارسی است که برای آزمایش "
            "خواندن پرونده‌های PDF نوشته شده است و می‌خواهیم نیم‌فاصله‌ها "
            "هم بمانند؛ سال ۱۴۰۳ و 2024."
        ),
        "بند دوم کوتاه است.",
    ),
    "ur": (
        (
            "ہیلو دنیا۔ یہ اردو زبان میں ایک طویل پیراگراف ہے جو براؤزر "
            "سے چھپی ہوئی PDF فائلوں کو پڑھنے کی جانچ کے لیے لکھا گیا ہے، "
            "اور اس میں 2024 جیسے اعداد ہیں۔"
        ),
        "دوسرا پیراگراف چھوٹا ہے۔",
    ),
    "he": (
        (
            "שלום עולם. זוהי פסקה ארוכה בעברית שנכתבה כדי לבדוק קריאה של "
            "קובצי PDF שהדפדפן מדפיס, ויש בה מספרים כמו 2024 ומילה "
            "English באמצע (בתוך סוגריים)."
        ),
        "הפסקה השנייה קצרה יותר.",
        "סוגריים (אחת) [שתיים] וגם «שלוש» 3.5% (2026) word (עברית) סוף.",
        "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ",
    ),
    "hi": (
        (
            "नमस्ते दुनिया। यह हिन्दी में एक लंबा अनुच्छेद है जो ब्राउज़र "
            "द्वारा छापी गई PDF फ़ाइलों को पढ़ने की जाँच के लिए लिखा गया "
            "है, और इसमें 2024 जैसी संख्याएँ तथा क्षत्रिय और कर्म जैसे "
            "शब्द हैं।"
        ),
        "दूसरा अनुच्छेद छोटा है।",
    ),
    "bn": (
        (
            "ওহে বিশ্ব। এটি বাংলায় লেখা একটি দীর্ঘ অনুচ্ছেদ যা "
            "ব্রাউজারের ছাপা PDF ফাইল পড়ার পরীক্ষার জন্য লেখা হয়েছে, "
            "এবং এতে ২০২৪ এর মতো সংখ্যা ও ক্ষুদ্র শব্দ আছে।"
        ),
        "দ্বিতীয় অনুচ্ছেদটি ছোট।",
    ),
    "ta": (
        (
            "வணக்கம் உலகம். இது தமிழில் எழுதப்பட்ட ஒரு நீண்ட பத்தி, உலாவி "
            "அச்சிடும் PDF கோப்புகளைப் படிப்பதைச் சோதிக்க எழுதப்பட்டது; "
            "இதில் 2024 போன்ற எண்களும் கொண்ட சொற்களும் உள்ளன."
        ),
        "இரண்டாவது பத்தி சிறியது.",
    ),
    "th": (
        (
            "สวัสดีชาวโลก "
            "นี่คือย่อหน้ายาวในภาษาไทยที่เขียนขึ้นเพื่อทดสอบการอ่านไฟล์ "
            "PDF ที่เบราว์เซอร์พิมพ์ออกมา และมีตัวเลขเช่น 2024 อยู่ด้วย "
            "น้ำใจของเพื่อนที่นี่"
        ),
        "ย่อหน้าที่สองสั้นกว่า",
    ),
    "km": (
        (
            "សួស្តីពិភពលោក។ "
            "នេះជាកថាខណ្ឌវែងមួយជាភាសាខ្មែរដែលសរសេរឡើងដើម្បីសាកល្បងការអានឯកសារ "
            "PDF ដែលកម្មវិធីរុករកបោះពុម្ព ហើយមានលេខដូចជា 2024 ផង។"
        ),
        "កថាខណ្ឌទីពីរខ្លីជាង។",
    ),
    "my": (
        (
            "မင်္ဂလာပါ ကမ္ဘာလောက။ ဤသည်မှာ ဘရောက်ဇာက ပုံနှိပ်ထားသော PDF "
            "ဖိုင်များကို ဖတ်ခြင်းကို စမ်းသပ်ရန် ရေးထားသော မြန်မာဘာသာ "
            "စာပိုဒ်ရှည် ဖြစ်ပြီး 2024 ကဲ့သို့ ဂဏန်းများ ပါဝင်သည်။"
        ),
        "ဒုတိယစာပိုဒ်က တိုသည်။",
    ),
}
RIGHT_TO_LEFT = frozenset({"ar", "fa", "ur", "he"})
ENGLISH = "One sentence in English words, which stands beside them."
LETTERS = "An efficient office, with 𝔸𝔹 and x y within."


def has_font(language: str) -> bool:
    command = ["fc-list", f":lang={language}", "family"]
    return bool(subprocess.run(command, capture_output=True, check=False).stdout)


def printed(folder: Path, html: str, *options: str) -> list[tuple[str, str]]:
    """Return the blocks of a page that Chromium has printed."""
    assert CHROMIUM is not None
    page, pdf = folder / "page.html", folder / "page.pdf"
    page.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8")
    said = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    said += [f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={pdf}"]
    command = [CHROMIUM, *said, *options, page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return [(block.kind, block.text) for block in read_pdf(pdf.read_bytes(), 20).blocks]


@pytest.mark.parametrize("language", TEXTS)
def test_a_script_is_read_as_it_was_printed(language: str, tmp_path: Path) -> None:
    if not has_font(language):
        pytest.skip(f"no font for {language}")
    first, *others = TEXTS[language]
    # A line of Burmese may end at a space, which is not printed then.
    style = "font-size:5px" if language == "my" else ""
    twice = [f"{first} {first}"] if language != "my" else []
    paragraphs = [first, *others, *twice, ENGLISH, LETTERS]
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    said = "".join(f"<p>{text}</p>" for text in paragraphs)
    start = f'<html lang="{language}" dir="{direction}"><body style="{style}">'
    found = printed(tmp_path, f"{start}<h1>{others[0]}</h1>{said}")
    assert found == [("h1", others[0]), *(("p", text) for text in paragraphs)]


@pytest.mark.parametrize("mode", ["horizontal-tb", "vertical-rl"])
def test_japanese_is_read_with_the_readings_of_its_characters(mode: str, tmp_path: Path) -> None:
    if not has_font("ja"):
        pytest.skip("no font for ja")
    found = printed(
        tmp_path,
        f"""<html lang="ja"><body style="writing-mode:{mode};height:90vh"><h1>縦書き</h1>
        <p>吾輩は猫である。名前はまだ無い。2026年にPDFを読んだ。</p>
        <p>二番目の<ruby>段落<rt>だんらく</rt></ruby>です。</p>""",
    )
    assert found == [
        ("h1", "縦書き"),
        ("p", "吾輩は猫である。名前はまだ無い。2026年にPDFを読んだ。"),
        ("p", "二番目の段落（だんらく）です。"),
    ]


def test_lists_tables_and_raised_letters_are_read_by_the_structure(tmp_path: Path) -> None:
    found = printed(
        tmp_path,
        """<html lang="en"><body><h1>The ships</h1><p>A note<sup>1</sup> on H<sub>2</sub>O and
        <q>words</q>, which is so long that it surely goes on in a second line of the page.</p>
        <h2>Drinks</h2><ul><li>Tea<ul><li>Green</li></ul></li><li>Coffee with milk</li></ul>
        <ol><li>First</li><li><p>Second</p><p>and more of it</p></li></ol>
        <table border="1"><caption>Crews</caption><tr><th colspan="2">Ship</th><th>Crew</th></tr>
        <tr><td rowspan="2">Ferry</td><td>old</td><td></td></tr>
        <tr><td>new<br>one</td><td>14</td></tr></table><p>The end.</p>""",
    )
    assert found == [
        ("h1", "The ships"),
        (
            "p",
            "A note1 on H2O and “words”, which is so long that it surely goes on in a second line "
            "of the page.",
        ),
        ("h2", "Drinks"),
        ("item", "Tea"),
        ("item", "Green"),
        ("item", "Coffee with milk"),
        ("item", "1. First"),
        ("item", "2. Second and more of it"),
        ("p", "Crews"),
        ("row", "Ship\tCrew"),
        ("row", "Ferry\told"),
        ("row", "new one\t14"),
        ("p", "The end."),
    ]


def test_lines_of_a_paragraph_are_joined_over_pages_and_columns(tmp_path: Path) -> None:
    text = " ".join(f"كلمة رقم {at} من النص الطويل" for at in range(500))
    style = "<style>div {columns: 2; font-size: 16px}</style>"
    found = printed(tmp_path, f'<html lang="ar" dir="rtl">{style}<div><p>{text}</p></div>')
    assert " ".join(part for _, part in found).split() == text.split()


def test_words_of_a_style_stand_where_they_are_seen_and_shadows_once(tmp_path: Path) -> None:
    found = printed(
        tmp_path,
        """<style>h3::before {content: "Part "} b {text-shadow: 1px 1px red} i {opacity: .5}
        p::before {content: "Note"; display: block}</style>
        <h3>Three</h3><p>A <q>quote</q> and <b>shadowed words</b> and <i>faint ones</i>, hy&shy;phen
        """,
    )
    assert found == [
        ("h3", "Part Three"),
        ("p", "Note"),
        ("p", "A “quote” and shadowed words and faint ones, hyphen"),
    ]


def test_a_row_keeps_the_places_of_its_empty_cells(tmp_path: Path) -> None:
    body = """<table border="1"><tr><td><td>one ship<td><td>two ferries
        <tr><td>three boats<td><td>four rafts</table>"""
    rows = ["\tone ship\t\ttwo ferries", "three boats\t\tfour rafts"]
    assert printed(tmp_path, body) == [("row", row) for row in rows]


def test_a_document_without_a_tree_is_read_by_its_lines(tmp_path: Path) -> None:
    if not has_font("ar"):
        pytest.skip("no font for ar")
    text, _, other = TEXTS["ar"]
    found = printed(tmp_path, f'<html dir="rtl"><p>{text}<p>{other}', "--disable-pdf-tagging")
    assert found == [("p", text), ("p", other)]


def test_readings_of_words_stand_in_brackets(tmp_path: Path) -> None:
    body = "<p>The name <ruby>Ravenby<rt>rayv-n-bee</rt></ruby> is old."
    assert printed(tmp_path, body) == [("p", "The name Ravenby（rayv-n-bee） is old.")]


def test_a_page_of_many_marks_takes_little_time(tmp_path: Path) -> None:
    if not has_font("hi"):
        pytest.skip("no font for hi")
    started = time.process_time()
    found = printed(tmp_path, "".join(f"<p>सत्य {at} क्षत्रिय" for at in range(3000)))
    assert time.process_time() - started < 10
    assert found == [("p", f"सत्य {at} क्षत्रिय") for at in range(3000)]


def test_a_tree_without_an_end_leaves_the_document_to_pdfium() -> None:
    """An element of its structure is its own part, twice."""
    words = " ".join(f"word{number}" for number in range(60))
    drawn = f"BT /F1 12 Tf 20 700 Td ({words}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /StructTreeRoot 6 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /StructParents 0"
        " /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /StructTreeRoot /K [7 0 R] >>",
        "<< /Type /StructElem /S /P /P 6 0 R /K [7 0 R 7 0 R] >>",
        "<< /Producer (Skia/PDF m120) >>",
    ]
    body, places = "%PDF-1.7\n", list[int]()
    for number, written in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    body += (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n"
        f"<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    )
    assert words in read_pdf(body.encode(), 2.0).text

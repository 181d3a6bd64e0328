from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.linked_document import read_document
from crawler.reading.decoding import declared_encoding, decode

GERMAN = "Grüße aus Köln, schöne Straße und süße Äpfel für alle"
RUSSIAN = "Маяк на северных скалах построили давно, и книги о нём целы до сих пор"
TURKISH = "Deniz feneri kayalıkların üstüne yapıldı, kış şafağında ışığı uzaktan görünürdü"
POLISH = "Latarnię zbudowano na północnych skałach, a jej książki przetrwały aż do dziś"
GREEK = "Ο φάρος χτίστηκε στους βόρειους βράχους και τα βιβλία του σώζονται ως σήμερα"
KOREAN = "등대는 북쪽 바위 위에 세워졌고 책은 지금도 거기에 남아 있다. 아이들은 똠얌꿍을 먹었다"
FRENCH = "Voilà déjà l'été"
SHORT_TURKISH = "Kimse işkenceye tâbi tutulamaz ve kışın fener söner"
SHORT_LITHUANIAN = "Švyturys šiaurėje žinomas visiems žmonėms"
SHORT_CROATIAN = "Svjetionik još služi čuvaru i ljudima, a more šumi"
SPANISH = "La mañana llegó y el farero subió las escaleras. ¿Qué más podía querer?"
SHORT_JAPANESE = "社会の各個人及び各機関が、"  # all but two pairs are UTF-8
ICELANDIC = "Vitinn var reistur á klettum í norðri og það er þoka"
JAPANESE = "灯台は北の岩の上に建てられ、本は今もそこに残っている。読む人は霧を学ぶ"
CHINESE = "灯塔建在北方的岩石上，书还在那里，读它们的人学到更多关于雾的知识"


def body(text: str, meta: str = "") -> str:
    declared = f'<meta charset="{meta}">' if meta else ""
    return f"<html><head>{declared}</head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "written", "header", "meta"),
    [
        (GERMAN, "utf-8", "utf-8", ""),
        (GERMAN, "utf-8", "", "utf-8"),
        (GERMAN, "utf-8", "", ""),
        (GERMAN, "utf-8-sig", "iso-8859-1", "iso-8859-1"),
        (GERMAN, "utf-8", "iso-8859-1", ""),
        (GERMAN, "utf-8", "", "windows-1252"),
        (GERMAN, "cp1252", "iso-8859-1", ""),
        (GERMAN, "cp1252", "", "latin-1"),
        (GERMAN, "cp1252", "", ""),
        (GERMAN, "cp1252", "utf-8", ""),
        (GERMAN, "cp1252", "utf-8", "iso-8859-1"),
        (GERMAN, "cp1252", "no-such-charset", ""),
        (GERMAN, "cp1252", "hex", "zlib"),
        (GERMAN, "utf-16", "", ""),
        (GERMAN, "utf-16", "utf-8", "utf-8"),
        (GERMAN, "utf-16-le", "", ""),
        (GERMAN, "utf-16-be", "utf-16", ""),
        (GERMAN, "utf-8", "utf-16", ""),
        (GERMAN, "utf-8", "", "utf-16"),
        (GERMAN, "utf-32", "", ""),
        (RUSSIAN, "cp1251", "windows-1251", ""),
        (RUSSIAN, "koi8-r", "", "koi8-r"),
        (RUSSIAN, "cp1251", "utf-8", "windows-1251"),
        (RUSSIAN, "utf-8", "windows-1251", ""),
        (JAPANESE, "shift_jis", "shift_jis", ""),
        (JAPANESE, "euc_jp", "", "euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp", ""),
        (JAPANESE, "utf-8", "shift_jis", ""),
        (CHINESE, "gb18030", "gb2312", ""),
        (CHINESE, "gbk", "", "gbk"),
        (CHINESE, "utf-8", "gbk", ""),
        (TURKISH, "cp1254", "", ""),
        (POLISH, "iso8859-2", "", ""),
        (POLISH, "cp1250", "", ""),
        (RUSSIAN, "koi8-r", "", ""),
        (GREEK, "iso8859-7", "", ""),
        (JAPANESE, "iso2022_jp", "", ""),
        (JAPANESE, "euc_jp", "", ""),
        (CHINESE, "gbk", "", ""),
        (KOREAN, "cp949", "", ""),
        (FRENCH, "cp1252", "", ""),
        (SHORT_TURKISH, "cp1254", "", ""),
        (SHORT_LITHUANIAN, "cp1257", "", ""),
        (SHORT_CROATIAN, "cp1250", "", ""),
        (SHORT_JAPANESE, "euc_jp", "", ""),
        (ICELANDIC, "cp1252", "", ""),
    ],
)
def test_text_survives_whatever_is_declared(
    text: str, written: str, header: str, meta: str
) -> None:
    raw = body(text, meta).encode(written)
    content_type = f"text/html; charset={header}" if header else None
    assert text in decode(raw, content_type).utf8.decode()


def test_cut_utf8_stays_utf8() -> None:
    raw = (body(GERMAN * 3) + "ü").encode()[:-1]
    decoded = decode(raw, "text/html; charset=utf-8")
    assert decoded.encoding == "utf-8"
    assert GERMAN in decoded.utf8.decode()


def test_stray_latin1_in_utf8_costs_one_character() -> None:
    raw = body(GERMAN).encode() + "é".encode("latin-1")
    assert GERMAN in decode(raw, "text/html; charset=utf-8").utf8.decode()


@pytest.mark.parametrize("damage", [b"cr\xe9\xe9e", b"\xc3\xc3", b"\xef\xbf"])
@pytest.mark.parametrize("times", [1, 40])
def test_damaged_utf8_stays_utf8_though_its_bytes_are_in_pairs(damage: bytes, times: int) -> None:
    said = (f"<p>{SPANISH}</p>" * times).encode()
    decoded = decode(said + damage + said, "text/html")
    assert decoded.encoding == "utf-8"
    assert SPANISH in decoded.utf8.decode()


def test_undetectable_bytes_are_read_as_windows_1252() -> None:
    assert decode(b"<p>caf\xe9</p>", None).utf8.decode() == "<p>café</p>"


def test_control_characters_and_noncharacters_are_dropped() -> None:
    raw = "<p>a\0b\x01c\x0bd\ufffee\uffff</p>".encode()
    assert decode(raw, None).utf8 == b"<p>abcde</p>"


def test_white_space_stays_and_a_form_feed_becomes_a_space() -> None:
    assert decode(b"a\tb\nc\r\nd\fe", None).utf8 == b"a\tb\nc\r\nd e"


@pytest.mark.parametrize(
    "reference", ["&#0;", "&#1;", "&#x1F;", "&#x0b;", "&#31;", "&#xFFFF;", "&#65534;", "&#1"]
)
def test_references_to_what_is_no_text_are_dropped(reference: str) -> None:
    assert decode(f"<p>a{reference} b</p>".encode(), None).utf8.split() == [b"<p>a", b"b</p>"]


@pytest.mark.parametrize("reference", ["&#10;", "&#x9;", "&#65;", "&#160;", "&#x1F600;", "&#310;"])
def test_other_references_stay(reference: str) -> None:
    assert reference in decode(f"<p>{reference}</p>".encode(), None).utf8.decode()


CHARSETS = ["", "utf-8", "latin-1", "utf-16", "utf-7", "gbk", "big5", "shift_jis", "idna", "hex"]


class TestDecodeProperties:
    @given(st.binary(max_size=300), st.sampled_from(CHARSETS))
    def test_result_is_clean_utf8(self, raw: bytes, charset: str) -> None:
        utf8 = decode(raw, f"text/html; charset={charset}").utf8
        text = utf8.decode()
        assert not set(text) & {chr(code) for code in range(32) if chr(code) not in "\t\n\r"}

    @given(st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]), max_size=200))
    def test_utf8_is_kept_as_it_is(self, text: str) -> None:
        raw = text.replace("&#", "").replace("\ufffe", "").replace("\uffff", "").encode()
        if not raw.startswith(codecs.BOM_UTF8):
            assert decode(raw, "text/html; charset=utf-8").utf8 == raw


SCRIPT = "<script>var c = {'id': 'module', 'html': '<meta charset=\"koi8-r\"></head>'};</script>"
STYLES = "<link rel='stylesheet' href='/css/part.css?v=2024'><script src='/js/a.js'></script>"
COMMENT = "<!-- <meta charset='iso-8859-5'><body> -->" * 3


class TestLateDeclarations:
    @pytest.mark.parametrize("before", [SCRIPT, STYLES, COMMENT, f"<style>{'a{b:c}' * 9}</style>"])
    @pytest.mark.parametrize("size", [5_000, 20_000, 400_000])
    @pytest.mark.parametrize(
        ("text", "written", "meta"),
        [
            (RUSSIAN, "cp1251", "<meta charset=windows-1251>"),
            (RUSSIAN, "iso8859-5",
             "<META content='text/html; charset=iso-8859-5' http-equiv=Content-Type />"),
            (CHINESE, "gbk", '<meta charset="gb2312">'),
            (JAPANESE, "iso2022_jp", '<meta charset="iso-2022-jp">'),
        ],
    )  # fmt: skip
    def test_a_declaration_counts_wherever_it_stands_in_the_head(
        self, before: str, size: int, text: str, written: str, meta: str
    ) -> None:
        head = before * (size // len(before)) + meta
        raw = f"<!DOCTYPE html><html><head>{head}</head><body>{text}</body>".encode(written)
        assert text in decode(raw, "text/html").utf8.decode()
        document = read_document(raw, "http://h.example/", "text/html")
        assert document is not None
        assert document.rewrite(lambda _: None).body == raw  # it declares itself

    @pytest.mark.parametrize("behind", ["</head>", "<body class='a'>", "<script>"])
    def test_none_counts_behind_the_head_or_in_a_script(self, behind: str) -> None:
        head = STYLES * 60 + behind + '<meta charset="koi8-r">'
        raw = f"<html><head>{head}</head><body>{RUSSIAN * 5}</body>".encode("cp1251")
        assert declared_encoding(raw) is None

    @pytest.mark.parametrize("opening", ["<script ", "<meta ", "<!--", "<?xml ", "<", "<style>"])
    def test_what_is_never_closed_is_looked_at_once(self, opening: str) -> None:
        raw = b"<html><head>" + opening.encode() * 100_000 + "ä".encode("cp1252")
        began = time.perf_counter()
        assert declared_encoding(raw) is None
        assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    "before", ["<style>a{color:red}b{margin:0 auto}" * 800, "x = [1, 2];" * 4000]
)
@pytest.mark.parametrize(
    ("text", "written"),
    [(POLISH, "cp1250"), (RUSSIAN, "koi8-r"), (JAPANESE, "euc_jp"), (KOREAN, "cp949")],
)
def test_an_undeclared_text_is_read_behind_much_that_is_ascii(
    text: str, written: str, before: str
) -> None:
    raw = f"<html><head>{before}</head><body><p>{text} {text}</p></body></html>".encode(written)
    assert text in decode(raw, None).utf8.decode()


def test_what_only_begins_as_japanese_stays_as_it_is() -> None:
    raw = b"<p>escape codes such as \x1b$B xyzw yxwz wzyx zyxw</p>"
    assert b"xyzw yxwz wzyx zyxw" in decode(raw, None).utf8

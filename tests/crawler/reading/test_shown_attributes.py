"""What a page shows by its attributes keeps it apart from others, and nothing volatile does."""

from __future__ import annotations

import pytest

from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.protocol import ReadingOptions
from crawler.reading.shown_attributes import address_word
from crawler.reading.text import Visible
from crawler.reading.visible_text import read_visible
from neardup import Deduplicator, Document, tokens
from neardup.fingerprints.digest import text_digest
from tests.crawler.reading.pages import page, read_page, shown_of
from tests.sites.prose import prose

SHORT, LONG = 12, 200


def document_of(body: bytes, url: str = "http://h/page") -> Document:
    document = read_page(url, body, "text/html", ReadingOptions()).document(50)
    assert document is not None
    return document


def with_words(shown: str, words: int = SHORT) -> bytes:
    return page(f"<article><p>{prose('A coat', words)}</p>{shown}</article>")


def lines(body: str) -> list[str]:
    return read_visible(flatten(parse(f"<p>a</p>{body}".encode()))).by_attributes.splitlines()


@pytest.mark.parametrize(
    "shown",
    [
        "<img src=/photo/{}.jpg>",
        "<img src=data:image/gif;base64,AA data-src=/photo/{}.jpg>",
        "<img src=data:image/gif;base64,AA{}>",
        "<img srcset='/photo/{}.jpg 1x, /photo/{}-large.jpg 2x'>",
        "<img src=/photo.php?id={}>",
        "<a href=/next><img src=/next.png alt='Photo {}'></a>",
        "<a href=/next><img src=/photo/{}.jpg></a>",
        "<svg><image href=/photo/{}.svg /></svg>",
        "<svg viewBox='0 0 300 200'><path d='M0 {} L9 9'/></svg>",
        "<svg width=300><g><circle r={} /></g></svg>",
        "<svg><rect fill='#0000{}'/></svg>",
        "<svg><svg><path d=M1 /></svg><path d=M{} /></svg>",
        "<svg><path style='mask:url(#a' d=M{} /></svg>",
        "<div style='background-image:url(/photo/{}.jpg)'></div>",
        """<a href=/next style="background: red url('/photo/{}.jpg')"></a>""",
        "<div data-bg=/photo/{}.jpg></div>",
        "<div data-background-image='/photo/{}.jpg' style='color:red'></div>",
        "<table background=/photo/{}.jpg><tr><td>of them</table>",
        "<form><input><svg><path d='M0 {}'/></svg></form>",
        "<map><area alt='Hall {}' href=/hall></map>",
        "<select><optgroup label='Size {}'><option>small</optgroup></select>",
        "<select><option label='Size {}'>small</select>",
        "<input type=submit value='Buy {}'>",
        "<input type=button value='Buy {}'>",
        "<input type=image src=/buy-{}.png>",
        "<input placeholder='Search volume {}'>",
        "<input value='Volume {}'>",
        "<textarea placeholder='What of {}?'></textarea>",
        "<textarea>What of {}?</textarea>",
        "<fieldset><legend>Size {}</legend></fieldset>",
        "<details><summary>Size {}</summary></details>",
        "<svg><title>Size {}</title></svg>",
        "<ol start={}><li>of them</ol>",
        "<ol><li value={}>of them</ol>",
        "<meter value=.{}></meter>",
        "<progress value=.{}></progress>",
        "<iframe src=/embed/{}></iframe>",
        "<video src=/film/{}.webm></video>",
        "<video poster=/film/{}.jpg></video>",
        "<audio><source src=/song/{}.ogg></audio>",
        "<object data=/film/{}.swf></object>",
        "<embed src=/film/{}.swf>",
        "<img src='/resized?url=https%3A%2F%2Fc%2F{}.jpg&w=640'>",
        "<iframe src='https://w/player/?url=https%3A//api/tracks/{}'></iframe>",
        "<iframe src=/viewer.html#/leaf/{}></iframe>",
        "<embed src=/book.pdf#page={}>",
        "<iframe srcdoc='&lt;p>Hall {}&lt;/p>'></iframe>",
        "<img srcset=' /photo/{}.jpg 1x'>",
        "<img src=DATA:image/gif;base64,AA srcset='/photo/{}.jpg, /large.jpg 2x'>",
        "<img data-src=' ' src=/photo/{}.jpg>",
        "<img src=/wait.gif data-image=/photo/{}.jpg>",
        "<img src=/wait.gif data-lazy-srcset='/photo/{}.jpg 1x'>",
        "<img data-lazy=true src=/photo/{}.jpg>",
        "<img data-bg=0.4 src=/photo/{}.jpg>",
        "<img data-thumb=/frame.png src=/photo/{}.jpg>",
        "<img data-srcset=auto src=/photo/{}.jpg>",
        "<img data-src=/frame.png data-image=/photo/{}.jpg>",
        "<img data-src=about:blank src=/photo/{}.jpg>",
        "<picture><source srcset='/photo/{}.webp 2x'></picture>",
        "<image src=/photo/{}.jpg>",
        "<noscript>Hall {}</noscript>",
        "<iframe src=/player?v=12345{}></iframe>",
        "<img src=/photo.php?12345{}>",
    ],
)
@pytest.mark.parametrize("words", [SHORT, LONG])
def test_pages_that_show_other_things_have_other_digests(shown: str, words: int) -> None:
    one, other, again = (
        document_of(with_words(shown.replace("{}", name), words)) for name in ("44", "46", "44")
    )
    assert one.digest != other.digest
    assert one.digest == again.digest


@pytest.mark.parametrize(
    "shown",
    [
        "<input type=hidden name=csrf value={}>",
        "<input type=password value={}>",
        "<input value='http://h/page?sid={}'>",
        "<img src=/count?{} width=1 height=1>",
        "<img src=/photo.jpg?v=1690000{}>",
        "<img src=/photo.jpg?1690000{}>",
        "<img src=/photo.php?16900000{}>",
        "<iframe src=/player?t=1234567{}></iframe>",
        "<img src=/photo.jpg?r=0.12345678{}>",
        "<img src='/photo.jpg?w=300&amp;X-Amz-Signature=ab{}'>",
        "<img src=/photo.jpg;jsessionid={}>",
        "<img src=/captcha/{}.png>",
        "<form><img src=/code?of={}><input name=code></form>",
        "<form><img src=data:image/png;base64,AA{}><input name=code></form>",
        "<iframe src='https://w/like?href=http%3A%2F%2Fh%2F{}'></iframe>",
        "<img src=http://cdn{}.h/photo.jpg>",
        "<a href=/{}><img src=/photo.jpg></a>",
        "<iframe src=/viewer.html#top{}></iframe>",
        "<iframe src=/viewer.html#token={}></iframe>",
        "<iframe src='/embed/#?secret={}'></iframe>",
        "<iframe src=/viewer.html#_=17000000{}></iframe>",
        "<iframe src=/recaptcha/anchor#cb={}></iframe>",
        "<iframe src=blob:x#a={}></iframe>",
        "<img src=/cam.php?17000000{}.1234>",
        "<img src=/cam.php?202401311200{}>",
        "<img src=/cam.php?0.123{}>",
        "<iframe srcdoc='&lt;script>nonce = {}&lt;/script>'></iframe>",
        "<noscript><img src=/count?{}><style>a{}</style></noscript>",
        "<svg><clipPath id=p{}><path d=M0/></clipPath><path clip-path='url(#p{})'/></svg>",
        "<svg><path id=p{} d=M0 fill='url(#p{})' style='mask:url(#p{})'/></svg>",
        "<svg aria-hidden=true><path d=M{} /></svg>",
        "<svg width=24 viewBox='0 0 512 512'><path d=M{} /></svg>",
        "<svg width=1.5em><path d=M{} /></svg>",
        "<svg viewBox='0 0 24 24'><path d=M{} /></svg>",
        "<svg style='width:9em'/><p id={}></p>",
        "<div style='background:url(/photo.jpg?v=1690000{})'></div>",
        "<div data-bg={} data-thumb=auto></div>",
        "<div style='filter:url(#blur{})' title='url(/photo/{}.jpg)'></div>",
    ],
)
def test_what_changes_with_each_fetch_leaves_pages_equal(shown: str) -> None:
    one, other = (document_of(with_words(shown.replace("{}", name))) for name in ("44", "46"))
    assert one.digest == other.digest


def test_links_without_scripts_leave_main_texts_equal() -> None:
    noscript = "<noscript><nav><a href=/{}>Latest: {}</a></nav></noscript>"
    one, other = (document_of(with_words(noscript.replace("{}", n), LONG)) for n in ("44", "46"))
    assert one.digest == other.digest


@pytest.mark.parametrize("piece", ["&lt;!--", "&lt;", "&lt;script>", "&lt;a "])
def test_a_hostile_frame_is_read_in_linear_time(piece: str) -> None:
    """It takes a second at most; to look for each end up to the last would take an hour."""
    assert lines(f'<iframe srcdoc="word {piece * 200_000}">')[0].startswith("word")


@pytest.mark.parametrize("words", [0, SHORT])
def test_every_picture_of_a_gallery_is_kept(words: int) -> None:
    deduplicator = Deduplicator()
    for number in range(20):
        body = with_words(f"<a href=/photo/{number + 1}><img src=/p/{number}.jpg></a>", words)
        assert not deduplicator.judge_document(number, document_of(body)).is_duplicate


def test_a_copy_without_pictures_is_a_near_duplicate() -> None:
    deduplicator = Deduplicator()
    deduplicator.judge_document(0, document_of(with_words("<img src=/logo.png alt=Acme>", LONG)))
    verdict = deduplicator.judge_document(1, document_of(with_words("", LONG)))
    assert (verdict.kind, verdict.duplicate_of) == ("near_duplicate", 0)


def test_a_page_without_any_text_stays_empty() -> None:
    one, other = (document_of(page(f"<img src=/{name}.png>")) for name in "ab")
    assert one.digest == other.digest
    assert not one.words


@pytest.mark.parametrize("words", [SHORT, LONG])
def test_nothing_of_it_is_shown_or_counted(words: int) -> None:
    shown = "<p><img src=/photo/44.jpg alt='A photo'> <input type=submit value=Buy></p>"
    plain, full = (
        read_page("http://h/page", with_words(one, words), "text/html", ReadingOptions())
        for one in ("", shown)
    )
    assert full.text == plain.text
    one, other = full.document(50), plain.document(50)
    assert one is not None
    assert other is not None
    assert one.words == other.words
    assert shown_of(full) == shown_of(plain)


def test_lines_of_elements() -> None:
    assert lines("<img src=../a/b.png alt='Two  words'><input type=submit value=Go>") == [
        address_word("/a/b.png"),
        "Two words",
        "Go",
    ]
    assert Visible(" \n", "").whole().strip() == ""


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("https://h/a/b.jpg#c", "/a/b.jpg"),
        ("//h/a/b.jpg", "/a/b.jpg"),
        ("../../a/b.jpg", "/a/b.jpg"),
        ("./a/b.jpg", "/a/b.jpg"),
        ("b.php?id=7&sid=af", "b.php?id=7"),
        ("javascript:void(0)", ""),
        ("about:blank", ""),
    ],
)
def test_an_address_is_one_word_wherever_it_stands(address: str, same: str) -> None:
    word = address_word(address)
    assert word == address_word(same)
    assert tokens(word) == ([word.lower()] if word else [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a/b.jpg", "a_b.jpg"),
        ("a-b.jpg", "a.b.jpg"),
        ("v?id=aBc", "v?id=abC"),
        ("hidden/b.jpg", ".hidden/b.jpg"),
        ("b.php?id=1234567", "b.php?id=1234568"),
    ],
)
def test_two_addresses_are_two_words(one: str, other: str) -> None:
    assert text_digest(address_word(one)) != text_digest(address_word(other))


def test_long_and_foreign_addresses_stay_apart() -> None:
    words = {address_word(one) for one in ("/ä.jpg", "/ö.jpg", f"/{'a' * 300}", f"/{'a' * 301}")}
    assert len(words) == 4
    assert all(word.startswith("address_") for word in words)


@pytest.mark.parametrize(
    ("form", "asks"),
    [
        ("<form>{}<input></form>", True),
        ("<form>{}<input type=''></form>", True),
        ("<form>{}<input type=hidden></form>", False),
        ("<form>{}</form><input>", False),
        ("<form action=x></form>{}<input>", False),
        ("<form>{}<img><img><input></form>", True),
        ("<form>{}<img><img><img><input></form>", False),
        ("<form>{}<noscript><img><img><img></noscript><input></form>", True),
    ],
)
@pytest.mark.parametrize("picture", ["<img src=/code?of=1 alt=A>", "<img src=/code alt=A>"])
def test_a_picture_asks_in_a_form_with_a_field_and_few_pictures(
    form: str, picture: str, *, asks: bool
) -> None:
    assert len(lines(form.format(picture))) == (1 if asks else 2)
    assert len(lines(form.format("<img src=/photo.jpg alt=A>"))) == 2


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("<img alt='a &quot;b&quot; &lt;c&gt; &amp;lt;'>", ['a "b" <c> &lt;']),
        ("<img title=' alt=' alt=x>", ["x"]),
        ("<option title=' label='>a", [""][:0]),
        ('<img a"b=c alt=x>', ["x"]),
        ("<img = alt=x>", ["x"]),
        ("<img alt>", []),
        ("<ol start=-3.5></ol>", ["ol_minus3_5"]),
    ],
)
def test_attributes_are_read_as_they_are(shown: str, expected: list[str]) -> None:
    assert lines(shown) == expected

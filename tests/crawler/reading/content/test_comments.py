"""Comments of readers stand beside the content of an article, and in that of a forum."""

from __future__ import annotations

import pytest
from lxml import etree

from crawler.pages.items import comments_of, text_of
from crawler.reading.content.content_text import shown_text
from crawler.reading.content.content_xml import compress, pack_content, unpack_content
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import ReadingOptions
from crawler.reading.reading import ReadingTask
from tests.crawler.reading.content.test_content import ARTICLE, PROSE, content_of

PARTS = "".join(f"<p>Part {number}. {PROSE * 3}</p>" for number in range(6))
TEXT = f"<h1>The harbour</h1>{PARTS}"

WORDPRESS = f"""<html><head><title>The harbour</title>
<meta property="og:type" content="article"></head>
<body class="single single-post right-sidebar comments-open"><div id="page" class="site">
<main id="main" class="site-main"><article class="post hentry"><header class="entry-header">
<h1 class="entry-title">The harbour</h1><div class="entry-meta"><span class="comments-link">
<a href="#comments">2 Comments</a></span></div></header><div class="entry-content">{PARTS}</div>
</article>
<nav class="navigation post-navigation"><div class="nav-links"><a href="/p">Of piers</a></div></nav>
<div id="comments" class="comments-area"><h2 class="comments-title">2 thoughts on “The harbour”</h2>
<ol class="comment-list"><li id="comment-1" class="comment even thread-even depth-1">
<article id="div-comment-1" class="comment-body"><footer class="comment-meta">
<div class="comment-author vcard"><img src="a.png" class="avatar" alt=""><b class="fn">Anna Berg</b>
<span class="says">says:</span></div><div class="comment-metadata"><a href="/#comment-1">
<time datetime="2024-03-03">March 3, 2024 at 5:00 pm</time></a></div></footer>
<div class="comment-content"><p>The mole was built in two parts, my grandfather said.</p>
<p>He saw the second.</p></div>
<div class="reply"><a class="comment-reply-link" href="?r">Reply</a></div>
</article><ol class="children"><li id="comment-2" class="comment odd alt depth-2">
<article class="comment-body"><footer class="comment-meta"><div class="comment-author vcard">
<b class="fn"><a href="https://jon.example/" class="url">Jon</a></b> <span class="says">says:</span>
</div></footer><div class="comment-content"><p>Thanks!</p></div></article></li></ol></li></ol>
<p class="no-comments">Comments are closed.</p>
<div id="respond" class="comment-respond"><h3 id="reply-title" class="comment-reply-title">Leave a
Reply</h3><form id="commentform" class="comment-form"><p>Your email address will not be published.
</p><textarea name="comment"></textarea></form></div></div></main>
<aside id="secondary" class="widget-area"><section class="widget widget_recent_comments">
<h2>Recent Comments</h2><ul id="recentcomments"><li class="recentcomments">
<span class="comment-author-link">Eva</span> on <a href="/o">Of oars</a></li></ul></section></aside>
</div></body></html>"""

FORMS = (
    """<h3>Leave a comment</h3><form><p>Your name, and what you have to say about it.</p></form>"""
)

PLAIN = f"""<title>The harbour</title><div class="page"><article>{TEXT}</article>
<section><h2>Comments</h2><div><p>Anna, 3 March 2024</p>
<p>The mole was built in two parts.</p></div>
<div><h4>Jon</h4><p>Are you sure of that?</p></div>{FORMS}</section>
<section><h2>More</h2><p>The bridge was opened in 2019.</p></section></div>"""

GERMAN = f"""<html lang=de><title>Der Hafen</title><div class="beitrag">
<h1>Der Hafen</h1>{PARTS}</div>
<div class="kommentare"><h3>2 Kommentare</h3><div class="kommentar">
<div class="kommentar-autor">Jörg K.</div><div class="kommentar-text"><p>Die Mole ist schöner.</p>
</div><a href="#antwort">Antworten</a></div><div class="kommentar"><div class="kommentar-autor">Ute
</div><div class="kommentar-text"><p>Das finde ich auch.</p></div></div>
<form class="kommentar-formular"><p>Schreiben Sie einen Kommentar</p></form></div></html>"""

POSTS = "".join(
    f'<div class="post comment"><div class="author">Sailor {number}</div><div class="postbody">'
    f"<p>Answer {number}. {PROSE}</p></div></div>"
    for number in range(12)
)
FORUM = f"""<html><head><title>Which harbour? - Forum</title><script type="application/ld+json">
{{"@context": "https://schema.org", "@type": "DiscussionForumPosting", "headline": "Which?"}}
</script></head><body class="forum"><div class="thread"><h1>Which harbour?</h1>{POSTS}</div></body>
</html>"""


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        (
            WORDPRESS,
            [
                "Anna Berg says:",
                "March 3, 2024 at 5:00 pm",
                "The mole was built in two parts, my grandfather said.",
                "He saw the second.",
                "Jon says:",
                "Thanks!",
            ],
        ),
        (
            PLAIN,
            [
                "Anna, 3 March 2024",
                "The mole was built in two parts.",
                "Jon",
                "Are you sure of that?",
            ],
        ),
        (GERMAN, ["Jörg K.", "Die Mole ist schöner.", "Ute", "Das finde ich auch."]),
    ],
)
def test_comments_on_an_article_are_told_apart_from_its_text(html: str, lines: list[str]) -> None:
    content = content_of(html)
    assert content.comments.splitlines() == lines
    shown = "".join(etree.fromstring(content.xml).itertext())
    assert "Part 5." in shown
    assert not any(line in content.text or line in shown for line in lines)


def test_comments_of_a_forum_are_its_content() -> None:
    content = content_of(FORUM)
    assert (content.kind, content.comments) == ("forum", "")
    assert content.text.count("Pilots wait at the outer buoy.") == 12


@pytest.mark.parametrize(
    "html",
    [
        ARTICLE,
        f"<title>The harbour</title><body class=comments-open>{TEXT}<footer><p>A footer.</footer>",
        f"{TEXT}<div id=comments class=comments><h3>0 Comments</h3><p>Be the first!</p></div>",
        f"{TEXT}<div id=comments><p class=no-comments>Comments are closed since 2019.</p></div>",
        f"{TEXT}<div id=respond class=comment-respond><p>Log in since 2019.</p></div>",
        f"{TEXT}<section>{FORMS}</section>",
        f"<h2>Comments</h2><p>Anna, 3 March 2024</p><p>Hello there.</p>{TEXT}",
    ],
)
def test_what_only_speaks_of_comments_is_none(html: str) -> None:
    assert content_of(html).comments == ""


def test_comments_without_a_word_on_a_page_without_a_block_are_none() -> None:
    for within in ("", "<blockquote></blockquote>"):
        assert content_of(f"<div class=comments>{within}</div>").comments == ""


def test_comments_are_stored_beside_the_content_that_stays_as_it_was() -> None:
    body = etree.fromstring("<body><p>One</p><list><item>a</item></list></body>")
    plain, commented = pack_content(body), pack_content(body, "Anna: 1 < 2\nJon: \x1b&")
    assert etree.tostring(unpack_content(commented)) == etree.tostring(unpack_content(plain))
    assert text_of(commented) == text_of(plain)
    assert comments_of(commented) == "Anna: 1 < 2\nJon: &"
    assert comments_of(plain) is None
    assert comments_of(None) is None
    assert comments_of(compress(etree.tostring(body))) is None


def test_a_page_is_packed_with_its_comments() -> None:
    reader = PageReader(ReadingOptions())
    task = ReadingTask("http://harbour.example/", WORDPRESS.encode(), "text/html")
    reader.see(reader.parse(task))
    content = reader.extract().extract.content
    assert content is not None
    assert (comments_of(content.xml_zstd) or "").endswith("Jon says:\nThanks!")
    assert "Anna" not in shown_text(content.xml_zstd)

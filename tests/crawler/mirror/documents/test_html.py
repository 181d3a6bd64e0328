from __future__ import annotations

from html import escape

import pytest

from crawler.mirror.documents.linked_document import LinkedDocument, absolute_address, read_document
from crawler.mirror.documents.places import LinkRole, undo

PAGE = "http://host.example/a/page.html"
HTML = "text/html; charset=utf-8"
PAGES, FRAMES = LinkRole.PAGE, LinkRole.FRAME
NEEDED, FEED, OTHER = LinkRole.REQUISITE, LinkRole.FEED, LinkRole.OTHER
FORM = LinkRole.FORM


def read(page: str, content_type: str = HTML) -> LinkedDocument:
    document = read_document(page.encode(), PAGE, content_type)
    assert document is not None
    return document


def rewritten(page: str, content_type: str = HTML) -> str:
    """The page with every address replaced by the last part of its path."""
    document = read(page, content_type)
    new, patch = document.rewrite(lambda link: (link.url or "").rpartition("/")[2] + "'\"&x")
    assert undo(new, patch) == page.encode()
    return new.decode()


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<a href=x>", [("x", PAGES)]),
        ('<area href="x&amp;y">', [("x&y", PAGES)]),
        ("<iframe src=x><a href=no></iframe><frame src=y>", [("x", FRAMES), ("y", FRAMES)]),
        ("<link rel='shortcut icon' href=x>", [("x", NEEDED)]),
        ("<link rel='alternate stylesheet' href=x>", [("x", NEEDED)]),
        ("<link rel=alternate type=application/rss+xml href=x>", [("x", FEED)]),
        ("<link rel=alternate hreflang=de href=x>", [("x", PAGES)]),
        ("<link rel=NEXT href=x><link rel=canonical href=y>", [("x", PAGES), ("y", OTHER)]),
        ("<link rel=preload imagesrcset='x 1x, y 2x' href=z>", [(n, NEEDED) for n in "xyz"]),
        ("<img src=x srcset='y, z 2x' style='a:url(w)'>", [(n, NEEDED) for n in "xyzw"]),
        ("<p style='a:url(&quot;x&quot;)'>", [("x", NEEDED)]),
        ("<p style='a:b'><p style='a:url(#x)'>", []),
        ("<style>@import 'x';a{b:url(y)}</style>", [("x", NEEDED), ("y", NEEDED)]),
        ("<style>a{b:url(x)}", [("x", NEEDED)]),
        ("<video src=x poster=y><track src=z></video>", [(n, NEEDED) for n in "xyz"]),
        ("<object data=x></object><embed src=y>", [("x", NEEDED), ("y", NEEDED)]),
        ("<object codebase=/c data=x></object>", [("/c/x", NEEDED)]),
        ("<applet codebase=/c/ archive=x></applet><applet archive='no,no'>", [("/c/x", NEEDED)]),
        ("<object data-src=x.svg></object>", [("x.svg", NEEDED)]),
        ("<applet archive='no,no' background=x></applet>", [("x", NEEDED)]),
        ("<object codebase=http://[x data=x></object>", [("x", NEEDED)]),
        ("<object codebase=/c data=http://[x></object>", [("http://[x", NEEDED)]),
        ("<object classid=CLSID:1 codebase=/a.cab data=x></object>", [("x", NEEDED)]),
        ("<object codebase=/c data=''></object>", []),
        ("<param name=movie value=x><param name=a value=no>", [("x", NEEDED)]),
        ("<bgsound src=x><layer src=y></layer>", [("x", NEEDED), ("y", FRAMES)]),
        ("<svg><path fill='url(x#a)' mask='url(#no)' stroke=red>", [("x#a", NEEDED)]),
        ("<math href=x><mi>a</mi></math>", [("x", PAGES)]),
        ("<meta name=twitter:image content=x><meta name=twitter:card content=no>", [("x", OTHER)]),
        ("<input src=no><input type=IMAGE src=x>", [("x", NEEDED)]),
        ("<table background=x><td background=y>", [("x", NEEDED), ("y", NEEDED)]),
        ("<form action=x><button formaction=y>", [("x", FORM), ("y", OTHER)]),
        ("<img data-src=a/x.png data-lazy=true data-original=5>", [("a/x.png", NEEDED)]),
        ("<div data-bg='url(a/x.png)' data-src='{\"a\":1.5}'>", [("a/x.png", NEEDED)]),
        ("<img data-srcset='a/x 1x, a/y 2x'>", [("a/x", NEEDED), ("a/y", NEEDED)]),
        ("<meta http-equiv=Refresh content='5; URL=&quot;x&quot;'>", [("x", PAGES)]),
        ("<meta http-equiv=refresh content='5'><meta http-equiv=refresh content='never'>"
         "<meta http-equiv=refresh content='-1'><meta http-equiv=refresh content='url=x'>", []),
        ("<meta property=og:image content=x><meta property=og:type content=no>", [("x", OTHER)]),
        ("<q cite=x></q><img longdesc=y><a href=z ping=w>",
         [("x", OTHER), ("y", OTHER), ("z", PAGES), ("w", OTHER)]),
        ("<noframes><a href=x><style></noframes><a href=y>", [("x", PAGES), ("y", PAGES)]),
        ("<iframe srcdoc='<img src=\"x&amp;amp;y\"><a href=z>'></iframe>",
         [("x&y", NEEDED), ("z", PAGES)]),
        ("<script type=module>import a from './x';import'../y';import('/z')</script>",
         [("./x", NEEDED), ("../y", NEEDED), ("/z", NEEDED)]),
        ("<script>fetch('x'); fetch(`/y`); fetch('no' + z); fetch(`no${z}`)</script>",
         [("x", NEEDED), ("/y", NEEDED)]),
        ("<script>fetch('no', {method: 'POST'}); a = 'a text from \"/no\" here'</script>", []),
        ("<script>export {a as b}from'./x';import*as c from './y';export default './no'</script>",
         [("./x", NEEDED), ("./y", NEEDED)]),
        ("<script type=importmap>{\"imports\": {\"./no\": \"./x\", \"no/\": \"/no/\"}}</script>",
         [("./x", NEEDED)]),
        ("<script type=text/template><a href=no>import './no'</script>", []),
        ("<svg><image href=x /><use xlink:href=y#z /><use href='#no'/></svg>",
         [("x", NEEDED), ("y#z", NEEDED)]),
        ("<svg><a xlink:href=x><style>a{b:url(&quot;y&quot;)}</style></svg>",
         [("x", PAGES), ("y", NEEDED)]),
        ("<svg><style><![CDATA[a{b:url(x)}]]></style><![CDATA[<a href=no>]]></svg>",
         [("x", NEEDED)]),
        ("<![CDATA[<a href=x>]]>", []),
        ("<![CDATA[>]]><a href=x>", [("x", PAGES)]),
        ("<svg><title><a href=x></title></svg><title><a href=no></title>", [("x", PAGES)]),
        ("<svg><path d='M0' style=\"stroke:rgb(0,0,0)\"/><a href=x style=\"fill:rgb(0,0,0)\">",
         [("x", PAGES)]),
        ("<svg><path style=\"fill:rgb(0,0,0);mask:url(x)\"/><g style=\"fill:&#117;rl(y)\">",
         [("x", NEEDED), ("y", NEEDED)]),
        ("<svg><g><path></g><p style=\"fill:rgb(0,0,0)\"><title><a href=no></title>", []),
        ("<svg><p><title><a href=no></title>", []),
        ("<svg/><title><a href=no></title>", []),
        ("<svg><foreignObject><style><a href=no></style></foreignObject><style><a href=x>",
         [("x", PAGES)]),
        ("<noscript><img src=x></noscript><template><a href=y></template>",
         [("x", NEEDED), ("y", PAGES)]),
        ("<textarea><a href=no></textarea><xmp><a href=no></xmp><a href=x>", [("x", PAGES)]),
        ("<script><!--<script></script><a href=no>--></script><a href=x>", [("x", PAGES)]),
        ("<script>'<a href=no>'</script x><a href=x>", [("x", PAGES)]),
        ("<plaintext><a href=no></plaintext>", []),
        ("<div title='><a href=no>'><a href=x>", [("x", PAGES)]),
        ("<a href=x", []),
        ("<a href='x><a href=y>", []),
    ],
)  # fmt: skip
def test_addresses_are_found_with_their_kinds(page: str, found: list[tuple[str, LinkRole]]) -> None:
    assert [(link.written, link.kind) for link in read(page).links] == found


@pytest.mark.parametrize(
    ("page", "new"),
    [
        ('<a href="x">', '<a href="x\'&quot;&amp;x">'),
        ("<a href='x'>", "<a href='x&#39;\"&amp;x'>"),
        ("<a href=x>", "<a href=x&#39;&#34;&#38;x>"),
        ("<a style=a:url(x)>", "<a style=a:url(x\\27&#32;\\22&#32;&#38;x)>"),
        ("<a style='a:url(&quot;x&quot;)'>", "<a style='a:url(&quot;x\\27 \\22 &amp;x&quot;)'>"),
        ("<style>a{b:url(x)}</style>", "<style>a{b:url(x\\27 \\22 &x)}</style>"),
        ("<img srcset='x 1x,y 2x'>", "<img srcset='x&#39;\"&amp;x 1x,y&#39;\"&amp;x 2x'>"),
        ("<script>fetch('x')</script>", "<script>fetch('x%27%22&x')</script>"),
        ("<iframe srcdoc=\"<base href='/no/'><img src='x'>\"></iframe>",
         "<iframe srcdoc=\"<base href='/no/'><img src='x'>\"></iframe>"),
        ("<iframe srcdoc=\"<meta http-equiv='Content-Security-Policy' content=a>\"></iframe>",
         "<iframe srcdoc=\"<meta data-http-equiv='Content-Security-Policy' content=a>\"></iframe>"),
        ("<iframe srcdoc=\"<img src='x'>\"></iframe>",
         "<iframe srcdoc=\"<img src='x&amp;#39;&quot;&amp;amp;x'>\"></iframe>"),
        ("<object codebase='/c' data='x'>", "<object data-codebase='/c' data='x&#39;\"&amp;x'>"),
        ("<a href='mailto:a@b'><a href=http://[::1>", "<a href='mailto:a@b'><a href=http://[::1>"),
    ],
)  # fmt: skip
def test_new_addresses_are_written_for_their_places(page: str, new: str) -> None:
    assert rewritten(page) == f'<meta charset="utf-8"/>{new}'


def _kept(page: str) -> str:
    return read(page, "text/html").rewrite(lambda _: None).body.decode()


def test_links_left_alone_leave_the_bytes_alone() -> None:
    page = "<a href = ../x?a=1&b=2 ><img src='y'>"
    assert read(page, "text/html").rewrite(lambda _: None) == (page.encode(), b"")
    assert read(page, "text/html").rewrite(lambda link: link.written) == (page.encode(), b"")


def test_links_have_urls_and_fragments() -> None:
    page = "<a href='b.html#part'><a href='#top'><a href='../c?d'><a href='javascript:x()'>"
    assert [(link.url, link.fragment) for link in read(page).links] == [
        ("http://host.example/a/b.html", "part"),
        (PAGE, "top"),
        ("http://host.example/c?d", ""),
        (None, ""),
    ]


def test_nofollow_is_that_of_the_link_and_of_the_page() -> None:
    document = read('<a href=x rel=\'NoFollow ugc\'><a href="y" rel="nofollow"><a href=z>')
    assert [link.nofollow for link in document.links] == [True, True, False]
    assert not document.nofollow
    assert read("<meta name=ROBOTS content='noindex, none'>").nofollow
    assert not read("<meta name=googlebot content=nofollow>").nofollow


def test_base_counts_for_all_links_and_is_neutralised() -> None:
    page = '<a href=x><base target=_top><base href="/b/"><base href=/c/><a href="#y">'
    document = read(page, "text/html")
    assert document.base == "http://host.example/b/"
    assert [link.url for link in document.links] == [
        "http://host.example/b/x",
        "http://host.example/b/",
    ]
    # What is left alone would mean another page without the base.
    assert _kept(page) == (
        '<a href=http://host.example/b/x><base target=_top><base data-href="/b/">'
        '<base data-href=/c/><a href="http://host.example/b/#y">'
    )


@pytest.mark.parametrize(
    ("written", "absolute"),
    [
        ("https://Other.example/ä b#c", "https://Other.example/ä b#c"),
        ("//other.example/x#y", "http://other.example/x#y"),
        ("/ä b?c#", "http://host.example/%C3%A4%20b?c#"),
        ("#top", f"{PAGE}#top"),
        ("", PAGE),
    ],
)
def test_absolute_addresses_lead_there_from_anywhere(written: str, absolute: str) -> None:
    (link,) = read(f"<a href='{written}'>").links
    assert absolute_address(link) == absolute


def test_a_link_without_a_url_has_no_absolute_address() -> None:
    (link,) = read("<a href='//[::1'>").links
    with pytest.raises(ValueError, match="no URL"):
        absolute_address(link)


def test_checks_go_where_the_address_becomes_local() -> None:
    page = "<script src=x integrity=sha256-A crossorigin></script>"
    assert "data-integrity=sha256-A data-crossorigin>" in rewritten(page)
    assert _kept(page) == page
    away = read(page, "text/html").rewrite(lambda _: "https://cdn.example/x").body
    assert away == page.replace("=x", "=https://cdn.example/x").encode()
    media = "<video crossorigin><source src=x><source src=y></video>"
    assert "<video data-crossorigin>" in rewritten(media)


def test_a_content_security_policy_is_neutralised() -> None:
    page = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'self'\">"
    assert _kept(page) == page.replace(" http-", " data-http-")


def test_a_module_is_named_by_a_path_and_what_others_fetch_stays() -> None:
    code = b"import './x.js'; new URL('y.png', import.meta.url); fetch('/z'); fetch('no')"
    document = read_document(code, "http://host.example/js/a.js", "text/javascript")
    assert document is not None
    assert [link.url for link in document.links] == [
        "http://host.example/js/x.js",
        "http://host.example/js/y.png",
        "http://host.example/z",
    ]
    new, patch = document.rewrite(lambda _: "other.js")
    assert new == (
        b"import './other.js'; new URL('other.js', import.meta.url); fetch('/z'); fetch('no')"
    )
    assert undo(new, patch) == code
    assert read_document(b"const a = 'from here'", "http://h.example/", "text/javascript") is None


def test_checks_that_files_do_not_pass_are_left_out_also_where_the_address_stays() -> None:
    page = '<link rel=stylesheet href="a.css" integrity="sha256-x" crossorigin>'
    new, patch = read(page).rewrite(lambda _: "a.css")
    renamed = page.replace("integrity", "data-integrity").replace("cross", "data-cross")
    assert new.decode().endswith(renamed)
    assert undo(new, patch) == page.encode()


def test_documents_within_each_other_are_read_to_a_depth() -> None:
    page = "<a href=last>"
    for _ in range(12):
        page = f"<a href=x><iframe srcdoc='{escape(page)}'></iframe>"
    assert [link.written for link in read(page).links] == ["x", "x", "x"]


def test_what_stands_in_noframes_is_not_said_of_the_page() -> None:
    document = read(
        "<noframes><base href='http://other.example/'><meta name=robots content=nofollow>"
        "</noframes><a href=x>"
    )
    assert not document.nofollow
    assert [link.url for link in document.links] == ["http://host.example/a/x"]


def test_an_import_map_whose_keys_are_urls_stays() -> None:
    page = (
        '<script type=importmap>{"imports": {"a": "/a.js"}, "integrity": {"/a.js": "b"}}</script>'
    )
    new, _ = read(page).rewrite(lambda _: "other.js")
    assert new.decode().endswith(page)
    assert [link.written for link in read(page).links] == ["/a.js"]

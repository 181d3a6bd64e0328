"""Find and replace every URL of a page, style sheet, drawing or feed.

No other byte changes, and ``undo`` returns the body as it was served.

    document = read_document(body, "http://host.example/a/b.html", "text/html; charset=utf-8")
    rewritten = document.rewrite(lambda link: files.get(link.url))
    assert undo(rewritten.body, rewritten.patch) == body

===========  ==========================================================================
kind         URLs
===========  ==========================================================================
PAGE         href of a and area; meta refresh; link rel=next, prev, first ... and
             rel=alternate of a page (translations); in feeds link, comments, enclosure
FRAME        src of frame and iframe: a page within the page
REQUISITE    what browsers load to show a page: RESOURCE and EMBEDDED of ``URL_ATTRIBUTES``, link
             rel=stylesheet, icon, preload, manifest ...; url() and @import in style sheets and
             style attributes; href and xlink:href in SVG; xml-stylesheet; logos of feeds;
             modules that scripts and import maps name, and what scripts fetch by a literal URL
FEED         link rel=alternate of the type of a feed; source of RSS
FORM         action of forms that are sent by GET, link rel=search
NAMED        texts of scripts that look like URLs with a known ending, entries of the search
             indexes and menus of Javadoc, Doxygen and Sphinx; never rewritten
OTHER        action of other forms, formaction; link rel=canonical, license, preconnect ...; cite,
             longdesc, ping; meta property=og:image
-            URLs that scripts put together; itemid; those in JSON and in the HTML within a
             feed's descriptions
===========  ==========================================================================

The documents in srcdoc and noframes are read like the page.

A REQUISITE that is only a fragment (``<use href="#a">``) is within the document: no link.

The scanner is our own: lol-html, the one library that rewrites pages in place, knows no XML and no
CSS, rewrites the whole tag if an attribute changes, and its bindings for Python were made for
one release; lxml, html5lib and selectolax write the tree.
"""

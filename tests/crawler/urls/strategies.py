"""Texts that look like URLs, made of the pieces that rules trip over."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = [
    *(
        "http",
        "https",
        "://",
        "://h/",
        "://h/?",
        ":",
        "//",
        "/",
        "\\",
        "?",
        "#",
        "&",
        ";",
        "=",
        "@",
    ),
    *("%", "%2e", "%2E%2e", "%41", "36", "31", "%36", "%31", "%C3%89", "%ff", "%25", "％"),
    *(".", "..", "/../", "[", "]", "[::1]", "::1", "a", "b", "x=1", "É", "ß", "。", "xn--a"),
    *("\ud800", "\t", "\n", " ", "\x00", "+", "'", "|", "~", "^", "{", "\u200b", "\xad"),
    *("utm_source=", "gclid=1", "jsessionid=", ";jsessionid=A", "(S(4hqa0555fwsecu455xqckv45))"),
    *("sid=9682993c8daa2c5497996114facdc805", "cfid=1", "cftoken=2", "a[]=1", "a%5B1%5D=2", "b&"),
    *("0x7f", ".1", "256", ":80", ":443", ":0080", "user:pw@", ":@"),
]
_HOSTS = ["h.org", "H.Org.", "bücher.ch", "0x7f.1", "[::0:1]", "1.2.3.4", "localhost"]

_pieces = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)


def _write(scheme: str, userinfo: str, host: str, port: str, path: str, query: str) -> str:
    path = path.replace("?", "").replace("#", "")
    query = query.replace("#", "")
    return f"{scheme}://{userinfo}{host}{port}/{path}?{query}#fragment"


#: Well-formed for the most part, so that the rules are reached.
urls = st.builds(
    _write,
    st.sampled_from(["http", "HTTPS"]),
    st.sampled_from(["", "", "u:p@", "@", "a%41:b@"]),
    st.sampled_from(_HOSTS),
    st.sampled_from(["", "", ":80", ":443", ":8080", ":"]),
    _pieces,
    _pieces,
)
#: Anything that could be passed for a URL.
texts = st.one_of(urls, st.lists(st.sampled_from(_PIECES), max_size=14).map("".join), st.text())

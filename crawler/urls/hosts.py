"""One spelling for each host: escapes, international names, case, dots and addresses.

Follows the host parser of the URL standard (https://url.spec.whatwg.org/#host-parsing) but for two
things: a single dot at the end is dropped, and a name that DNS cannot hold is refused. The URL to
request is in the site's own spelling, but for a host that the network would read otherwise.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote, urlsplit

import idna

from crawler.urls.parts import PLAIN_HOST, MalformedUrl, shown

# RFC 1035, section 2.3.4.
_MAX_LABEL = 63
_MAX_NAME = 253
# Longest text of a name that could still fit: each character of it as four escaped bytes.
_MAX_SPELLING = _MAX_NAME * 12
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_PLAIN = re.compile(PLAIN_HOST)
_NUMBER = re.compile(r"0[xX]([0-9A-Fa-f]*)|([0-9]+)")
_OCTAL = re.compile(r"[0-7]*")
_ZEROS = re.compile(r":0(?::0)+:")


def canonical_host(host: str) -> str:
    """Spell a host, an IPv6 address in brackets, in the one canonical way.

    Raises:
        MalformedUrl: It is no host.
    """
    if _PLAIN.fullmatch(host):
        return host
    host = drop_trailing_dot(lower(to_ascii(decode_escapes(host))))
    host = compress_ipv6(dotted_ipv4(host))
    check_host(host)
    return host


def check_host(host: str) -> None:
    """Refuse a host that no resolver could know.

    Raises:
        MalformedUrl: Empty, too long, or with a character that the standard forbids.
    """
    if host.startswith("["):
        return
    if not host:
        raise MalformedUrl("the host is empty")
    if _FORBIDDEN.search(host):
        raise MalformedUrl(f"{shown(host)} has a character that no host has")
    if len(host) > _MAX_NAME + 1 or max(map(len, host.split("."))) > _MAX_LABEL:
        raise MalformedUrl(f"{shown(host)} is too long for a host")


def decode_escapes(host: str) -> str:
    """Decode ``%xx``, which in a host never stands for anything else."""
    if "%" not in host:
        return host
    _check_spelling(host)
    try:
        decoded = unquote(host, errors="strict")
    except UnicodeDecodeError as error:
        raise MalformedUrl(f"{shown(host)} has escapes that are not UTF-8") from error
    return _without_percent(decoded, host)


def to_ascii(host: str) -> str:
    """Map a name by UTS 46 (not transitional) and write its labels as A-labels.

    Labels are not held to IDNA 2008, which refuses names that resolve, such as ``☃.net``.
    """
    if host.isascii():
        return host
    _check_spelling(host)
    try:
        mapped = idna.uts46_remap(host, std3_rules=False)
    except UnicodeError as error:
        raise MalformedUrl(f"{shown(host)} is no international name: {error}") from error
    return ".".join(map(_a_label, _without_percent(mapped, host).split(".")))


def lower(host: str) -> str:
    return host.lower()


def drop_trailing_dot(host: str) -> str:
    """Drop the dot of a name spelled from the root; two dots are an empty label and stay."""
    return host[:-1] if host.endswith(".") and not host.endswith("..") and len(host) > 1 else host


def dotted_ipv4(host: str) -> str:
    """Write an IPv4 address of any spelling, such as ``0x7f.1``, as four decimal numbers.

    Source: https://url.spec.whatwg.org/#concept-ipv4-parser

    Raises:
        MalformedUrl: It ends in a number, and so is no name, but is no address.
    """
    numbers = host.split(".")
    dot = "." if len(numbers) > 1 and not numbers[-1] else ""
    if dot:
        numbers.pop()
    if not _NUMBER.fullmatch(numbers[-1]):
        return host
    values = [_number(number) for number in numbers]
    *high, low = values
    if len(values) > 4 or any(not 0 <= value <= 255 for value in high):
        raise MalformedUrl(f"{shown(host)} is no IPv4 address")
    if not 0 <= low < 256 ** (5 - len(values)):
        raise MalformedUrl(f"{shown(host)} is no IPv4 address")
    address = sum(value << 8 * (3 - place) for place, value in enumerate(high)) + low
    return f"{ipaddress.IPv4Address(address)}{dot}"


def compress_ipv6(host: str) -> str:
    """Write an IPv6 address in brackets as RFC 5952 does, but without dotted numbers in it.

    Raises:
        MalformedUrl: The brackets hold no IPv6 address.
    """
    if not host.startswith("["):
        return host
    try:
        address = ipaddress.IPv6Address(host[1:-1] if host.endswith("]") else "")
    except ValueError as error:
        raise MalformedUrl(f"{shown(host)} is no IPv6 address") from error
    # Not IPv6Address.compressed: from Python 3.13 on it writes ::ffff:1.2.3.4 with dots.
    packed = address.packed
    groups = "".join(f":{packed[i] << 8 | packed[i + 1]:x}" for i in range(0, 16, 2)) + ":"
    zeros = max(_ZEROS.findall(groups), key=len, default="")
    # The first of the longest runs of zeros; a single one is written out.
    shortened = groups.replace(zeros, "::", 1) if zeros else groups
    left, _, right = shortened.partition("::")
    return f"[{left.strip(':')}::{right.strip(':')}]" if zeros else f"[{shortened.strip(':')}]"


def _a_label(label: str) -> str:
    if label.isascii():
        return label
    if len(label) > _MAX_LABEL:  # punycode is never shorter, and slow for long labels
        raise MalformedUrl(f"{shown(label)} is too long for a part of a host")
    return "xn--" + label.encode("punycode").decode("ascii")


def _number(text: str) -> int:
    number = _NUMBER.fullmatch(text)
    if number is None:
        return -1
    hexadecimal, digits = number.groups()
    if digits is None:
        return int(hexadecimal or "0", 16)
    if len(digits) > 1 and digits.startswith("0"):
        return int(digits, 8) if _OCTAL.fullmatch(digits) else -1
    # Ten digits hold every address, and int() refuses thousands of them.
    return int(digits) if len(digits) <= 10 else 1 << 32


def _without_percent(decoded: str, host: str) -> str:
    # Decoded a second time it would be another host.
    if "%" in decoded:
        raise MalformedUrl(f"{shown(host)} has a character that no host has")
    return decoded


def _check_spelling(host: str) -> None:
    if len(host) > _MAX_SPELLING:
        raise MalformedUrl(f"{shown(host)} is too long for a host")


_PLAIN_HOST = re.compile(rf"https?://{PLAIN_HOST}(?::\d+)?(?=[/?#]|$)")
DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def requestable(url: str) -> str:
    """Return a URL that a request can be made for.

    Only the part before the path is ever changed: ``straße.de`` is ``xn--strae-oqa.de``
    since IDNA 2008, where the downloader, by IDNA 2003, would request ``strasse.de``; a host with
    percent-encoded letters, a user name or a dot at its end would be requested with those very
    characters. A name and a password are left out, as browsers do in the requests that they send.

    Raises:
        MalformedUrl: No request can be made for it.
    """
    if _PLAIN_HOST.match(url):
        return url
    from w3lib.url import safe_url_string  # noqa: PLC0415  # brings ssl, which no worker needs

    before_query, mark, query = url.partition("?")
    url = before_query.replace("\\", "/") + mark + query  # as browsers read it
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port is not None else ""
        host = f"[{host}]" if ":" in host else canonical_host(host)
        made = parts._replace(netloc=f"{host}{port}").geturl()
        safe_url_string(made)
    except MalformedUrl:
        raise
    except ValueError as error:
        raise MalformedUrl(f"no request can be made of {url[:100]!r}: {error}") from None
    return made


def sent(url: str) -> str:
    """Return the URL as a server gets it: spellings with the same result are requested once.

    Raises:
        MalformedUrl: No request can be made for it.
    """
    from w3lib.url import safe_url_string  # noqa: PLC0415

    parts = urlsplit(safe_url_string(requestable(url)))
    host = parts.netloc.lower().removesuffix(DEFAULT_PORTS.get(parts.scheme, ":"))
    return parts._replace(netloc=host, path=parts.path or "/", fragment="").geturl()

"""Read files of cookies as curl, wget and browsers' extensions write them."""

from __future__ import annotations

import warnings
from http.cookiejar import LoadError, MozillaCookieJar


def read_cookies(path: str) -> MozillaCookieJar:
    """Return the cookies of a Netscape file that have not expired; those of a session too.

    Raises:
        ValueError: It cannot be read, or is no such file; the message names it.
    """
    jar = MozillaCookieJar()
    try:
        with warnings.catch_warnings():
            # Python calls a line of too few fields a bug of its own.
            warnings.simplefilter("ignore")
            jar.load(path, ignore_discard=True, ignore_expires=True)
    except LoadError:
        raise ValueError(
            f"{path} is no Netscape cookie file; its first line should be "
            "# Netscape HTTP Cookie File"
        ) from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    for cookie in jar:
        # curl writes 0 for a cookie of a session.
        if cookie.expires == 0:
            cookie.expires, cookie.discard = None, True
    jar.clear_expired_cookies()
    if not len(jar):
        raise ValueError(f"{path} has no cookie that is still valid")
    return jar

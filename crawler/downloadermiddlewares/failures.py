"""Explain in plain words why a request gave no page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.error import ConnectionClosed

from crawler.downloading.errors import AnswerError, RobotsUnreachableError
from crawler.pages.verdicts import FAILED, UNREADABLE
from crawler.urls.errors import shown

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

_PLAIN = (
    (CannotResolveHostError, "no such host"),
    (DownloadConnectionRefusedError, "connection refused"),
    (DownloadTimeoutError, "no answer in time"),
    (ResponseDataLossError, "connection lost in the middle"),
    (UnsupportedURLSchemeError, "neither http nor https"),
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_STATUSES = range(1, 1000)  # a server may send a number of any length


def explain(failure: Failure, settings: BaseSettings) -> tuple[str, str, int]:
    """Return verdict, reason and HTTP status (0 where no answer came) of a failed request.

    The verdict is "unreadable" for an answer that cannot be accepted as it is, "failed"
    for an error status or no answer.
    """
    error = failure.value
    assert error is not None
    if isinstance(error, HttpError):
        status = error.response.status
        return FAILED, _explain_status(error.response), status if status in _STATUSES else 0
    most = settings.getint("DOWNLOAD_MAXSIZE")
    size = f"{most // 2**20} MB" if most >= 2**20 else f"{most:,} bytes"
    if isinstance(error, IgnoreRequest):
        verdict, reason = _explain_ignored(str(error))
    elif isinstance(error, DownloadCancelledError):
        verdict, reason = UNREADABLE, f"larger than {size}"
    elif isinstance(error, AnswerError):
        verdict, reason = UNREADABLE, _first_line(error)
    else:
        verdict, reason = FAILED, explain_error(error)
    return verdict, reason, 0


def _explain_status(response: Response) -> str:
    if response.status not in _REDIRECTS:
        return f"HTTP {response.status}"
    location = response.headers.get(b"Location")
    if location is None:
        return f"HTTP {response.status} that does not say where to"
    return f"HTTP {response.status} to {shown(location.decode('latin-1'))}, which is not fetched"


def _explain_ignored(message: str) -> tuple[str, str]:
    if message == "max redirections reached":
        return UNREADABLE, "redirected without end"
    return FAILED, message[:1].lower() + message[1:]


def explain_error(error: BaseException) -> str:
    """Return in a few words why no answer came."""
    for kind, reason in _PLAIN:
        if isinstance(error, kind):
            return reason
    if isinstance(error, DownloadFailedError):
        return _explain_broken(error)
    detail = _first_line(error)
    if isinstance(error, RobotsUnreachableError):
        return detail
    if type(error) is ValueError:
        # Links are looked at before they are queued; where a redirect leads is not.
        return f"redirects to what is no URL: {detail}"
    return f"{type(error).__name__}: {detail}" if detail else type(error).__name__


def _explain_broken(error: DownloadFailedError) -> str:
    """Return the reason of a failure of Twisted, whose message is a list of nested failures."""
    reasons = getattr(error.__cause__, "reasons", None) or ()
    inner: BaseException = reasons[-1].value if reasons else error
    if isinstance(inner, ConnectionClosed):
        return "connection lost"
    return f"no HTTP answer: {type(inner).__name__}: {_first_line(inner)}"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""

"""Why a request gave no page, in words that a person understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError

from crawler.pages.verdicts import FAILED, UNREADABLE

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

_PLAIN = (
    (CannotResolveHostError, "no such host"),
    (DownloadConnectionRefusedError, "connection refused"),
    (DownloadTimeoutError, "no answer in time"),
    (ResponseDataLossError, "connection lost in the middle"),
    (UnsupportedURLSchemeError, "neither http nor https"),
)


def explain(failure: Failure, settings: BaseSettings) -> tuple[str, str, int]:
    """Verdict, reason and HTTP status (0 where no answer came) of a failed request.

    "unreadable" where an answer came that cannot be taken as it is, "failed"
    where none did, or an error.
    """
    error = failure.value
    if isinstance(error, HttpError):
        return FAILED, f"HTTP {error.response.status}", error.response.status
    megabytes = settings.getint("DOWNLOAD_MAXSIZE") // 2**20
    if isinstance(error, DownloadCancelledError):
        return UNREADABLE, f"larger than {megabytes} MB", 0
    if isinstance(error, IgnoreRequest):
        return _explain_ignored(str(error), megabytes)
    for kind, reason in _PLAIN:
        if isinstance(error, kind):
            return FAILED, reason, 0
    detail = str(error).strip().splitlines()
    return FAILED, f"{type(error).__name__}: {detail[0]}" if detail else type(error).__name__, 0


def _explain_ignored(message: str, megabytes: int) -> tuple[str, str, int]:
    if message == "max redirections reached":
        return UNREADABLE, "redirected without end", 0
    if "during decompression" in message:
        return UNREADABLE, f"larger than {megabytes} MB when decompressed", 0
    return FAILED, message[:1].lower() + message[1:], 0

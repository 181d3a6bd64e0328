"""Open the archive that a crawl is recorded in, if any; warcio is imported only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError
from crawler.options import Options

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawler.warc.archive import Archive


def prepared_archive(settings: BaseSettings) -> Archive | None:
    """Open the archive of a crawl that is about to start; None where nothing is recorded.

    Raises:
        CommandError: It cannot be used.
    """
    if not Options(settings).boolean("WARC_ENABLED"):
        return None
    from crawler.downloadermiddlewares.warc import prepare_archive  # noqa: PLC0415
    from crawler.warc.errors import ArchiveError  # noqa: PLC0415

    try:
        return prepare_archive(settings)
    except ArchiveError as error:
        raise CommandError(str(error)) from None

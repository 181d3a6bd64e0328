"""Define the errors of a crawl directory.

::

    JobError
    ├── JobInUseError
    ├── JobVersionError
    └── CrawlStorageError
"""

from __future__ import annotations


class JobError(Exception):
    """The crawl directory cannot be used; the message says why and what to do."""


class JobInUseError(JobError):
    """Another process is writing to the crawl directory."""


class CrawlStorageError(JobError):
    """The crawl directory cannot be written to any more; nothing after the last commit counts."""


class JobVersionError(JobError):
    """The crawl directory was made with another format, other URL rules or other features."""

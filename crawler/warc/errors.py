"""Define the errors of an archive.

::

    ArchiveError
    `-- ArchiveInUseError    another process writes to the folder
"""

from __future__ import annotations


class ArchiveError(Exception):
    """An archive cannot be written or read; the message says why."""


class ArchiveInUseError(ArchiveError):
    """Another process writes to the folder."""

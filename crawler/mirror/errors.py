"""Define the errors of the folder of a mirror.

::

    MirrorError
    |-- UnsafePathError      a path that could lead out of the folder, or to the mirror's own state
    |-- SymbolicLinkError    a symbolic link is in the way; none is ever followed
    |-- PathTakenError       a folder is where a file must go, or a file where a folder must
    |-- MissingFileError     no file is there
    `-- MirrorStorageError   the system refuses: disk full, read-only, no permission
"""

from __future__ import annotations

from crawler.suggestions import UserError


class MirrorError(UserError):
    """The folder of a mirror has a fault; the message names the path, for the user."""


class UnsafePathError(MirrorError, ValueError):
    """A path is absolute, climbs, is not portable, or belongs to the mirror itself."""


class SymbolicLinkError(MirrorError):
    """A symbolic link is in the place of a folder, or of a file that is to be read."""


class PathTakenError(MirrorError):
    """An object of another kind is where a file or a folder must go."""


class MissingFileError(MirrorError):
    """A requested file does not exist."""


class MirrorStorageError(MirrorError):
    """The system refuses to read or write; no half-written file is left in the tree."""

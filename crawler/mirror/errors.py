"""What can be wrong with the folder of a mirror.

::

    MirrorError
    |-- UnsafePathError      a path that could lead out of the folder, or to the mirror's own state
    |-- SymbolicLinkError    a symbolic link is in the way; none is ever followed
    |-- PathTakenError       a folder stands where a file must go, or a file where a folder must
    |-- MissingFileError     no file is there
    `-- StorageError         the system refuses: disk full, read-only, no permission
"""

from __future__ import annotations


class MirrorError(Exception):
    """Root of what is wrong with a mirror's folder; the message names the path, for the user."""


class UnsafePathError(MirrorError, ValueError):
    """A path is absolute, climbs, is not portable, or names what belongs to the mirror itself."""


class SymbolicLinkError(MirrorError):
    """A symbolic link is in the place of a folder, or of a file that is to be read."""


class PathTakenError(MirrorError):
    """Something of another kind stands where a file or a folder must go."""


class MissingFileError(MirrorError):
    """A file that is asked for is not there."""


class MirrorStorageError(MirrorError):
    """The system refuses to read or write; nothing half-written is left in the tree."""

"""Everything neardup raises on purpose.

::

    NearDupError
    |-- ParameterError (ValueError)       a setting outside its range
    |-- FingerprintError (ValueError)     no 64-bit fingerprint, or a text that has none
    |-- DocumentError (ValueError)        an id or a document that cannot be judged or stored
    |   `-- DuplicateIdError              this id stands for another text
    |-- ClosedError                       used after close()
    |-- InputError                        bad options or bad input of a command
    |   `-- BadInputError                 input that cannot be read on
    `-- StorageError                      what stands on disk, or on a server
        |-- IndexFileError                a damaged or foreign index file
        |-- IndexLockedError              the index directory is in use by another process
        |-- DocumentsFileError            a damaged, foreign or locked file of documents
        `-- ServerError                   a Redis that refuses, or what another one left in it

``except NearDupError`` catches all of it. Errors of the operating system (a full disk, a missing
permission) are passed on as they are: nothing here knows more about them.
"""


class NearDupError(Exception):
    """Root of every error that neardup raises on purpose."""


class ParameterError(NearDupError, ValueError):
    """A parameter outside its range; the message names it, the range and the value."""


class FingerprintError(NearDupError, ValueError):
    """A value that is no unsigned 64-bit fingerprint, or a text from which none can be made."""


class DocumentError(NearDupError, ValueError):
    """An id or a document that cannot be judged or stored."""


class DuplicateIdError(DocumentError):
    """An id that stands for another text: it was judged with that, or holds it."""


class ClosedError(NearDupError):
    """An index, a store or a deduplicator that was used after ``close()``."""


class InputError(NearDupError):
    """Bad options or bad input; the message is the one line that the user sees."""


class BadInputError(InputError):
    """Input that cannot be read on from here; what came before it was read."""


class StorageError(NearDupError):
    """Something that stands on disk, or on a server, cannot be used."""


class IndexFileError(StorageError):
    """A damaged or foreign index file; the message says what to do about it."""


class IndexLockedError(StorageError):
    """The index directory is open in another process."""


class DocumentsFileError(StorageError):
    """A damaged or foreign file of documents, or one that is open in another process."""


class ServerError(StorageError):
    """A Redis that refuses what is asked of it, or holds what does not go with it."""

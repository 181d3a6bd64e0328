"""Texts and their index in one directory."""

import os
from pathlib import Path

from neardup.errors import DocumentsFileError
from neardup.indexes.hamming import HammingIndex
from neardup.parameters import Parameters
from neardup.storage.catch_up import open_index
from neardup.storage.sqlite import SqliteDocuments


def open_directory(
    path: str | os.PathLike[str], parameters: Parameters
) -> tuple[SqliteDocuments, HammingIndex]:
    """Open the texts and the index of a directory, in step; make both where there is nothing.

    Files:
        ``path/documents.sqlite``: the texts, the truth.
        ``path/index/``: their fingerprints; rebuilt from the texts where they disagree.

    Raises:
        DocumentsFileError: The file of texts is damaged, foreign, of other features or
            open in another process.
        IndexLockedError: The index is open in another process.
        IndexFileError: ``path/index`` holds files that are none of an index.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise DocumentsFileError(f"{folder}: a file; choose the path of a folder") from error
    features = str(parameters.fingerprint_features)
    documents = SqliteDocuments(
        folder / "documents.sqlite", features=features, min_words=parameters.min_words
    )
    try:
        index = open_index(folder / "index", documents, radius=parameters.radius)
    except BaseException:
        documents.close()
        raise
    return documents, index

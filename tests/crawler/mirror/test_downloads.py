"""Bodies on their way to a mirror, without a crawl."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.mirror.errors import MissingFileError
from crawler.mirror.file_store import MirrorStore
from crawler.pages.page_context import Fetched
from crawler.pages.reasons import Reason
from crawler.storage.database import Database
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.mirror.downloads import Download
    from crawler.mirror.folder import MirrorFolder

KEY = b"k" * 16
URL = "http://example.org/large.bin"


@pytest.fixture
def store(mirror: MirrorFolder) -> Iterator[MirrorStore]:
    database = Database(mirror.root / ".mirror")
    made = MirrorStore(database, mirror)
    yield made
    made.close()
    database.close()


def _left(store: MirrorStore, mirror: MirrorFolder) -> tuple[bool, int]:
    """Leave a part as a killed process does; return what is there of it."""
    download = store.begin(KEY, '"v1"')
    assert download is not None
    download.write(b"the first bytes")
    download.end()
    del download
    return _there(store, mirror)


def _there(store: MirrorStore, mirror: MirrorFolder) -> tuple[bool, int]:
    is_noted = asyncio.run(store.downloads.part(KEY)) is not None
    return is_noted, len(list(mirror.paths(".mirror/downloads")))


def _answer(cut: Reason | None = None) -> Fetched:
    return Fetched(URL, URL, KEY, 0, 200, b"small now", "image/x-large", cut=cut)


def test_whole_answer_in_memory_ends_the_part_of_an_earlier_one(
    store: MirrorStore, mirror: MirrorFolder
) -> None:
    assert _left(store, mirror) == (True, 1)
    store.keep(_answer(Reason.CUT_TRANSFER), is_seed=False)
    assert _there(store, mirror) == (True, 1), "another part does not"
    store.keep(_answer(), is_seed=False)
    assert _there(store, mirror) == (False, 0)


def test_body_under_way_is_no_earlier_one(store: MirrorStore, mirror: MirrorFolder) -> None:
    download = store.begin(KEY, '"v1"')
    assert download is not None
    download.write(b"the first bytes")
    download.note()
    store.downloads.drop_earlier(KEY)
    download.write(b", and more")
    download.end()
    assert _there(store, mirror) == (False, 1)


def test_body_that_is_there_already_leaves_no_file_where_its_key_is_another_now(
    store: MirrorStore, mirror: MirrorFolder
) -> None:
    """A rule of URLs was learned or revoked while it came."""
    store.keep(_answer(), is_seed=False)
    for now in (KEY, b"o" * 16):
        download = store.begin(b"r" * 16, '"v1"')
        assert download is not None
        download.write(b"small now")
        again = replace(_answer(), key=now, body=download.head, file=download)
        store.keep(again, is_seed=False)
        assert list(mirror.paths(".mirror/downloads")) == []
        assert asyncio.run(store.downloads.part(b"r" * 16)) is None


def test_complete_body_that_was_not_stored_lacks_its_last_byte_alone(
    store: MirrorStore, mirror: MirrorFolder
) -> None:
    """The process was killed between the last byte and the new name."""
    assert _left(store, mirror) == (True, 1)
    for rest in (b"!", b"s"):
        part = asyncio.run(store.downloads.part(KEY))
        assert part is not None
        assert part.size == len(b"the first byte")
        download = store.go_on(KEY)
        assert download is not None
        download.write(rest)
        download.end()
        part = download = None
    store.downloads.put(_taken(store), "large.bin")
    assert mirror.read("large.bin") == b"the first bytes"
    assert _there(store, mirror) == (False, 0)


def test_copy_of_a_part_is_dropped_where_no_rest_comes(
    store: MirrorStore, mirror: MirrorFolder
) -> None:
    mirror.write("part.bin", b"the first bytes")
    digest = payload_digest(b"the first bytes")
    for of, is_same in ((digest, True), (payload_digest(b"other"), False)):
        part = asyncio.run(store.downloads.copy(KEY, '"v1"', "part.bin", 15, of))
        assert (part is not None) == is_same
        if part is not None and part.file is not None:
            assert _there(store, mirror) == (False, 1)
            part.file.release()
        assert _there(store, mirror) == (False, 0)


def test_part_whose_file_is_gone_begins_no_copy(store: MirrorStore, mirror: MirrorFolder) -> None:
    with pytest.raises(MissingFileError):
        asyncio.run(store.downloads.copy(KEY, '"v1"', "gone.bin", 15, payload_digest(b"gone")))
    assert _there(store, mirror) == (False, 0)


def _taken(store: MirrorStore) -> Download:
    part = asyncio.run(store.downloads.part(KEY))
    download = store.go_on(KEY)
    assert part is not None
    assert download is not None
    download.write(b"s")
    return download

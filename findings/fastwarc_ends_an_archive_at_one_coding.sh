#!/usr/bin/env bash
# With auto_decode, FastWARC reads no record of an archive behind one whose Content-Encoding it does not know.
#
# Guess: a body that cannot be decoded raises when that body is read, or comes as it was sent; the next record can be read,
#   since the archive itself is whole.
# What happens: for a coding that is not known, such as x-gzip, compress or the charset that some servers write there, the
#   iterator raises before it gives the record, names Transfer-Encoding, and raises "No reader set" ever after. Of deflate
#   without zlib's head, which browsers read, it gives the record, and raises at the body and at each record behind it.
# Why it matters: one such page in the middle of a crawl's archive, and all behind it is missing from a corpus; a loop with
#   try around next() never ends. Read with auto_decode="none", as it is by default, and decode by the header oneself.
# Version: FastWARC 2.0.1, warcio 1.8.1 (writes the archive), Python 3.11. Date: 2026-12-03.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'fastwarc==2.0.1' 'warcio==1.8.1' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
import gzip
import io
import zlib
from importlib.metadata import version

from fastwarc.warc import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

print("FastWARC", version("fastwarc"))
page = b"<p>a page</p>"


def archive(coding: str, body: bytes) -> io.BytesIO:
    """An archive of four pages, the second of which has that coding."""
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=True)
    compressed = ("gzip", gzip.compress(page))
    for coding, body in (compressed, (coding, body), compressed, compressed):
        fields = [("Content-Encoding", coding), ("Content-Length", str(len(body)))]
        headers = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
        payload = io.BytesIO(body)
        writer.write_record(
            writer.create_warc_record("http://a.example/", "response", payload=payload, http_headers=headers)
        )
    file.seek(0)
    return file


def read(file: io.BytesIO, auto_decode: str) -> list[bytes | str]:
    """What each of four steps gives: a body, or an error."""
    records, got = ArchiveIterator(file, auto_decode=auto_decode), []
    for _ in range(4):
        try:
            got.append(next(records).reader.read())
        except OSError as error:
            got.append(str(error))
    return got


without_head = zlib.compress(page)[2:-4]
for coding, body in [("x-gzip", gzip.compress(page)), ("utf-8", page), ("deflate", without_head)]:
    decoded, stored = read(archive(coding, body), "content"), read(archive(coding, body), "none")
    print(f"{coding}: {decoded}")
    assert decoded[0] == page
    assert page not in decoded[1:], "the behaviour has changed"
    assert stored[1] == body
    assert [gzip.decompress(one) for one in (stored[0], *stored[2:])] == [page] * 3
assert read(archive("deflate", zlib.compress(page)), "content") == [page] * 4
PYTHON

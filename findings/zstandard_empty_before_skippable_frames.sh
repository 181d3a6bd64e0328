#!/usr/bin/env bash
# A zstd stream that begins with a skippable frame is empty for python-zstandard, or an error.
#
# Guess: RFC 8878 has decoders pass over skippable frames, so that zstd -d, ZstdDecompressor.decompress and a
#   decompressobj all give the content behind one.
# What happens: decompressobj takes the skippable frame for the whole stream: b"", eof is True, the content is left in
#   unused_data. decompress takes the length of the skippable frame for the length of the content and raises. stream_reader
#   reads it.
# Why it matters: pzstd writes such a frame before each of its own, and archives in .warc.zst keep their dictionary in one.
#   A body or a file that is read by decompressobj is an empty page without any error. Begin again with unused_data, or
#   use stream_reader with read_across_frames=True.
# Version: zstandard 0.25.0, Python 3.11. Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'zstandard==0.25.0' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
import io
import struct

import zstandard

print("zstandard", zstandard.__version__)
skippable = struct.pack("<II", 0x184D2A50, 5) + b"notes"
stream = skippable + zstandard.ZstdCompressor().compress(b"the content")

first = zstandard.ZstdDecompressor().decompressobj()
read = first.decompress(stream)
print("decompressobj:", read, "eof", first.eof, "unused", len(first.unused_data))
assert (read, first.eof, first.unused_data) == (b"", True, stream[len(skippable) :]), "the behaviour has changed"
again = zstandard.ZstdDecompressor().decompressobj()
print("another one with what is unused:", rest := again.decompress(first.unused_data))
assert rest == b"the content"

try:
    read = zstandard.ZstdDecompressor().decompress(stream, max_output_size=100)
except zstandard.ZstdError as error:
    read = None
    print("decompress:", error)
assert read is None, "the behaviour has changed"

reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(stream), read_across_frames=True)
print("stream_reader:", content := reader.read())
assert content == b"the content"
PYTHON

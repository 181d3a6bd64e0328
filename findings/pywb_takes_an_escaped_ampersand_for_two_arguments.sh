#!/usr/bin/env bash
# pywb shows the page of /p?x=b%26c at /p?x=b&c: to its index an escaped ampersand within a value parts two arguments.
#
# Guess: an archive that holds both URLs replays each with its own page; keys of URLs leave escapes alone that change what a
#   query says, as RFC 3986 has it of reserved characters.
# What happens: surt, by which the index of pywb is keyed, undoes all escapes before it sorts the arguments. Both URLs have
#   the key org,example)/p?c&x=b. pywb asks its index by the key and the time, and never compares the URL, which stands in
#   each line. It answers both with one page, with status 200 and without a word.
# Why it matters: search forms, redirects (?url=...%26...) and shops have such values. Who looks into the archive sees another
#   page than the one that was stored, which is there, and is found by no player that takes its keys from surt.
# Version: pywb 2.10.0, surt 0.3.1, warcio 1.8.1, Python 3.11. Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'pywb==2.10.0' 'surt==0.3.1' 'warcio==1.8.1' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version
from io import BytesIO

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

print("pywb", version("pywb"), "surt", version("surt"))
with open("two.warc.gz", "wb") as file:
    writer = WARCWriter(file, gzip=True)
    for query, said in (("x=b%26c", "one argument"), ("x=b&c", "two arguments")):
        page = f"<!DOCTYPE html><title>{said}</title><p>A page of {said}.</p>".encode()
        fields = [("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(page)))]
        head = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
        url = f"http://example.org/p?{query}"
        date = {"WARC-Date": "2026-12-01T10:00:00Z"}
        writer.write_record(
            writer.create_warc_record(
                url, "response", payload=BytesIO(page), http_headers=head, warc_headers_dict=date
            )
        )
PYTHON
venv/bin/wb-manager init both >/dev/null 2>&1
venv/bin/wb-manager add both two.warc.gz >/dev/null 2>&1
port=$(venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
venv/bin/wayback -b 127.0.0.1 -p "$port" >/dev/null 2>&1 &
server=$!
PORT=$port venv/bin/python - <<'PYTHON'
import os
import re
import time
from urllib.error import URLError
from urllib.request import urlopen

root = f"http://127.0.0.1:{os.environ['PORT']}/both/20261201100000mp_/http://example.org/p?"
for _ in range(100):
    try:
        urlopen(root + "x=b%26c").read()
        break
    except URLError:
        time.sleep(0.2)
shown = {}
for query in ("x=b%26c", "x=b&c"):
    answer = urlopen(root + query)
    title = re.search(r"<title>(.*?)</title>", answer.read().decode())
    shown[query] = title[1] if title else None
    print(f"/p?{query}: status {answer.status}, {shown[query]!r}")
assert len(set(shown.values())) == 1, "the behaviour has changed"
PYTHON

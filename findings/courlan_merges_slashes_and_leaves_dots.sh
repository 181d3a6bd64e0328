#!/usr/bin/env bash
# courlan's normalize_url makes /a//b the same as /a/b, and leaves /a/../b, which is the same as /b.
#
# Guess: a normalizer does what RFC 3986 (6.2.2) calls safe: it removes dot segments, as each client does before it asks,
#   and leaves empty segments, since /a//b may be another resource than /a/b.
# What happens: the reverse. Empty segments are merged, dot segments stay, also in strict mode and in clean_url.
# Why it matters: a set of such URLs loses a page where a site serves both (bucket stores and wikis do: the key of an
#   object may hold an empty segment), and asks twice for one where links are written with "..".
# Version: courlan 1.4.0, Python 3.11. Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'courlan==1.4.0' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version
from urllib.parse import urljoin

from courlan import clean_url, normalize_url

print("courlan", version("courlan"))
EMPTY, DOTS = "https://example.org/a//b", "https://example.org/a/../b"
print("what a client asks for:", urljoin(EMPTY, EMPTY), urljoin(DOTS, "../b"))
for name, normalized in (
    ("normalize_url", normalize_url),
    ("normalize_url, strict", lambda url: normalize_url(url, strict=True)),
    ("clean_url", clean_url),
):
    print(f"{name}: {EMPTY} -> {normalized(EMPTY)}, {DOTS} -> {normalized(DOTS)}")
    assert normalized(EMPTY) == "https://example.org/a/b", "the behaviour has changed"
    assert normalized(DOTS) == DOTS, "the behaviour has changed"
PYTHON

#!/usr/bin/env bash
# Debian's chromium-headless-shell sends no Accept-Language, Debian's chromium --headless of the same version does.
#
# Guess: both are one browser without a window and are told apart by the way they are started: they ask for a page in the same way,
#   in the language of --lang, and scripts see the same navigator.
# What happens: the shell sends no Accept-Language, though navigator.language says en-US; chromium sends en-US,en;q=0.9. --lang
#   changes neither. --accept-lang does in both: the shell sends its value as it is, chromium with a q for each further one. To
#   scripts the shell has no window.chrome, no plugins and no viewer of PDFs.
# Why it matters: a site with languages answers one with its default, the other with English, and may redirect on that ground; a crawl
#   that is moved from one to the other takes every page for changed. Give --accept-lang to both.
# Version: chromium and chromium-headless-shell 156.0.8078.114 (Debian 156.0.8078.114-1~deb12u1). Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=156.0.8078.114-1~deb12u1
apt-get download -qq chromium=$version chromium-common=$version chromium-headless-shell=$version 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
python3 - <<'PYTHON'
import html
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

SCRIPT = "document.body.append([navigator.language, typeof chrome, navigator.plugins.length, navigator.pdfViewerEnabled].join())"


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        page = f"<!DOCTYPE html><title>t</title><body>{self.headers.get('Accept-Language')} | <script>{SCRIPT}</script>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Site)
Thread(target=server.serve_forever, daemon=True).start()
shell = next(path for path in Path("usr").rglob("*headless*shell*") if path.is_file() and path.stat().st_size > 1_000_000)
browsers = {"shell": [str(shell)], "chromium": ["usr/lib/chromium/chromium", "--headless"]}


def seen(name, *options):
    profile = ["--no-sandbox", "--disable-gpu", f"--user-data-dir={tempfile.mkdtemp(dir='.')}"]
    run = [*browsers[name], *profile, *options, "--dump-dom", f"http://127.0.0.1:{server.server_port}/"]
    said = html.unescape(subprocess.run(run, capture_output=True, text=True, timeout=120, check=True).stdout)
    sent, script = said.split("<body>")[1].split(" | ")
    script = script.split("</script>")[1].split("<")[0].strip()
    print(name, *options, "sends", sent, "and shows", script)
    return sent, script


for name in browsers:
    print(subprocess.run([*browsers[name], "--no-sandbox", "--version"], capture_output=True, text=True).stdout.strip())
for options in ((), ("--lang=de",)):
    assert seen("shell", *options) == ("None", "en-US,undefined,0,false"), "the behaviour has changed"
    assert seen("chromium", *options) == ("en-US,en;q=0.9", "en-US,object,5,true"), "the behaviour has changed"
assert seen("shell", "--accept-lang=de,en")[0] == "de,en", "the behaviour has changed"
assert seen("chromium", "--accept-lang=de,en")[0] == "de,en;q=0.9", "the behaviour has changed"
PYTHON

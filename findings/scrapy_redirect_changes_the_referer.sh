#!/usr/bin/env bash
# Scrapy sends the redirecting URL as Referer of a redirect's target.
#
# Guess: a redirect keeps the Referer of the request, as the Fetch standard has it and all browsers do: the page whose link
#   was followed, since nobody ever stood on the URL that redirects.
# What happens: page -> /old -> /new: /old is asked with the page as Referer, /new with /old.
# Why it matters: sites that protect pictures and downloads compare the Referer with their pages; an address of a link
#   counter, of a shortener or of another host is none of them. Who stores the Referer to ask again stores a URL that no
#   page has. Set it yourself in a downloader middleware that is nearer to the downloader than RedirectMiddleware.
# Version: Scrapy 2.19.0, Twisted 26.10.0, Python 3.11. Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'scrapy==2.19.0' 'twisted==26.10.0' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

import scrapy
from scrapy.crawler import CrawlerProcess

print("Scrapy", version("scrapy"), "Twisted", version("twisted"))

asked = {}


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        asked[self.path] = (self.headers.get("Referer") or "").rpartition("/")[2]
        body = b"<a href=/old>old</a>"
        self.send_response(302 if self.path == "/old" else 200)
        if self.path == "/old":
            self.send_header("Location", "/new")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()


class Follows(scrapy.Spider):
    name = "follows"
    start_urls = [f"http://127.0.0.1:{server.server_port}/page"]

    def parse(self, response):
        yield response.follow("/old", self.parse_target)

    def parse_target(self, response):
        pass


process = CrawlerProcess({"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False})
process.crawl(Follows)
process.start()
for path, referer in asked.items():
    print(path, "was asked with the Referer", referer or "(none)")
assert asked == {"/page": "", "/old": "page", "/new": "old"}, "the behaviour has changed"
PYTHON

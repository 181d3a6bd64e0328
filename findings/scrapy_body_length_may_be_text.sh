#!/usr/bin/env bash
# The body_length of Scrapy's signal headers_received is a text where an answer has no Content-Length.
#
# Guess: the documentation calls it the expected size of the body in bytes; without a Content-Length it is None, -1 or 0.
# What happens: it is the text "twisted.web.iweb.UNKNOWN_LENGTH", Twisted's own mark, which Scrapy hands on.
# Why it matters: the signal exists to stop large answers before their body, by StopDownload. `body_length > limit` raises
#   a TypeError within the handler, Scrapy logs it, and the answer is read whole: just those that do not say how long
#   they are, such as streams. Ask isinstance(body_length, int) first.
# Version: Scrapy 2.19.0, Twisted 26.10.0, Python 3.11. Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'scrapy==2.19.0' 'twisted==26.10.0' 2>/dev/null
cd "$folder"
venv/bin/python - 2>&1 <<'PYTHON'
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

print("Scrapy", version("scrapy"), "Twisted", version("twisted"))

lengths = {}


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        if self.path == "/told":
            self.send_header("Content-Length", "5")
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"hello" if self.path == "/told" else b"5\r\nhello\r\n0\r\n\r\n")

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()


class Asks(scrapy.Spider):
    name = "asks"
    start_urls = [f"http://127.0.0.1:{server.server_port}/{path}" for path in ("told", "chunked")]

    @classmethod
    def from_crawler(cls, crawler, *arguments, **more):
        spider = super().from_crawler(crawler, *arguments, **more)
        crawler.signals.connect(spider.note, signals.headers_received)
        return spider

    def note(self, headers, body_length, request, spider):
        lengths[request.url.rpartition("/")[2]] = body_length

    def parse(self, response):
        pass


process = CrawlerProcess({"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False})
process.crawl(Asks)
process.start()
for path, length in sorted(lengths.items()):
    print(path, repr(length), type(length).__name__)
assert lengths == {"told": 5, "chunked": "twisted.web.iweb.UNKNOWN_LENGTH"}, "the behaviour has changed"
PYTHON

#!/usr/bin/env bash
# Crawlee for Python lowers the case of whole URLs before it compares them, and decodes slashes in their paths.
#
# Guess: as its documentation says, scheme and host are lowered, since the case of a path and of a query counts: /watch?v=AbC
#   and /watch?v=aBc are two pages, and so are /a%2Fb and /a/b.
# What happens: unique_key is str(url).lower() of the URL with its path decoded and without its last slash, so that each of the
#   pairs has one key. The first URL of a pair is requested. The second never is: no request, no failure.
# Why it matters: video ids, short links and base64 ids differ by case alone. A crawl of such a site ends as complete, with
#   pages missing; give each request a unique_key of your own there.
# Version: crawlee 1.11.0, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'crawlee==1.11.0' 2>/dev/null
cd "$folder"
CRAWLEE_STORAGE_DIR="$folder/storage" venv/bin/python - 2>/dev/null <<'PYTHON'
import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

from crawlee.crawlers import HttpCrawler

PATHS = ["/watch?v=AbC", "/watch?v=aBc", "/a%2Fb", "/a/b", "/other"]
asked = []


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        body = f"<title>{self.path}</title>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


async def crawl(urls):
    crawler = HttpCrawler(configure_logging=False)

    @crawler.router.default_handler
    async def handle(_):
        pass

    return await crawler.run(urls)


print("crawlee", version("crawlee"))
server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
numbers = asyncio.run(crawl([f"http://127.0.0.1:{server.server_port}{path}" for path in PATHS]))
server.shutdown()
fetched = [path for path in asked if path in PATHS]
print("given:    ", *PATHS)
print("requested:", *sorted(fetched))
print(f"finished {numbers.requests_finished}, failed {numbers.requests_failed}")
assert sorted(fetched) == ["/a%2Fb", "/other", "/watch?v=AbC"], "the behaviour has changed"
assert numbers.requests_failed == 0, "the behaviour has changed"
PYTHON

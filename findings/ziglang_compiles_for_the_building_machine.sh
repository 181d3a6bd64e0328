#!/usr/bin/env bash
# The C compiler of the package ziglang makes code for the processor that it runs on, unless told otherwise.
#
# Guess: `python -m ziglang cc -O3` is what gcc and clang are: without -march it makes code that each processor of the
#   architecture runs, so that a wheel of it runs wherever a wheel by gcc does.
# What happens: without -mcpu or -target the target is "native": on an x86-64 processor with AVX a loop over floats uses
#   its 256-bit registers, which others lack. -mcpu=baseline, or a -target with the architecture's name, leaves them out;
#   -target native-linux-gnu does not.
# Why it matters: setuptools calls the compiler with -O3 and no more, also where a project names ziglang as a build
#   requirement for machines without a compiler. What is built on a new machine and copied to an older one (a container,
#   a wheel, a cache of builds) ends there with an illegal instruction.
# Version: ziglang 0.15.1, Python 3.11, x86-64 with AVX. Date: 2026-12-01.
set -euo pipefail
grep -qw avx /proc/cpuinfo || { echo "skipped: no x86-64 processor with AVX"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'ziglang==0.15.1' 2>/dev/null
cd "$folder"
echo 'void scale(float *v, float by, long n) { for (long i = 0; i < n; i++) v[i] *= by; }' > loop.c
echo "zig $(venv/bin/python -m ziglang version)"
registers() {
  venv/bin/python -m ziglang cc -O3 "$@" -S -o loop.s loop.c 2>/dev/null
  echo "cc -O3 $*: $(grep -c ymm loop.s || true) instructions with 256-bit registers" | tee said
}
registers
! grep -q ": 0 " said || { echo "the behaviour has changed: the code is for any processor"; exit 1; }
registers -target native-linux-gnu
! grep -q ": 0 " said || { echo "the behaviour has changed: the code is for any processor"; exit 1; }
registers -mcpu=baseline
grep -q ": 0 " said || { echo "the behaviour has changed: the baseline has AVX"; exit 1; }
registers -target x86_64-linux-gnu
grep -q ": 0 " said || { echo "the behaviour has changed: a named target has AVX"; exit 1; }

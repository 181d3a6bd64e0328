#!/usr/bin/env bash
# atheris.instrument_imports(include=["a.b"]) changes all of package a, and what Numba compiles there fails.
#
# Guess: the help says "module names that shall be instrumented", submodules too: include=["shop.readers"] changes the
#   bytecode of shop.readers and leaves shop.kernels as it was written, so that Numba compiles its functions.
# What happens: of each name in `include` only the part before the first dot counts: shop.kernels is changed too, and
#   its first call raises numba.core.errors.TypingError: Unknown attribute '_trace_branch' of module atheris. Names in
#   `exclude` are compared whole: a package named there is left out, its submodules are not.
# Why it matters: who fuzzes the readers of a package whose other half is compiled sees its target end before the first
#   input, or, with kernels that come from Numba's cache, only on the machine where that is empty. List each module that
#   is to stay as it is in `exclude`.
# Version: atheris 3.0.0, numba 0.62.1, Python 3.11. Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'atheris==3.0.0' 'numba==0.62.1' 'numpy<2.4' 2>/dev/null
cd "$folder"
mkdir shop shop/kernels
echo > shop/__init__.py
cat > shop/readers.py <<'PYTHON'
def read(data):
    return len(data) if data else 0
PYTHON
cat > shop/kernels/__init__.py <<'PYTHON'
import numba

@numba.njit
def largest(first, second):
    if first > second:
        return first
    return second
PYTHON
cp shop/kernels/__init__.py shop/kernels/further.py
cat > tried.py <<'PYTHON'
import importlib
import sys
from importlib.metadata import version

import atheris
import numba

module, exclude = sys.argv[1], sys.argv[2:]
print("atheris", version("atheris"), "numba", numba.__version__, module, "exclude", exclude)
with atheris.instrument_imports(include=["shop.readers"], exclude=exclude):
    import shop.readers  # noqa: F401
    kernels = importlib.import_module(module)
try:
    print("largest:", kernels.largest(2, 3))
except numba.core.errors.TypingError as error:
    print("TypingError:", str(error).splitlines()[1])
PYTHON
tried() { venv/bin/python tried.py "$@" 2>/dev/null | tee said; }
tried shop.kernels
grep -q "TypingError: Unknown attribute '_trace_branch'" said || { echo "the behaviour has changed"; exit 1; }
tried shop.kernels shop.kernels
grep -q "largest: 3" said || { echo "a module in exclude is changed too"; exit 1; }
tried shop.kernels.further shop.kernels
grep -q "TypingError: Unknown attribute '_trace_branch'" said || { echo "the behaviour has changed"; exit 1; }

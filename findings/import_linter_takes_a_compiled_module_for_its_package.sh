#!/usr/bin/env bash
# To import-linter a module in Cython is external, and what imports it imports the whole package of its own.
#
# Guess: only .py files are read, so that imports of a compiled module of one's own (kernels.pyx, kernels.so) are left
#   out of the graph, with or without include_external_packages.
# What happens: without include_external_packages they are left out. With it, a module that was not found counts as an
#   external one, and external ones are cut to their first name, which here is that of the root package. The module that
#   imports shop.low.kernels now imports shop, whose __init__ imports the highest layer: a layers contract is broken by
#   an import within the lowest layer, and a chain is shown that no import of the source has.
# Why it matters: a project turns that option on to forbid an external package somewhere, moves one loop to Cython, and
#   is told that its architecture broke. `ignore_imports = pkg.** -> pkg` in that contract is what remains.
# Version: import-linter 2.5, grimp 3.12, Python 3.11. Date: 2026-12-01.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'import-linter==2.5' 'grimp==3.12' 2>/dev/null
cd "$folder"
mkdir -p shop/low shop/high
echo 'from shop.high import sell' > shop/__init__.py
echo 'def sell(): ...' > shop/high/__init__.py
echo > shop/low/__init__.py
echo 'from shop.low.kernels import add' > shop/low/sums.py
echo 'def add(int a, int b): return a + b' > shop/low/kernels.pyx
linted() {
  cat > .importlinter <<INI
[importlinter]
root_package = shop
include_external_packages = $1
[importlinter:contract:layers]
name = layers
type = layers
layers =
    high
    low
containers = shop
INI
  PYTHONPATH=. venv/bin/lint-imports 2>&1 | sed 's/\x1b\[[0-9;]*m//g' | grep -E "layers (KEPT|BROKEN)|^- |^  shop|&" | sed "s/^/include_external_packages = $1: /" | tee said || true
}
venv/bin/pip list 2>/dev/null | grep -E "import-linter|grimp"
linted False
grep -q "layers KEPT" said || { echo "the behaviour has changed: the contract is broken without external packages"; exit 1; }
linted True
grep -q "layers BROKEN" said || { echo "the behaviour has changed: the contract is kept"; exit 1; }
grep -q "shop.low.sums -> shop (l.1)" said || { echo "the behaviour has changed: no import of the package is shown"; exit 1; }

#!/usr/bin/env bash
# node-html-parser finds no link on a directory listing of nginx or Apache.
#
# Guess: querySelectorAll("a") gives each link of a page that stands in no comment and no script; <pre> keeps the spaces of its
#   text, and its content is markup like any other's.
# What happens: by default the content of <pre>, as that of <script> and <style>, is one raw text. No element within is
#   made, and a page whose links stand in <pre> has none. Those of <noscript> go the same way, which a client without scripts
#   should follow. With {blockTextElements: {script: true, style: true}} all are found, with {comment: true} none.
# Why it matters: the listings that nginx and Apache make of a folder, manual pages and RFCs with links are one <pre>.
#   A crawl ends at the listing's first page, which was read with status 200 and no error.
# Version: node-html-parser 9.0.7, Node 20 or later. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . node-html-parser@9.0.7 >/dev/null 2>&1
cat > run.cjs <<'JS'
const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { parse } = require('node-html-parser')

console.log('node-html-parser', JSON.parse(readFileSync('node_modules/node-html-parser/package.json')).version)
const listing = `<html><head><title>Index of /ferries/</title></head><body><h1>Index of /ferries/</h1><hr><pre><a href="../">../</a>
<a href="2025/">2025/</a>            02-Dec-2026 10:00       -
<a href="prices.html">prices.html</a>      02-Dec-2026 10:00    4821
</pre><hr><noscript><a href="/plain">without scripts</a></noscript></body></html>`
const links = (options) => parse(listing, options).querySelectorAll('a').map((link) => link.getAttribute('href'))
const [usual, told] = [links(), links({ blockTextElements: { script: true, style: true } })]
console.log('usual', usual, 'told which elements are text', told)
assert.deepStrictEqual(links({ comment: true }), [], 'the behaviour has changed')
assert.deepStrictEqual(usual, [], 'the behaviour has changed')
assert.deepStrictEqual(told, ['../', '2025/', 'prices.html', '/plain'], 'the behaviour has changed')
JS
node run.cjs

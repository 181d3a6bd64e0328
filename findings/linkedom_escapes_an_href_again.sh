#!/usr/bin/env bash
# In linkedom the href of a link to /a%2Fb is /a%252Fb, the src of an image at the same URL is right.
#
# Guess: link.href is the attribute as it was written, or as in a browser the whole URL against the page's; %2F stays %2F
#   in both, since an escaped slash is another character than a slash.
# What happens: the property undoes escapes and makes them anew. Of the characters that URLs reserve (/ ? # & = + : @ , ;)
#   the escapes are not undone at first, so that their percent sign is escaped: /a%2Fb is /a%252Fb, ?to=http%3A%2F%2Fh%2F is
#   ?to=http%253A%252F%252Fh%252F. Nothing is made absolute, and <base> counts for nothing. getAttribute("href") is unharmed.
# Why it matters: code that reads links as in a browser runs here without a change and asks for URLs that the page does not have:
#   logins, shares and searches that carry a URL, object stores and wikis with escaped slashes. Sites answer with 404, or
#   with another page. Resolve getAttribute("href") by URL.
# Version: linkedom 0.18.15, Node 20 or later. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . linkedom@0.18.15 >/dev/null 2>&1
cat > run.mjs <<'JS'
import assert from 'node:assert'
import { readFileSync } from 'node:fs'
import { parseHTML } from 'linkedom'

console.log('linkedom', JSON.parse(readFileSync('node_modules/linkedom/package.json')).version)
for (const [written, expected] of [
  ['/a%2Fb', '/a%252Fb'],
  ['?to=http%3A%2F%2Fh%2F', '?to=http%253A%252F%252Fh%252F'],
  ['/a%20b', '/a%20b'],
]) {
  const { document } = parseHTML(`<!DOCTYPE html><html><head><title>Links</title><base href="http://h/d/"></head>
<body><a href="${written}">a link</a><img src="${written}" alt=""></body></html>`)
  const [link, image] = [document.querySelector('a'), document.querySelector('img')]
  console.log({ written, href: link.href, src: image.src, attribute: link.getAttribute('href') })
  assert.strictEqual(link.href, expected, 'the behaviour has changed')
  assert.deepStrictEqual([image.src, link.getAttribute('href')], [written, written])
}
JS
node run.mjs

#!/usr/bin/env bash
# rss-parser puts the marked words of an Atom entry behind the others: "Take the <b>first</b> ferry." is "Take the ferry.first".
#
# Guess: the content of an entry with type="xhtml" (RFC 4287, 4.1.3) is its markup as it was written, as that of an entry
#   with type="html" is, and contentSnippet is its text.
# What happens: the XML is read into objects that keep text apart from child elements, and is written anew from them. Of each
#   element the texts come first, joined, and then its children; children of one name stand together, whatever stood
#   between them. An entry with type="html" keeps its order.
# Why it matters: both forms are valid and say the same. The words are all there, so that no count of characters shows it, and a
#   comparison with the page's own text finds two texts. "not" in <em> ends up at the end of its paragraph.
# Version: rss-parser 3.13.0, Node 20 or later. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . rss-parser@3.13.0 >/dev/null 2>&1
cat > run.cjs <<'JS'
const assert = require('node:assert')
const Parser = require('rss-parser')

console.log('rss-parser', require('rss-parser/package.json').version)
const markup = '<p>Take the <b>first</b> ferry <i>home</i>, or <b>walk</b>.</p>'
const feed = (content) => `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Ferries</title>
<id>urn:example:feed</id><updated>2026-12-02T10:00:00Z</updated><author><name>A. Author</name></author><entry><title>Timetable</title>
<id>urn:example:1</id><updated>2026-12-02T10:00:00Z</updated>${content}</entry></feed>`
const escaped = markup.replaceAll('<', '&lt;')
const forms = {
  html: `<content type="html">${escaped}</content>`,
  xhtml: `<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">${markup}</div></content>`,
}
const read = async (form) => (await new Parser().parseString(feed(forms[form]))).items[0].contentSnippet.replace(/\s+/g, ' ')
;(async () => {
  const [html, xhtml] = [await read('html'), await read('xhtml')]
  console.log({ html, xhtml })
  assert.strictEqual(html, 'Take the first ferry home, or walk.', 'the behaviour has changed')
  assert.strictEqual(xhtml, 'Take the ferry , or .firstwalkhome', 'the behaviour has changed')
})()
JS
node run.cjs

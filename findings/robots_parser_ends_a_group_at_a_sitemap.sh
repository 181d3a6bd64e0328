#!/usr/bin/env bash
# robots-parser allows what robots.txt forbids when a Sitemap line stands between two agents of a group.
#
# Guess: "User-agent: a", "Sitemap: ...", "User-agent: b", "Disallow: /private" forbids /private to a and b. RFC 9309 (2.2.4)
#   has this very case: other records, such as Sitemap, must not end a group.
# What happens: the second User-agent line begins a new group, so that the first agent has none with rules and may ask for
#   everything, unless "User-agent: *" forbids it. An empty line, or a comment, in the same place ends nothing. Crawl-delay
#   there ends the group too.
# Why it matters: generators write the Sitemap line wherever it comes (the format says that its place has no meaning), and the
#   crawler that is named first is told that it may go where the site does not want it.
# Version: robots-parser 3.0.1, Node 20 or later. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . robots-parser@3.0.1 >/dev/null 2>&1
cat > run.cjs <<'JS'
const assert = require('node:assert')
const robotsParser = require('robots-parser')

console.log('robots-parser', require('robots-parser/package.json').version)
const site = 'https://example.org'
for (const [between, forbidden] of [
  ['', true],
  ['# a comment', true],
  [`Sitemap: ${site}/sitemap.xml`, false],
  ['Crawl-delay: 2', false],
]) {
  const lines = ['User-agent: first', between, 'User-agent: second', 'Disallow: /private']
  const robots = robotsParser(`${site}/robots.txt`, lines.join('\n'))
  const said = ['first', 'second'].map((agent) => robots.isAllowed(`${site}/private`, agent))
  console.log({ between, first: said[0], second: said[1] })
  assert.deepStrictEqual(said, [!forbidden, false], 'the behaviour has changed')
}
JS
node run.cjs

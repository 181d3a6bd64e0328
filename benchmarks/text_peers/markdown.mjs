// Prints Markdown of pages by two readers of npm: {"url", "html"} a line in, {name: Markdown} a line out.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/package.json`);
const { JSDOM, VirtualConsole } = require("jsdom");
const { Readability } = require("@mozilla/readability");
const TurndownService = require("turndown");
const { gfm } = require("turndown-plugin-gfm");
// It exports this file to ECMAScript modules alone, which know no other folder than their own.
const file = `${process.argv[2]}/node_modules/defuddle/dist/node.js`;
const { Defuddle } = await import(pathToFileURL(file).href);

const turndown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" });
turndown.use(gfm);
const documentOf = (page) =>
  new JSDOM(page.html, { url: page.url, virtualConsole: new VirtualConsole() }).window.document;

for await (const line of createInterface({ input: process.stdin })) {
  const page = JSON.parse(line);
  const article = new Readability(documentOf(page)).parse();
  const found = await Defuddle(documentOf(page), page.url, { markdown: true });
  const readability = article ? turndown.turndown(article.content) : "";
  console.log(JSON.stringify({ readability, defuddle: found.content ?? "" }));
}

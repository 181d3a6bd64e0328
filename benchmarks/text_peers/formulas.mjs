// Renders formulas of TeX by the libraries of npm that pages use: a line of JSON {name: [HTML]}.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const require = createRequire(`${folder}/package.json`);
const katex = require("katex");
const temml = (await import(pathToFileURL(`${folder}/node_modules/temml/dist/temml.mjs`).href)).default;
const { mathjax } = require("mathjax-full/js/mathjax.js");
const { TeX } = require("mathjax-full/js/input/tex.js");
const { CHTML } = require("mathjax-full/js/output/chtml.js");
const { AssistiveMmlHandler } = require("mathjax-full/js/a11y/assistive-mml.js");
const { liteAdaptor } = require("mathjax-full/js/adaptors/liteAdaptor.js");
const { RegisterHTMLHandler } = require("mathjax-full/js/handlers/html.js");

const adaptor = liteAdaptor();
AssistiveMmlHandler(RegisterHTMLHandler(adaptor));
const drawn = mathjax.document("", { InputJax: new TeX(), OutputJax: new CHTML() });
const escaped = (tex) => tex.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

for await (const line of createInterface({ input: process.stdin })) {
  const { tex, display } = JSON.parse(line);
  const marks = display ? "; mode=display" : "";
  console.log(
    JSON.stringify({
      KaTeX: katex.renderToString(tex, { displayMode: display }),
      "Temml, annotated": temml.renderToString(tex, { displayMode: display, annotate: true }),
      "MathJax 2, script": `<script type="math/tex${marks}">${tex}</script>`,
      "MathJax 3, drawn": adaptor.outerHTML(drawn.convert(tex, { display })),
      "MathJax 3, not yet drawn": display ? `\\[${escaped(tex)}\\]` : `\\(${escaped(tex)}\\)`,
    }),
  );
}

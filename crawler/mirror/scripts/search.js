// Files are scripts that call mirrorSearch: from a disk a page may load those, and nothing else.
const held = new Map();
const STEP = 50;
let latest = 0;

function mirrorSearch(name, content) {
  held.get(name).resolve(content);
}

function load(name) {
  if (!held.has(name)) {
    const entry = {};
    entry.promise = new Promise((resolve, reject) => {
      entry.resolve = resolve;
      const script = document.createElement("script");
      script.src = `${index.folder}/${name}.js`;
      script.onerror = () => { held.delete(name); reject(new Error(script.src)); };
      document.head.append(script);
    });
    held.set(name, entry);
  }
  return held.get(name).promise;
}

const unspaced = `[${index.unspaced}]`;
const tokens = new RegExp(`${unspaced}|(?:(?!${unspaced})[\\p{L}\\p{N}])+`, "gu");

function wordsOf(text) {
  const folded = text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase().replace(/ς/g, "σ");
  return (folded.match(tokens) || []).map((word) => [...word].slice(0, index.longest).join(""));
}

function shardOf(word) {
  const [first, second] = [...word];
  const code = first.codePointAt(0) * 31 + (second ? second.codePointAt(0) : 0);
  return `words-${code % index.shards}`;
}

// Pages are written as differences in base 36, those with the word in their title with "!".
function scores(words, prefix, isLast) {
  const found = new Map();
  const isOpen = isLast && [...prefix].length > 1;
  for (const [word, pages] of Object.entries(words)) {
    if (word !== prefix && !(isOpen && word.startsWith(prefix))) continue;
    const list = pages.split(" ");
    const weight = Math.log(1 + index.pages / list.length) * (word === prefix ? 2 : 1);
    let page = -1;
    for (const each of list) {
      page += parseInt(each, 36);
      const score = weight * (each.endsWith("!") ? 4 : 1);
      found.set(page, Math.max(found.get(page) || 0, score));
    }
  }
  return found;
}

async function search(query) {
  const words = [...new Set(wordsOf(query))];
  if (!words.length) return Array.from({ length: index.pages }, (_, page) => page);
  const last = wordsOf(query).at(-1);
  const shards = await Promise.all(words.map((word) => load(shardOf(word))));
  const each = words.map((word, at) => scores(shards[at], word, word === last));
  const [first, ...others] = each.sort((one, other) => one.size - other.size);
  const pages = [...first.keys()].filter((page) => others.every((found) => found.has(page)));
  const total = (page) => each.reduce((sum, found) => sum + found.get(page), 0);
  return pages.sort((one, other) => total(other) - total(one) || one - other);
}

function marked(text, words) {
  const element = document.createElement("span");
  for (const part of text.split(/([\p{L}\p{M}\p{N}]+)/u)) {
    const isHit = wordsOf(part).some((one) => words.some((word) => one.startsWith(word)));
    const node = isHit ? document.createElement("mark") : new Text();
    node.textContent = part;
    element.append(node);
  }
  return element;
}

async function show(pages, from, words, turn) {
  const some = pages.slice(from, from + STEP);
  const names = [...new Set(some.map((page) => Math.floor(page / index.chunk)))];
  const chunks = new Map(await Promise.all(
    names.map(async (name) => [name, await load(`pages-${name}`)])));
  if (turn !== latest) return;
  for (const page of some) {
    const [path, title, text] = chunks.get(Math.floor(page / index.chunk))[page % index.chunk];
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = path;
    link.append(marked(title, words));
    const where = document.createElement("small");
    where.textContent = decodeURI(path);
    item.append(link, where);
    if (words.length) item.append(marked(text, words));
    document.getElementById("found").append(item);
  }
  const more = document.getElementById("more");
  more.hidden = from + STEP >= pages.length;
  more.onclick = () => show(pages, from + STEP, words, turn);
}

async function ask(query) {
  const turn = ++latest;
  const state = document.getElementById("state");
  try {
    const pages = await search(query);
    if (turn !== latest) return;
    document.getElementById("found").replaceChildren();
    const noun = pages.length === 1 ? "page" : "pages";
    state.textContent = `${pages.length.toLocaleString("en")} ${noun}`;
    await show(pages, 0, wordsOf(query), turn);
  } catch (error) {
    if (turn === latest) state.textContent = `A file of the search is missing: ${error.message}`;
  }
}

const input = document.querySelector("input");
input.value = new URLSearchParams(location.search).get("q") || "";
input.addEventListener("input", () => ask(input.value));
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
ask(input.value);

// Returns the URLs that onclick attributes name: location = "/a", router.push('/b'), open("c").
() => {
  const pattern = /(?:location(?:\.href)?\s*=|(?:location\.(?:assign|replace)|open|push|navigate|go|visit|pushState|replaceState)\s*\((?:[^"'`)]*,\s*["'`][^"'`]*["'`]\s*,)?)\s*["'`]([^"'`\s]{1,2000})["'`]/g;
  const found = new Set();
  for (const element of document.querySelectorAll("[onclick]")) {
    for (const match of element.getAttribute("onclick").slice(0, 10000).matchAll(pattern)) {
      try { found.add(new URL(match[1], document.baseURI).href); } catch {}
      if (found.size >= 1000) return [...found];
    }
  }
  return [...found];
}

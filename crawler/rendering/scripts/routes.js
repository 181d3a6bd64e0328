// Returns the URLs that onclick attributes name, location = "/a", router.push('/b'), open("c"), and
// how many elements were clicked that look like links and are none: where they lead, the browser
// tells. The document was taken before. Nothing of a form is clicked, nor what may destroy or buy.
() => {
  const pattern = /(?:location(?:\.href)?\s*=|(?:location\.(?:assign|replace)|open|push|navigate|go|visit|pushState|replaceState)\s*\((?:[^"'`)]*,\s*["'`][^"'`]*["'`]\s*,)?)\s*["'`]([^"'`\s]{1,2000})["'`]/g;
  const found = new Set();
  for (const element of document.querySelectorAll("[onclick]")) {
    for (const match of element.getAttribute("onclick").slice(0, 10000).matchAll(pattern)) {
      try { found.add(new URL(match[1], document.baseURI).href); } catch {}
    }
  }
  const never = /delete|remove|log ?out|sign ?out|buy|order|pay|submit|send|subscribe|unsubscribe|cart|like|vote|report|print|share|cookie|accept|löschen|kaufen|abmelden/i;
  const points = (element) => getComputedStyle(element).cursor === "pointer";
  let clicked = 0;
  for (const element of [...document.querySelectorAll("body *")].slice(0, 20000)) {
    if (clicked >= 50) break;
    if (element.closest("a[href], form, label, button, select, summary, video, audio, [onclick]")) continue;
    const begins = points(element) && !points(element.parentElement);
    if (!begins && element.getAttribute("role") !== "link") continue;
    const text = (element.innerText || "").trim();
    if (!text || text.length > 200 || never.test(`${text} ${element.id}`)) continue;
    element.click();
    clicked += 1;
  }
  return [[...found].slice(0, 1000), clicked];
}

// Click what opens a part of the page and was not clicked yet; return how many there were.
() => {
  const clicked = window.__clicked || (window.__clicked = new WeakSet());
  const more = /^\s*(?:(?:show|see|load|read|view)\s+(?:more|all)|more|mehr|weitere|plus|más|altro|meer|ещё|もっと見る|更多)\b/i;
  const closed = document.querySelectorAll(
    "details:not([open]) > summary, [aria-expanded=false], [role=tab], button, [role=button]");
  let count = 0;
  for (const element of closed) {
    if (count >= 50) break;
    if (clicked.has(element)) continue;
    const link = element.closest("a[href]");
    const leads = link && !(link.getAttribute("href") || "").startsWith("#");
    const sends = element.closest("form") && element.getAttribute("type") !== "button";
    const opens = element.matches("summary, [aria-expanded=false], [role=tab]") ||
      more.test(element.textContent || "");
    if (leads || sends || !opens || element.disabled) continue;
    clicked.add(element);
    element.click();
    count += 1;
  }
  return count;
}

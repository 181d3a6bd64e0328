// Clicks the next element that opens something: details, closed menus and parts, tabs, "more".
// Never a link elsewhere, a submit button, or what may destroy. Returns whether there was one.
() => {
  const clicked = globalThis.clickedOnce || (globalThis.clickedOnce = new WeakSet());
  const closed = document.querySelector("details:not([open])");
  if (closed) {
    for (const details of document.querySelectorAll("details:not([open])")) details.open = true;
    return true;
  }
  const more = /^\W*((show|load|read|see|view)\s+(\d+\s+)?(more|all)|more|expand|(mehr|weitere)\b.*|(alle|mehr) anzeigen|voir plus|afficher plus|ver m[aá]s|mostrar m[aá]s|mostra altro)\W*$/i;
  const never = /delete|remove|log ?out|sign ?out|buy|order|pay|submit|send|subscribe|unsubscribe|cart|like|vote|report|print|share|cookie|accept|löschen|kaufen|abmelden/i;
  const shown = (element) => element.getClientRects().length > 0;
  const all = document.querySelectorAll(
    "button, [role=button], [role=tab], [aria-expanded=false], summary, a");
  for (const element of all) {
    if (clicked.has(element) || element.disabled) continue;
    const text = (element.innerText || element.getAttribute("aria-label") || "").trim();
    if (text.length > 60 || never.test(`${text} ${element.id} ${element.className}`)) continue;
    if (element.form && (element.type || "submit") !== "button") continue;
    const link = element.closest("a[href]");
    if (link && !/^(#|javascript:)/.test(link.getAttribute("href").trim())) continue;
    const opens = element.getAttribute("aria-expanded") === "false"
      || (element.getAttribute("role") === "tab" && element.getAttribute("aria-selected") !== "true")
      || more.test(text);
    if (!opens || !shown(element)) continue;
    clicked.add(element);
    element.click();
    return true;
  }
  return false;
}

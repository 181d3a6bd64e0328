// Click what looks like a link and is none, so that its route is noted; the page was taken before.
() => {
  window.__collecting = true;
  let count = 0;
  for (const element of document.querySelectorAll("body *")) {
    if (count >= 100) break;
    if (element.closest("a[href], form, label, select, video, audio")) continue;
    const parent = element.parentElement;
    const looks = getComputedStyle(element).cursor === "pointer";
    const inherits = parent && getComputedStyle(parent).cursor === "pointer";
    if (element.matches("[role=link], [onclick]") || (looks && !inherits)) {
      element.click();
      count += 1;
    }
  }
}

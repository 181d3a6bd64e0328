// Scrolls one window further, the page and its largest part that scrolls by itself.
// Returns the height of what can be scrolled, so that the crawler sees whether something was added.
async () => {
  const parts = [...document.querySelectorAll("*")].filter((element) =>
    element.scrollHeight > element.clientHeight + 50 && element.clientHeight > 200
    && ["auto", "scroll"].includes(getComputedStyle(element).overflowY));
  parts.sort((a, b) => b.scrollHeight - a.scrollHeight);
  const page = document.scrollingElement || document.documentElement;
  let atEnd = true;
  for (const part of [page, ...parts.slice(0, 1)]) {
    part.scrollTop += Math.max(part === page ? innerHeight : part.clientHeight, 100);
    atEnd = atEnd && part.scrollTop + (part === page ? innerHeight : part.clientHeight) + 2
      >= part.scrollHeight;
  }
  // Pages hear of it with the next frame, which a busy machine draws late.
  const frame = new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  await Promise.race([frame, new Promise((late) => setTimeout(late, 1000))]);
  return [Math.max(page.scrollHeight, ...parts.slice(0, 1).map((p) => p.scrollHeight)), atEnd];
}

// Watches the DOM and the work that is left, in a world that the page's scripts do not see.
// Returns nothing; pendingWork() of the same world returns when the tasks of the page are done, or
// after .2 s: whether they are, whether a timer below a second waits, for how many milliseconds
// the DOM has not changed, and for how many it has not got more text.
(() => {
  let changed = performance.now(), grown = changed, measured = 0, longest = 0, isIdle = true;
  new MutationObserver(() => { changed = performance.now(); }).observe(document, {
    subtree: true, childList: true, characterData: true,
  });
  globalThis.pendingWork = async () => {
    // Chromium may call a page idle only once it has drawn, and a page that is still draws nothing.
    if (!isIdle) requestAnimationFrame(() => {});
    isIdle = await new Promise((done) => {
      requestIdleCallback((deadline) => done(!deadline.didTimeout), { timeout: 200 });
    });
    if (measured < changed && document.documentElement) {
      measured = performance.now();
      const length = document.documentElement.textContent.length;
      if (length > longest) grown = changed;
      longest = Math.max(longest, length);
    }
    const hasTimers = !document.dispatchEvent(new Event("crawler:timers", { cancelable: true }));
    return [isIdle, hasTimers, performance.now() - changed, performance.now() - grown];
  };
})();

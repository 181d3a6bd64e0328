// Notes when the DOM changed last, in a world that the page's scripts do not see.
// Returns nothing; quietMs() of the same world says for how long nothing changed.
(() => {
  let changed = performance.now();
  new MutationObserver(() => { changed = performance.now(); }).observe(document, {
    subtree: true, childList: true, characterData: true,
  });
  globalThis.quietMs = () => performance.now() - changed;
})();

// Note the URLs that scripts go to by the history, before any script of the page runs.
(() => {
  const routes = new Set();
  Object.defineProperty(window, "__routes", {value: routes});
  for (const name of ["pushState", "replaceState"]) {
    const original = history[name].bind(history);
    history[name] = (state, title, url) => {
      if (url != null && routes.size < 1000) {
        try { routes.add(new URL(url, document.baseURI).href); } catch { /* no URL */ }
      }
      // While routes are collected, nothing is to change but what is noted.
      if (!window.__collecting) original(state, title, url);
    };
  }
})();

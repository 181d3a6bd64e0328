// Runs in every frame before the page's own scripts: no window that waits for a person, none that
// opens beside the page, no connection past the crawler. WebSockets find no network and fail.
(() => {
  const answers = { alert: undefined, confirm: false, prompt: null, print: undefined };
  for (const [name, answer] of Object.entries(answers)) {
    try { window[name] = () => answer; } catch {}
  }
  try { window.open = () => null; } catch {}
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "SharedWorker"]) {
    try { delete window[name]; } catch {}
  }
  // What is shown in a closed root is shown too.
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return attach.call(this, { ...options, mode: "open" });
  };
  try { navigator.sendBeacon = () => false; } catch {}
  // Timers below a second are work of the page that is still to come. changes.js asks by an event
  // whether there are any: of what its scripts' world knows, a DOM event alone leads to the other.
  if (window !== window.top) return;
  const pending = new Set();
  const later = window.setTimeout;
  const count = (name, times) => {
    const set = window[name];
    window[name] = function (handler, delay) {
      const id = set.apply(this, arguments);
      if (!(delay >= 1000)) {
        pending.add(id);
        later(() => pending.delete(id), times * (delay || 0));  // set later, it ends later
      }
      return id;
    };
  };
  count("setTimeout", 1);
  count("setInterval", 10);  // one that goes on is a clock, or waits for what does not come
  for (const name of ["clearTimeout", "clearInterval"]) {
    const clear = window[name];
    window[name] = function (id) {
      pending.delete(id);
      return clear.apply(this, arguments);
    };
  }
  document.addEventListener("crawler:timers", (event) => {
    event.stopImmediatePropagation();
    if (pending.size) event.preventDefault();
  }, true);
})();

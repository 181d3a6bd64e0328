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
})();

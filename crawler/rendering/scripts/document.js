// Return the document as HTML, with its open shadow trees, and the routes that were noted.
(first) => {
  // Scripts ran: what stands there for browsers without them was not shown.
  for (const element of document.querySelectorAll("noscript")) element.remove();
  if (document.URL.split("#")[0] !== first) {
    // The page has another address now, to which its links are relative.
    for (const link of document.querySelectorAll("a[href], area[href]")) {
      link.setAttribute("href", link.href);
    }
  }
  const roots = [];
  const collect = (tree) => {
    for (const element of tree.querySelectorAll("*")) {
      if (element.shadowRoot) { roots.push(element.shadowRoot); collect(element.shadowRoot); }
    }
  };
  collect(document);
  const top = document.documentElement;
  const inner = top.getHTML ? top.getHTML({shadowRoots: roots}) : top.innerHTML;
  const shell = top.cloneNode(false).outerHTML;
  const end = shell.lastIndexOf("</");
  return "<!DOCTYPE html>" + shell.slice(0, end) + inner + shell.slice(end);
}

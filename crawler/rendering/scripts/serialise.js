// Returns the document as HTML: open shadow roots as declarative templates, frames as elements,
// UTF-8 declared. Given true, styles that scripts made stand in style elements.
(withStyles) => {
  const rules = (sheet) => {
    try { return [...sheet.cssRules].map((rule) => rule.cssText).join("\n"); } catch { return null; }
  };
  const addStyles = (root, where) => {
    for (const element of root.querySelectorAll("style")) {
      const text = element.sheet && rules(element.sheet);
      if (text && element.textContent.trim() === "") element.textContent = text;
    }
    for (const sheet of root.adoptedStyleSheets || []) {
      const text = rules(sheet);
      if (!text) continue;
      const element = document.createElement("style");
      element.textContent = text;
      where.append(element);
    }
  };
  const roots = [];
  const collect = (node) => {
    for (const element of node.querySelectorAll("*")) {
      const root = element.shadowRoot;
      if (!root) continue;
      roots.push(root);
      if (withStyles) addStyles(root, root);
      collect(root);
    }
  };
  const html = document.documentElement;
  if (!html) return "";
  // What stands there for browsers without scripts was not shown.
  for (const element of document.querySelectorAll("noscript")) element.remove();
  collect(document);
  if (withStyles && document.head) addStyles(document, document.head);
  if (document.head) {
    for (const old of document.querySelectorAll(
      "meta[charset], meta[http-equiv='content-type' i]")) old.remove();
    const declared = document.createElement("meta");
    declared.setAttribute("charset", "utf-8");
    document.head.prepend(declared);
  }
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  const shell = html.cloneNode(false).outerHTML;
  const end = shell.lastIndexOf("</");
  const inner = html.getHTML ? html.getHTML({ shadowRoots: roots }) : html.innerHTML;
  return `${type}\n${shell.slice(0, end)}${inner}${shell.slice(end)}\n`;
}

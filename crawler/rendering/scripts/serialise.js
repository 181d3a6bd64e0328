// Returns the document as HTML: open shadow roots as declarative templates, frames as elements,
// UTF-8 declared. Given true, styles that scripts made stand in style elements. Returns null where
// it has more characters than the second argument.
(withStyles, most) => {
  // A form or an image may be named as a property of the document or of a form, and hides it.
  const property = (type, name) => {
    const getter = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return (object) => getter.call(object);
  };
  const all = (root, selector) => {
    const type = [Document, Element, DocumentFragment].find((each) => root instanceof each);
    return type.prototype.querySelectorAll.call(root, selector);
  };
  const head = property(Document, "head")(document);
  const html = property(Document, "documentElement")(document);
  const shadowRootOf = property(Element, "shadowRoot");
  const rules = (sheet) => {
    try { return [...sheet.cssRules].map((rule) => rule.cssText).join("\n"); } catch { return null; }
  };
  const addStyles = (root, where) => {
    for (const element of all(root, "style")) {
      const text = element.sheet && rules(element.sheet);
      if (text && element.textContent.trim() === "") element.textContent = text;
    }
    for (const sheet of root.adoptedStyleSheets || []) {
      const text = rules(sheet);
      if (!text) continue;
      const element = Document.prototype.createElement.call(document, "style");
      element.textContent = text;
      where.append(element);
    }
  };
  const roots = [];
  const collect = (node) => {
    for (const element of all(node, "*")) {
      const root = shadowRootOf(element);
      if (!root) continue;
      roots.push(root);
      if (withStyles) addStyles(root, root);
      collect(root);
    }
  };
  if (!html) return "";
  // What stands there for browsers without scripts was not shown.
  for (const element of all(document, "noscript")) element.remove();
  collect(document);
  if (withStyles && head) addStyles(document, head);
  if (head) {
    for (const old of all(document, "meta[charset], meta[http-equiv='content-type' i]")) old.remove();
    const declared = Document.prototype.createElement.call(document, "meta");
    declared.setAttribute("charset", "utf-8");
    head.prepend(declared);
  }
  const doctype = property(Document, "doctype")(document);
  const type = doctype ? new XMLSerializer().serializeToString(doctype) : "";
  const shell = html.cloneNode(false).outerHTML;
  const end = shell.lastIndexOf("</");
  const inner = html.getHTML ? html.getHTML({ shadowRoots: roots }) : html.innerHTML;
  const written = `${type}\n${shell.slice(0, end)}${inner}${shell.slice(end)}\n`;
  return written.length > most ? null : written;
}

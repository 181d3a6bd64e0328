// Returns the document as HTML: open shadow roots as declarative templates, frames as elements,
// UTF-8 declared. Given true, it shows the same when it is opened without scripts: styles that
// scripts made stand in style elements, what was written into fields in their attributes, and
// scripts that have run are left out. Returns null where it has more characters than `most`.
(forDisk, most) => {
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
  // Rules that a script added to a sheet are in no text.
  const isChanged = (element) => {
    const written = new CSSStyleSheet();
    try { written.replaceSync(element.textContent); } catch { return false; }
    const imports = [...element.sheet.cssRules].filter((rule) => rule instanceof CSSImportRule);
    return element.sheet.cssRules.length !== written.cssRules.length + imports.length;
  };
  const addStyles = (root, where) => {
    for (const element of all(root, "style")) {
      const text = element.sheet && rules(element.sheet);
      if (text && isChanged(element)) element.textContent = text;
    }
    for (const sheet of root.adoptedStyleSheets || []) {
      const text = rules(sheet);
      if (!text) continue;
      const element = Document.prototype.createElement.call(document, "style");
      element.textContent = text;
      where.append(element);
    }
  };
  const setFields = (root) => {
    for (const field of all(root, "input")) {
      if (["checkbox", "radio"].includes(field.type)) field.toggleAttribute("checked", field.checked);
      else if (!["password", "file"].includes(field.type) && field.value !== field.defaultValue) {
        field.setAttribute("value", field.value);
      }
    }
    for (const option of all(root, "option")) option.toggleAttribute("selected", option.selected);
    for (const field of all(root, "textarea")) field.textContent = field.value;
  };
  const prepare = (root, where) => {
    addStyles(root, where);
    setFields(root);
    for (const element of all(root, "script, link[rel=preload][as=script], link[rel=modulepreload]")) {
      const isData = element.matches("script") && /json|template|^text\/(?!(java|ecma|live|j)script)/i.test(element.type);
      if (!isData) element.remove();
    }
  };
  const roots = [];
  const collect = (node) => {
    for (const element of all(node, "*")) {
      const root = shadowRootOf(element);
      if (!root) continue;
      roots.push(root);
      if (forDisk) prepare(root, root);
      collect(root);
    }
  };
  if (!html) return "";
  // What stands there for browsers without scripts was not shown.
  for (const element of all(document, "noscript")) element.remove();
  collect(document);
  if (forDisk) prepare(document, head || html);
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

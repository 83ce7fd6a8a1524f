// Builds elements. Text always becomes text nodes; no string is ever parsed as HTML.

/** An element with attributes, listeners (`onclick: f`) and children; null and false are left out. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) {
      if (typeof value !== "function") throw new TypeError(`${name} must be a function`);
      node.addEventListener(name.slice(2), value);
    } else if (name === "class") node.className = value;
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/**
 * Make a list show `items` ({signature, make}); an element whose signature is the same stays, so that a redraw takes
 * neither a click nor the focus away. A replaced element hands its focus on by `data-key`.
 */
export function patch(list, items) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  for (const [index, { signature, make }] of items.entries()) {
    const old = list.children[index];
    if (old?.signature === signature) continue;
    const node = make();
    node.signature = signature;
    if (old) old.replaceWith(node);
    else list.append(node);
  }
  while (list.children.length > items.length) list.lastElementChild.remove();
  if (focused && !list.contains(document.activeElement)) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

/** Bring `node` to the middle of `box`, and move nothing else: `scrollIntoView` would also shift the page around it. */
export function reveal(node, box) {
  if (!node) return;
  const [inner, outer] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollTop += inner.top - outer.top - Math.max(0, (outer.height - inner.height) / 2);
}

export const byId = (id) => document.getElementById(id);

const SHAPES = {
  plus: "M8 3v10M3 8h10",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  send: "M8 13V3M3.8 7.2 8 3l4.2 4.2",
  stop: "M4.5 4.5h7v7h-7z",
  down: "M8 3v7.5M4.5 7.5 8 11l3.5-3.5M3.5 13.5h9",
  next: "M6 3.5 10.5 8 6 12.5",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  again: "M12.6 8A4.6 4.6 0 1 1 11 4.5M11.2 2v2.8H8.4",
};

/** A line drawing of 16 units; decoration only, the button that holds it carries the label. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

/** A button that shows only an icon. */
export function iconButton(name, label, onclick, props = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...props }, icon(name));
}

// SPDX-License-Identifier: Apache-2.0
// Creates all elements. Text is always a text node, so no name from a user becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: h("a", {href: "#/", class: "x", onclick: f}, "text", child, …). */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element, in the same way. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("aria-") && value !== undefined) {
      element.setAttribute(name, String(value)); // "false" is a value there
      continue;
    }
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (name === "value" || name === "checked" || name === "disabled") {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
}

/** Replaces the content of an element. */
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Sets a text only if it differs: an unchanged text needs no layout, and no screen reader repeats it. */
export function text(element, value) {
  const wanted = String(value);
  if (element.textContent !== wanted) {
    element.textContent = wanted;
  }
}

/** A name from a user, isolated so that its writing direction does not affect the line. */
export function name(value, className = "") {
  return h("bdi", { class: `name ${className}`, title: value }, value);
}

/** Announces a message to screen readers. */
export function announce(message) {
  text(document.getElementById("announcer"), "");
  setTimeout(() => text(document.getElementById("announcer"), message), 50);
}

/** Shows a short message at the lower edge, which a screen reader reads. */
export function toast(message, kind = "good") {
  const shown = h("p", { class: `toast ${kind}` }, message);
  document.getElementById("toasts").append(shown);
  announce(message);
  setTimeout(() => shown.remove(), kind === "bad" ? 9000 : 5000);
}

/** Icons, as paths on a grid of 16. */
const ICONS = {
  now: "M1 8h3l2-5 3 10 2-5h4",
  wheel: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5V5M8 11v3.5M1.5 8H5M11 8h3.5",
  timers: "M2 4h12M2 8h12M2 12h8",
  queues: "M2 3.5h12v9H2zM5 3.5v9M8 3.5v9M11 3.5v9",
  cluster: "M8 2v4M4 12V9h8v3M8 6v3M6.5 2h3v3h-3zM2.5 11h3v3h-3zM10.5 11h3v3h-3z",
  pause: "M5 3v10M11 3v10",
  play: "M4 3l9 5-9 5z",
  help: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.8-1.1 1.6M8 12.6v.1",
  theme: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5",
  back: "M9.5 3.5L5 8l4.5 4.5",
  next: "M6.5 3.5L11 8l-4.5 4.5",
  good: "M3 8.5l3.5 3.5L13 4.5",
  warn: "M8 2L1.5 13.5h13zM8 6.5v3.5M8 11.9v.1",
  plus: "M8 3v10M3 8h10",
};

export function icon(which) {
  return s(
    "svg",
    { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
    s("path", { d: ICONS[which] }),
  );
}

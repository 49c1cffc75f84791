// SPDX-License-Identifier: Apache-2.0
// Rows of a form for headers: a name, and a value or the name of a secret.

import { h } from "./dom.js";

/**
 * The rows: {element, value()}. The value is {name: text} or, for a secret, {name: {secret: text}}; undefined if there is no row.
 *
 * @param label the name of the group
 * @param headers the present headers
 * @param secrets whether a value may name a secret
 */
export function headerFields(label, headers, secrets) {
  const rows = h("div", { class: "header-rows" });
  const element = h("div", { class: "field", role: "group", "aria-label": label }, h("span", { class: "field-label" }, label), rows,
    h("p", {}, h("button", { class: "button small", type: "button", onclick: () => add("", "").focus() }, "Add header")));

  function add(name, value) {
    const isSecret = typeof value === "object" && value !== null;
    const nameInput = h("input", { value: name, placeholder: "Name", "aria-label": "Header name", autocomplete: "off", spellcheck: "false" });
    const valueInput = h("input", { value: isSecret ? value.secret : value ?? "", placeholder: "Value", "aria-label": "Header value", autocomplete: "off", spellcheck: "false" });
    const kind = h("select", { "aria-label": "Kind of value" }, h("option", { value: "text" }, "Text"), h("option", { value: "secret" }, "Name of a secret"));
    kind.value = isSecret ? "secret" : "text";
    const remove = h("button", { class: "button small", type: "button", "aria-label": "Remove header", onclick: () => row.remove() }, "Remove");
    const row = h("div", { class: `header-row${secrets ? " with-kind" : ""}` }, nameInput, valueInput, secrets && kind, remove);
    rows.append(row);
    return nameInput;
  }

  Object.entries(headers ?? {}).forEach(([name, value]) => add(name, value));
  return {
    element,
    value() {
      const entries = [...rows.children].map((row) => {
        const [name, value] = row.querySelectorAll("input");
        return [name.value.trim(), row.querySelector("select")?.value === "secret" ? { secret: value.value } : value.value];
      }).filter(([name]) => name !== "");
      return entries.length > 0 ? Object.fromEntries(entries) : undefined;
    },
  };
}

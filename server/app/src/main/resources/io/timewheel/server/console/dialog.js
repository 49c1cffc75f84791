// SPDX-License-Identifier: Apache-2.0
// Dialogs, with the dialog element of the browser: it keeps the focus, and Escape closes it.

import { h, put } from "./dom.js";

/**
 * Opens a dialog. Resolves with true after its main action, with false if it was closed.
 *
 * @param title its heading
 * @param body its content
 * @param action {label, kind, run}: the dialog shows an error that run throws, and stays open if run returns false
 * @param close the label of the button that closes it
 */
export function ask({ title, body, action, close = "Cancel" }) {
  return new Promise((resolve) => {
    const problem = h("p", { class: "problem", role: "alert" });
    const submit =
      action && h("button", { class: `button ${action.kind ?? "primary"}`, type: "submit" }, action.label);
    let done = false;
    const form = h(
      "form",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          if (!action) {
            dialog.close();
            return;
          }
          submit.disabled = true;
          put(problem);
          try {
            if ((await action.run()) !== false) {
              done = true;
              dialog.close();
            }
          } catch (e) {
            put(problem, e.words ?? String(e));
          } finally {
            submit.disabled = false;
          }
        },
      },
      h("h2", { id: "dialog-title" }, title),
      h("div", { class: "dialog-body" }, body),
      problem,
      h(
        "div",
        { class: "dialog-actions" },
        h("button", { class: "button", type: "button", onclick: () => dialog.close() }, close),
        submit,
      ),
    );
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
    document.body.append(dialog);
    dialog.showModal();
    form.querySelector("[data-first]")?.focus();
  });
}

/** A labelled field of a form; a screen reader reads the hint with it. */
export function labelled(label, control, hint) {
  const id = control.id || `field-${++fields}`;
  control.id = id;
  if (hint) {
    control.setAttribute("aria-describedby", `${id}-hint`);
  }
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    control,
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
  );
}

let fields = 0;

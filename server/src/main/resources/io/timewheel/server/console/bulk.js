// SPDX-License-Identifier: Apache-2.0
// Actions on all timers that match a filter. The number is typed in, and the server does nothing if it is another.

import * as api from "./api.js";
import { ask, labelled } from "./dialog.js";
import { h, name, put, text, toast } from "./dom.js";
import { moment, number, plural, stateLabel } from "./format.js";

const VERBS = {
  pause: { label: "Pause", done: "paused", words: "None of them fires until it is resumed." },
  resume: { label: "Resume", done: "resumed", words: "What is overdue among them fires at once." },
  retry: { label: "Retry", done: "retried", words: "They fire at once, with attempts counted from one." },
  cancel: { label: "Cancel", done: "cancelled", words: "None of them fires any more. This cannot be undone.", kind: "danger" },
};

/** A filter in words. */
export function filterWords({ prefix, state, dueFrom, dueTo }) {
  return [
    state === "all" ? "in every state" : state ? `that are ${state.split(",").map((s) => stateLabel(s).toLowerCase()).join(" or ")}` : "that are unfinished",
    prefix && `whose id begins with “${prefix}”`,
    dueFrom && `due from ${moment(Date.parse(dueFrom))} on`,
    dueTo && `due before ${moment(Date.parse(dueTo))}`,
  ].filter(Boolean).join(", ");
}

/**
 * The buttons for what is listed.
 *
 * @param selection () => {namespace, filter, count, complete}
 * @param done called when something was changed
 */
export function bulk(selection, done) {
  const buttons = Object.entries(VERBS).map(([verb, { label, kind }]) =>
    h("button", { class: `button small ${kind ?? ""}`, "data-verb": verb, onclick: () => confirm(verb, selection(), done) }, `${label} all …`));
  const why = h("span", { class: "muted small" });
  const element = h("div", { class: "bulk", role: "group", "aria-label": "All that are listed" }, why, buttons);
  return {
    element,
    renew() {
      const { namespace, count } = selection();
      const possible = namespace !== "" && count > 0;
      buttons.forEach((button) => (button.disabled = !possible));
      text(why, count > 0 && namespace === "" ? "To act on all, choose a namespace" : "");
    },
  };
}

function confirm(verb, { namespace, filter, count, complete }, done) {
  const { label, words, kind, done: past } = VERBS[verb];
  let expect = count;
  const typed = h("input", { inputmode: "numeric", autocomplete: "off", required: true, "data-first": true });
  const sentence = h("p", {});
  const hint = `Type the number of timers to go on.`;
  function renew() {
    put(sentence, h("strong", {}, plural(expect, "timer")), !complete && expect === count ? " or more" : "", " of ", name(namespace), ", ", filterWords(filter), ".");
    typed.placeholder = String(expect);
  }
  renew();
  return ask({
    title: `${label} all that are listed?`,
    body: [sentence, h("p", {}, words), labelled("Number of timers", typed, hint)],
    close: "Leave them",
    action: {
      label,
      kind: kind ?? "primary",
      async run() {
        if (Number(typed.value.replace(/[\s,.]/g, "")) !== expect) {
          throw { words: `That is not ${number(expect)}.` };
        }
        try {
          await api.call("POST", api.namespacePath(namespace, `/timers:${verb}`), { body: { filter, expect } });
        } catch (e) {
          const present = e.problem?.count;
          if (e.status === 409 && present !== undefined) {
            expect = present;
            complete = true;
            typed.value = "";
            renew();
            throw { words: `Meanwhile it is ${plural(present, "timer")}, so nothing was done. Confirm the new number.` };
          }
          throw e;
        }
        toast(`${plural(expect, "timer")} ${past}`);
        done();
      },
    },
  });
}

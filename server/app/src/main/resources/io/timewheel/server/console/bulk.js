// SPDX-License-Identifier: Apache-2.0
// Actions on selected timers. A selection of all timers of a filter is one request. The user types their number, and
// the server changes nothing if the number differs. Other selections need a request for each timer.

import * as api from "./api.js";
import { ask, labelled } from "./dialog.js";
import { h, name, put, text, toast } from "./dom.js";
import { moment, number, plural, stateLabel } from "./format.js";
import { BULK, verbsFor } from "./verbs.js";

/** The largest selection, unless all timers of a filter are selected. */
const MOST = 1_000;
const AT_A_TIME = 8;

/** A filter in words. */
function filterWords({ prefix, state, queue, dueFrom, dueTo }) {
  return [
    state === "all" ? "in every state" : state ? `that are ${state.split(",").map((s) => stateLabel(s).toLowerCase()).join(" or ")}` : "that are unfinished",
    queue && `of the queue ${queue}`,
    prefix && `whose ID begins with “${prefix}”`,
    dueFrom && `due from ${moment(Date.parse(dueFrom))} on`,
    dueTo && `due before ${moment(Date.parse(dueTo))}`,
  ].filter(Boolean).join(", ");
}

/**
 * The buttons for the selected timers.
 *
 * @param selection () => {namespace, filter, timers, all}: all is true if every timer of the filter is selected, and
 *     known to be
 * @param done called when timers were changed
 */
export function bulk(selection, done) {
  const words = h("span", { class: "count" });
  const buttons = h("span", { class: "bulk-verbs" });
  const element = h("div", { class: "bulk", role: "group", "aria-label": "Selected timers", hidden: true }, words, buttons);
  let shown = "";
  return {
    element,
    renew() {
      const { namespace, timers, all } = selection();
      const verbs = verbsFor([...new Set(timers.map((timer) => timer.state))]);
      const tooMany = timers.length > MOST && !(all && namespace);
      element.hidden = timers.length === 0;
      text(words, tooMany
        ? `${number(timers.length)} selected: select at most ${number(MOST)}, or all timers of one namespace`
        : `${number(timers.length)} selected`);
      const key = `${verbs} ${tooMany} ${timers.length === 1}`;
      if (key !== shown) {
        shown = key;
        put(buttons, verbs.map((verb, i) =>
          h("button", { class: `button small ${BULK[verb].kind ?? (i === 0 ? "primary" : "")}`, "data-verb": verb, disabled: tooMany,
            onclick: () => confirm(verb, selection(), done) }, `${BULK[verb].label} ${timers.length === 1 ? "timer" : "timers"}`)));
      }
    },
  };
}

function confirm(verb, selected, done) {
  return selected.all && selected.namespace && selected.timers.length > 1
    ? confirmAll(verb, selected, done) : confirmSome(verb, selected, done);
}

function confirmAll(verb, { namespace, filter, timers }, done) {
  const { label, many, kind, done: past } = BULK[verb];
  let expect = timers.length;
  const typed = h("input", { inputmode: "numeric", autocomplete: "off", required: true, "data-first": true });
  const sentence = h("p", {});
  function renew() {
    put(sentence, h("strong", {}, plural(expect, "timer")), " of ", name(namespace), ", ", filterWords(filter), ".");
    typed.placeholder = String(expect);
  }
  renew();
  return ask({
    title: `${label} all timers of this list?`,
    body: [sentence, h("p", {}, many), labelled("Number of timers", typed, "Type the number of timers to continue.")],
    close: "Keep timers",
    action: {
      label: `${label} timers`,
      kind: kind ?? "primary",
      async run() {
        if (Number(typed.value.replace(/[\s,.]/g, "")) !== expect) {
          throw { words: `Wrong number. Type ${number(expect)} to continue.` };
        }
        try {
          await api.call("POST", api.namespacePath(namespace, `/timers:${verb}`), { body: { filter, expect } });
        } catch (e) {
          const present = e.problem?.count;
          if (e.status === 409 && present !== undefined) {
            expect = present;
            typed.value = "";
            renew();
            throw { words: `The filter matches ${plural(present, "timer")} now, so none was changed. Confirm the new number.` };
          }
          throw e;
        }
        toast(`${plural(expect, "timer")} ${past}`);
        done();
      },
    },
  });
}

function confirmSome(verb, { timers }, done) {
  const { label, one, many, kind, done: past } = BULK[verb];
  const noun = timers.length === 1 ? "timer" : "timers";
  const names = timers.slice(0, 5).map((timer) => h("li", {}, name(timer.id), " ", name(timer.namespace, "muted small")));
  return ask({
    title: `${label} ${plural(timers.length, "timer")}?`,
    body: [h("ul", { class: "chosen-names" }, names, timers.length > 5 && h("li", { class: "muted" }, `and ${number(timers.length - 5)} more`)),
      h("p", {}, timers.length === 1 ? one : many)],
    close: `Leave ${noun}`,
    action: {
      label: `${label} ${noun}`,
      kind: kind ?? "primary",
      async run() {
        const failures = await forEach(timers, (timer) => verb === "cancel"
          ? api.call("DELETE", api.timerPath(timer.namespace, timer.id), { ifMatch: timer.version })
          : api.call("POST", api.timerPath(timer.namespace, timer.id, verb), { ifMatch: timer.version }));
        const changed = timers.length - failures.length;
        if (changed > 0) {
          toast(`${plural(changed, "timer")} ${past}`);
        }
        if (failures.length > 0) {
          const [{ timer, error }] = failures;
          const why = error.status === 412 ? "the timer was changed meanwhile" : error.words ?? String(error);
          toast(`${plural(failures.length, "timer")} not ${past}. ${timer.id}: ${why}`, "bad");
        }
        done();
      },
    },
  });
}

/** Calls for each timer, some at a time. Resolves with the failures. */
async function forEach(timers, call) {
  const failures = [];
  const rest = [...timers];
  await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
    for (let timer = rest.shift(); timer; timer = rest.shift()) {
      try {
        await call(timer);
      } catch (error) {
        failures.push({ timer, error });
      }
    }
  }));
  return failures;
}

// SPDX-License-Identifier: Apache-2.0
// The controls above the list of timers. Their values are in the URL.

import { h, icon } from "./dom.js";
import { STATE_NAMES, fieldOf, instantOf, millisOf, millisOfField, stateLabel, zoneName } from "./format.js";
import { replaceQuery } from "./router.js";

/** The filter of a request, from the URL. Empty values are left out. */
export function filterOf(query) {
  const filter = {};
  const fields = { prefix: "prefix", state: "state", queue: "queue", from: "dueFrom", to: "dueTo" };
  for (const [from, to] of Object.entries(fields)) {
    if (query.get(from)) {
      filter[to] = query.get(from);
    }
  }
  return filter;
}

/**
 * The controls; Enter in the search goes to the first timer.
 *
 * @param changed (changes of the URL)
 */
export function filters(query, changed, enter) {
  const search = h("input", { id: "search", type: "search", placeholder: "ID begins with …", autocomplete: "off", spellcheck: "false",
    value: query.get("prefix") ?? "", "aria-label": "ID begins with", "aria-keyshortcuts": "/" });
  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => changed({ prefix: search.value }), 250);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      clearTimeout(waiting);
      replaceQuery({ prefix: search.value });
      enter();
    }
  });
  const given = query.get("state") ?? "";
  const options = [["", "Unfinished"], ...STATE_NAMES.map((s) => [s, stateLabel(s)]), ["all", "Every state"]];
  if (!options.some(([value]) => value === given)) {
    options.push([given, given.split(",").map(stateLabel).join(", ")]);
  }
  const states = h("select", { "aria-label": "State", onchange: () => changed({ state: states.value }) },
    options.map(([value, label]) => h("option", { value }, label)));
  states.value = given;
  const queue = h("input", { class: "queue-filter", placeholder: "Queue", "aria-label": "Queue", autocomplete: "off", spellcheck: "false",
    value: query.get("queue") ?? "", onchange: () => changed({ queue: queue.value }) });
  const from = moments("Due from", query.get("from"), (value) => changed({ from: value }));
  const to = moments("until", query.get("to"), (value) => changed({ to: value }));
  return h("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    h("span", { class: "search" }, icon("search"), search), states, queue,
    h("span", { class: "span", title: `In ${zoneName()}` }, from, to));
}

/** A field for a moment, in the zone of the rows. Until the field is changed, the exact moment of the URL applies. */
function moments(label, instant, changed) {
  const millis = instant ? millisOf(instant) : NaN;
  const input = h("input", { type: "datetime-local", step: "1", value: Number.isNaN(millis) ? "" : fieldOf(millis),
    onchange: () => changed(input.value ? instantOf(millisOfField(input.value)) : "") });
  return h("label", {}, h("span", {}, label, zoneName() === "UTC" && h("span", { class: "small" }, " (UTC)")), input);
}

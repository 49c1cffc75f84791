// SPDX-License-Identifier: Apache-2.0
// Elements that several pages use.

import { SERVER } from "./api.js";
import { h, icon, name, text, toast } from "./dom.js";
import { instantOf, millisOf, moment, relative, stateLabel, stateMeaning } from "./format.js";
import * as live from "./live.js";
import { link } from "./router.js";

/** A state, as a word and a dot of its colour. */
export function badge(state) {
  return h("span", { class: `badge state-${state}`, title: stateMeaning(state) }, stateLabel(state));
}

/** A moment, with the full instant as a tip. */
export function time(instant) {
  const millis = millisOf(instant);
  return h("time", { datetime: instant, title: instant }, moment(millis, live.now()));
}

/** A moment as seen from now, renewed each second until the signal. */
export function ago(instant, signal) {
  const element = h("time", { datetime: instant, title: instant, class: "ago" });
  const renew = () => text(element, relative(millisOf(instant), live.now()));
  renew();
  live.eachSecond(renew, signal);
  return element;
}

export function timerLink(timer, className = "") {
  return h("a", { href: link(["timer", timer.namespace, timer.id]), class: className }, name(timer.id));
}

/** A queue, as a link to its ready timers. */
export function queueLink(queue, withNamespace) {
  return [h("a", { href: link(["timers"], { ns: queue.namespace, state: "ready", queue: queue.name }) }, name(queue.name)),
    withNamespace && [" ", name(queue.namespace, "muted small")]];
}

/** A notice for an empty page: the reason, and the next step. */
export function empty(title, ...children) {
  return h("div", { class: "empty" }, h("h2", {}, title), children);
}

/** A failed request, in the place of the data. */
export function failure(error, again) {
  return h(
    "div",
    { class: "empty bad", role: "alert" },
    h("h2", {}, error.status === 0 ? "The server does not answer" : "The request failed"),
    h("p", {}, error.words ?? String(error)),
    again && h("button", { class: "button", onclick: again }, "Try again"),
  );
}

/** A command to copy. */
export function command(line) {
  const copy = h(
    "button",
    {
      class: "button small",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(line);
          toast("Copied");
        } catch {
          getSelection().selectAllChildren(code);
          toast("Selected: copy the text", "warn");
        }
      },
    },
    "Copy",
  );
  const code = h("code", {}, line);
  return h("div", { class: "command" }, h("pre", { tabindex: "0", "aria-label": "Command" }, code), copy);
}

/** The command that creates a first timer on this server. */
export function firstTimer() {
  return command(
    `curl -X PUT ${SERVER}/v1/namespaces/shop/timers/order-42 \\\n` +
      `  -H 'Content-Type: application/json' \\\n` +
      `  -d '{"after": "PT30S", "target": {"queue": "orders"}}'`,
  );
}

export function newTimerLink(label = "Create timer") {
  return h("a", { class: "button primary", href: "#/new" }, icon("plus"), label);
}

/** A query for the timers that are due within a span. */
export function dueQuery(namespace, from, to) {
  return { ns: namespace, from: instantOf(from), to: instantOf(to) };
}

/** The heading of a page. It gets the focus when the page opens, so that a screen reader starts there. */
export function heading(title, ...aside) {
  return h(
    "div",
    { class: "heading" },
    h("h1", { tabindex: "-1" }, title),
    aside.length > 0 && h("div", { class: "heading-aside" }, aside),
  );
}

// SPDX-License-Identifier: Apache-2.0
// Queues: how many timers wait in each, for how long, and whether consumers wait. They can be paused and resumed.

import * as api from "./api.js";
import { ask } from "./dialog.js";
import { h, name, put, toast } from "./dom.js";
import { compact, number, plural } from "./format.js";
import * as live from "./live.js";
import { ago, empty, failure, heading, queueLink } from "./parts.js";
import { link } from "./router.js";

/** The largest number of namespaces to read. Each needs a request. */
const NAMESPACES = 20;

export const title = () => "Queues";

/**
 * Reads the queues of a namespace, or of all (empty): {queues, omitted, omittedReady}. Of many namespaces, it reads those with
 * the most ready timers. omitted counts the other namespaces, and omittedReady those of them that have ready timers.
 */
export async function readQueues(namespace, signal) {
  const names = [];
  let omitted = [];
  if (namespace) {
    names.push(namespace);
  } else {
    const found = await api.namespaceList(signal);
    const waiting = ({ states = {} }) => (states.ready ?? 0) * 1e6 + (states.running ?? 0);
    found.sort((a, b) => waiting(b) - waiting(a));
    names.push(...found.slice(0, NAMESPACES).map((each) => each.namespace));
    omitted = found.slice(NAMESPACES);
  }
  const answers = await Promise.all(names.map((each) => api.get(api.namespacePath(each, "/queues"), {}, signal)));
  const queues = answers.flatMap((answer, i) => answer.queues.map((queue) => ({ ...queue, namespace: names[i] })));
  return {
    queues: queues.sort(oldestFirst),
    omitted: omitted.length,
    omittedReady: omitted.filter(({ states }) => states?.ready > 0).length,
  };
}

function oldestFirst(a, b) {
  const at = ({ oldestReadyAt }) => (oldestReadyAt ? Date.parse(oldestReadyAt) : Infinity);
  return at(a) === at(b) ? (a.name < b.name ? -1 : 1) : at(a) < at(b) ? -1 : 1;
}

/** A table of queues: {element, set(queues)}. The onAction, if present, makes the action of a row. */
export function queueTable(several, signal, onAction) {
  const body = h("tbody", {});
  const columns = [["Queue"], ["Ready", "right"], ["Oldest ready", "right"], ["Running", "right"], ["Waiting claims", "right"]];
  const element = h("div", { class: "scroll wide", tabindex: "0", role: "region", "aria-label": "Queues" },
    h("table", { class: "queues" },
      h("thead", {}, h("tr", {}, columns.map(([label, kind = ""]) => h("th", { scope: "col", class: kind }, label)),
        onAction && h("th", { scope: "col" }, h("span", { class: "unseen" }, "Action")))),
      body));
  let before = "";
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  return {
    element,
    set(queues) {
      const key = JSON.stringify(queues);
      if (key === before) {
        return; // do not replace a button that is being pressed
      }
      before = key;
      inner.abort();
      inner = new AbortController();
      put(body, queues.map((queue) => h("tr", {},
        h("th", { scope: "row" }, queueLink(queue, several), queue.paused && h("span", { class: "tag warn" }, "Paused")),
        [number(queue.ready), queue.oldestReadyAt ? ago(queue.oldestReadyAt, inner.signal) : h("span", { class: "muted" }, "none"),
          number(queue.running), number(queue.waitingClaims)].map((value, i) => h("td", { class: "right", "data-label": columns[i + 1][0] }, value)),
        onAction && h("td", { class: "right action" }, onAction(queue)))));
    },
  };
}

export function show(main, route, signal) {
  const namespace = route.query.get("ns") ?? "";
  const aside = h("span", {});
  const lead = h("p", { class: "lead" });
  const body = h("div", {});
  put(main, heading("Queues", aside), lead, body);
  const table = queueTable(!namespace, signal, action);
  let drawn = "";

  function action(queue) {
    const verb = queue.paused ? "resume" : "pause";
    return h("button", { class: `button small${queue.paused ? " primary" : ""}`, "data-verb": verb,
      "aria-label": `${queue.paused ? "Resume" : "Pause"} queue ${queue.name}`,
      onclick: () => (queue.paused ? perform(queue, verb) : confirm(queue)) }, queue.paused ? "Resume queue" : "Pause queue");
  }

  async function perform(queue, verb) {
    try {
      await change(queue, verb);
    } catch (e) {
      toast(e.words ?? String(e), "bad");
    }
    refresh();
  }

  async function change(queue, verb) {
    await api.call("POST", api.namespacePath(queue.namespace, `/queues/${api.encode(queue.name)}:${verb}`));
    toast(`Queue ${queue.name} ${verb === "pause" ? "paused" : "resumed"}`);
  }

  function confirm(queue) {
    return ask({
      title: "Pause this queue?",
      body: [h("p", {}, "Consumers claim no timer of ", name(queue.name), " until the queue is resumed."),
        h("p", {}, "Claimed timers can still be acknowledged. New timers become ready, and wait.")],
      close: "Keep queue running",
      action: { label: "Pause queue", kind: "primary", run: async () => {
        await change(queue, "pause");
        refresh();
      } },
    });
  }

  function namespaceButton(paused) {
    const verb = paused ? "resume" : "pause";
    const send = async () => {
      const answer = await api.call("POST", `${api.namespacePath(namespace)}:${verb}`);
      const still = answer?.running > 0 ? `; ${plural(answer.running, "attempt")} still ${answer.running === 1 ? "runs" : "run"}` : "";
      toast(`Namespace ${namespace} ${paused ? "resumed" : "paused"}${still}`);
      refresh();
    };
    return h("button", { class: `button${paused ? " primary" : ""}`, "data-verb": `${verb}-namespace`, onclick: () => paused
      ? send().catch((e) => toast(e.words ?? String(e), "bad"))
      : ask({
        title: "Pause this namespace?",
        body: h("p", {}, "No attempt of a timer in ", name(namespace), " starts on any node until the namespace is resumed. Running attempts continue."),
        close: "Keep namespace running",
        action: { label: "Pause namespace", kind: "danger", run: send },
      }) }, paused ? "Resume namespace" : "Pause namespace");
  }

  const refresh = live.oneAtATime(async () => {
    try {
      const [{ queues, omitted }, stats] = await Promise.all([
        readQueues(namespace, signal), api.get("/v1/stats", { namespace }, signal)]);
      if (signal.aborted) {
        return;
      }
      const paused = (stats.paused ?? []).filter((each) => each === "*" || each === namespace);
      const ready = queues.reduce((total, queue) => total + queue.ready, 0);
      const now = JSON.stringify([queues.length > 0, omitted, paused, ready]);
      if (now !== drawn) {
        drawn = now;
        put(aside, namespace && !paused.includes("*") && namespaceButton(paused.length > 0));
        put(lead, queues.length > 0 && `${plural(queues.length, "queue")}, ${plural(ready, "ready timer")}. The queue that has waited longest is first.`,
          omitted > 0 && ` ${plural(omitted, "namespace")} with fewer ready timers ${omitted === 1 ? "is" : "are"} left out: choose a namespace to see its queues.`,
          paused.length > 0 && h("strong", {}, paused.includes("*") ? " All timers are paused." : " This namespace is paused."));
        put(body, queues.length > 0 ? h("div", { class: "panel" }, table.element) : nothing());
      }
      table.set(queues);
    } catch (e) {
      if (!signal.aborted && drawn === "") {
        put(body, failure(e, () => show(main, route, signal)));
      }
    }
  });

  function nothing() {
    return empty("No queues", h("p", {}, "A queue exists while a timer uses it. A timer whose target is a queue becomes ready there when it is due, and a consumer claims it."),
      h("a", { class: "button primary", href: link(["new"], { ns: namespace }) }, "Create timer"));
  }

  live.everySeconds(5, refresh, signal);
  refresh();
}

/** The queue that has waited longest: {at, words}; undefined if none waits. Paused queues are left out. */
export function oldest(queues) {
  const queue = queues.find((each) => each.oldestReadyAt && !each.paused);
  return queue && { at: queue.oldestReadyAt, words: `in ${queue.name}, ${compact(queue.ready)} ready` };
}

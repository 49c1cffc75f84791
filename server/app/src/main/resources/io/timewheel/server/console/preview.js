// SPDX-License-Identifier: Apache-2.0
// Shows the next runs of the schedule in the form, computed by the server.

import * as api from "./api.js";
import { h, put } from "./dom.js";
import { instantOf, millisOf, zoneName } from "./format.js";
import * as live from "./live.js";
import { inZone, knowsZone, offset, offsetText, runs, shiftText } from "./zone.js";

const RUNS = 5;
const WAIT_MILLIS = 300;

/** Runs as rows of a list, with the changes of the clocks of the zone. */
export function runRows(instants, zone, withClocks) {
  return runs(instants.map(millisOf), zone, live.now()).flatMap((run) => [
    withClocks && run.shift && h("li", { class: "shift" },
      `The clocks ${shiftText(run.shift.by)} on ${inZone(run.shift.at - 1, zone).replace(/, [\d:]+$/, "")}: ` +
      `from ${offsetText(offset(run.shift.at - 1, zone))} to ${offsetText(offset(run.shift.at, zone))}`),
    h("li", {}, h("time", { datetime: instantOf(run.at), title: instantOf(run.at) }, run.text), h("span", { class: "muted small" }, ` ${run.offset}`),
      withClocks && run.oddity === "gap" && h("p", { class: "muted small" }, "The clocks skip this local time. The timer fires at the end of the gap."),
      withClocks && run.oddity === "overlap" && h("p", { class: "muted small" }, "This local time occurs twice. The timer fires at the first one.")),
  ]);
}

/** {element, show(schedule)}: a schedule is {cron, zone}, {every}, {at} or {after}; undefined shows none. */
export function preview() {
  const list = h("ol", { class: "runs" });
  const problem = h("p", { class: "error-text", role: "status" });
  const element = h("section", { class: "preview", "aria-label": "Next runs", hidden: true }, h("h2", {}, "Next runs"), problem, list);
  let waiting;
  let asking;
  let before = "";

  async function ask(schedule) {
    asking = new AbortController();
    const { signal } = asking;
    try {
      const { next } = await api.call("POST", "/v1/schedules:preview", { body: { ...schedule, count: RUNS }, signal });
      const zone = schedule.cron && knowsZone(schedule.zone) ? schedule.zone : zoneName();
      put(problem, next.length === 0 && "The timer never fires.");
      put(list, runRows(next, zone, Boolean(schedule.cron)));
    } catch (e) {
      if (signal.aborted) {
        return;
      }
      put(list);
      put(problem, e.words ?? String(e));
    }
    element.hidden = false;
  }

  return {
    element,
    show(schedule) {
      const key = JSON.stringify(schedule) ?? "";
      if (key === before) {
        return;
      }
      before = key;
      clearTimeout(waiting);
      asking?.abort();
      if (schedule) {
        waiting = setTimeout(() => ask(schedule), WAIT_MILLIS);
      } else {
        element.hidden = true;
      }
    },
  };
}

// SPDX-License-Identifier: Apache-2.0
// The last hour as two charts: throughput and lag.

import { trend } from "./chart.js";
import { h, put, text } from "./dom.js";
import { MINUTE, SECOND, compact, duration, durationMillis, hourMinute, isoDuration, millisOf, number, plural, rate } from "./format.js";

const LATE = SECOND;

/** {charts, table, set(stats), setNow(stats)}: stats with minutes, or without. */
export function hour() {
  const throughput = panel("Throughput", {
    lines: [{ kind: "second", name: "scheduled" }, { kind: "first", name: "attempts" }, { kind: "bad", name: "failed" }],
    format: (value) => (value < 10 ? String(value) : compact(value)),
  });
  const lag = panel("Lag", {
    lines: [{ kind: "second", name: "median" }, { kind: "first", name: "99 %" }],
    format: duration,
    floor: 1,
    limit: { value: LATE },
  });
  const rows = h("tbody", {});
  const columns = ["Minute", "Scheduled", "Attempts", "Failed attempts", "Median lag", "Lag of 99 %"];
  const table = h("details", { class: "twin whole" }, h("summary", {}, "Show the last hour as a table"),
    h("div", { class: "scroll panel", tabindex: "0", role: "region", "aria-label": "The last hour, as a table" },
      h("table", {}, h("thead", {}, h("tr", {}, columns.map((label, i) => h("th", { scope: "col", class: i > 0 ? "right" : "" }, label)))), rows)));
  let minutes = [];
  table.addEventListener("toggle", fillTable);

  function fillTable() {
    if (table.open) {
      const cells = (each) => [hourMinute(millisOf(each.at)), number(each.scheduled), number(each.fired), number(each.failed),
        each.lagP50 ? isoDuration(each.lagP50) : "–", each.lagP99 ? isoDuration(each.lagP99) : "–"];
      put(rows, [...minutes].reverse().map((each) => h("tr", {}, cells(each).map((cell, i) => h("td", { class: i > 0 ? "right" : "" }, cell)))));
    }
  }

  return {
    charts: [throughput.element, lag.element],
    table,
    setNow({ rates, lag: past }) {
      throughput.say(rates ? [rate(rates.fired), `attempts a second, ${rate(rates.failed)} failed; ${rate(rates.scheduled)} timers scheduled`]
        : ["–", "not measured: too many namespaces are active"]);
      lag.say(past?.count > 0 ? [isoDuration(past.p99), `for 99 %, median ${isoDuration(past.p50)}, longest ${isoDuration(past.max)}`]
        : ["–", "no timer came due within the last hour"]);
    },
    set(stats) {
      const now = millisOf(stats.now);
      minutes = stats.minutes ?? [];
      const full = minutes.filter((each) => millisOf(each.at) + MINUTE <= now); // the current minute is not full yet
      const most = full.reduce((best, each) => (each.fired > (best?.fired ?? -1) ? each : best), undefined);
      const middle = (each) => millisOf(each.at) + MINUTE / 2;
      throughput.chart.set(
        full.map((each) => ({
          at: middle(each),
          // A line of zeros would hide other lines.
          values: [each.scheduled / 60, each.fired / 60, each.failed > 0 ? each.failed / 60 : undefined],
          label: `${hourMinute(millisOf(each.at))}: ${plural(each.fired, "attempt")}, ${number(each.failed)} failed; ${plural(each.scheduled, "timer")} scheduled in this minute`,
        })),
        now,
        most?.fired > 0 ? `At most ${rate(most.fired / 60)} attempts a second, at ${hourMinute(millisOf(most.at))}.` : "No attempt in a full minute.");
      const late = minutes.filter((each) => each.lagP99).reduce((best, each) =>
        (!best || durationMillis(each.lagP99) > durationMillis(best.lagP99) ? each : best), undefined);
      // A lag under a millisecond has no place on a logarithmic scale.
      const height = (iso) => (iso === undefined ? undefined : Math.max(1, durationMillis(iso)));
      lag.chart.set(
        minutes.map((each) => ({
          at: Math.min(middle(each), now),
          values: [height(each.lagP50), height(each.lagP99)],
          label: `${hourMinute(millisOf(each.at))}: ` + (each.lagP99 ? `99 % within ${isoDuration(each.lagP99)}, half within ${isoDuration(each.lagP50)}` : "no timer came due"),
        })),
        now,
        late ? `At most ${isoDuration(late.lagP99)} for 99 %, at ${hourMinute(millisOf(late.at))}.` : "No timer came due.");
      fillTable();
    },
  };
}

function panel(label, options) {
  const chart = trend(options);
  const value = h("strong", {}, "–");
  const words = h("span", { class: "muted" });
  const legend = h("p", { class: "legend small" }, [...options.lines].reverse().map(({ kind, name }) => h("span", { class: kind }, h("i", {}), name)));
  const element = h("section", { class: "panel past", "aria-label": `${label} over the last hour` },
    h("div", { class: "section-head" }, h("h2", {}, label), legend),
    h("p", { class: "past-now" }, value, " ", words), chart.element);
  return {
    element,
    chart,
    say([shown, rest]) {
      text(value, shown);
      text(words, rest);
    },
  };
}

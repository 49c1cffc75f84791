// SPDX-License-Identifier: Apache-2.0
// The first page: does it keep time, what is wrong, what comes next.

import * as api from "./api.js";
import { bars, spark } from "./chart.js";
import { h, icon, name, put, text } from "./dom.js";
import {
  DAY, HOUR, MINUTE, compact, durationMillis, hourMinute, instantOf, isoDuration, moment, number, plural, rate,
  shortDate,
} from "./format.js";
import * as live from "./live.js";
import { dueQuery, empty, failure, firstTimer, heading, newTimerLink } from "./parts.js";
import { go, link, replaceQuery } from "./router.js";
import { lost, problems, verdict } from "./verdict.js";

const SPANS = {
  hour: { label: "Hour", level: 1, slot: MINUTE, unit: "minute", tick: (at) => hourMinute(at), ticks: 6 },
  day: { label: "Day", level: 2, slot: HOUR, unit: "hour", tick: (at) => hourMinute(at), ticks: 6 },
  year: { label: "Year", level: 3, slot: DAY, unit: "day", tick: (at) => shortDate(at), ticks: 6 },
};

/** A connection that is back at once is no news. */
const LOST_MILLIS = 3_000;

export const title = () => "Now";

export function show(main, route, signal) {
  const namespace = route.query.get("ns") ?? "";
  const body = h("div", { class: "now" });
  put(main, heading("Now"), body);
  const judgement = judge();
  const figures = metrics();
  const coming = next(namespace, route.query.get("span") ?? "hour");
  const wrong = trouble(namespace);
  const first = h("div", {});
  put(body, judgement.element, first, figures.element, h("div", { class: "now-columns" }, wrong.element, coming.element));

  let taken;

  function take(stats) {
    taken = stats;
    judgement.say(verdict(stats));
    figures.set(stats);
    wrong.set(stats);
    // There are none where the store did not answer.
    const any = !stats.states || Object.values(stats.states).some((count) => count > 0);
    if (!any && !first.hasChildNodes()) {
      put(first, empty("No timers yet", h("p", {}, "Make the first one here, or with this command. It fires half a minute later."),
        firstTimer(), newTimerLink()));
    } else if (any) {
      put(first);
    }
  }

  const refresh = live.oneAtATime(async () => {
    try {
      const [stats, wheel] = await Promise.all([
        api.get("/v1/stats", { namespace }, signal), api.get("/v1/wheel", { namespace }, signal)]);
      if (!signal.aborted) {
        live.took(stats);
        figures.setMinutes(stats.minutes ?? []);
        coming.set(wheel);
      }
    } catch (e) {
      if (!signal.aborted && !taken) {
        put(body, failure(e, () => show(main, route, signal)));
      }
    }
  });

  live.on("stats", take, signal);
  live.on("state", (state) => setTimeout(() => {
    if (state === "reconnecting" && live.state === state && taken && !signal.aborted) {
      judgement.say(lost(taken));
    }
  }, LOST_MILLIS), signal);
  let seconds = 0;
  live.eachSecond(() => ++seconds % 5 === 0 && refresh(), signal);
  refresh();
}

// Does it keep time?

function judge() {
  const sign = h("span", { class: "verdict-icon" });
  const headline = h("h2", {});
  const detail = h("p", {});
  const element = h("section", { class: "verdict", "aria-label": "Does it keep time?" }, sign, h("div", {}, headline, detail));
  return {
    element,
    say({ level, title: said, detail: why }) {
      if (element.dataset.level !== level) {
        element.dataset.level = level;
        put(sign, icon(level === "good" || level === "idle" ? "good" : "warn"));
      }
      text(headline, said);
      text(detail, why);
    },
  };
}

function metric(label, hint) {
  const value = h("span", { class: "metric-value" }, "–");
  const line = spark();
  const extra = h("p", { class: "metric-extra" }, hint);
  const element = h("div", { class: "metric" }, h("p", { class: "metric-label" }, label), value, extra, line.element);
  return { element, value, extra, line };
}

function metrics() {
  const lag = metric("Lag, 99 %", "over the last hour");
  const fired = metric("Fired", "a second");
  const failed = metric("Failed", "a second");
  const scheduled = metric("Scheduled", "a second");
  lag.element.classList.add("wide");
  const element = h("section", { class: "metrics", "aria-label": "Figures" },
    [lag, fired, failed, scheduled].map((m) => m.element));
  return {
    element,
    set(stats) {
      const any = stats.lag?.count > 0;
      text(lag.value, any ? isoDuration(stats.lag.p99) : "–");
      text(lag.extra, any
        ? `half within ${isoDuration(stats.lag.p50)}, longest ${isoDuration(stats.lag.max)}, last hour`
        : "nothing came due in the last hour");
      for (const [shown, key] of [[fired, "fired"], [failed, "failed"], [scheduled, "scheduled"]]) {
        text(shown.value, rate(stats.rates?.[key] ?? 0));
      }
      failed.element.classList.toggle("alarming", (stats.rates?.failed ?? 0) > 0);
    },
    setMinutes(minutes) {
      lag.line.set(minutes.map((m) => m.lagP99 === undefined ? undefined : durationMillis(m.lagP99)));
      const past = minutes.slice(0, -1); // the running minute is not full yet
      for (const [shown, key] of [[fired, "fired"], [failed, "failed"], [scheduled, "scheduled"]]) {
        shown.line.set(past.map((m) => m[key]));
        const total = minutes.reduce((sum, m) => sum + m[key], 0);
        text(shown.extra, `a second; ${compact(total)} in the last hour`);
      }
    },
  };
}

// What is wrong?

function trouble(namespace) {
  const list = h("ul", { class: "problems" });
  const none = h("p", { class: "nothing" }, icon("good"),
    "Nothing is wrong: no timer is overdue, retrying, failed or blocked.");
  const element = h("section", {}, h("h2", {}, "What is wrong"), list, none);
  let before = "";
  return {
    element,
    set(stats) {
      const found = problems(stats);
      none.hidden = found.some((p) => p.level !== "info");
      const key = JSON.stringify(found);
      if (key !== before) {
        before = key;
        put(list, found.map((problem) => problemRow(problem, namespace, stats)));
      }
    },
  };
}

function problemRow(problem, namespace, stats) {
  const query = problem.overdue
    ? { ns: namespace, state: problem.state, to: instantOf(Date.parse(stats.now)) }
    : { ns: problem.namespace ?? namespace, state: problem.state };
  const namespacePaused = problem.namespace && problem.namespace !== "*";
  return h("li", { class: `problem-row ${problem.level}` },
    h("span", { class: "problem-count" }, problem.count === undefined ? icon("warn") : compact(problem.count)),
    h("div", {},
      h("h3", {}, problem.title, namespacePaused && [": ", name(problem.namespace)]),
      h("p", {}, problem.meaning),
      h("p", { class: "step" }, h("strong", {}, "First step: "), problem.step)),
    problem.state && h("a", { class: "button small", href: link(["timers"], query),
      "aria-label": `Show ${problem.title.toLowerCase()} timers` }, "Show"));
}

// What comes next?

function next(namespace, chosen) {
  let span = SPANS[chosen] ? chosen : "hour";
  let wheel;
  let shown = [];
  const chart = bars((i) => {
    if (shown[i]) {
      go(link(["timers"], dueQuery(namespace, shown[i].start, shown[i].end)));
    }
  });
  const buttons = Object.entries(SPANS).map(([key, { label }]) =>
    h("button", { "aria-pressed": key === span, onclick: () => choose(key) }, label));
  const rows = h("tbody", {});
  const table = h("details", { class: "twin" }, h("summary", {}, "As a table"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What comes next, as a table" },
      h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "From"), h("th", { scope: "col", class: "right" }, "Timers"))), rows)));
  const element = h("section", {},
    h("div", { class: "section-head" }, h("h2", {}, "What comes next"),
      h("div", { class: "segments", role: "group", "aria-label": "Span" }, buttons)),
    h("div", { class: "panel" }, chart.element), table);
  table.addEventListener("toggle", () => fillTable());

  function choose(key) {
    span = key;
    replaceQuery({ span: key === "hour" ? "" : key });
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", Object.keys(SPANS)[i] === key));
    draw();
  }

  function fillTable() {
    if (table.open) {
      put(rows, shown.filter((bar) => bar.count > 0).map((bar) => h("tr", {},
        h("td", {}, h("a", { href: link(["timers"], dueQuery(namespace, bar.start, bar.end)) }, moment(bar.start, live.now()))),
        h("td", { class: "right" }, number(bar.count)))));
      if (!rows.hasChildNodes()) {
        put(rows, h("tr", {}, h("td", { colspan: 2 }, `Nothing is due within the next ${span}.`)));
      }
    }
  }

  function draw() {
    if (!wheel) {
      return;
    }
    const { level, slot, unit, tick, ticks } = SPANS[span];
    const { from, counts } = wheel.levels[level];
    const begin = Date.parse(from);
    shown = counts.map((count, i) => {
      const start = begin + i * slot;
      return { count, start, end: start + slot, label: `${moment(start, live.now())}: ${plural(count, "timer")} in this ${unit}` };
    });
    const total = counts.reduce((sum, count) => sum + count, 0);
    const peak = shown.reduce((best, bar) => (bar.count > best.count ? bar : best), shown[0]);
    const words = total === 0
      ? `Nothing is due within the next ${span}.`
      : `${plural(total, "timer")} within the next ${span}; most at ${moment(peak.start, live.now())}: ${compact(peak.count)} in a ${unit}` +
        `${unit === "minute" ? "" : `, ${rate((peak.count * MINUTE) / slot)} a minute`}.`;
    chart.set(shown, Array.from({ length: ticks }, (_, i) => ({
      at: i / ticks, label: i === 0 ? "now" : tick(begin + Math.round((i / ticks) * counts.length) * slot) })), words);
    fillTable();
  }

  return {
    element,
    set(answer) {
      wheel = answer;
      draw();
    },
  };
}

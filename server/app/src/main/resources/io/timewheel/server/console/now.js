// SPDX-License-Identifier: Apache-2.0
// The first page: on time or not, problems, and the timers that are due next.

import * as api from "./api.js";
import { bars } from "./chart.js";
import { h, icon, name, put, text } from "./dom.js";
import {
  DAY, HOUR, MINUTE, compact, duration, hourMinute, instantOf, millisOf, moment, number, plural, rate, relative, utc,
  zoneName,
} from "./format.js";
import { hour } from "./hour.js";
import * as live from "./live.js";
import { dueQuery, empty, failure, firstTimer, heading, newTimerLink } from "./parts.js";
import { oldest, queueTable, readQueues } from "./queues.js";
import { go, link, replaceQuery } from "./router.js";
import { lost, problems, verdict } from "./verdict.js";

const SPANS = {
  hour: { label: "Hour", level: 1, slot: MINUTE, unit: "minute", tick: hourMinute, ticks: 6 },
  day: { label: "Day", level: 2, slot: HOUR, unit: "hour", tick: hourMinute, ticks: 6 },
  year: { label: "Year", level: 3, slot: DAY, unit: "day", tick: utc.shortDate, ticks: 6 },
};

/** The shortest interruption of the connection that is shown. */
const LOST_MILLIS = 3_000;
const QUEUES_SHOWN = 8;

export const title = () => "Now";

export function show(main, route, signal) {
  const namespace = route.query.get("ns") ?? "";
  const body = h("div", { class: "now" });
  put(main, heading("Now"), body);
  const judgement = judge();
  const figures = tiles(namespace, signal);
  const coming = next(namespace, route.query.get("span") ?? "hour");
  const past = hour();
  const wrong = attention(namespace);
  const waiting = queues(namespace, signal);
  const first = h("div", { class: "whole" });
  put(body, judgement.element, first, figures.element, coming.element, past.charts, wrong.element, waiting.element, past.table);

  let taken;
  let queued; // undefined until they were read

  function take(stats) {
    taken = stats;
    judgement.say(verdict(stats, queued));
    figures.set(stats, queued, coming.peak());
    past.setNow(stats);
    wrong.set(stats, queued);
    // There are no counts if the store did not answer.
    const any = !stats.states || Object.values(stats.states).some((count) => count > 0);
    if (any) {
      put(first);
    } else if (!first.hasChildNodes()) {
      put(first, empty(namespace ? `No timers in ${namespace} yet` : "No timers yet",
        h("p", {}, "Create the first timer here, or with this command. It fires after half a minute."), firstTimer(), newTimerLink()));
    }
    first.hidden = any;
  }

  const refresh = live.oneAtATime(async () => {
    try {
      const [stats, wheel, answer] = await Promise.all([
        api.get("/v1/stats", { namespace }, signal), api.get("/v1/wheel", { namespace }, signal),
        readQueues(namespace, signal).catch(() => undefined)]); // the page works without queues
      if (!signal.aborted) {
        queued = answer?.queues;
        coming.set(wheel);
        past.set(stats);
        waiting.set(answer);
        live.took(stats);
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
  live.everySeconds(5, refresh, signal);
  refresh();
}

// On time?

function judge() {
  const sign = h("span", { class: "verdict-icon" });
  const headline = h("h2", {});
  const detail = h("p", {});
  const element = h("section", { class: "verdict whole", "aria-label": "Are timers on time?" }, sign, h("div", {}, headline, detail));
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

// Four figures

function tile(label) {
  const value = h("span", { class: "tile-value" }, "–");
  const extra = h("span", { class: "tile-extra" });
  const element = h("a", { class: "tile" }, h("span", { class: "tile-label" }, label), value, extra);
  return {
    element,
    set(shown, words, href, alarm = "") {
      text(value, shown);
      text(extra, words);
      element.className = `tile ${alarm}`;
      if (href) {
        element.href = href;
      } else {
        element.removeAttribute("href");
      }
    },
  };
}

function tiles(namespace, signal) {
  const [failed, blocked, ready, peak] = ["Failed", "Blocked", "Oldest ready", "Next peak"].map(tile);
  const element = h("section", { class: "tiles whole", "aria-label": "Figures" }, [failed, blocked, ready, peak].map((each) => each.element));
  const list = (state) => link(["timers"], { ns: namespace, state });
  return {
    element,
    set(stats, known, coming) {
      const now = millisOf(stats.now);
      for (const [each, state, words] of [[failed, "failed", "no attempt is left"], [blocked, "blocked", "no node can call their targets"]]) {
        const count = stats.states?.[state];
        each.set(count === undefined ? "–" : compact(count), count > 0 ? words : `no timer is ${state}`, count > 0 ? list(state) : undefined,
          count > 0 ? (state === "failed" ? "bad" : "warn") : "");
      }
      const first = known && oldest(known);
      const wait = first && Math.max(0, now - millisOf(first.at));
      ready.set(first ? duration(wait < 1000 ? wait : Math.floor(wait / 1000) * 1000) : known ? "None" : "–",
        first ? first.words : !known ? "" : known.some((queue) => queue.ready > 0) ? "only paused queues have ready timers" : "no timer waits in a queue",
        first && link(["queues"], { ns: namespace }), wait > MINUTE ? "warn" : "");
      if (!coming) {
        peak.set("–", "");
      } else if (coming.count === 0) {
        peak.set("None", "no timer is due within a year");
      } else {
        const { at, count, unit, start, end } = coming;
        peak.set(at, `${plural(count, "timer")} in ${unit === "hour" ? "an" : "a"} ${unit}, ${start > now ? relative(start, now) : "now"}`,
          link(["timers"], dueQuery(namespace, start, end)));
      }
    },
  };
}

// Needs a person

function attention(namespace) {
  const list = h("ul", { class: "problems" });
  const none = h("p", { class: "nothing" }, icon("good"), "No timer is overdue, retrying, failed, blocked or paused, and no queue is behind.");
  const element = h("section", { class: "attention whole" }, h("h2", {}, "Needs attention"), list, none);
  let before = "";
  return {
    element,
    set(stats, known) {
      const found = problems(stats, known);
      none.hidden = found.length > 0;
      const key = JSON.stringify(found);
      if (key !== before) {
        before = key;
        put(list, found.map((problem) => problemRow(problem, namespace, stats)));
      }
    },
  };
}

function problemRow(problem, namespace, stats) {
  const { queue } = problem;
  const query = problem.overdue
    ? { ns: namespace, state: problem.state, to: instantOf(millisOf(stats.now)) }
    : queue
      ? { ns: queue.namespace, state: "ready", queue: queue.name }
      : { ns: problem.namespace ?? namespace, state: problem.state };
  const named = queue?.name ?? (problem.namespace !== "*" && problem.namespace);
  return h("li", { class: `problem-row ${problem.level}` },
    h("span", { class: "problem-count" }, problem.count === undefined ? icon("warn") : compact(problem.count)),
    h("div", {},
      h("h3", {}, problem.title, named && [": ", name(named)]),
      h("p", {}, problem.meaning)),
    h("p", { class: "step" }, h("strong", {}, "First step: "), problem.step),
    problem.page ? h("a", { class: "button small", href: link([problem.page], { ns: namespace }) }, "Show queues")
      : (problem.state || queue) && h("a", { class: "button small", href: link(["timers"], query),
        "aria-label": `Show timers: ${problem.title}${named ? ` ${named}` : ""}` }, "Show timers"));
}

// Queues

function queues(namespace, signal) {
  const table = queueTable(!namespace, signal);
  const none = h("p", { class: "muted" }, "No timer waits in a queue.");
  const all = h("a", { href: link(["queues"], { ns: namespace }) }, "Show all queues");
  const partial = h("p", { class: "notice" });
  const element = h("section", { class: "waiting whole" }, h("div", { class: "section-head" }, h("h2", {}, "Queues"), all),
    partial, h("div", { class: "panel" }, none, table.element));
  return {
    element,
    set(answer) {
      element.hidden = !answer;
      const known = answer?.queues ?? [];
      none.hidden = known.length > 0;
      table.element.hidden = known.length === 0;
      table.set(known.slice(0, QUEUES_SHOWN));
      const unread = answer?.omittedReady ?? 0;
      partial.hidden = unread === 0;
      text(partial, `The list omits the queues of ${plural(unread, "namespace")} with fewer ready timers. Choose a namespace to see its queues.`);
    },
  };
}

// Due next

/** The slots of a level that are not past, and the fullest of them: {bars: [{start, end, count}], peak}. */
export function slotsAhead({ from, counts }, slot, now) {
  const begin = Date.parse(from);
  const ahead = counts
    .map((count, i) => ({ count, start: begin + i * slot, end: begin + (i + 1) * slot }))
    .filter(({ end }) => end > now);
  const peak = ahead.reduce((best, each) => (each.count > (best?.count ?? 0) ? each : best), undefined);
  return { bars: ahead, peak };
}

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
  const table = h("details", { class: "twin" }, h("summary", {}, "Show as a table"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Due next, as a table" },
      h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "From"), h("th", { scope: "col", class: "right" }, "Timers"))), rows)));
  const element = h("section", { class: "coming panel" },
    h("div", { class: "section-head" }, h("h2", {}, "Due next"),
      h("div", { class: "segments", role: "group", "aria-label": "Span" }, buttons)),
    chart.element, table);
  table.addEventListener("toggle", () => fillTable());

  function choose(key) {
    span = key;
    replaceQuery({ span: key === "hour" ? "" : key });
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", Object.keys(SPANS)[i] === key));
    draw();
  }

  /** The beginning of a slot: the days of the server are days in UTC. */
  function words({ start }, unit) {
    const now = live.now();
    return unit === "day" ? `${utc.date(start)}${zoneName() === "UTC" ? "" : " (UTC)"}` : moment(start, now).replace(/:00$/, "");
  }

  function fillTable() {
    if (table.open) {
      const { unit } = SPANS[span];
      put(rows, shown.filter((bar) => bar.count > 0).map((bar) => h("tr", {},
        h("td", {}, h("a", { href: link(["timers"], dueQuery(namespace, bar.start, bar.end)) }, words(bar, unit))),
        h("td", { class: "right" }, number(bar.count)))));
      if (!rows.hasChildNodes()) {
        put(rows, h("tr", {}, h("td", { colspan: 2 }, `No timer is due within the next ${span}.`)));
      }
    }
  }

  function draw() {
    if (!wheel) {
      return;
    }
    const { level, slot, unit, tick, ticks } = SPANS[span];
    const now = live.now();
    const { bars: ahead, peak } = slotsAhead(wheel.levels[level], slot, now);
    shown = ahead.map((bar) => ({ ...bar, label: `${words(bar, unit)}: ${plural(bar.count, "timer")} in this ${unit}` }));
    const total = shown.reduce((sum, bar) => sum + bar.count, 0);
    const summary = total === 0
      ? `No timer is due within the next ${span}.`
      : `${plural(total, "timer")} ${total === 1 ? "is" : "are"} due within the next ${span}. The peak is ` +
        `${peak.start <= now ? `in this ${unit}` : `at ${words(peak, unit)}`}: ${plural(peak.count, "timer")}` +
        `${unit === "minute" ? "" : `, ${rate((peak.count * MINUTE) / slot)} a minute`}.`;
    const labels = Array.from({ length: ticks }, (_, i) => Math.round((i / ticks) * shown.length));
    chart.set(shown, labels.map((index, i) => ({ at: index / shown.length, label: i === 0 ? "now" : tick(shown[index].start) })), summary,
      peak && { index: ahead.indexOf(peak), label: `${peak.start <= now ? "now" : tick(peak.start)}: ${compact(peak.count)}` });
    fillTable();
  }

  return {
    element,
    set(answer) {
      wheel = answer;
      draw();
    },
    /** The fullest slot of the shortest span that holds a timer; a count of 0 if there is none, undefined if unknown. */
    peak() {
      if (!wheel) {
        return undefined;
      }
      for (const { level, slot, unit } of Object.values(SPANS)) {
        const { peak } = slotsAhead(wheel.levels[level], slot, live.now());
        if (peak) {
          const at = unit === "day" ? utc.shortDate(peak.start) : hourMinute(peak.start);
          return { ...peak, unit, at };
        }
      }
      return { count: 0 };
    },
  };
}

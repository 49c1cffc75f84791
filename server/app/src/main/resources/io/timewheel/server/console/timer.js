// SPDX-License-Identifier: Apache-2.0
// One timer: its definition, its history, its next runs, and the verbs that its state allows.

import * as api from "./api.js";
import { ask, labelled } from "./dialog.js";
import { h, name, put, toast } from "./dom.js";
import { duration, fieldOf, instantOf, isoDuration, millisOf, millisOfField, plural, stateMeaning, zoneName } from "./format.js";
import { isSingleKey } from "./keys.js";
import * as live from "./live.js";
import { ago, badge, empty, failure, heading, time } from "./parts.js";
import { runRows } from "./preview.js";
import { go, link } from "./router.js";
import { VERBS } from "./verbs.js";
import { targetWords, whenWords } from "./words.js";
import { knowsZone } from "./zone.js";

export const title = (route) => route.path[2] ?? "Timer";

const SIMPLE = {
  run: ["Run timer now", "Timer fires now"],
  pause: ["Pause timer", "Timer paused until it is resumed"],
  resume: ["Resume timer", "Timer resumed"],
  retry: ["Retry timer", "Timer retried: it fires now"],
};

const CANCELLED = {
  cancelled: "Timer cancelled: no attempt starts",
  running: "Timer cancelled: the running attempt is the last one",
  completed: "Not cancelled: the timer had already completed",
};

export function show(main, route, signal) {
  const [, namespace, id = ""] = route.path;
  const body = h("div", { class: "timer" });
  const path = (verb) => api.timerPath(namespace, id, verb);
  let timer;
  let drawn = "";
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  put(main, h("p", { class: "crumbs" }, h("a", { href: link(["timers"], { ns: namespace }) }, "Timers of ", name(namespace))), body);
  put(body, heading(name(id)), h("p", { class: "muted" }, "Loading …"));

  async function load() {
    try {
      timer = await api.timer(namespace, id, signal);
      if (!signal.aborted) {
        draw();
      }
    } catch (e) {
      if (signal.aborted) {
        return;
      }
      drawn = "";
      put(body, heading(name(id)), e.status === 404
        ? empty("There is no such timer", h("p", {}, "It never existed, or it finished and was purged. Finished timers are retained for a day."))
        : failure(e, load));
    }
  }

  function draw() {
    const wanted = JSON.stringify(timer);
    if (wanted === drawn) {
      return; // do not replace a button that is being pressed
    }
    drawn = wanted;
    inner.abort();
    inner = new AbortController();
    const focused = body.contains(document.activeElement) && document.activeElement;
    put(body,
      heading(name(timer.id), badge(timer.state)),
      h("p", { class: "lead" }, h("strong", {}, whenWords(timer)), timer.cron ? ` (${timer.zone ?? "UTC"})` : "", timer.jitter ? `, up to ${isoDuration(timer.jitter)} later` : "", ", ", targetWords(timer.target), "."),
      h("div", { class: "actions", role: "group", "aria-label": "Actions" }, (VERBS[timer.state] ?? ["edit", "cancel"]).map((verb, i) => button(verb, i === 0))),
      timer.lastError && ["failed", "retrying", "blocked"].includes(timer.state) && h("div", { class: "notice bad" },
        h("strong", {}, timer.state === "failed" ? `Failed after ${plural(timer.attempts?.length || timer.attempt, "attempt")}. ` : timer.state === "blocked" ? "Blocked. " : "The last attempt failed. "),
        name(timer.lastError)),
      h("div", { class: "columns" },
        h("div", {}, timeline(timer, inner.signal), trace(timer), next(timer)),
        h("div", {}, facts(timer))));
    if (focused) {
      body.querySelector(focused.dataset.verb ? `[data-verb="${focused.dataset.verb}"]` : "h1")?.focus({ preventScroll: true });
    }
  }

  function button(verb, first) {
    const actions = {
      edit: ["Edit timer", () => go(link(["edit", namespace, id]))],
      move: ["Move timer …", move],
      cancel: ["Cancel timer …", cancel],
    };
    const [label, act] = actions[verb] ?? [SIMPLE[verb][0], () => perform(verb)];
    const kind = verb === "cancel" ? "danger" : first ? "primary" : "";
    const words = verb === "edit" && ["completed", "cancelled"].includes(timer.state) ? "Schedule timer again" : label;
    return h("button", { class: `button ${kind}`, "data-verb": verb, onclick: act }, words);
  }

  async function perform(verb) {
    try {
      await api.call("POST", path(verb), { ifMatch: timer.version });
      toast(SIMPLE[verb][1]);
    } catch (e) {
      toast(e.status === 412 ? "The timer was changed meanwhile. Check it, then try again." : e.words, "bad");
    }
    load();
  }

  function cancel() {
    return ask({
      title: "Cancel this timer?",
      body: h("p", {}, name(id), " never fires again. This cannot be undone."),
      close: "Keep timer",
      action: {
        label: "Cancel timer",
        kind: "danger",
        async run() {
          const answer = await api.call("DELETE", path(), { ifMatch: timer.version });
          toast(CANCELLED[answer?.outcome] ?? "Timer cancelled");
          load();
        },
      },
    });
  }

  function move() {
    const at = h("input", { type: "datetime-local", step: "1", required: true, "data-first": true, value: fieldOf(millisOf(timer.dueAt)) });
    return ask({
      title: "Move the next run",
      body: labelled("To", at, `In ${zoneName()}. If it has passed, the timer fires at once.`),
      action: {
        label: "Move timer",
        async run() {
          await api.call("POST", path("move"), { body: { at: instantOf(millisOfField(at.value)) }, ifMatch: timer.version });
          toast("Timer moved");
          load();
        },
      },
    });
  }

  document.addEventListener("keydown", (event) => {
    const verb = { e: "edit", r: "run" }[event.key];
    if (verb && isSingleKey(event)) {
      body.querySelector(`[data-verb="${verb}"]`)?.click();
    }
  }, { signal });
  live.on("timer", (event) => {
    if (event.namespace === namespace && event.id === id) {
      load();
    }
  }, signal);
  live.on("dropped", load, signal);
  load();
}

// History

/** The latest attempts, which the history shows without a click. */
const ATTEMPTS = 5;

const ENDS = {
  succeeded: ["Succeeded", "good"],
  failed: ["Failed", "bad"],
  lost: ["Lost", "bad"],
  given_back: ["Released before its start", "info"],
  rescheduled: ["Moved by its handler", "info"],
  superseded: ["Timer replaced meanwhile", "info"],
};

function timeline(timer, signal) {
  const item = (kind, when, heading, ...more) => h("li", { class: kind }, h("div", {}, heading), when && h("p", { class: "muted small" }, when), more);
  const attempts = (timer.attempts ?? []).map((attempt) => {
    const [label, kind] = ENDS[attempt.end] ?? [attempt.end, "info"];
    const took = millisOf(attempt.endedAt) - millisOf(attempt.beganAt);
    const late = millisOf(attempt.beganAt) - millisOf(attempt.scheduledAt);
    return item(kind,
      [time(attempt.beganAt), `, took ${duration(Math.max(0, took))}`, attempt.attempt === 1 && late > 1000 && `, started ${duration(late)} late`],
      h("strong", {}, `Attempt ${attempt.attempt}: ${label.toLowerCase()}`),
      attempt.error && h("pre", { class: "error-text", tabindex: "0", "aria-label": `Error of attempt ${attempt.attempt}` }, attempt.error));
  });
  const earlier = attempts.length > ATTEMPTS + 1 ? attempts.length - ATTEMPTS : 0;
  const waits = { scheduled: timer.dueAt, ready: timer.dueAt, retrying: timer.fireAt ?? timer.dueAt }[timer.state];
  return h("section", {}, h("h2", {}, "History"),
    h("ol", { class: "timeline" },
      item("info", time(timer.createdAt), [h("strong", {}, "Scheduled"), ` as version ${timer.version}`]),
      earlier > 0 && h("li", {}, h("details", {}, h("summary", {}, `Show ${plural(earlier, "earlier attempt")}`),
        h("ol", { class: "timeline" }, attempts.slice(0, earlier)))),
      attempts.slice(earlier),
      item(`present state-${timer.state}`, waits && [timer.state === "retrying" ? "next attempt " : "due ", ago(waits, signal), ", ", time(waits)],
        [h("strong", {}, "Now"), badge(timer.state), h("span", { class: "muted" }, stateMeaning(timer.state))])));
}

function trace(timer) {
  return timer.lastTrace && h("section", {}, h("h2", {}, "Last failure"),
    h("pre", { class: "error-text", tabindex: "0", "aria-label": "Stack trace of the last failure" }, timer.lastTrace));
}

// Next runs

function next(timer) {
  // The server counts the present run among the next ones until its last attempt.
  const instants = (timer.next ?? []).filter((instant) => millisOf(instant) > live.now());
  if (instants.length === 0) {
    return null;
  }
  const zone = timer.cron ? (timer.zone ?? "UTC") : zoneName();
  const known = knowsZone(zone) ? zone : "UTC";
  const rows = runRows(instants, known, Boolean(timer.cron));
  return h("section", {}, h("h2", {}, "Next runs"),
    h("p", { class: "muted" }, `Times in ${known}${known === zone ? "" : `: this browser does not support ${zone}`}.`),
    h("ol", { class: "runs" }, rows));
}

// Definition

function facts(timer) {
  const fact = (label, ...value) => h("div", {}, h("dt", {}, label), h("dd", {}, value));
  const block = (title, content) => h("section", {}, h("h2", {}, title), content);
  const pre = (label, value) => h("pre", { tabindex: "0", "aria-label": label }, JSON.stringify(value, null, 2));
  const { target = {}, retry } = timer;
  return [
    block("Definition", h("dl", { class: "facts panel" },
      fact("ID", name(timer.id)),
      fact("Namespace", name(timer.namespace)),
      timer.cron && fact("Cron", h("code", {}, timer.cron)),
      timer.every && fact("Every", isoDuration(timer.every)),
      timer.jitter && fact("Jitter", `up to ${isoDuration(timer.jitter)}, the same for each run`),
      timer.until && fact("Ends at", time(timer.until)),
      timer.times && fact("Ends after", plural(timer.times, "run")),
      timer.dueAt && fact("Due", time(timer.dueAt)),
      target.queue && fact("Queue", name(target.queue)),
      target.url && fact("URL", name(target.url)),
      target.secret && fact("Signed with", name(target.secret)),
      target.timeout && fact("Timeout", isoDuration(target.timeout)),
      retry && fact("Attempts", `up to ${retry.maxAttempts}, ${isoDuration(retry.backoff)} to ${isoDuration(retry.maxBackoff)} apart`),
      (timer.every || timer.cron || timer.fixedDelay) && timer.missed && fact("Missed runs", { fire_once: "one run for all", fire_all: "one run for each", skip: "skipped" }[timer.missed] ?? timer.missed),
      (timer.every || timer.cron) && timer.grace && fact("Grace", isoDuration(timer.grace)),
      fact("Version", timer.version))),
    timer.payload !== undefined && block("Payload", pre("Payload", timer.payload)),
    Object.keys(timer.headers ?? {}).length > 0 && block("Headers", pre("Headers", timer.headers)),
    Object.keys(target.headers ?? {}).length > 0 && block("Headers of the request", pre("Headers of the request", target.headers)),
  ];
}

// SPDX-License-Identifier: Apache-2.0
// The form that creates or replaces a timer.

import * as api from "./api.js";
import { words as cronWords } from "./cron.js";
import { labelled } from "./dialog.js";
import { h, name, put, text, toast } from "./dom.js";
import { HOUR, SECOND, fieldOf, instantOf, isoDuration, millisOf, millisOfField, zoneName } from "./format.js";
import { headerFields } from "./header-fields.js";
import { failure, heading } from "./parts.js";
import { preview } from "./preview.js";
import { go, link } from "./router.js";
import { isoOf } from "./words.js";
import { knowsZone } from "./zone.js";

export const title = (route) => (route.path[0] === "edit" ? `Edit ${route.path[2]}` : "Create timer");

const WHEN = ["after", "at", "every", "cron"];
const RETURNED = ["version", "state", "dueAt", "fireAt", "attempt", "createdAt", "changedAt", "lastError", "lastTrace", "next", "attempts", "namespace", "id", "fixedDelay"];

export async function show(main, route, signal) {
  const [page, namespace, id] = route.path;
  if (page === "new") {
    put(main, heading("Create timer"), form(null, route.query.get("ns") ?? ""));
    return;
  }
  try {
    const timer = await api.timer(namespace, id, signal);
    put(main, heading(["Edit ", name(id)]), form(timer, namespace));
    main.querySelector("h1").focus({ preventScroll: true });
  } catch (e) {
    if (!signal.aborted) {
      put(main, heading(["Edit ", name(id)]), failure(e, () => show(main, route, signal)));
    }
  }
}

/** The fields of a timer that a PUT sends back, without those of the schedule. */
export function definition(timer) {
  return Object.fromEntries(Object.entries(timer ?? {}).filter(([key]) => !RETURNED.includes(key) && !WHEN.includes(key) && key !== "zone"));
}

function form(timer, namespaceGiven) {
  const existing = timer !== null;
  const namespace = input(timer?.namespace ?? namespaceGiven, { required: true, placeholder: "shop", readonly: existing });
  const id = input(timer?.id, { required: true, placeholder: "order-42", readonly: existing });
  const schedule = scheduleFields(timer, namespace, id);
  const target = targetFields(timer?.target ?? {});
  const content = contentFields(timer);
  const retry = retryFields(timer?.retry);
  const problem = h("p", { class: "problem", role: "alert" });
  const save = h("button", { class: "button primary", type: "submit" }, existing ? "Save timer" : "Create timer");

  function wanted() {
    const body = definition(timer);
    for (const fields of [schedule, target, content, retry]) {
      fields.addTo(body);
    }
    return body;
  }

  async function submit(event) {
    event.preventDefault();
    put(problem);
    save.disabled = true;
    try {
      const condition = existing ? { ifMatch: timer.version } : { ifNoneMatch: "*" };
      await api.call("PUT", api.timerPath(namespace.value, id.value), { body: wanted(), ...condition });
      toast(existing ? "Timer saved" : "Timer created");
      go(link(["timer", namespace.value, id.value]));
    } catch (e) {
      put(problem, e.status !== 412 ? e.words ?? String(e)
        : existing ? "The timer was changed meanwhile. Open it again to see the change."
        : ["A timer with this ID exists: ", h("a", { href: link(["timer", namespace.value, id.value]) }, "show timer"), "."]);
    } finally {
      save.disabled = false;
    }
  }

  schedule.describe();
  return h("form", { class: "edit", onsubmit: submit, oninput: schedule.describe },
    h("fieldset", {}, h("legend", {}, "Name"), h("div", { class: "pair" }, labelled("Namespace", namespace), labelled("ID", id, existing ? undefined : "Choose any name. A timer with the same ID replaces this one."))),
    h("fieldset", {}, h("legend", {}, "When"), schedule.elements),
    h("fieldset", {}, h("legend", {}, "Where"), target.elements),
    h("fieldset", {}, h("legend", {}, "What"), content.elements),
    h("details", {}, h("summary", {}, "If an attempt fails"), retry.elements),
    problem,
    h("div", { class: "form-actions" }, save, h("button", { class: "button", type: "button", onclick: () => history.back() }, "Back")));
}

function input(value, more = {}) {
  return h("input", { value: value ?? "", autocomplete: "off", spellcheck: "false", ...more });
}

/**
 * The fields of the schedule: {elements, describe(), addTo(body)}.
 *
 * @param namespace the field of the namespace; the offset of the jitter depends on it and on the ID
 */
function scheduleFields(timer, namespace, id) {
  const kinds = { after: "After a delay", at: "At a time", every: "At an interval", cron: "By cron" };
  const first = timer ? WHEN.find((kind) => timer[kind] !== undefined) ?? "at" : "after";
  const after = input("", { placeholder: "30m" });
  const at = input(fieldOf(timer?.at ? millisOf(timer.at) : Date.now() + HOUR), { type: "datetime-local", step: "1" });
  const every = input(timer?.every, { placeholder: "1h" });
  const cron = input(timer?.cron, { placeholder: "0 9 * * MON-FRI" });
  const zones = h("datalist", { id: "zones" }, Intl.supportedValuesOf("timeZone").map((zone) => h("option", { value: zone })));
  const zone = input(timer?.zone ?? (timer ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone), { list: "zones" });
  const sentence = h("p", { class: "said", "aria-live": "polite" });
  const grace = input(timer?.grace, { placeholder: "1m" });
  const jitter = input(timer?.jitter, { placeholder: "none" });
  const until = input(timer?.until && fieldOf(millisOf(timer.until)), { type: "datetime-local", step: "1" });
  const times = input(timer?.times, { type: "number", min: 1, placeholder: "no limit" });
  const upcoming = preview();
  const missed = choice({ fire_once: "One run for all", fire_all: "One run for each", skip: "No run" }, timer?.missed ?? "fire_once");
  const fields = {
    after: labelled("Fires after", after, "30s, 15m, 2h, 3d, or an ISO duration."),
    at: labelled("Fires at", at, `In ${zoneName()}. If it has passed, the timer fires at once.`),
    every: labelled("Fires every", every, "A fixed rate from now on, such as 30s, 15m, 2h or 1d."),
    cron: h("div", {}, labelled("Cron", cron, "Minute, hour, day of month, month, day of week; with six fields, the second first."),
      labelled("Time zone", zone), zones),
  };
  const recurringFields = h("div", {},
    h("div", { class: "pair" }, labelled("Ends at", until, `In ${zoneName()}. No run is scheduled at this time or later.`),
      labelled("Ends after", times, "The number of scheduled runs.")),
    h("div", { class: "pair three" }, labelled("Missed runs", missed),
      labelled("Grace", grace, "A run with a longer lag is missed."),
      labelled("Jitter", jitter, "Delays each run by the same offset, which is shorter than this.")));
  const when = segments(kinds, first, (kind) => {
    showOnly(fields, kind);
    recurringFields.hidden = kind !== "every" && kind !== "cron";
  });
  const isoOfKind = (kind) => isoOf((kind === "after" ? after : every).value);

  function words(kind) {
    if (kind === "cron") {
      const spoken = cron.value && cronWords(cron.value);
      return spoken ? `Fires ${spoken}${knowsZone(zone.value) ? `, in the time zone ${zone.value}` : ""}.` : "";
    }
    if (!{ after, every }[kind]?.value) {
      return "";
    }
    const iso = isoOfKind(kind);
    return iso === null ? "Not a duration." : `${kind === "after" ? "After" : "Every"} ${isoDuration(iso)}.`;
  }

  /** The schedule as typed; undefined if it is not complete. */
  function typed(kind) {
    if (kind === "cron") {
      return cron.value.trim() === "" ? undefined : spread({ cron: cron.value.trim(), zone: zone.value || undefined });
    }
    if (kind === "at") {
      const millis = millisOfField(at.value);
      return Number.isNaN(millis) ? undefined : { at: instantOf(millis) };
    }
    const iso = isoOfKind(kind);
    return iso === null ? undefined : kind === "every" ? spread({ every: iso }) : { after: iso };
  }

  /** The end of a recurring schedule. */
  function end() {
    return { until: instantOfField(until, timer?.until), times: times.value === "" ? undefined : Number(times.value) };
  }

  /** A recurring schedule with its end, and with its jitter once the names that decide the offset are there. */
  function spread(schedule) {
    const known = jitter.value !== "" && namespace.value !== "" && id.value !== "";
    const recurring = { ...schedule, ...end() };
    return known ? { ...recurring, jitter: isoOf(jitter.value) ?? jitter.value, namespace: namespace.value, id: id.value } : recurring;
  }

  return {
    elements: [when.element, Object.values(fields), recurringFields, sentence, upcoming.element],
    describe() {
      const kind = when.value();
      text(sentence, words(kind));
      upcoming.show(typed(kind));
    },
    addTo(body) {
      const kind = when.value();
      for (const field of ["jitter", "until", "times"]) {
        delete body[field];
      }
      if (kind === "after" || kind === "every") {
        const iso = isoOfKind(kind);
        if (iso === null) {
          throw { words: "when: not a duration (expected: such as 30s, 15m or 2h)" };
        }
        body[kind] = iso;
      } else if (kind === "at") {
        body.at = instantOfField(at, timer?.at);
      } else {
        body.cron = cron.value.trim();
        if (zone.value) {
          body.zone = zone.value;
        }
      }
      if (kind === "every" || kind === "cron") {
        body.missed = missed.value;
        delete body.grace;
        Object.assign(body, end());
        setDuration(body, "grace", grace);
        setDuration(body, "jitter", jitter);
      }
    },
  };
}

/** The fields of the target: {elements, addTo(body)}. */
function targetFields(target) {
  const queue = input(target.queue, { placeholder: "orders" });
  const url = input(target.url, { placeholder: "https://shop.example/hooks/orders", type: "url" });
  const secret = input(target.secret, { placeholder: "shop" });
  const timeout = input(target.timeout, { placeholder: "10s" });
  const requestHeaders = headerFields("Headers of the request", target.headers, true);
  const fields = {
    queue: labelled("Queue", queue, "Consumers claim the timer from this queue. Queues need not be created."),
    url: h("div", {}, labelled("URL", url), labelled("Secret", secret, "The name of the configured secret that signs the request."),
      labelled("Timeout", timeout, "An attempt fails if the URL does not answer within this time."), requestHeaders.element),
  };
  const where = segments({ queue: "Into a queue", url: "To a URL" }, target.url === undefined ? "queue" : "url", (kind) => showOnly(fields, kind));
  return {
    elements: [where.element, Object.values(fields)],
    addTo(body) {
      if (where.value() === "queue") {
        body.target = { queue: queue.value };
        return;
      }
      const { queue: _queue, headers: _headers, timeout: _timeout, secret: _secret, ...kept } = target;
      body.target = { ...kept, url: url.value };
      if (secret.value) {
        body.target.secret = secret.value;
      }
      setDuration(body.target, "timeout", timeout);
      if (requestHeaders.value()) {
        body.target.headers = requestHeaders.value();
      }
    },
  };
}

/** The fields of the payload and of the headers of the timer: {elements, addTo(body)}. */
function contentFields(timer) {
  const payload = h("textarea", { rows: 5, spellcheck: "false", placeholder: '{"order": 42}' });
  payload.value = timer?.payload === undefined ? "" : JSON.stringify(timer.payload, null, 2);
  const timerHeaders = headerFields("Headers of the timer", timer?.headers, false);
  return {
    elements: [labelled("Payload", payload, "JSON, up to 64 KB. May be empty."), timerHeaders.element],
    addTo(body) {
      delete body.headers;
      if (timerHeaders.value()) {
        body.headers = timerHeaders.value();
      }
      delete body.payload;
      if (payload.value.trim() !== "") {
        try {
          body.payload = api.exactJson(payload.value);
        } catch (e) {
          throw { words: `payload: not JSON (${e.message})` };
        }
      }
    },
  };
}

/** The fields of the retries: {elements, addTo(body)}. */
function retryFields(before) {
  const attempts = input(before?.maxAttempts, { type: "number", min: 1, max: 1000, placeholder: "5" });
  const backoff = input(before?.backoff, { placeholder: "1s" });
  const most = input(before?.maxBackoff, { placeholder: "1m" });
  return {
    elements: h("div", { class: "pair three" }, labelled("Max attempts", attempts), labelled("Backoff", backoff), labelled("Max backoff", most)),
    addTo(body) {
      const retry = { ...before };
      if (attempts.value) {
        retry.maxAttempts = Number(attempts.value);
      }
      setDuration(retry, "backoff", backoff);
      setDuration(retry, "maxBackoff", most);
      if (Object.keys(retry).length > 0) {
        body.retry = retry;
      }
    },
  };
}

/** The time in a field; undefined if it is empty. The field has whole seconds, so an unchanged time keeps its milliseconds. */
function instantOfField(field, before) {
  const chosen = millisOfField(field.value);
  const same = before && chosen === Math.floor(millisOf(before) / SECOND) * SECOND;
  return Number.isNaN(chosen) ? undefined : same ? before : instantOf(chosen);
}

/** Sends a text that is not a duration unchanged, because the server describes the mistake best. */
function setDuration(object, key, field) {
  if (field.value) {
    object[key] = isoOf(field.value) ?? field.value;
  }
}

function choice(options, value) {
  const made = h("select", {}, Object.entries(options).map(([key, label]) => h("option", { value: key }, label)));
  made.value = value;
  return made;
}

function showOnly(fields, kind) {
  for (const [key, field] of Object.entries(fields)) {
    field.hidden = key !== kind;
  }
}

let groups = 0;

/** Radio buttons in a row: {element, value()}. */
function segments(options, value, onChange) {
  const group = `segments-${++groups}`;
  const radios = Object.entries(options).map(([key, label]) => {
    const radio = h("input", { type: "radio", name: group, value: key, checked: key === value, onchange: () => onChange(key) });
    return h("label", {}, radio, h("span", {}, label));
  });
  onChange(value);
  const element = h("div", { class: "segments radios" }, radios);
  return { element, value: () => element.querySelector("input:checked").value };
}

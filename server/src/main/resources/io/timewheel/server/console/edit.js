// SPDX-License-Identifier: Apache-2.0
// The form that makes a timer, or another version of one.

import * as api from "./api.js";
import { words } from "./cron.js";
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
const RETURNED = ["version", "state", "dueAt", "fireAt", "attempt", "createdAt", "changedAt", "lastError", "next", "attempts", "namespace", "id", "fixedDelay"];

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

/** What of a timer is sent back: all that is not only returned, without its old time. */
export function definition(timer) {
  return Object.fromEntries(Object.entries(timer ?? {}).filter(([key]) => !RETURNED.includes(key) && !WHEN.includes(key) && key !== "zone"));
}

function form(timer, namespaceGiven) {
  const input = (value, more = {}) => h("input", { value: value ?? "", autocomplete: "off", spellcheck: "false", ...more });
  const existing = timer !== null;
  const namespace = input(timer?.namespace ?? namespaceGiven, { required: true, placeholder: "shop", readonly: existing });
  const id = input(timer?.id, { required: true, placeholder: "order-42", readonly: existing });

  // When
  const kinds = { after: "After a while", at: "At a time", every: "Again and again", cron: "By a calendar" };
  const first = timer ? WHEN.find((kind) => timer[kind] !== undefined) ?? "at" : "after";
  const after = input("", { placeholder: "30m" });
  const at = input(fieldOf(timer?.at ? millisOf(timer.at) : Date.now() + HOUR), { type: "datetime-local", step: "1" });
  const every = input(timer?.every, { placeholder: "1h" });
  const cron = input(timer?.cron, { placeholder: "0 9 * * MON-FRI" });
  const zones = h("datalist", { id: "zones" }, Intl.supportedValuesOf("timeZone").map((zone) => h("option", { value: zone })));
  const zone = input(timer?.zone ?? (existing ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone), { list: "zones" });
  const said = h("p", { class: "said", "aria-live": "polite" });
  const grace = input(timer?.grace, { placeholder: "1m" });
  const jitter = input(timer?.jitter, { placeholder: "none" });
  const upcoming = preview();
  const missed = choice({ fire_once: "Once for all of them", fire_all: "Each of them", skip: "Not at all" }, timer?.missed ?? "fire_once");
  const fields = {
    after: labelled("Fires after", after, "30s, 15m, 2h, 3d, or an ISO duration."),
    at: labelled("Fires at", at, `In ${zoneName()}. A past time fires at once.`),
    every: labelled("Fires every", every, "A fixed rate, from now on: 30s, 15m, 2h, 1d."),
    cron: h("div", {}, labelled("Cron", cron, "Minute, hour, day of month, month, day of week; with six fields, the second first."),
      labelled("On the clocks of", zone), zones),
  };
  const missedFields = h("div", { class: "pair three" }, labelled("Missed runs are caught up", missed),
    labelled("Grace", grace, "A run that has not begun this long after its time is missed."),
    labelled("Jitter", jitter, "Each run comes up to this much later, by the same time for each run of a timer."));
  const when = segments(kinds, first, (kind) => {
    showOnly(fields, kind);
    missedFields.hidden = kind !== "every" && kind !== "cron";
  });

  function describe() {
    const kind = when.value();
    const duration = { after, every }[kind];
    let sentence = "";
    if (duration?.value) {
      const iso = isoOf(duration.value);
      sentence = iso === null ? "Not a duration." : `${kind === "after" ? "After" : "Every"} ${isoDuration(iso)}.`;
    } else if (kind === "cron" && cron.value) {
      const spoken = words(cron.value);
      sentence = spoken === null ? "" : `Fires ${spoken}${knowsZone(zone.value) ? `, on the clocks of ${zone.value}` : ""}.`;
    }
    text(said, sentence);
    upcoming.show(schedule(kind));
  }

  /** The schedule as typed; undefined if it is not complete. */
  function schedule(kind) {
    if (kind === "cron") {
      return cron.value.trim() === "" ? undefined : spread({ cron: cron.value.trim(), zone: zone.value || undefined });
    }
    if (kind === "at") {
      const millis = millisOfField(at.value);
      return Number.isNaN(millis) ? undefined : { at: instantOf(millis) };
    }
    const iso = isoOf((kind === "after" ? after : every).value);
    return iso === null ? undefined : spread({ [kind]: iso });

    /** With the jitter, once the names that decide its offset are there. */
    function spread(recurring) {
      const most = kind !== "after" && jitter.value !== "" && namespace.value !== "" && id.value !== "";
      return most ? { ...recurring, jitter: isoOf(jitter.value) ?? jitter.value, namespace: namespace.value, id: id.value } : recurring;
    }
  }

  // Where
  const target = timer?.target ?? {};
  const queue = input(target.queue, { placeholder: "orders" });
  const url = input(target.url, { placeholder: "https://shop.example/hooks/orders", type: "url" });
  const secret = input(target.secret, { placeholder: "shop" });
  const timeout = input(target.timeout, { placeholder: "10s" });
  const requestHeaders = headerFields("Headers of the request", target.headers, true);
  const timerHeaders = headerFields("Headers of the timer", timer?.headers, false);
  const targets = {
    queue: labelled("Queue", queue, "A consumer claims it there. Queues exist by use."),
    url: h("div", {}, labelled("URL", url), labelled("Secret", secret, "The name of a configured secret, which signs the request."),
      labelled("Timeout", timeout, "An attempt without an answer after this time fails."), requestHeaders.element),
  };
  const where = segments({ queue: "Into a queue", url: "To a URL" }, target.url === undefined ? "queue" : "url", (kind) => showOnly(targets, kind));

  // The rest
  const payload = h("textarea", { rows: 5, spellcheck: "false", placeholder: '{"order": 42}' });
  payload.value = timer?.payload === undefined ? "" : JSON.stringify(timer.payload, null, 2);
  const attempts = input(timer?.retry?.maxAttempts, { type: "number", min: 1, max: 1000, placeholder: "5" });
  const backoff = input(timer?.retry?.backoff, { placeholder: "1s" });
  const most = input(timer?.retry?.maxBackoff, { placeholder: "1m" });
  const problem = h("p", { class: "problem", role: "alert" });
  const save = h("button", { class: "button primary", type: "submit" }, existing ? "Save timer" : "Create timer");

  function wanted() {
    const body = definition(timer);
    const kind = when.value();
    if (kind === "after" || kind === "every") {
      const iso = isoOf((kind === "after" ? after : every).value);
      if (iso === null) {
        throw { words: "when: not a duration (expected: such as 30s, 15m or 2h)" };
      }
      body[kind] = iso;
    } else if (kind === "at") {
      // The field has whole seconds: what was not changed keeps its milliseconds.
      const chosen = millisOfField(at.value);
      const same = timer?.at && chosen === Math.floor(millisOf(timer.at) / SECOND) * SECOND;
      body.at = same ? timer.at : instantOf(chosen);
    } else {
      body.cron = cron.value.trim();
      if (zone.value) {
        body.zone = zone.value;
      }
    }
    delete body.jitter;
    if (kind === "every" || kind === "cron") {
      body.missed = missed.value;
      setDuration(body, "jitter", jitter);
      delete body.grace;
      setDuration(body, "grace", grace);
    }
    if (where.value() === "queue") {
      body.target = { queue: queue.value };
    } else {
      const { queue: none, headers: before, timeout: earlier, secret: old, ...kept } = target;
      body.target = { ...kept, url: url.value };
      if (secret.value) {
        body.target.secret = secret.value;
      }
      setDuration(body.target, "timeout", timeout);
      if (requestHeaders.value()) {
        body.target.headers = requestHeaders.value();
      }
    }
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
    const retry = { ...timer?.retry };
    if (attempts.value) {
      retry.maxAttempts = Number(attempts.value);
    }
    setDuration(retry, "backoff", backoff);
    setDuration(retry, "maxBackoff", most);
    if (Object.keys(retry).length > 0) {
      body.retry = retry;
    }
    return body;
  }

  /** The server describes a mistake better than this form could. */
  function setDuration(object, key, field) {
    if (field.value) {
      object[key] = isoOf(field.value) ?? field.value;
    }
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
        : existing ? "The timer was changed meanwhile. Open it again to see how."
        : ["A timer with this id exists: ", h("a", { href: link(["timer", namespace.value, id.value]) }, "show timer"), "."]);
    } finally {
      save.disabled = false;
    }
  }

  const made = h("form", { class: "edit", onsubmit: submit, oninput: describe },
    h("fieldset", {}, h("legend", {}, "Name"), h("div", { class: "pair" }, labelled("Namespace", namespace), labelled("Id", id, existing ? undefined : "Yours to choose: the same id again replaces it."))),
    h("fieldset", {}, h("legend", {}, "When"), when.element, Object.values(fields), missedFields, said, upcoming.element),
    h("fieldset", {}, h("legend", {}, "Where"), where.element, Object.values(targets)),
    h("fieldset", {}, h("legend", {}, "What"), labelled("Payload", payload, "JSON, up to 64 KB. May be empty."), timerHeaders.element),
    h("details", {}, h("summary", {}, "If it fails"), h("div", { class: "pair three" },
      labelled("Attempts at most", attempts), labelled("Backoff", backoff), labelled("Backoff at most", most))),
    problem,
    h("div", { class: "form-actions" }, save, h("button", { class: "button", type: "button", onclick: () => history.back() }, "Back")));
  describe();
  return made;
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

// SPDX-License-Identifier: Apache-2.0
// Calls the server. The token is stored in this tab only, and sent in a header, never in a URL.

import { session } from "./storage.js";

const TOKEN = "timewheel.token";

/** The URL of the server, without a final slash. A proxy may have added a prefix to the path. */
export const SERVER = new URL("..", import.meta.url).href.slice(0, -1);

/** Longer than a server with millions of timers takes to answer. */
const TIMEOUT_MILLIS = 60_000;

export function token() {
  return session.getItem(TOKEN) ?? "";
}

export function setToken(value) {
  if (value) {
    session.setItem(TOKEN, value);
  } else {
    session.removeItem(TOKEN);
  }
}

/** A failed request: the status (0 without an answer), and the problem from the server. */
class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`);
    this.status = status;
    this.problem = problem;
  }

  /** The field at fault and the error, for people. */
  get words() {
    const { field } = this.problem;
    return field ? `${field}: ${this.message}` : this.message;
  }
}

let unauthorized = () => {};

/** Calls the listener when the server requires a token, or another one. */
export function onUnauthorized(listener) {
  unauthorized = listener;
}

function headers(token, more) {
  const all = { Accept: "application/json", ...more };
  if (token) {
    all.Authorization = `Bearer ${token}`;
  }
  return all;
}

/** Ignores a late refusal of an earlier token. */
function refused(used) {
  if (used === token()) {
    unauthorized();
  }
}

/** Sends a request. Resolves with the parsed answer, whose numbers keep all their digits if exact is true. */
export async function call(method, path, { query, body, ifMatch, ifNoneMatch, signal, exact } = {}) {
  const used = token();
  const more = {};
  if (body !== undefined) {
    more["Content-Type"] = "application/json";
  }
  if (ifMatch !== undefined) {
    more["If-Match"] = `"${ifMatch}"`;
  }
  if (ifNoneMatch !== undefined) {
    more["If-None-Match"] = ifNoneMatch;
  }
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== "");
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
  const timeout = AbortSignal.timeout(TIMEOUT_MILLIS);
  let response;
  let content;
  try {
    response = await fetch(SERVER + path + search, {
      method,
      headers: headers(used, more),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
    content = await response.text();
  } catch (e) {
    if (signal?.aborted) {
      throw e;
    }
    throw new ApiError(0, { title: "The server does not answer.", cause: String(e) });
  }
  const parsed = parse(content, exact);
  if (!response.ok) {
    if (response.status === 401) {
      refused(used);
    }
    throw new ApiError(response.status, parsed ?? { title: `HTTP ${response.status}` });
  }
  return parsed;
}

function parse(content, exact) {
  try {
    return exact ? exactJson(content) : JSON.parse(content);
  } catch {
    return undefined;
  }
}

/**
 * Parses JSON and keeps the digits of numbers that JavaScript would round, so that a timer can be shown and saved
 * without a change. A browser without JSON.rawJSON rounds them.
 */
export function exactJson(content) {
  return JSON.parse(content, JSON.rawJSON && ((key, value, { source }) =>
    typeof value === "number" && String(value) !== source ? JSON.rawJSON(source) : value));
}

export function get(path, query, signal) {
  return call("GET", path, { query, signal });
}

/** Reads all namespaces that the token may see, with the counts of their timers. */
export async function namespaceList(signal) {
  const found = [];
  let pageToken = "";
  do {
    const page = await get("/v1/namespaces", { pageSize: 5000, pageToken }, signal);
    found.push(...page.namespaces);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken);
  return found;
}

/** Reads the names of all namespaces that the token may see. */
export async function namespaces(signal) {
  return (await namespaceList(signal)).map((n) => n.namespace);
}

/** The number of namespaces whose timers are requested at once. A browser has six connections for a server. */
const AT_ONCE = 4;

/** Reads the timers of namespaces, one after the other, and requests the next namespaces meanwhile. */
export async function* timerPages(namespaces, query, signal) {
  const page = (namespace, pageToken) => get(namespacePath(namespace, "/timers"), { ...query, pageToken }, signal);
  const first = [];
  for (let i = 0; i < namespaces.length; i++) {
    while (first.length < Math.min(i + AT_ONCE, namespaces.length)) {
      const ahead = page(namespaces[first.length], "");
      ahead.catch(() => {}); // thrown below
      first.push(ahead);
    }
    let next = await first[i];
    first[i] = undefined;
    yield next.timers;
    while (next.nextPageToken) {
      next = await page(namespaces[i], next.nextPageToken);
      yield next.timers;
    }
  }
}

/** Reads a timer, with its unchanged payload. */
export function timer(namespace, id, signal) {
  return call("GET", timerPath(namespace, id), { signal, exact: true });
}

/** Returns a path in a namespace. A name with half of a surrogate pair has no path; the returned path does not exist. */
export function namespacePath(namespace, rest = "") {
  return `/v1/namespaces/${encode(namespace)}${rest}`;
}

export function timerPath(namespace, id, verb = "") {
  return namespacePath(namespace, `/timers/${encode(id)}${verb ? `:${verb}` : ""}`);
}

export function encode(text) {
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, "\ufffd"));
  }
}

/** The server sends figures once a second. After this time without any, the connection counts as lost. */
const SILENCE_MILLIS = 15_000;

/**
 * Reads events until the signal. Reconnects when the stream ends or sends nothing.
 *
 * @param query the types of events, and the namespace
 * @param cursor {begun, id}: the position in the stream, from which a later call resumes
 * @param onEvent (type, data); "dropped" also when events may be missing
 * @param onState ("live" | "reconnecting")
 */
export async function events(query, cursor, onEvent, onState, signal) {
  let failures = 0;
  while (!signal.aborted) {
    const used = token();
    const silence = new AbortController();
    let heardAt = Date.now();
    const watch = setInterval(() => Date.now() - heardAt > SILENCE_MILLIS && silence.abort(), 1_000);
    try {
      const response = await fetch(`${SERVER}/v1/events?${new URLSearchParams(query)}`, {
        headers: headers(used, { Accept: "text/event-stream", ...(cursor.id && { "Last-Event-ID": cursor.id }) }),
        signal: AbortSignal.any([signal, silence.signal]),
        cache: "no-store",
        credentials: "omit",
      });
      if (response.status === 401) {
        refused(used);
        return;
      }
      if (!response.ok || !response.body) {
        throw new Error(`HTTP ${response.status}`);
      }
      onState("live");
      failures = 0;
      if (cursor.begun && !cursor.id) {
        onEvent("dropped", {});
      }
      cursor.begun = true;
      for await (const event of parseEvents(response.body)) {
        heardAt = Date.now();
        cursor.id = event.id || cursor.id;
        onEvent(event.type, parse(event.data));
      }
    } catch {
      if (signal.aborted) {
        return;
      }
    } finally {
      clearInterval(watch);
    }
    onState("reconnecting");
    await pause(Math.min(15_000, 500 * 2 ** failures++) * (0.75 + Math.random() / 2), signal);
  }
}

function pause(millis, signal) {
  return new Promise((resolve) => {
    const timeout = setTimeout(resolve, millis);
    signal.addEventListener("abort", () => {
      clearTimeout(timeout);
      resolve();
    });
  });
}

/** Parses server-sent events from a stream of bytes: {type, data, id}. */
export async function* parseEvents(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { type: "message", data: [], id: "" };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    // A final carriage return may be the first half of a line separator.
    const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (event.data.length > 0) {
          yield { type: event.type, data: event.data.join("\n"), id: event.id };
        }
        event = { type: "message", data: [], id: "" };
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const content = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") {
        event.type = content;
      } else if (field === "data") {
        event.data.push(content);
      } else if (field === "id") {
        event.id = content;
      }
    }
  }
}

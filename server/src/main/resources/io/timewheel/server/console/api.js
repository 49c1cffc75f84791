// SPDX-License-Identifier: Apache-2.0
// The server, as the console talks to it. The token is in this tab only, and goes in a header, never in an address.

const TOKEN = "timewheel.token";

export function token() {
  return sessionStorage.getItem(TOKEN) ?? "";
}

export function setToken(value) {
  if (value) {
    sessionStorage.setItem(TOKEN, value);
  } else {
    sessionStorage.removeItem(TOKEN);
  }
}

/** An answer that is no success: status, and the problem as the server words it. 0 if there was no answer. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`);
    this.status = status;
    this.problem = problem;
  }

  /** For people: what went wrong, and the field at fault. */
  get words() {
    const { field } = this.problem;
    return field ? `${field}: ${this.message}` : this.message;
  }
}

let unauthorized = () => {};

/** Called when the server wants a token, or another one. */
export function onUnauthorized(listener) {
  unauthorized = listener;
}

function headers(more) {
  const all = { Accept: "application/json", ...more };
  if (token()) {
    all.Authorization = `Bearer ${token()}`;
  }
  return all;
}

/** Asks the server. Resolves with {body, etag}. */
export async function call(method, path, { query, body, ifMatch, ifNoneMatch, signal } = {}) {
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
  let response;
  try {
    response = await fetch(path + search, {
      method,
      headers: headers(more),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (e) {
    if (signal?.aborted) {
      throw e;
    }
    throw new ApiError(0, { title: "The server does not answer.", cause: String(e) });
  }
  const content = await response.text();
  const parsed = parse(content);
  if (!response.ok) {
    if (response.status === 401) {
      unauthorized();
    }
    throw new ApiError(response.status, parsed ?? { title: `HTTP ${response.status}` });
  }
  return { body: parsed, etag: response.headers.get("ETag") };
}

function parse(content) {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

export async function get(path, query, signal) {
  return (await call("GET", path, { query, signal })).body;
}

/** The path of a namespace's things. A name with half of a surrogate pair has no path, and gets one that is not found. */
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

/**
 * Reads events for as long as the signal lets it, and connects again whenever the stream ends.
 *
 * @param query which events
 * @param onEvent (type, data)
 * @param onState ("live" | "reconnecting")
 */
export async function events(query, onEvent, onState, signal) {
  let lastId = "";
  let failures = 0;
  while (!signal.aborted) {
    try {
      const response = await fetch(`/v1/events?${new URLSearchParams(query)}`, {
        headers: headers({ Accept: "text/event-stream", ...(lastId && { "Last-Event-ID": lastId }) }),
        signal,
        cache: "no-store",
        credentials: "omit",
      });
      if (response.status === 401) {
        unauthorized();
        return;
      }
      if (!response.ok || !response.body) {
        throw new Error(`HTTP ${response.status}`);
      }
      onState("live");
      failures = 0;
      for await (const event of parseEvents(response.body)) {
        lastId = event.id || lastId;
        onEvent(event.type, parse(event.data));
      }
    } catch {
      if (signal.aborted) {
        return;
      }
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

/** Server-sent events from a stream of bytes: {type, data, id}. */
export async function* parseEvents(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { type: "message", data: [], id: "" };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    // A carriage return at the end may be the first half of a line's end.
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

// SPDX-License-Identifier: Apache-2.0
// One stream of events for the whole console, which a person can pause.

import { events } from "./api.js";

const target = new EventTarget();

/** "connecting", "live", "reconnecting" or "paused". */
export let state = "connecting";

let connection;
let namespace = "";
let cursor = {};
let clockAheadMillis = 0;
let pausedAt = 0;

/** The server's clock, by the last figures; while paused, the moment of the pause. */
export function now() {
  return (state === "paused" ? pausedAt : Date.now()) + clockAheadMillis;
}

/** Calls the listener for "state", "stats", "timer", "dropped" and "cluster" until the signal. */
export function on(type, listener, signal) {
  target.addEventListener(type, (event) => listener(event.detail), { signal });
}

function say(type, detail) {
  target.dispatchEvent(new CustomEvent(type, { detail }));
}

function become(next) {
  if (state !== next) {
    state = next;
    say("state", next);
  }
}

/** Publishes figures that were requested, like figures from the stream. */
export function took(figures) {
  clockAheadMillis = Date.parse(figures.now) - Date.now();
  say("stats", figures);
}

/** Connects, for one namespace or (empty) for all. */
export function connect(to = namespace) {
  if (to !== namespace) {
    cursor = {};
  }
  namespace = to;
  if (state === "paused" || document.hidden) {
    return;
  }
  connection?.abort();
  connection = new AbortController();
  become("connecting");
  const { signal } = connection;
  const query = { types: "stats,timer,cluster", ...(namespace && { namespace }) };
  events(
    query,
    cursor,
    (type, data) => {
      if (signal.aborted || data === undefined) {
        return;
      }
      if (type === "stats") {
        took(data);
      } else {
        say(type, data);
      }
    },
    (next) => signal.aborted || become(next),
    signal,
  );
}

// A browser has six connections for a server, for all tabs and cached pages together. A hidden page closes its connection,
// because otherwise the seventh page would wait forever.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    connect();
  } else if (state !== "paused") {
    connection?.abort();
  }
});

/** Pauses or resumes the stream and the clock. */
export function togglePause() {
  if (state === "paused") {
    become("connecting");
    connect();
  } else {
    connection?.abort();
    pausedAt = Date.now();
    become("paused");
  }
}

/** Wraps a call so that only one runs at a time. A slow server gets no more requests than it answers. */
export function oneAtATime(call) {
  let running = false;
  return async () => {
    if (!running) {
      running = true;
      try {
        await call();
      } finally {
        running = false;
      }
    }
  };
}

/** Calls the listener once a second while the stream is not paused and the page is visible. */
export function eachSecond(listener, signal) {
  const tick = () => {
    if (state !== "paused" && !document.hidden) {
      listener();
    }
  };
  const interval = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(interval));
}

/** Calls the listener every few seconds, under the same conditions. */
export function everySeconds(seconds, listener, signal) {
  let passed = 0;
  eachSecond(() => ++passed % seconds === 0 && listener(), signal);
}

// SPDX-License-Identifier: Apache-2.0
// Formats numbers, durations and times. The only state is the zone in which times are shown.

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

let shownZone = "local";

/** Times are shown in "local" time, or in "UTC". */
export function showZone(zone) {
  shownZone = zone;
  formats.clear();
}

export function zoneName() {
  return shownZone === "UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const WHOLE = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function number(value) {
  return WHOLE.format(value);
}

/** Shortens large numbers: 1,234 unchanged, 123,456 as 123.5K. */
export function compact(value) {
  return value < 10_000 ? WHOLE.format(value) : COMPACT.format(value);
}

/** A rate a second: 0, 0.3, 12, 1,234. */
export function rate(value) {
  if (value > 0 && value < 0.05) {
    return "< 0.1";
  }
  return value === 0 ? "0" : value < 10 ? value.toFixed(1) : WHOLE.format(Math.round(value));
}

/** A number and its noun: 1 timer, 2 timers. */
export function plural(count, noun, many = noun + "s") {
  return `${number(count)} ${count === 1 ? noun : many}`;
}

const ISO_DURATION =
  /^(-?)P(?:(\d+)W)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?$/;

/** The milliseconds of an ISO 8601 duration without months and years; NaN if it is not a duration. */
export function durationMillis(iso) {
  const parts = ISO_DURATION.exec(iso);
  if (!parts || iso.length < 3 || iso.endsWith("T")) {
    return NaN;
  }
  const [, sign, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  const sum =
    weeks * 7 * DAY + days * DAY + hours * HOUR + minutes * MINUTE + Number(seconds) * SECOND;
  return Math.round(sign ? -sum : sum);
}

const UNITS = [
  [365 * DAY, "y"],
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "min"],
  [SECOND, "s"],
];

/** A duration for people, in its two largest units: 3 ms, 1.2 s, 12 min 3 s, 2 d 4 h. */
export function duration(millis) {
  if (Number.isNaN(millis)) {
    return "?";
  }
  if (millis < 0) {
    return "-" + duration(-millis);
  }
  if (millis < SECOND) {
    return `${Math.round(millis)} ms`;
  }
  if (millis < 10 * SECOND) {
    return `${Number((millis / SECOND).toFixed(1))} s`;
  }
  const first = UNITS.findIndex(([length]) => millis >= length);
  const [length, unit] = UNITS[first];
  const whole = Math.floor(millis / length);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((millis - whole * length) / next[0]) : 0;
  return rest > 0 ? `${whole} ${unit} ${rest} ${next[1]}` : `${whole} ${unit}`;
}

/** An ISO duration for people; any other text unchanged. */
export function isoDuration(iso) {
  const millis = durationMillis(iso);
  return Number.isNaN(millis) ? String(iso) : duration(millis);
}

/** A moment relative to now: in 3 min, 2 h ago, now. */
export function relative(millis, now) {
  const distance = millis - now;
  if (Math.abs(distance) < SECOND) {
    return "now";
  }
  // In whole seconds, because the text is updated once a second and must not flicker. Distant moments are in whole days.
  const unit = Math.abs(distance) < 10 * DAY ? SECOND : DAY;
  const rounded = duration(Math.max(SECOND, Math.floor(Math.abs(distance) / unit) * unit));
  return distance > 0 ? `in ${rounded}` : `${rounded} ago`;
}

const formats = new Map();

function formatter(given) {
  const options = { timeZone: shownZone === "UTC" ? "UTC" : undefined, ...given };
  const key = JSON.stringify(options);
  if (!formats.has(key)) {
    formats.set(
      key,
      new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options }),
    );
  }
  return formats.get(key);
}

const TIME = { hour: "2-digit", minute: "2-digit" };
const DATE = { day: "numeric", month: "short" };

export function clock(millis) {
  return formatter({ ...TIME, second: "2-digit" }).format(millis);
}

export function hourMinute(millis) {
  return formatter(TIME).format(millis);
}

export function date(millis) {
  return formatter({ weekday: "short", ...DATE, year: "numeric" }).format(millis);
}

/** The same in UTC, regardless of the shown zone. The slots of the wheel and the days of the server begin in UTC. */
export const utc = {
  clock: (millis) => formatter({ ...TIME, second: "2-digit", timeZone: "UTC" }).format(millis),
  hourMinute: (millis) => formatter({ ...TIME, timeZone: "UTC" }).format(millis),
  date: (millis) => formatter({ weekday: "short", ...DATE, year: "numeric", timeZone: "UTC" }).format(millis),
  shortDate: (millis) => formatter({ ...DATE, timeZone: "UTC" }).format(millis),
  month: (millis) => formatter({ month: "short", timeZone: "UTC" }).format(millis),
};

/** The value of a field for a date and time, in the zone that is shown. */
export function fieldOf(millis) {
  const shift = shownZone === "UTC" ? 0 : new Date(millis).getTimezoneOffset() * MINUTE;
  return new Date(millis - shift).toISOString().slice(0, 19);
}

/** The moment in such a field; NaN if it is empty. */
export function millisOfField(value) {
  return shownZone === "UTC" ? Date.parse(`${value}Z`) : new Date(value).getTime();
}

/** A moment: the time, with the date unless it is today's, and the year unless it is this one. */
export function moment(millis, now = Date.now()) {
  if (!Number.isFinite(millis)) {
    return "?";
  }
  const time = clock(millis);
  if (date(millis) === date(now)) {
    return time;
  }
  const sameYear = date(millis).slice(-4) === date(now).slice(-4);
  return `${formatter(sameYear ? DATE : { ...DATE, year: "numeric" }).format(millis)}, ${time}`;
}

/** Parses an instant of the server to epoch milliseconds. */
export function millisOf(instant) {
  return Date.parse(instant);
}

/** Formats an instant for the server. */
export function instantOf(millis) {
  return new Date(millis).toISOString();
}

const STATES = {
  scheduled: ["Scheduled", "waits for its time"],
  ready: ["Ready", "due, waits for a consumer to claim it"],
  running: ["Running", "an attempt runs"],
  retrying: ["Retrying", "an attempt failed, the next one comes by itself"],
  failed: ["Failed", "its attempts are exhausted; kept until retried or cancelled"],
  blocked: ["Blocked", "due, but no node knows its handler"],
  paused: ["Paused", "does not fire until it is resumed"],
  completed: ["Completed", "its completion is recorded"],
  cancelled: ["Cancelled", "never fires"],
};

export const STATE_NAMES = Object.keys(STATES);

export function stateLabel(state) {
  return STATES[state]?.[0] ?? state;
}

export function stateMeaning(state) {
  return STATES[state]?.[1] ?? "";
}

// SPDX-License-Identifier: Apache-2.0
// Finds clock changes of a zone around a run.

import { DAY, HOUR, MINUTE } from "./format.js";

const formats = new Map();

function parts(zone) {
  if (!formats.has(zone)) {
    formats.set(
      zone,
      new Intl.DateTimeFormat("en-GB", {
        timeZone: zone,
        hourCycle: "h23",
        era: "short",
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
      }),
    );
  }
  return formats.get(zone);
}

/** Whether this browser supports the zone. */
export function knowsZone(zone) {
  try {
    parts(zone);
    return true;
  } catch {
    return false;
  }
}

/** The offset of a zone from UTC at a moment, in milliseconds. */
export function offset(millis, zone) {
  const found = Object.fromEntries(parts(zone).formatToParts(millis).map((p) => [p.type, p.value]));
  const local = Date.UTC(
    found.year, found.month - 1, found.day, found.hour, found.minute, found.second);
  return local - Math.floor(millis / 1000) * 1000;
}

/** UTC, UTC+02:00, UTC-03:30. */
export function offsetText(millis) {
  if (millis === 0) {
    return "UTC";
  }
  const minutes = Math.abs(millis) / MINUTE;
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return `UTC${millis < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** The moment at which the offset of a zone changes between two moments; null if it is the same at both. */
function shiftBetween(from, to, zone) {
  const before = offset(from, zone);
  const after = offset(to, zone);
  if (before === after) {
    return null;
  }
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle, zone) === before) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return { at: high, by: after - before };
}

/**
 * The oddity of a run at a moment: "gap" if the clocks skip its local time, "overlap" if its local
 * time occurs twice, otherwise null.
 */
export function oddity(millis, zone) {
  if (offset(millis - 1, zone) < offset(millis, zone)) {
    return "gap";
  }
  const shift = shiftBetween(millis, millis + 3 * HOUR, zone);
  return shift && shift.by < 0 && shift.at - millis <= -shift.by ? "overlap" : null;
}

/** A moment in the local time of a zone: Mon, 30 Mar 2026, 09:00. Seconds only if there are some. */
export function inZone(millis, zone) {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: millis % MINUTE === 0 ? undefined : "2-digit",
  }).format(millis);
}

/** A change of the clocks in words: "go forward 1 h". */
export function shiftText(by) {
  const hours = Math.abs(by) / HOUR;
  const amount = Number.isInteger(hours) ? `${hours} h` : `${Math.abs(by) / MINUTE} min`;
  return `go ${by > 0 ? "forward" : "back"} ${amount}`;
}

/**
 * The runs of a timer with the changes of its clocks: for each {at, text, offset, oddity, shift}, where shift is the change
 * of the clocks since the run before (since now, for the first), or null.
 */
export function runs(instants, zone, now) {
  let previous = now;
  return instants.map((at) => {
    const shift = Math.abs(at - previous) < 400 * DAY && previous < at
      ? shiftBetween(previous, at, zone)
      : null;
    previous = at;
    return {
      at,
      text: inZone(at, zone),
      offset: offsetText(offset(at, zone)),
      oddity: oddity(at, zone),
      shift,
    };
  });
}

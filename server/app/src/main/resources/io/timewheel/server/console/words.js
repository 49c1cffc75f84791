// SPDX-License-Identifier: Apache-2.0
// Describes timers in words, and parses durations that people type.

import { words } from "./cron.js";
import { DAY, HOUR, MINUTE, SECOND, durationMillis, isoDuration, millisOf, moment } from "./format.js";

/** The schedule of a timer in words: "Every 5 min", "At 09:00, Monday to Friday", "Once, 14:30:00". */
export function whenWords(timer) {
  if (timer.cron) {
    const said = words(timer.cron);
    return said === null ? `By cron ${timer.cron}` : said[0].toUpperCase() + said.slice(1);
  }
  if (timer.every) {
    return `Every ${isoDuration(timer.every)}`;
  }
  if (timer.fixedDelay) {
    return `${isoDuration(timer.fixedDelay)} after the end of each run`;
  }
  return `Once, ${moment(millisOf(timer.dueAt ?? timer.at))}`;
}

/** The target of a timer in words. */
export function targetWords(target = {}) {
  if (target.queue !== undefined) {
    return `into the queue ${target.queue}`;
  }
  if (target.url !== undefined) {
    return `to ${target.url}`;
  }
  return target.handler === undefined ? "nowhere" : `to the handler ${target.handler}`;
}

const UNITS = { ms: 1, s: SECOND, sec: SECOND, m: MINUTE, min: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/** An ISO duration from a typed text: "30m", "1h 30m", "PT5S", "90" (seconds). Null if it is not a duration. */
export function isoOf(typed) {
  const text = typed.trim();
  if (!Number.isNaN(durationMillis(text.toUpperCase()))) {
    return text.toUpperCase();
  }
  if (/^\d+(\.\d+)?$/.test(text)) {
    return `PT${text}S`;
  }
  const parts = [...text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy)];
  if (parts.length === 0 || parts.reduce((sum, part) => sum + part[0].length, 0) !== text.length) {
    return null;
  }
  let millis = 0;
  for (const [, amount, unit] of parts) {
    if (!(unit in UNITS)) {
      return null;
    }
    millis += Number(amount) * UNITS[unit];
  }
  return isoOfMillis(Math.round(millis));
}

function isoOfMillis(millis) {
  const hours = Math.floor(millis / HOUR);
  const minutes = Math.floor((millis % HOUR) / MINUTE);
  const seconds = (millis % MINUTE) / SECOND;
  const parts = [hours && `${hours}H`, minutes && `${minutes}M`, seconds && `${seconds}S`].filter(Boolean);
  return `PT${parts.join("") || "0S"}`;
}

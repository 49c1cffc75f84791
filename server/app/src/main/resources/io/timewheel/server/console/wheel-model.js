// SPDX-License-Identifier: Apache-2.0
// The model of the wheel: the timers of each slot, and the position of each slot.

import { DAY, HOUR, MINUTE, SECOND, utc } from "./format.js";

/** The rings from the inside out. A slot of one is a whole turn of the ring inside it. */
export const RINGS = [
  { name: "minute", unit: "second", slots: 60, millis: SECOND, inner: 92, outer: 138 },
  { name: "hour", unit: "minute", slots: 60, millis: MINUTE, inner: 162, outer: 208 },
  { name: "day", unit: "hour", slots: 24, millis: HOUR, inner: 232, outer: 278 },
  { name: "year", unit: "day", slots: 366, millis: DAY, inner: 302, outer: 348 },
];

export const SIZE = 736;
const CENTRE = SIZE / 2;

/** The start of the slot of a moment on a ring. */
export function slotStart(ring, millis) {
  return Math.floor(millis / ring.millis) * ring.millis;
}

/** The index of the slot of a moment on its ring. */
export function place(ring, millis) {
  return Math.floor(millis / ring.millis) % ring.slots;
}

/**
 * The rings as they are at a moment. The levels of the server overlap: each counts from now on. Here each timer is in
 * one slot: that of the ring inside of which the moment and its time are in the same slot. So behind the hand a ring
 * is empty, and its slot under the hand is open: its timers are on the ring inside.
 *
 * @param levels the levels of /v1/wheel
 * @return for each ring an array of {count, start}, by place; start is undefined for a slot that is always empty
 */
export function fill(levels, now) {
  return RINGS.map((ring, i) => {
    const slots = Array.from({ length: ring.slots }, () => ({ count: 0, start: undefined }));
    const level = levels[i];
    const first = i === 0 ? slotStart(ring, now) : slotStart(ring, now) + ring.millis;
    const outside = RINGS[i + 1];
    const end = outside ? slotStart(outside, now) + outside.millis : first + (ring.slots - 1) * ring.millis;
    const from = level ? Date.parse(level.from) : 0;
    for (let start = first; start < end; start += ring.millis) {
      const count = level?.counts[Math.round((start - from) / ring.millis)] ?? 0;
      slots[place(ring, start)] = { count, start };
    }
    return slots;
  });
}

/** The top of a ring has its name. */
const TOP = 0.032;

/**
 * The numerals around a ring: {part, label, minor}. Seconds, minutes and hours as on a clock; for the year the months, each
 * where its first day is. Minor numerals have no room on a small picture.
 */
export function numerals(ring, now) {
  if (ring.slots > 60) {
    const { year, month } = { year: new Date(now).getUTCFullYear(), month: new Date(now).getUTCMonth() };
    return Array.from({ length: 12 }, (_, i) => Date.UTC(year, month + 1 + i, 1))
      .map((first) => ({ part: (place(ring, first) + 0.5) / ring.slots, label: utc.month(first), minor: new Date(first).getUTCMonth() % 3 > 0 }))
      .filter(({ part }) => part > TOP && part < 1 - TOP);
  }
  const step = ring.slots === 24 ? 3 : 5;
  return Array.from({ length: ring.slots / step - 1 }, (_, i) => (i + 1) * step)
    .map((at) => ({ part: at / ring.slots, label: String(at), minor: (at * 4) % ring.slots > 0 }));
}

/** Seven shades: none, 1, 10, 100, … and a hundred thousand or more. */
export function shade(count) {
  return count === 0 ? 0 : Math.min(6, Math.floor(Math.log10(count) + 1e-9) + 1);
}

/** The position of a moment on a ring, clockwise from 0 at the top to 1. */
export function turn(ring, millis) {
  const length = ring.slots * ring.millis;
  return (millis % length) / length;
}

/** The point at a radius and a part of a turn. */
export function point(radius, part) {
  const angle = part * 2 * Math.PI;
  return [CENTRE + radius * Math.sin(angle), CENTRE - radius * Math.cos(angle)];
}

/** The path of a slot; between two slots there is a gap of a pixel or so. */
export function slotPath(ring, at) {
  const gap = (length, radius) => Math.min(length * 0.2, 1.6 / (2 * Math.PI * radius));
  const length = 1 / ring.slots;
  const corner = (radius, end) => {
    const half = gap(length, radius) / 2;
    return point(radius, end ? (at + 1) * length - half : at * length + half)
      .map((n) => n.toFixed(2))
      .join(" ");
  };
  const { inner, outer } = ring;
  return (
    `M${corner(outer, false)}A${outer} ${outer} 0 0 1 ${corner(outer, true)}` +
    `L${corner(inner, true)}A${inner} ${inner} 0 0 0 ${corner(inner, false)}Z`
  );
}

/** The slot at a point of the picture: {ring, at}, as indexes; null if there is none. */
export function slotAt(x, y) {
  const radius = Math.hypot(x - CENTRE, y - CENTRE);
  const slack = 8; // wider than a gap, for fingers
  const ring = RINGS.findIndex((r) => radius >= r.inner - slack && radius <= r.outer + slack);
  if (ring < 0) {
    return null;
  }
  const part = (Math.atan2(x - CENTRE, CENTRE - y) / (2 * Math.PI) + 1) % 1;
  return { ring, at: Math.floor(part * RINGS[ring].slots) % RINGS[ring].slots };
}

/** The moves that a step of time makes: for each ring that opened a slot, its place and the ring that it fell to. */
export function falls(before, now) {
  const moves = [];
  for (let i = 1; i < RINGS.length; i++) {
    if (slotStart(RINGS[i], before) !== slotStart(RINGS[i], now)) {
      moves.push({ from: i, at: place(RINGS[i], now) });
    }
  }
  return moves;
}

/** The number of timers on a ring. */
export function sum(slots) {
  return slots.reduce((total, slot) => total + slot.count, 0);
}

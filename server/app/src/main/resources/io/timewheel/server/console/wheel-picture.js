// SPDX-License-Identifier: Apache-2.0
// The picture of the wheel. It draws what wheel-model.js computed, and moves the hands.

import { announce, h, s, text } from "./dom.js";
import { DAY, hourMinute, plural, utc, zoneName } from "./format.js";
import * as live from "./live.js";
import { RINGS, SIZE, falls, numerals, place, point, shade, slotAt, slotPath, slotStart, turn } from "./wheel-model.js";

const CENTRE = SIZE / 2;
/** The maximum number of dots that fall at the same time. */
const DOTS = 40;
const FALL_MILLIS = 1_200;

/** The steps of "Follow one timer": the ring, the number of slots ahead of the hand, and the text. */
const JOURNEY = [
  { ring: 3, ahead: 0, text: "Far from its time, a timer waits in the slot of its day. Timewheel does not read it yet." },
  { ring: 2, ahead: 5, text: "Its day begins: the slot opens, and the timer falls to the slot of its hour." },
  { ring: 1, ahead: 20, text: "Its hour begins: the timer falls to the slot of its minute." },
  { ring: 0, ahead: 20, text: "Its minute begins: the timer falls to the slot of its second." },
  { text: "Its second is here: the timer fires. It fell three times, and Timewheel never searched for it." },
];
const HAND_MILLIS = 80;
const STOP_MILLIS = 3_200;

/** The beginning of a slot, in UTC as the rings are, and on the local clock where that differs. */
export function startOf(ring, millis) {
  const words = [utc.clock, utc.hourMinute, utc.hourMinute, utc.date][ring];
  const day = ring === 2 ? `${utc.shortDate(millis)}, ` : "";
  const local = ring < 3 && zoneName() !== "UTC" ? `, local ${hourMinute(millis)}` : "";
  return `${day}${words(millis)} UTC${local}`;
}

/**
 * The picture: {element, readout, set(rings, animate), select({ring, at}), follow(aloud), stop()}.
 *
 * @param onPick ({ring, at}) when a slot is clicked
 */
export function picture(onPick, signal) {
  const slots = RINGS.map((ring) =>
    Array.from({ length: ring.slots }, (_, at) => s("path", { d: slotPath(ring, at), class: "wheel-slot shade-0" })));
  const labels = RINGS.map((ring) => s("text", { class: "ring-label", x: CENTRE, y: CENTRE - ring.outer - 7, "text-anchor": "middle" },
    s("tspan", { class: "ring-name" }, ring.name), s("tspan", { class: "ring-unit" }, ` in ${ring.unit}s`)));
  const hands = RINGS.map((ring) => s("line", { class: "hand", x1: CENTRE, x2: CENTRE, y1: CENTRE - ring.inner + 5, y2: CENTRE - ring.outer - 4 }));
  const chosen = s("path", { class: "wheel-chosen", d: "" });
  const dots = s("g", { class: "dots" });
  const time = s("text", { class: "wheel-time", x: CENTRE, y: CENTRE - 4, "text-anchor": "middle" });
  const under = s("text", { class: "wheel-under", x: CENTRE, y: CENTRE + 20, "text-anchor": "middle" });
  const middle = s("text", { class: "wheel-under", x: CENTRE, y: CENTRE + 44, "text-anchor": "middle" }, "timers fire here");
  const centre = s("circle", { class: "wheel-centre", cx: CENTRE, cy: CENTRE, r: RINGS[0].inner - 14 });
  const around = s("g", { class: "numerals" });
  const svg = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "wheel", role: "img",
    "aria-label": "The timing wheel: four rings of slots, a minute inside, a year outside", "aria-describedby": "wheel-summary" },
    centre, slots.map((ring, i) => s("g", { class: `ring ring-${i}` }, ring)), chosen, around, labels, hands, dots, time, under, middle);
  const tip = h("p", { class: "readout", "aria-hidden": "true" });
  const element = h("div", { class: "wheel-frame" }, svg);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const toSvg = (event) => {
    const box = svg.getBoundingClientRect();
    return slotAt(((event.clientX - box.left) / box.width) * SIZE, ((event.clientY - box.top) / box.height) * SIZE);
  };
  let rings;
  let drawnAt = 0;
  let hovered;
  let traveller;
  let numeralsOf;
  let picked;

  svg.addEventListener("pointermove", (event) => hover(toSvg(event)));
  svg.addEventListener("pointerleave", () => hover(null));
  svg.addEventListener("click", (event) => {
    const at = toSvg(event);
    if (at) {
      onPick(at);
    }
  });

  function hover(at) {
    if (at) {
      stop();
    }
    hovered = at;
    outline();
    const slot = at && rings?.[at.ring][at.at];
    const unit = at && RINGS[at.ring].unit;
    text(tip, !slot ? coming()
      : slot.start === undefined
        ? (at.at === place(RINGS[at.ring], live.now()) ? `This ${unit}: open, on the ring inside` : `This ${unit} is past`)
      : `${startOf(at.ring, slot.start)}: ${plural(slot.count, "timer")} in this ${unit}`);
  }

  /** The next event on the wheel, so that the user knows when to look. */
  function coming() {
    if (!rings) {
      return "";
    }
    const now = live.now();
    const next = slotStart(RINGS[1], now) + RINGS[1].millis;
    const ring = RINGS.findIndex((_, i) => i > 0 && rings[i].some((slot) => slot.start === next));
    const count = rings[ring]?.find((slot) => slot.start === next).count ?? 0;
    const opens = `In ${Math.ceil((next - now) / 1000)} s the next ${RINGS[Math.max(1, ring)].unit} opens`;
    return count > 0 ? `${opens}, and ${plural(count, "timer")} ${count === 1 ? "falls" : "fall"} one ring inwards.` : `${opens}.`;
  }

  function outline() {
    const at = hovered ?? picked;
    chosen.setAttribute("d", at ? slotPath(RINGS[at.ring], at.at) : "");
  }

  function set(next, animate) {
    const before = rings;
    rings = next;
    const now = live.now();
    next.forEach((ring, i) => {
      const under = place(RINGS[i], now);
      ring.forEach((slot, at) => {
        const state = slot.start === undefined ? (at === under ? " open" : " past") : "";
        const wanted = `wheel-slot shade-${shade(slot.count)}${state}`;
        if (slots[i][at].getAttribute("class") !== wanted) {
          slots[i][at].setAttribute("class", wanted);
        }
      });
    });
    text(time, utc.clock(now));
    text(under, zoneName() === "UTC" ? "UTC" : `UTC, local ${hourMinute(now)}`);
    drawNumerals(now);
    turnHands();
    if (!hovered && !traveller) {
      text(tip, coming());
    }
    if (animate && before && drawnAt && !still.matches) {
      fall(before, drawnAt, now);
    }
    drawnAt = now;
  }

  /** Timers of the slots that opened fall to their new slots; timers under the second hand fire. */
  function fall(before, then, now) {
    if (now - then > 5_000) {
      return; // after a pause, or after the machine slept, nothing falls
    }
    for (const { from, at } of falls(then, now)) {
      const inside = RINGS[from - 1];
      const filled = rings[from - 1].map((slot, i) => ({ ...slot, at: i })).filter((slot) => slot.count > 0);
      const every = Math.max(1, Math.ceil(filled.length / DOTS));
      filled.filter((_, i) => i % every === 0).forEach((slot, i) =>
        dot(mid(RINGS[from], at), mid(inside, slot.at), i * 12));
    }
    const fired = place(RINGS[0], then);
    const count = before[0][fired].count;
    if (count > 0 && fired !== place(RINGS[0], now)) {
      for (let i = 0; i < Math.min(5, count); i++) {
        dot(mid(RINGS[0], fired), point(28, fired / RINGS[0].slots), i * 60, true);
      }
    }
  }

  /** The numerals stay, except those of the months, which move on once a day. */
  function drawNumerals(now) {
    const day = Math.floor(now / DAY);
    if (numeralsOf !== day) {
      numeralsOf = day;
      around.replaceChildren(...RINGS.flatMap((ring) => numerals(ring, now).map(({ part, label, minor }) => {
        const [x, y] = point(ring.outer + 13, part);
        return s("text", { class: `numeral${minor ? " minor" : ""}`, x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "middle", "dominant-baseline": "central" }, label);
      })));
    }
  }

  /** Shows the path of one timer through the rings. Any use of the wheel stops it. */
  async function follow(aloud) {
    stop();
    const mine = s("circle", { r: 9, class: "traveller" });
    traveller = mine;
    if (aloud) {
      element.scrollIntoView({ block: "nearest" });
    }
    const now = live.now();
    dots.append(mine);
    let from;
    for (const { ring, ahead, text: words } of JOURNEY) {
      const to = ring === undefined
        ? [CENTRE, CENTRE]
        : mid(RINGS[ring], (place(RINGS[ring], now) + ahead) % RINGS[ring].slots);
      const move = ([x, y]) => ({ transform: `translate(${x}px, ${y}px)` });
      text(tip, words);
      if (aloud) {
        announce(words);
      }
      const moving = mine.animate([move(from ?? to), move(to)],
        { duration: still.matches || !from ? 1 : FALL_MILLIS, easing: "cubic-bezier(.5,0,.3,1)", fill: "forwards" });
      from = to;
      await moving.finished;
      await new Promise((resolve) => setTimeout(resolve, STOP_MILLIS));
      if (traveller !== mine) {
        return;
      }
    }
    stop();
  }

  function stop() {
    traveller?.remove();
    traveller = undefined;
  }

  function mid(ring, at) {
    return point((ring.inner + ring.outer) / 2, (at + 0.5) / ring.slots);
  }

  function dot([x0, y0], [x1, y1], delay, fires = false) {
    const made = s("circle", { r: 5, class: fires ? "dot-fires" : "dot" });
    dots.append(made);
    made.animate(
      [
        { transform: `translate(${x0}px, ${y0}px)`, opacity: 0.2 },
        { transform: `translate(${x0}px, ${y0}px)`, opacity: 1, offset: 0.15 },
        { transform: `translate(${x1}px, ${y1}px)`, opacity: 1, offset: 0.9 },
        { transform: `translate(${x1}px, ${y1}px)`, opacity: 0 },
      ],
      { duration: FALL_MILLIS, delay, easing: "cubic-bezier(.5,0,.3,1)", fill: "backwards" },
    ).finished.finally(() => made.remove());
  }

  /** A dozen steps a second look smooth enough, and use little CPU time on a page that is open all day. */
  function turnHands() {
    const now = live.now();
    hands.forEach((hand, i) =>
      hand.setAttribute("transform", `rotate(${(turn(RINGS[i], now) * 360).toFixed(2)} ${CENTRE} ${CENTRE})`));
  }
  const moving = setInterval(() => {
    if (!still.matches && !document.hidden && live.state !== "paused") {
      turnHands();
    }
  }, HAND_MILLIS);
  signal.addEventListener("abort", () => {
    clearInterval(moving);
    stop();
  });
  turnHands();

  return {
    element,
    readout: tip,
    set,
    follow,
    stop,
    select(at) {
      stop();
      picked = at;
      outline();
    },
  };
}

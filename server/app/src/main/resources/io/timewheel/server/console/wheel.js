// SPDX-License-Identifier: Apache-2.0
// The wheel, and the timers of a chosen slot.

import * as api from "./api.js";
import { announce, h, icon, put, text } from "./dom.js";
import { compact, instantOf, number, plural, relative, stateLabel } from "./format.js";
import * as live from "./live.js";
import { badge, dueQuery, empty, failure, firstTimer, heading, newTimerLink, time, timerLink } from "./parts.js";
import { link } from "./router.js";
import { local } from "./storage.js";
import { RINGS, fill, place, sum } from "./wheel-model.js";
import { picture, startOf } from "./wheel-picture.js";

const LISTED = 50;
const FOLLOWED = "timewheel.followed";
/** The states of unfinished timers that are not on the wheel. */
const OFF_THE_WHEEL = ["ready", "running", "failed", "blocked", "paused"];

export const title = () => "Wheel";

export function show(main, route, signal) {
  const namespace = route.query.get("ns") ?? "";
  let answer;
  let rings;
  let selected;
  const drawn = picture((at) => select(at), signal);
  const summary = h("p", { class: "wheel-summary", id: "wheel-summary" });
  const panel = h("section", { class: "slot panel", "aria-label": "Chosen slot" });
  const table = twin((at) => select(at));
  const first = h("div", {});
  put(main,
    heading("Wheel"),
    h("p", { class: "lead" }, "Each timer waits in one slot. As its due time approaches, it falls inwards from ring to ring, and fires in the middle. The rings are in UTC."),
    first,
    h("div", { class: "wheel-page" },
      h("div", { class: "wheel-left" }, drawn.element, summary, shades()),
      h("div", { class: "wheel-right" }, h("div", { class: "panel wheel-readout" }, drawn.readout), panel, explanation(() => drawn.follow(true)), table.element)));
  hint();

  function hint() {
    put(panel, h("h2", {}, "Choose a slot"),
      h("p", { class: "muted" }, "Click one, or use the arrow keys: ", h("kbd", {}, "←"), " ", h("kbd", {}, "→"),
        " to go round, ", h("kbd", {}, "↑"), " ", h("kbd", {}, "↓"), " to change the ring."),
      steps());
  }

  function steps() {
    const button = (label, sign, ring, by) => h("button", { class: "button small", "aria-label": label, title: label, onclick: () => step(ring, by) }, icon(sign));
    return h("div", { class: "steps" },
      button("Previous slot", "back", 0, -1), button("Next slot", "next", 0, 1),
      h("label", { class: "unseen", for: "ring" }, "Ring"),
      h("select", { id: "ring", onchange: (event) => selectRing(Number(event.target.value)) },
        RINGS.map((ring, i) => h("option", { value: i }, `Ring: ${ring.name}`))));
  }

  /** The first slot of a ring that contains timers, otherwise the first slot that can contain some. */
  function firstOf(ring) {
    const slots = rings[ring];
    const from = place(RINGS[ring], live.now());
    const order = slots.map((_, i) => (from + i) % slots.length);
    return order.find((i) => slots[i].count > 0) ?? order.find((i) => slots[i].start !== undefined) ?? from;
  }

  function selectRing(ring) {
    select({ ring, at: firstOf(ring) });
  }

  function step(ringBy, by) {
    if (!rings) {
      return;
    }
    const ring = Math.max(0, Math.min(RINGS.length - 1, (selected?.ring ?? 0) + ringBy));
    if (!selected || ringBy !== 0) {
      selectRing(ring);
    } else {
      const { slots } = RINGS[ring];
      select({ ring, at: (selected.at + by + slots) % slots });
    }
  }

  function select(at) {
    if (!rings) {
      return;
    }
    selected = at;
    drawn.select(at);
    showSlot();
  }

  let loading;

  async function showSlot() {
    const { ring, at } = selected;
    const slot = rings[ring][at];
    const { unit, millis } = RINGS[ring];
    loading?.abort();
    loading = new AbortController();
    signal.addEventListener("abort", () => loading.abort());
    const { signal: now } = loading;
    const list = h("ul", { class: "slot-list", "aria-busy": "true" });
    const from = slot.start;
    const heldOpen = from === undefined && at === place(RINGS[ring], live.now());
    put(panel, h("h2", {}, from === undefined ? `Past ${unit}` : slotName(ring, from)));
    if (from === undefined) {
      panel.append(h("p", { class: "muted" }, heldOpen && ring > 0
        ? `This ${unit} is under the hand: its slot is open, and its timers are on the ring inside.`
        : "It is behind the hand, and empty until the ring begins its next turn."), steps());
      panel.querySelector("select").value = ring;
      announce(panel.querySelector("h2").textContent);
      return;
    }
    const say = `${plural(slot.count, "timer")}, ${relative(Math.max(from, live.now()), live.now())}`;
    panel.append(h("p", { class: "muted" }, say), steps(), list);
    panel.querySelector("select").value = ring;
    announce(`${panel.querySelector("h2").textContent}: ${say}`);
    try {
      const found = await timersBetween(namespace, from, from + millis, now);
      list.removeAttribute("aria-busy");
      put(list, found.map((timer) => h("li", {}, timerLink(timer), badge(timer.state), time(timer.dueAt))));
      if (found.length === 0) {
        put(list, h("li", { class: "muted" }, slot.count === 0 ? "No timer is in this slot." : "Its timers have fired or moved."));
      }
      if (slot.count > found.length || found.length === LISTED) {
        panel.append(h("a", { class: "button", href: link(["timers"], dueQuery(namespace, from, from + millis)) }, "Show timers of this slot"));
      }
    } catch (e) {
      if (!now.aborted) {
        put(list, h("li", {}, failure(e)));
      }
    }
  }

  function take(next) {
    const begun = answer !== undefined;
    answer = next;
    advance(false);
    renewEmpty();
    // Once for each browser, and not announced, because the user did not request it.
    if (!begun && local.getItem(FOLLOWED) === null) {
      local.setItem(FOLLOWED, "yes");
      drawn.follow(false);
    }
  }

  let states = {};
  let emptiness = "";

  /** An empty wheel explains where the timers are, or how to create one. */
  function renewEmpty() {
    const { levels, overdue, beyond } = answer;
    const any = overdue > 0 || beyond > 0 || levels.some((level) => level.counts.some((c) => c > 0));
    const elsewhere = OFF_THE_WHEEL.filter((state) => states[state] > 0)
      .map((state) => `${number(states[state])} ${stateLabel(state).toLowerCase()}`).join(", ");
    const key = any ? "" : `empty ${elsewhere}`;
    if (key !== emptiness) {
      emptiness = key;
      const where = namespace ? ` of the namespace ${namespace}` : "";
      put(first, !any && empty("The wheel is empty",
        h("p", {}, elsewhere ? `No timer${where} waits for its time. The others have left the wheel: ${elsewhere}.`
          : `No timer${where} waits for its time. A timer that you create appears in the slot of its second, minute, hour or day.`),
        elsewhere ? h("a", { class: "button", href: link(["timers"], { ns: namespace }) }, "Show timers") : firstTimer(), newTimerLink()));
    }
  }

  function advance(animate = true) {
    if (!answer) {
      return;
    }
    rings = fill(answer.levels, live.now());
    drawn.set(rings, animate);
    table.set(rings);
    const totals = rings.map(sum);
    text(summary, words(totals, answer));
  }

  const refresh = live.oneAtATime(async () => {
    try {
      const next = await api.get("/v1/wheel", { namespace }, signal);
      if (!signal.aborted) {
        take(next);
      }
    } catch (e) {
      if (!signal.aborted && !answer) {
        put(main, heading("Wheel"), failure(e, () => show(main, route, signal)));
      }
    }
  });

  document.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (move && !event.target.closest("input, select, textarea, dialog, .scroll, pre") && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      step(...move);
    } else if (event.key === "Escape" && selected && !event.target.closest("dialog")) {
      selected = undefined;
      drawn.select(undefined);
      hint();
    }
  }, { signal });

  live.eachSecond(() => advance(), signal);
  live.on("stats", (stats) => {
    states = stats.states ?? {};
    if (answer) {
      renewEmpty();
    }
    refresh();
  }, signal);
  refresh();
}

/** The first timers that are due within a span, of one namespace or of all. */
async function timersBetween(namespace, from, to, signal) {
  const names = namespace
    ? [namespace]
    : await api.namespaces(signal);
  const query = { dueFrom: instantOf(from), dueTo: instantOf(to), state: "scheduled,retrying", pageSize: LISTED };
  const found = [];
  for await (const timers of api.timerPages(names, query, signal)) {
    found.push(...timers);
    if (found.length >= LISTED) {
      break;
    }
  }
  return found.slice(0, LISTED).sort((a, b) => Date.parse(a.dueAt) - Date.parse(b.dueAt));
}

function slotName(ring, start) {
  const { unit } = RINGS[ring];
  return `${unit[0].toUpperCase()}${unit.slice(1)} from ${startOf(ring, start)}`.replace(/^Day from /, "");
}

function words(totals, { overdue, beyond }) {
  const [minute, hour, day, year] = totals.map(compact);
  return [
    `${minute} due within this minute`, `${hour} later this hour`, `${day} later today (UTC)`, `${year} within a year`,
    beyond > 0 && `${compact(beyond)} beyond`, overdue > 0 && `${compact(overdue)} overdue`,
  ].filter(Boolean).join(" · ");
}

function shades() {
  const labels = ["none", "1–9", "10–99", "100–999", "1,000–9,999", "10,000–99,999", "100,000 or more"];
  return h("p", { class: "shades" }, h("span", {}, "Timers in a slot:"),
    labels.map((label, i) => h("span", {}, h("i", { class: `swatch shade-${i}` }), label)),
    h("span", {}, h("i", { class: "swatch past" }), "past"), h("span", {}, h("i", { class: "swatch open" }), "open: on the ring inside"));
}

function explanation(follow) {
  return h("details", { class: "panel about", open: true },
    h("summary", {}, h("h2", {}, "How to read the wheel")),
    h("ol", {},
      h("li", {}, h("strong", {}, "The wheel is a clock with appointments. "), "The inner ring is this minute, with a slot for each second. The next rings are this hour in minutes, this day in hours, and a year in days."),
      h("li", {}, h("strong", {}, "A timer drops into one slot. "), "A stronger colour means more timers. Finding the slot takes the same few steps for ten timers or ten million, because Timewheel sorts nothing."),
      h("li", {}, h("strong", {}, "When a hand reaches a slot, the slot opens. "), "Its timers fall one ring inwards, each to its finer slot. Watch the end of a minute."),
      h("li", {}, h("strong", {}, "In the middle, timers fire. "), "So Timewheel reads only one small slot: the slot under the hand.")),
    h("p", {}, h("button", { class: "button", onclick: follow }, icon("play"), "Follow one timer")),
    h("p", { class: "muted small" }, "The picture divides time as a clock does. In the minute before they fire, timers are on the wheel in memory, which has finer slots (256 in a ring, the finest of a millisecond). Until then they wait in the store, which the outer rings count."));
}

/** The same as tables, for a screen reader and for exact numbers. */
function twin(onPick) {
  const body = h("div", {});
  const element = h("details", { class: "twin" }, h("summary", {}, "The wheel as a table"), body);
  let rings;
  let before = "";
  function draw() {
    if (!element.open || !rings) {
      return;
    }
    const rows = rings.map((slots, ring) => slots.map((slot, at) => ({ ...slot, ring, at })).filter((slot) => slot.count > 0)
      .sort((a, b) => a.start - b.start));
    const key = JSON.stringify(rows);
    if (key === before) {
      return;
    }
    before = key;
    put(body, rows.map((slots, ring) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Ring of the ${RINGS[ring].name}` },
      h("table", {}, h("caption", {}, `Ring of the ${RINGS[ring].name}: ${plural(sum(slots), "timer")}, a slot for each ${RINGS[ring].unit}`),
        slots.length > 0 && h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Slot"), h("th", { scope: "col", class: "right" }, "Timers"))),
        h("tbody", {}, slots.map((slot) => h("tr", {},
          h("td", {}, h("button", { class: "plain", onclick: () => onPick({ ring: slot.ring, at: slot.at }) }, slotName(ring, slot.start))),
          h("td", { class: "right" }, number(slot.count)))))))));
  }
  element.addEventListener("toggle", draw);
  return {
    element,
    set(next) {
      rings = next;
      draw();
    },
  };
}

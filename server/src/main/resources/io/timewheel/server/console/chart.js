// SPDX-License-Identifier: Apache-2.0
// Two pictures: bars for what is to come, a thin line for what was.

import { h, put, s, text } from "./dom.js";
import { compact } from "./format.js";

/** The least round number that is not less: 1, 2, 5, 10, 20, … */
export function ceiling(value) {
  if (value <= 1) {
    return 1;
  }
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= value);
}

/**
 * Bars over time. Has set(bars, ticks): bars are {count, label}, ticks are {at: 0 to 1, label}. The line below says what is
 * under the pointer; it is always there, so nothing moves.
 *
 * @param onPick (index) when a bar is chosen
 */
export function bars(onPick) {
  const plot = h("div", { class: "bars", role: "img", "aria-label": "Loading" });
  const top = h("span", { class: "bars-top" });
  const ticksBelow = h("div", { class: "bars-ticks", "aria-hidden": "true" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const element = h("div", { class: "chart" }, h("div", { class: "bars-frame" }, top, plot), ticksBelow, readout);
  let shown = [];
  let summary = "";
  const indexOf = (event) => {
    const box = plot.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * shown.length);
    return Math.max(0, Math.min(shown.length - 1, index));
  };
  const point = (index) => {
    plot.querySelector(".at")?.classList.remove("at");
    plot.children[index]?.classList.add("at");
    text(readout, index < 0 ? summary : shown[index].label);
  };
  plot.addEventListener("pointermove", (event) => point(indexOf(event)));
  plot.addEventListener("pointerleave", () => point(-1));
  plot.addEventListener("click", (event) => onPick(indexOf(event)));

  function set(next, ticks, words) {
    shown = next;
    summary = words;
    const most = ceiling(Math.max(...next.map((bar) => bar.count)));
    text(top, compact(most));
    plot.setAttribute("aria-label", words);
    if (plot.children.length !== next.length) {
      put(plot, next.map(() => h("span", {}, h("i"))));
      plot.classList.toggle("dense", next.length > 100);
    }
    next.forEach((bar, i) => {
      // At least a pixel or two: one timer must not look like none.
      plot.children[i].firstChild.style.height = bar.count === 0 ? "0" : `max(2px, ${(bar.count / most) * 100}%)`;
    });
    put(ticksBelow, ticks.map((tick) => {
      const label = h("span", {}, tick.label);
      label.style.left = `${tick.at * 100}%`;
      return label;
    }));
    if (!plot.querySelector(".at")) {
      text(readout, summary);
    }
  }
  return { element, set };
}

/** The points of a line through values in a box of 100 by 24; gaps (undefined) are left out. */
export function sparkPoints(values) {
  const most = Math.max(...values.filter((v) => v !== undefined), 0) || 1;
  const step = 100 / Math.max(1, values.length - 1);
  return values
    .map((value, i) => value === undefined ? null : `${(i * step).toFixed(2)},${(23 - (value / most) * 22).toFixed(2)}`)
    .filter(Boolean)
    .join(" ");
}

/** A thin line without axes; has set(values). */
export function spark() {
  const line = s("polyline", { "vector-effect": "non-scaling-stroke" });
  const area = s("polygon", {});
  const element = s(
    "svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" }, area, line);
  return {
    element,
    set(values) {
      // A line at zero would look like a figure.
      const points = values.some((value) => value > 0) ? sparkPoints(values) : "";
      line.setAttribute("points", points);
      const [from] = points.split(",");
      const to = points.slice(points.lastIndexOf(" ") + 1).split(",")[0];
      area.setAttribute("points", points && `${from},24 ${points} ${to},24`);
    },
  };
}

// SPDX-License-Identifier: Apache-2.0
// Two charts: bars for timers that are due later, lines for the last hour.

import { h, put, s, text } from "./dom.js";
import { HOUR, compact } from "./format.js";

/** The least of 1, 2, 5, 10, 20, … that is not less than a value. */
function ceiling(value) {
  if (value <= 1) {
    return 1;
  }
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= value);
}

/** The least power of ten that is not less than a value, and at least 10. */
export function decade(value) {
  return 10 ** Math.max(1, Math.ceil(Math.log10(value) - 1e-9));
}

/** The height of a count on a logarithmic scale, from 0 for none to 1 for the top. */
export function logHeight(count, top) {
  return Math.log10(1 + count) / Math.log10(1 + top);
}

/** The powers of ten up to the top, at most four of them, the top included. */
function decades(top, least = 1) {
  const all = [];
  for (let at = top; at >= least * 0.999; at /= 10) {
    all.push(at);
  }
  const every = Math.ceil(all.length / 4);
  return all.filter((_, i) => i % every === 0);
}

function place(element, property, part) {
  element.style[property] = `${Math.max(0, Math.min(1, part)) * 100}%`;
  return element;
}

/** Shows the label of the column under the pointer, or else a summary. The line always exists, so nothing moves. */
function readable(plot, readout, count, label) {
  let summary = "";
  let at = -1;
  const show = () => text(readout, at < 0 ? summary : label(at));
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * count());
    at = Math.max(-1, Math.min(count() - 1, index));
    plot.dispatchEvent(new CustomEvent("point", { detail: at }));
    show();
  });
  plot.addEventListener("pointerleave", () => {
    at = -1;
    plot.dispatchEvent(new CustomEvent("point", { detail: at }));
    show();
  });
  return {
    at: () => at,
    set(words) {
      summary = words;
      plot.setAttribute("aria-label", words);
      show();
    },
  };
}

/**
 * Bars over time, on a logarithmic scale. Has set(bars, ticks, words, peak): bars are {count, label}, ticks are
 * {at: 0 to 1, label}, and peak is {index, label} or undefined.
 *
 * @param onPick (index) when a bar is chosen
 */
export function bars(onPick) {
  const plot = h("div", { class: "bars", role: "img", "aria-label": "Loading" });
  const scale = h("div", { class: "scale", "aria-hidden": "true" });
  const peakLabel = h("span", { class: "peak-label", "aria-hidden": "true" });
  const ticksBelow = h("div", { class: "ticks", "aria-hidden": "true" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const element = h("div", { class: "chart" }, h("div", { class: "frame" }, scale, peakLabel, plot), ticksBelow, readout);
  let shown = [];
  const reading = readable(plot, readout, () => shown.length, (i) => shown[i].label);
  plot.addEventListener("point", ({ detail }) => {
    plot.querySelector(".at")?.classList.remove("at");
    plot.children[detail]?.classList.add("at");
  });
  plot.addEventListener("click", () => reading.at() >= 0 && onPick(reading.at()));

  function set(next, ticks, words, peak) {
    shown = next;
    const top = decade(Math.max(1, ...next.map((bar) => bar.count)));
    put(scale, decades(top).map((at) => place(h("span", {}, compact(at)), "bottom", logHeight(at, top))));
    if (plot.children.length !== next.length) {
      put(plot, next.map(() => h("span", {}, h("i"))));
      plot.classList.toggle("dense", next.length > 100);
    }
    next.forEach((bar, i) => {
      // At least two pixels, so that one timer is visible.
      plot.children[i].firstChild.style.height = bar.count === 0 ? "0" : `max(2px, ${logHeight(bar.count, top) * 100}%)`;
      plot.children[i].classList.toggle("peak", i === peak?.index);
    });
    peakLabel.hidden = !peak;
    if (peak) {
      text(peakLabel, peak.label);
      const part = (peak.index + 0.5) / next.length;
      peakLabel.classList.toggle("to-left", part > 0.5);
      place(peakLabel, "left", part);
    }
    put(ticksBelow, ticks.map((tick) => place(h("span", {}, tick.label), "left", tick.at)));
    reading.set(words);
  }
  return { element, set };
}

/** The path of a line: values are from 0 to 1, undefined leaves a gap. A single value is a dot. */
export function linePath(points) {
  let path = "";
  points.forEach(({ x, y }, i) => {
    if (y === undefined) {
      return;
    }
    const at = `${(x * 100).toFixed(2)} ${(100 - y * 100).toFixed(2)}`;
    path += i > 0 && points[i - 1].y !== undefined ? `L${at}` : `M${at}h0`;
  });
  return path;
}

/**
 * Lines over the last hour. Has set(minutes, now, words): minutes are {at, values, label}, one value for each line, and
 * undefined if there is none.
 *
 * @param lines the class and the name of each line
 * @param format writes a value of the scale
 * @param floor the least value of a logarithmic scale; undefined for a linear scale from zero
 * @param limit {value, label}: a dashed line, where the scale reaches it
 */
export function trend({ lines, format, floor, limit }) {
  const paths = lines.map(({ kind }) => s("path", { class: `line ${kind}`, d: "", "vector-effect": "non-scaling-stroke" }));
  const mark = s("path", { class: "limit", d: "", "vector-effect": "non-scaling-stroke" });
  const cursor = s("path", { class: "cursor", d: "", "vector-effect": "non-scaling-stroke" });
  const plot = h("div", { class: "plot", role: "img", "aria-label": "Loading" },
    s("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, cursor, mark, paths));
  const scale = h("div", { class: "scale", "aria-hidden": "true" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const ticks = [["1 h ago", 0], ["30 min", 0.5], ["now", 1]];
  const element = h("div", { class: "chart trend" },
    h("div", { class: "frame" }, scale, plot),
    h("div", { class: "ticks", "aria-hidden": "true" }, ticks.map(([label, at]) =>
      place(h("span", { class: at === 0 ? "" : at === 1 ? "last" : "middle" }, label), "left", at))),
    readout);
  let shown = [];
  const nearest = (column) => shown.reduce((best, each) =>
    Math.abs(each.x * 60 - column - 0.5) < Math.abs(best.x * 60 - column - 0.5) ? each : best, shown[0]);
  const reading = readable(plot, readout, () => 60, (column) => nearest(column)?.label ?? "");
  plot.addEventListener("point", ({ detail }) => {
    const x = detail < 0 || shown.length === 0 ? undefined : nearest(detail).x * 100;
    cursor.setAttribute("d", x === undefined ? "" : `M${x} 0V100`);
  });

  function set(minutes, now, words) {
    shown = minutes.map((each) => ({ ...each, x: (each.at - now + HOUR) / HOUR })).filter(({ x }) => x >= 0 && x <= 1);
    const most = Math.max(floor ?? 0, ...shown.flatMap(({ values }) => values.filter((v) => v !== undefined)));
    const top = floor === undefined ? ceiling(most) : Math.max(floor * 100, decade(most / floor) * floor);
    const height = (value) => value === undefined ? undefined
      : floor === undefined ? value / top
      : Math.max(0, Math.log(value / floor) / Math.log(top / floor));
    const labels = floor === undefined ? [top, top / 2] : decades(top, floor);
    put(scale, labels.map((at) => place(h("span", {}, format(at)), "bottom", height(at))));
    paths.forEach((path, line) =>
      path.setAttribute("d", linePath(shown.map(({ x, values }) => ({ x, y: height(values[line]) })))));
    mark.setAttribute("d", limit && limit.value < top ? `M0 ${100 - height(limit.value) * 100}H100` : "");
    reading.set(words);
  }
  return { element, set };
}

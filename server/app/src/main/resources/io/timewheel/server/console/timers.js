// SPDX-License-Identifier: Apache-2.0
// The list of timers: filters and order (stored in the URL), a selection, and actions on it.

import * as api from "./api.js";
import { bulk } from "./bulk.js";
import { h, name, put, text } from "./dom.js";
import { millisOf, moment, number, plural, relative, stateLabel } from "./format.js";
import { isSingleKey } from "./keys.js";
import * as live from "./live.js";
import { badge, empty, failure, firstTimer, heading, newTimerLink } from "./parts.js";
import { go, link, replaceQuery } from "./router.js";
import { filterOf, filters } from "./timer-filters.js";
import { VirtualList } from "./virtual-list.js";

/** The largest number of timers to load. The user narrows the filter to see others. */
const MOST = 100_000;
const PAGE = 2_000;
/** A list of at most this many is read again by itself when timers were created. */
const RELOADED = 2_000;
const RELOAD_SECONDS = 5;
const ROW_HEIGHT = 44;
const NARROW_ROW_HEIGHT = 66;
const narrow = matchMedia("(max-width: 720px)");

export const title = () => "Timers";

const targetOf = ({ target = {} }) => target.queue ?? target.url ?? target.handler ?? "";

/** The columns by name: the label, and the value to sort by. Times and numbers are first sorted in descending order. */
const COLUMNS = {
  id: { label: "Timer", value: ({ timer }) => timer.id },
  state: { label: "State", value: ({ timer }) => stateLabel(timer.state) },
  due: { label: "Due", value: ({ due }) => due },
  attempts: { label: "Attempts", value: ({ timer }) => timer.attempt ?? 0, descending: true },
  target: { label: "Queue or URL", value: ({ timer }) => targetOf(timer) },
  error: { label: "Last error", value: ({ timer }) => errorOf(timer) },
  created: { label: "Created", value: ({ created }) => created, descending: true },
};

/** Earlier errors of a timer without a problem are only on its own page. */
function errorOf({ state, lastError }) {
  return lastError && ["failed", "retrying", "blocked"].includes(state) ? lastError : "";
}

/** The order of rows: by a column, then by id. */
function rowOrder(column, descending) {
  const { value } = COLUMNS[column];
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    return x === y ? (a.timer.id < b.timer.id ? -1 : 1) : x < y ? -sign : sign;
  };
}

export function show(main, route, signal) {
  const state = { rows: [], active: -1, complete: false, error: null, capped: false };
  const selected = new Set();
  let lastSelected = -1;
  const indexes = new Map();
  const changes = new Set();
  let loading = new AbortController();
  signal.addEventListener("abort", () => loading.abort());

  const count = h("span", { class: "count", "aria-live": "polite" });
  const news = h("button", { class: "news button small", hidden: true, onclick: () => load() });
  const actions = bulk(
    () => ({
      namespace: onlyNamespace(),
      filter: filterOf(query()),
      timers: [...selected].map((key) => state.rows[indexes.get(key)].timer),
      all: state.complete && !state.capped && selected.size === state.rows.length,
    }),
    () => load());
  const body = h("div", { class: "rows", role: "rowgroup" });
  const everything = h("input", { type: "checkbox", "aria-label": "Select all timers of this list", onchange: selectAll });
  const headers = Object.entries(COLUMNS).map(([column, { label }]) =>
    h("span", { role: "columnheader", class: `cell-${column}` },
      h("button", { class: "sort", "data-column": column, onclick: () => sortBy(column) }, label)));
  const head = h("div", { role: "rowgroup", class: "rows-head" }, h("div", { role: "row", class: "row head" },
    h("span", { role: "columnheader", class: "cell-select" }, everything), headers));
  const table = h("div", { class: "table", role: "table", "aria-label": "Timers" }, head, body);
  const box = h("div", { class: "list", tabindex: "0", role: "region", "aria-label": "List of timers" }, table);
  const none = h("div", {});
  const list = new VirtualList(box, body, () => (narrow.matches ? NARROW_ROW_HEIGHT : ROW_HEIGHT), row, signal);
  narrow.addEventListener("change", () => list.refresh(), { signal });
  const order = h("select", { class: "order", "aria-label": "Order", onchange: () => sortBy(order.value) },
    Object.entries(COLUMNS).map(([column, { label }]) => h("option", { value: column }, `By ${label.toLowerCase()}`)));

  put(main, h("div", { class: "timers" },
    heading("Timers", newTimerLink()),
    filters(route.query, changed, () => load().then(() => activate(0))),
    h("div", { class: "list-head" }, count, order, news, actions.element),
    none, box));
  if (route.query.get("focus") === "search") {
    replaceQuery({ focus: "" });
    setTimeout(() => document.getElementById("search").focus());
  }

  let namespaces = [];

  function query() {
    return new URLSearchParams(location.hash.split("?")[1] ?? "");
  }

  function onlyNamespace() {
    return query().get("ns") ?? (namespaces.length === 1 ? namespaces[0] : "");
  }

  function changed(changes) {
    replaceQuery(changes);
    load();
  }

  // Order

  function sorting() {
    const given = query().get("sort");
    const column = given in COLUMNS ? given : "created";
    const chosen = query().get("order");
    return { column, descending: chosen ? chosen === "desc" : Boolean(COLUMNS[column].descending) };
  }

  function sortBy(column) {
    const before = sorting();
    const descending = before.column === column ? !before.descending : Boolean(COLUMNS[column].descending);
    replaceQuery({ sort: column === "created" ? "" : column, order: descending === Boolean(COLUMNS[column].descending) ? "" : descending ? "desc" : "asc" });
    sort();
    state.active = -1;
    box.scrollTop = 0;
    render();
  }

  function sort() {
    const { column, descending } = sorting();
    state.rows.sort(rowOrder(column, descending));
  }

  function renewOrder() {
    const { column, descending } = sorting();
    order.value = column;
    Object.keys(COLUMNS).forEach((each, i) => headers[i].setAttribute("aria-sort", each !== column ? "none" : descending ? "descending" : "ascending"));
  }

  // Rows

  /** Reads all pages. If quietly is true, the present rows stay until the new ones are complete. */
  async function load(quietly = false) {
    loading.abort();
    loading = new AbortController();
    const { signal: now } = loading;
    const rows = [];
    changes.clear();
    news.hidden = true;
    if (!quietly) {
      Object.assign(state, { rows, active: -1, complete: false, error: null, capped: false });
      selected.clear();
      box.scrollTop = 0;
      render();
    }
    try {
      const chosen = query().get("ns");
      namespaces = chosen ? [chosen] : await api.namespaces(now);
      let sorted = 0;
      let capped = false;
      for await (const timers of api.timerPages(namespaces, { ...filterOf(query()), pageSize: PAGE }, now)) {
        if (rows.length >= MOST && timers.length > 0) {
          capped = true;
          break;
        }
        for (const each of timers) {
          rows.push({ timer: each, created: millisOf(each.createdAt), due: millisOf(each.dueAt) });
        }
        // Sorting covers all rows, so sorting after each page would be most of the work.
        if (!quietly && rows.length > sorted * 1.5) {
          sorted = rows.length;
          sort();
          render();
        }
        if (!quietly) {
          text(count, `${number(rows.length)} and more …`);
        }
      }
      Object.assign(state, { rows, capped, complete: true, error: null });
      sort();
    } catch (e) {
      if (now.aborted) {
        return;
      }
      if (!quietly) {
        state.error = e;
      }
    }
    render();
  }

  function render() {
    indexes.clear();
    state.rows.forEach(({ timer }, i) => indexes.set(keyOf(timer), i));
    table.setAttribute("aria-rowcount", state.rows.length + 1);
    const finished = state.complete || state.error;
    text(count, !finished ? "Loading …" : state.capped ? `The first ${number(MOST)} by ID: narrow the filter to see others` : plural(state.rows.length, "timer"));
    box.hidden = finished && state.rows.length === 0;
    head.hidden = state.rows.length === 0;
    order.hidden = state.rows.length === 0;
    renewOrder();
    list.show(state.rows.length);
    put(none, state.error ? failure(state.error, () => load()) : finished && state.rows.length === 0 && nothing());
    renewSelection();
  }

  function nothing() {
    const filtered = Object.keys(filterOf(query())).length > 0;
    return filtered
      ? empty("No timer matches", h("p", {}, "Finished timers are shown only when their state is chosen. They are retained for a day."),
        h("a", { class: "button", href: link(["timers"], { ns: query().get("ns") ?? "" }) }, "Clear filters"))
      : empty("No timers wait", h("p", {}, "Create the first timer here, or with this command. It fires after half a minute."), firstTimer(), newTimerLink());
  }

  function row(index) {
    const { timer } = state.rows[index];
    const several = !query().get("ns");
    const key = keyOf(timer);
    const most = timer.retry?.maxAttempts;
    const checkbox = h("input", { type: "checkbox", checked: selected.has(key), "aria-label": `Select ${timer.id}`,
      onclick: (event) => selectRow(index, checkbox.checked, event.shiftKey) });
    const cell = (column, ...content) => h("span", { role: "cell", class: `cell-${column}` }, content);
    return h("div", { role: "row", class: `row${index === state.active ? " active" : ""}`, "aria-rowindex": index + 2, onclick: (event) => {
      if (!event.target.closest("a, .cell-select") && getSelection().isCollapsed) {
        go(link(["timer", timer.namespace, timer.id]));
      }
    } },
      cell("select", checkbox),
      cell("id", h("a", { href: link(["timer", timer.namespace, timer.id]) }, name(timer.id)), several && name(timer.namespace, "muted small")),
      cell("state", badge(timer.state)),
      cell("due",
        h("time", { datetime: timer.dueAt, title: timer.dueAt }, moment(state.rows[index].due, live.now())), " ",
        h("span", { class: "muted small ago", "data-at": timer.dueAt }, relative(state.rows[index].due, live.now()))),
      cell("attempts", timer.attempt > 0 ? (most ? `${timer.attempt} of ${most}` : timer.attempt) : h("span", { class: "muted" }, "0")),
      cell("target", name(targetOf(timer), "muted")),
      cell("error", errorOf(timer) && name(errorOf(timer), "error-text")),
      cell("created", h("span", { class: "muted" }, moment(state.rows[index].created, live.now()))));
  }

  function activate(index) {
    if (state.rows.length === 0) {
      return;
    }
    const before = state.active;
    state.active = Math.max(0, Math.min(state.rows.length - 1, index));
    list.reveal(state.active);
    list.element(before)?.classList.remove("active");
    const element = list.element(state.active);
    element?.classList.add("active");
    element?.querySelector("a").focus({ preventScroll: true });
  }

  // Selection

  /** With the shift key, selects all rows since the previous selection. */
  function selectRow(index, on, shift) {
    const from = shift && lastSelected >= 0 ? Math.min(lastSelected, index) : index;
    const to = shift && lastSelected >= 0 ? Math.max(lastSelected, index) : index;
    for (let i = from; i <= to && i < state.rows.length; i++) {
      const key = keyOf(state.rows[i].timer);
      if (on) {
        selected.add(key);
      } else {
        selected.delete(key);
      }
      const box = list.element(i)?.querySelector("input");
      if (box) {
        box.checked = on;
      }
    }
    lastSelected = index;
    renewSelection();
  }

  function selectAll() {
    const on = everything.checked;
    selected.clear();
    if (on) {
      state.rows.forEach(({ timer }) => selected.add(keyOf(timer)));
    }
    for (const box of body.querySelectorAll("input")) {
      box.checked = on;
    }
    renewSelection();
  }

  function renewSelection() {
    everything.checked = state.rows.length > 0 && selected.size === state.rows.length;
    everything.indeterminate = selected.size > 0 && selected.size < state.rows.length;
    actions.renew();
  }

  // Keys and events

  document.addEventListener("keydown", (event) => {
    const by = { j: 1, k: -1, x: 0 }[event.key];
    if (by === undefined || !isSingleKey(event, "input:not([type=checkbox]), select, textarea, dialog")) {
      return;
    }
    event.preventDefault();
    if (by !== 0) {
      activate(state.active + by);
    } else if (state.active >= 0) {
      selectRow(state.active, !selected.has(keyOf(state.rows[state.active].timer)), event.shiftKey);
    }
  }, { signal });

  live.eachSecond(() => {
    for (const each of body.querySelectorAll(".ago")) {
      text(each, relative(millisOf(each.dataset.at), live.now()));
    }
  }, signal);
  const reload = live.oneAtATime(() => load(true)); // a list may load longer than this interval
  live.everySeconds(RELOAD_SECONDS, () => changes.size > 0 && isCalm() && reload(), signal);
  live.on("timer", (event) => {
    const key = keyOf(event);
    const index = indexes.get(key);
    const { prefix = "", state: states } = filterOf(query());
    const fits = event.id.startsWith(prefix) && (!states || states === "all" || states.split(",").includes(event.state));
    if ((index !== undefined || fits) && ["created", "replaced", "moved"].includes(event.change)) {
      changes.add(key);
      renewNews();
    } else if (index !== undefined && event.state && state.rows[index].timer.state !== event.state) {
      state.rows[index].timer.state = event.state;
      list.renew(index);
      if (selected.has(key)) {
        actions.renew();
      }
    }
  }, signal);
  live.on("dropped", () => {
    changes.add("");
    renewNews();
  }, signal);

  /** Whether the list may change while the user looks at it. */
  function isCalm() {
    return state.complete && state.rows.length <= RELOADED && selected.size === 0 && state.active < 0 && box.scrollTop === 0
      && !document.querySelector("dialog");
  }

  function renewNews() {
    news.hidden = isCalm();
    text(news, changes.has("") ? "Show changes" : `Show ${plural(changes.size, "changed timer")}`);
  }

  load();
}

function keyOf({ namespace, id }) {
  return `${namespace.length}:${namespace}${id}`;
}

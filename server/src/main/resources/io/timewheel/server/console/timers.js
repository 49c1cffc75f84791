// SPDX-License-Identifier: Apache-2.0
// The list of timers: filters that are kept in the address, newest first, and actions on all that match.

import * as api from "./api.js";
import { bulk } from "./bulk.js";
import { h, icon, name, put, text } from "./dom.js";
import { STATE_NAMES, instantOf, millisOf, moment, number, plural, relative, stateLabel } from "./format.js";
import * as live from "./live.js";
import { badge, empty, failure, firstTimer, heading, newTimerLink } from "./parts.js";
import { go, link, replaceQuery } from "./router.js";
import { VirtualList } from "./virtual-list.js";

/** More than this many are not fetched: whoever has more narrows the filter. */
const MOST = 100_000;
const PAGE = 2_000;
const ROW_HEIGHT = 44;
const NARROW_ROW_HEIGHT = 66;
const narrow = matchMedia("(max-width: 720px)");

export const title = () => "Timers";

/** What the server is asked for, from the address: "" and missing are left out. */
export function filterOf(query) {
  const filter = {};
  const fields = { prefix: "prefix", state: "state", from: "dueFrom", to: "dueTo" };
  for (const [from, to] of Object.entries(fields)) {
    if (query.get(from)) {
      filter[to] = query.get(from);
    }
  }
  return filter;
}

/** Newest first; of the same moment, by id. */
export function newestFirst(a, b) {
  return b.created - a.created || (a.timer.id < b.timer.id ? -1 : 1);
}

export function show(main, route, signal) {
  const state = { rows: [], active: -1, complete: false, error: null, capped: false };
  const indexes = new Map();
  let loading = new AbortController();
  signal.addEventListener("abort", () => loading.abort());

  const count = h("span", { class: "count", "aria-live": "polite" });
  const news = h("button", { class: "news button small", hidden: true, onclick: () => load() });
  const actions = bulk(
    () => ({ namespace: onlyNamespace(), filter: filterOf(query()), count: state.rows.length, complete: state.complete && !state.capped }),
    () => load());
  const body = h("div", { class: "rows", role: "rowgroup" });
  const head = h("div", { role: "rowgroup", class: "rows-head" }, h("div", { role: "row", class: "row head" },
    ["Timer", "State", "Due", "Target", "Created"].map((label) => h("span", { role: "columnheader" }, label))));
  const table = h("div", { class: "table", role: "table", "aria-label": "Timers" }, head, body);
  const box = h("div", { class: "list", tabindex: "0", role: "region", "aria-label": "List of timers" }, table);
  const none = h("div", {});
  const list = new VirtualList(box, body, () => (narrow.matches ? NARROW_ROW_HEIGHT : ROW_HEIGHT), row, signal);
  narrow.addEventListener("change", () => list.refresh(), { signal });

  put(main, h("div", { class: "timers" },
    heading("Timers", newTimerLink()),
    filters(route.query, changed, () => load().then(() => activate(0))),
    h("div", { class: "list-head" }, count, news, actions.element),
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

  async function load() {
    loading.abort();
    loading = new AbortController();
    const { signal: now } = loading;
    Object.assign(state, { rows: [], active: -1, complete: false, error: null, capped: false });
    news.hidden = true;
    box.scrollTop = 0;
    render();
    try {
      const chosen = query().get("ns");
      namespaces = chosen ? [chosen] : await api.namespaces(now);
      let sorted = 0;
      for await (const timers of pages(namespaces, filterOf(query()), now)) {
        if (state.rows.length >= MOST && timers.length > 0) {
          state.capped = true;
          break;
        }
        for (const each of timers) {
          state.rows.push({ timer: each, created: millisOf(each.createdAt) });
        }
        // Each sort is of all: one for each page would be most of the work.
        if (state.rows.length > sorted * 1.5) {
          sorted = state.rows.length;
          state.rows.sort(newestFirst);
          render();
        }
        text(count, `${number(state.rows.length)} and more …`);
      }
      state.rows.sort(newestFirst);
      state.complete = true;
    } catch (e) {
      if (now.aborted) {
        return;
      }
      state.error = e;
    }
    render();
  }

  function render() {
    indexes.clear();
    state.rows.forEach(({ timer }, i) => indexes.set(keyOf(timer), i));
    table.setAttribute("aria-rowcount", state.rows.length + 1);
    const finished = state.complete || state.error;
    text(count, !finished ? "Loading …" : state.capped ? `The first ${number(MOST)}: narrow the filter to see the others` : plural(state.rows.length, "timer"));
    box.hidden = finished && state.rows.length === 0;
    head.hidden = state.rows.length === 0;
    list.show(state.rows.length);
    put(none, state.error ? failure(state.error, load) : finished && state.rows.length === 0 && nothing());
    actions.renew();
  }

  function nothing() {
    const filtered = Object.keys(filterOf(query())).length > 0;
    return filtered
      ? empty("No timer matches", h("p", {}, "Finished ones are shown only when their state is chosen; they are remembered for a day."),
        h("a", { class: "button", href: link(["timers"], { ns: query().get("ns") ?? "" }) }, "Clear the filters"))
      : empty("No timers wait", h("p", {}, "Make the first one here, or with this command. It fires half a minute later."), firstTimer(), newTimerLink());
  }

  function row(index) {
    const { timer } = state.rows[index];
    const target = timer.target?.queue ?? timer.target?.url ?? timer.target?.handler ?? "";
    const several = !query().get("ns");
    return h("div", { role: "row", class: `row${index === state.active ? " active" : ""}`, "aria-rowindex": index + 2, onclick: (event) => {
      if (!event.target.closest("a") && getSelection().isCollapsed) {
        go(link(["timer", timer.namespace, timer.id]));
      }
    } },
      h("span", { role: "cell", class: "cell-id" },
        h("a", { href: link(["timer", timer.namespace, timer.id]) }, name(timer.id)),
        several && name(timer.namespace, "muted small")),
      h("span", { role: "cell", class: "cell-state" }, badge(timer.state)),
      h("span", { role: "cell", class: "cell-due" },
        h("time", { datetime: timer.dueAt, title: timer.dueAt }, moment(millisOf(timer.dueAt), live.now())), " ",
        h("span", { class: "muted small ago", "data-at": timer.dueAt }, relative(millisOf(timer.dueAt), live.now()))),
      h("span", { role: "cell", class: "cell-target" }, timer.lastError && ["failed", "retrying", "blocked"].includes(timer.state)
        ? name(timer.lastError, "error-text") : name(target, "muted")),
      h("span", { role: "cell", class: "cell-created muted" }, moment(state.rows[index].created, live.now())));
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

  document.addEventListener("keydown", (event) => {
    const by = { j: 1, k: -1 }[event.key];
    if (by && !event.target.closest("input, select, textarea, dialog") && !event.ctrlKey && !event.metaKey && !event.altKey
        && localStorage.getItem("timewheel.keys") !== "off") {
      event.preventDefault();
      activate(state.active + by);
    }
  }, { signal });

  live.eachSecond(() => {
    for (const each of body.querySelectorAll(".ago")) {
      text(each, relative(millisOf(each.dataset.at), live.now()));
    }
  }, signal);
  live.on("timer", (event) => {
    const index = indexes.get(keyOf(event));
    const matches = index !== undefined || event.id.startsWith(query().get("prefix") ?? "");
    if (matches && ["created", "replaced", "moved"].includes(event.change)) {
      stale();
    } else if (index !== undefined && event.state && state.rows[index].timer.state !== event.state) {
      state.rows[index].timer.state = event.state;
      list.renew(index);
    }
  }, signal);
  live.on("dropped", () => stale(), signal);

  function stale() {
    news.hidden = false;
    text(news, "There is news: show it");
  }

  load();
}

function keyOf({ namespace, id }) {
  return `${namespace.length}:${namespace}${id}`;
}

/** The pages of all namespaces, one after the other. */
async function* pages(namespaces, filter, signal) {
  for (const namespace of namespaces) {
    let pageToken = "";
    do {
      const page = await api.get(api.namespacePath(namespace, "/timers"), { ...filter, pageSize: PAGE, pageToken }, signal);
      yield page.timers;
      pageToken = page.nextPageToken ?? "";
    } while (pageToken);
  }
}

/** The controls above the list; Enter in the search goes to the first timer found. */
function filters(query, changed, enter) {
  const search = h("input", { id: "search", type: "search", placeholder: "Id begins with …", autocomplete: "off", spellcheck: "false",
    value: query.get("prefix") ?? "", "aria-label": "Id begins with", "aria-keyshortcuts": "/" });
  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => changed({ prefix: search.value }), 250);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      clearTimeout(waiting);
      replaceQuery({ prefix: search.value });
      enter();
    }
  });
  const given = query.get("state") ?? "";
  const options = [["", "Unfinished"], ...STATE_NAMES.map((s) => [s, stateLabel(s)]), ["all", "Every state"]];
  if (!options.some(([value]) => value === given)) {
    options.push([given, given.split(",").map(stateLabel).join(", ")]);
  }
  const states = h("select", { "aria-label": "State", onchange: () => changed({ state: states.value }) },
    options.map(([value, label]) => h("option", { value }, label)));
  states.value = given;
  const from = moments("Due from", query.get("from"), (value) => changed({ from: value }));
  const to = moments("until", query.get("to"), (value) => changed({ to: value }));
  return h("form", { class: "filters", role: "search", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    h("span", { class: "search" }, icon("search"), search), states,
    h("span", { class: "span" }, from, to));
}

/** A field for a moment of local time. Until it is changed, the exact moment of the address holds. */
function moments(label, instant, changed) {
  const millis = instant ? millisOf(instant) : NaN;
  const input = h("input", { type: "datetime-local", step: "1", value: Number.isNaN(millis) ? "" : localInput(millis),
    onchange: () => changed(input.value ? instantOf(new Date(input.value).getTime()) : "") });
  return h("label", {}, h("span", {}, label), input);
}

/** The value of a field for a moment of local time. */
export function localInput(millis) {
  const local = new Date(millis - new Date(millis).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

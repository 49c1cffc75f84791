// SPDX-License-Identifier: Apache-2.0
// The frame around the pages: navigation, the state of the connection, keys, the token.

import * as api from "./api.js";
import { ask, labelled } from "./dialog.js";
import { announce, h, icon, put, text } from "./dom.js";
import { showZone, zoneName } from "./format.js";
import { isSingleKey, keysOn, setKeysOn } from "./keys.js";
import * as live from "./live.js";
import { go, link, parse } from "./router.js";
import { local } from "./storage.js";
import * as cluster from "./cluster.js";
import * as edit from "./edit.js";
import * as now from "./now.js";
import * as queues from "./queues.js";
import * as timer from "./timer.js";
import * as timers from "./timers.js";
import * as wheel from "./wheel.js";

/** The pages by the first part of the path. Each has a title, and show(main, route, signal). */
const PAGES = { "": now, wheel, timers, timer, new: edit, edit, queues, cluster };
const NAVIGATION = [
  ["", "Now", "now"],
  ["wheel", "Wheel", "wheel"],
  ["timers", "Timers", "timers"],
  ["queues", "Queues", "queues"],
  ["cluster", "Cluster", "cluster"], // hidden if the store is embedded
];
const CLUSTER = NAVIGATION.length - 1;
const KEYS = [
  ["1 2 3 4", "Now, Wheel, Timers, Queues"],
  ["5", "Cluster, if nodes share a store"],
  ["/", "Search timers; Enter selects the first result"],
  ["n", "Create timer"],
  ["p", "Pause or resume live updates"],
  ["u", "Show times in UTC or local time"],
  ["t", "Theme: light, dark or system"],
  ["j k", "Next, previous timer in the list"],
  ["Enter", "Open the timer"],
  ["e r", "On a timer: edit timer, run timer now"],
  ["← → ↑ ↓", "On the wheel: another slot, another ring"],
  ["Escape", "Close the dialog, or the slot"],
  ["?", "Show the keyboard shortcuts"],
];

const main = document.getElementById("main");
let page = new AbortController();
let shown; // the namespace of the live events

// Pages

function open() {
  const route = parse(location.hash);
  const made = PAGES[route.path[0]];
  declined = false;
  page.abort();
  page = new AbortController();
  put(main);
  window.scrollTo(0, 0);
  const namespace = route.query.get("ns") ?? (["timer", "edit"].includes(route.path[0]) ? route.path[1] : "");
  if (namespace !== shown) {
    shown = namespace;
    live.connect(namespace);
  }
  renewNavigation(route);
  if (made) {
    document.title = `${made.title(route)} · Timewheel`;
    made.show(main, route, page.signal);
  } else {
    document.title = "Not found · Timewheel";
    put(main, h("h1", { tabindex: "-1" }, "There is no such page"), h("p", {}, h("a", { href: "#/" }, "To the overview")));
  }
  if (opened) {
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
  opened = true;
}

let opened = false;

// The top

const links = NAVIGATION.map(([path, label, sign]) =>
  h("a", { class: "tab" }, icon(sign), h("span", {}, label)));
links[CLUSTER].hidden = true;
const namespaces = h("select", {
  id: "namespace",
  "aria-label": "Namespace",
  onchange: () => chooseNamespace(namespaces.value),
});
const stateDot = h("span", { class: "dot" });
const stateLabel = h("span", {}, "Connecting");
const pauseButton = h(
  "button", { class: "live", onclick: live.togglePause, title: "Pause or resume live updates (p)" }, stateDot, stateLabel);
const zoneButton = h("button", { class: "quiet", onclick: toggleZone });
const themeButton = h(
  "button", { class: "quiet", onclick: toggleTheme, title: "Theme: light, dark or system (t)" }, icon("theme"));
const helpButton = h(
  "button", { class: "quiet", onclick: help, "aria-label": "Keys", title: "Keys (?)" }, icon("help"));

put(
  document.getElementById("top"),
  h("a", { class: "brand", href: "#/", "aria-label": "Timewheel" },
    h("img", { src: "console/icon.svg", alt: "", width: 20, height: 20 }), h("span", {}, "Timewheel")),
  h("nav", { "aria-label": "Pages" }, links),
  h("div", { class: "tools" }, namespaces, pauseButton, zoneButton, themeButton, helpButton),
);

function renewNavigation(route) {
  const at = { timer: "timers", new: "timers", edit: "timers" }[route.path[0]] ?? route.path[0];
  const namespace = route.query.get("ns") ?? (["timer", "edit"].includes(route.path[0]) ? "" : undefined);
  NAVIGATION.forEach(([path], i) => {
    links[i].href = link([path], { ns: path === "cluster" ? "" : namespace });
    if (path === at) {
      links[i].setAttribute("aria-current", "page");
    } else {
      links[i].removeAttribute("aria-current");
    }
  });
  showNamespaces(route.query.get("ns") ?? "");
  namespaces.hidden = !["", "wheel", "timers", "queues"].includes(route.path[0]);
}

let knownNamespaces = [];

function showNamespaces(chosen) {
  const all = chosen && !knownNamespaces.includes(chosen) ? [...knownNamespaces, chosen] : knownNamespaces;
  const options = [["", "All namespaces"], ...all.map((n) => [n, n])];
  if (options.length !== namespaces.options.length || options.some(([v], i) => namespaces.options[i].value !== v)) {
    put(namespaces, options.map(([value, label]) => h("option", { value }, label)));
  }
  namespaces.value = chosen;
}

async function loadNamespaces() {
  try {
    knownNamespaces = await api.namespaces();
    showNamespaces(parse(location.hash).query.get("ns") ?? "");
  } catch {
    // The page shows the problem.
  }
}

/** Shows the tab only if nodes share the store. */
async function loadCluster() {
  try {
    links[CLUSTER].hidden = !(await api.get("/v1/cluster")).shared;
  } catch {
    // The page shows the problem.
  }
}

function chooseNamespace(namespace) {
  const route = parse(location.hash);
  go(link(route.path, { ...Object.fromEntries(route.query), ns: namespace }));
}

// Live

const STATES = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting", paused: "Paused" };

const ANNOUNCED = { live: "Live", reconnecting: "Connection lost; reconnecting", paused: "Paused" };
let announced = "live";

live.on("state", (state) => {
  pauseButton.dataset.state = state;
  pauseButton.setAttribute("aria-pressed", state === "paused");
  text(stateLabel, STATES[state]);
  // Each page connects, so connections are not announced.
  if (ANNOUNCED[state] && state !== announced) {
    announced = state;
    announce(ANNOUNCED[state]);
  }
  if (state === "live") {
    loadNamespaces();
    loadCluster();
  }
});
live.on("cluster", ({ shared }) => (links[CLUSTER].hidden = !shared));

// Zone, theme, help, token

const THEMES = ["system", "light", "dark"];

function toggleTheme() {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "system") + 1) % THEMES.length];
  if (next === "system") {
    delete root.dataset.theme;
  } else {
    root.dataset.theme = next;
  }
  local.setItem("timewheel.theme", next);
  renewButtons();
  announce(themeButton.getAttribute("aria-label"));
}

function toggleZone() {
  const next = zoneName() === "UTC" && local.getItem("timewheel.zone") === "UTC" ? "local" : "UTC";
  local.setItem("timewheel.zone", next);
  showZone(next);
  renewButtons();
  open();
}

function renewButtons() {
  const utc = local.getItem("timewheel.zone") === "UTC";
  put(zoneButton, utc ? "UTC" : "Local");
  zoneButton.title = `Times are shown in ${zoneName()} (u)`;
  zoneButton.setAttribute("aria-label", `${utc ? "UTC" : "Local"}: times are shown in ${zoneName()}`);
  const theme = document.documentElement.dataset.theme ?? "system";
  themeButton.setAttribute("aria-label", `Colours: ${{ system: "system", light: "light", dark: "dark" }[theme]}`);
}

function help() {
  const onOff = h("input", { type: "checkbox", checked: keysOn(), onchange: () => setKeysOn(onOff.checked) });
  ask({
    title: "Keys",
    body: [
      h("dl", { class: "keys" }, KEYS.map(([keys, meaning]) => h("div", {},
        h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, meaning)))),
      h("label", { class: "check" }, onOff, "Use single-key shortcuts"),
    ],
    close: "Close",
  });
}

let asking = false;
/** True after the user closed the token dialog, until the next click or page. */
let declined = false;

document.addEventListener("click", () => (declined = false), { capture: true });

api.onUnauthorized(async () => {
  if (asking || declined) {
    return;
  }
  asking = true;
  const input = h("input", { type: "password", autocomplete: "off", required: true, "data-first": true });
  const given = await ask({
    title: "This server requires a token",
    body: [
      api.token() && h("p", {}, "The server refused the last token."),
      labelled("Token", input, "The browser keeps the token only in this tab, until you close it."),
    ],
    action: { label: "Use token", run: () => api.setToken(input.value.trim()) },
  });
  asking = false;
  declined = !given;
  if (given) {
    live.connect();
    open();
  }
});

// Keys

const ACTIONS = {
  "?": help,
  p: live.togglePause,
  t: toggleTheme,
  u: toggleZone,
  n: () => go("#/new"),
  "/": () => {
    const search = document.getElementById("search");
    if (search) {
      search.focus();
    } else {
      go(link(["timers"], { ns: shown, focus: "search" }));
    }
  },
  ...Object.fromEntries(NAVIGATION.map((_, i) => [String(i + 1), () => links[i].hidden || go(links[i].getAttribute("href"))])),
};

document.addEventListener("keydown", (event) => {
  const action = ACTIONS[event.key];
  if (action && isSingleKey(event) && !event.defaultPrevented) {
    event.preventDefault();
    action();
  }
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment is the page's
  main.focus();
});
window.addEventListener("hashchange", open);
showZone(local.getItem("timewheel.zone") === "UTC" ? "UTC" : "local");
renewButtons();
loadNamespaces();
open();

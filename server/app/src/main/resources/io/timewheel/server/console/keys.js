// SPDX-License-Identifier: Apache-2.0
// Single-key shortcuts. The user can disable them, because a screen reader may use the same keys.

import { local } from "./storage.js";

const SETTING = "timewheel.keys";

export function keysOn() {
  return local.getItem(SETTING) !== "off";
}

export function setKeysOn(on) {
  local.setItem(SETTING, on ? "on" : "off");
}

/** Whether an event is a single key, without a modifier and outside the fields that take it. */
export function isSingleKey(event, fields = "input, textarea, select, dialog") {
  return keysOn() && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest?.(fields);
}

// SPDX-License-Identifier: Apache-2.0
// The verbs that each state allows, the most likely one first. The server decides.

export const VERBS = {
  scheduled: ["run", "pause", "move", "edit", "cancel"],
  ready: ["pause", "edit", "cancel"],
  running: ["edit", "cancel"],
  retrying: ["run", "pause", "move", "edit", "cancel"],
  failed: ["retry", "edit", "cancel"],
  blocked: ["retry", "edit", "cancel"],
  paused: ["resume", "edit", "cancel"],
  completed: ["edit"],
  cancelled: ["edit"],
};

/** The verbs for many timers. */
export const BULK = {
  retry: { label: "Retry", done: "retried", one: "It fires at once, with attempts counted from one.", many: "They fire at once, with attempts counted from one." },
  resume: { label: "Resume", done: "resumed", one: "If it is overdue, it fires at once.", many: "Overdue timers fire at once." },
  pause: { label: "Pause", done: "paused", one: "It does not fire until it is resumed.", many: "None of them fires until it is resumed." },
  cancel: { label: "Cancel", done: "cancelled", one: "It never fires. This cannot be undone.", many: "None of them ever fires. This cannot be undone.", kind: "danger" },
};

/** The bulk verbs that at least one of some states allows, that of the first states first. */
export function verbsFor(states) {
  const all = states.flatMap((state) => VERBS[state] ?? []);
  return Object.keys(BULK).filter((verb) => all.includes(verb));
}

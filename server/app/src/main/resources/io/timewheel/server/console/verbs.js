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
  retry: { label: "Retry", done: "retried", one: "The timer fires at once. Its attempts are counted from one.", many: "The timers fire at once. Their attempts are counted from one." },
  resume: { label: "Resume", done: "resumed", one: "If the timer is overdue, it fires at once.", many: "Overdue timers fire at once." },
  pause: { label: "Pause", done: "paused", one: "The timer does not fire until it is resumed.", many: "The timers do not fire until they are resumed." },
  cancel: { label: "Cancel", done: "cancelled", one: "The timer never fires. This cannot be undone.", many: "The timers never fire. This cannot be undone.", kind: "danger" },
};

/** The bulk verbs that at least one of some states allows, that of the first states first. */
export function verbsFor(states) {
  const all = states.flatMap((state) => VERBS[state] ?? []);
  return Object.keys(BULK).filter((verb) => all.includes(verb));
}

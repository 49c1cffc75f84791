// SPDX-License-Identifier: Apache-2.0
// What the figures mean for the person on call: whether time is kept, and what is wrong with which first step.

import { duration, durationMillis, millisOf, moment, number, plural } from "./format.js";

/** A lag at which a person would call a timer late. */
const LATE = 1000;

/** One sentence of judgement: {level: "good" | "warn" | "bad" | "idle", title, detail}. */
export function verdict(stats) {
  if (stats.storeAvailable === false) {
    return {
      level: "bad",
      title: "The store does not answer",
      detail: "Nothing is acknowledged and no attempt begins until it does. It goes on by itself then.",
    };
  }
  if (stats.overdue > 0) {
    return {
      level: "bad",
      title: "Behind its time",
      detail: `${plural(stats.overdue, "timer")} should have fired more than a second ago.`,
    };
  }
  if ((stats.paused ?? []).includes("*")) {
    return { level: "warn", title: "Everything is paused", detail: "No attempt begins until it is resumed." };
  }
  const lag = stats.lag ?? { count: 0 };
  const p99 = durationMillis(lag.p99 ?? "PT0S");
  const kept =
    lag.count > 0
      ? lag.count === 1
        ? `The one timer that came due within the last hour was on its way within ${duration(p99)}.`
        : `Of ${number(lag.count)} timers that came due within the last hour, half were on their way within ` +
          `${duration(durationMillis(lag.p50))}, 99 % within ${duration(p99)}.`
      : "";
  if (lag.count > 0 && p99 > LATE) {
    return { level: "warn", title: "Late at times", detail: kept };
  }
  const broken = (stats.states?.failed ?? 0) + (stats.states?.blocked ?? 0);
  if (broken > 0) {
    return {
      level: "warn",
      title: `Keeps time, but ${plural(broken, "timer")} ${broken === 1 ? "needs" : "need"} you`,
      detail: kept || "Nothing came due within the last hour.",
    };
  }
  if (lag.count === 0) {
    return { level: "idle", title: "Nothing to do", detail: "Nothing came due within the last hour, and nothing is late." };
  }
  return { level: "good", title: "Keeps time", detail: kept };
}

/** The judgement when the server is silent. */
export function lost(stats) {
  return {
    level: "bad",
    title: "The server does not answer",
    detail: `Whether it keeps time cannot be seen from here. The figures below are of ${moment(millisOf(stats.now))}.`,
  };
}

/** What is wrong, worst first: [{key, level, count, title, meaning, step, state}]; state is what to list, if that helps. */
export function problems(stats) {
  const count = (state) => stats.states?.[state] ?? 0;
  const found = [
    stats.storeAvailable === false && {
      key: "store",
      level: "bad",
      title: "Store unavailable",
      meaning: "The store refuses changes, or does not answer.",
      step: "Look at its disk: space and permissions; or at the database. Nothing needs to be restarted.",
    },
    stats.overdue > 0 && {
      key: "overdue",
      level: "bad",
      count: stats.overdue,
      title: "Overdue",
      meaning: "Their time is past by more than a second, and no attempt has begun.",
      step: overdueStep(stats),
      state: "scheduled,retrying",
      overdue: true,
    },
    count("failed") > 0 && {
      key: "failed",
      level: "bad",
      count: count("failed"),
      title: "Failed",
      meaning: "All their attempts failed. They are kept, with every error, and wait for you.",
      step: "Open one and read its errors. Fix the receiver, then retry them.",
      state: "failed",
    },
    count("blocked") > 0 && {
      key: "blocked",
      level: "warn",
      count: count("blocked"),
      title: "Blocked",
      meaning: "They are due, but nothing here can call their target.",
      step: "Start the server with --webhook-secrets: they go on by themselves within a minute.",
      state: "blocked",
    },
    count("retrying") > 0 && {
      key: "retrying",
      level: "warn",
      count: count("retrying"),
      title: "Retrying",
      meaning: "An attempt failed. The next one comes by itself, after its backoff.",
      step: "If they grow: open one, and see whether its receiver answers.",
      state: "retrying",
    },
    stats.backlog > 0 && {
      key: "backlog",
      level: "warn",
      count: stats.backlog,
      title: "Catching up",
      meaning: "Overdue since a restart or a jump of the clock, and let through at a bounded rate.",
      step: "Wait: what comes meanwhile keeps its time.",
    },
    ...(stats.paused ?? []).map((namespace) => ({
      key: `paused ${namespace}`,
      level: "warn",
      namespace,
      title: namespace === "*" ? "Everything is paused" : "Namespace paused",
      meaning: "No attempt begins; what becomes due waits.",
      step: "Resume it when whoever paused it agrees.",
    })),
    count("paused") > 0 && {
      key: "paused",
      level: "info",
      count: count("paused"),
      title: "Paused",
      meaning: "Somebody paused them. What is overdue among them fires when it is resumed.",
      step: "Nothing, unless they were forgotten: then resume them.",
      state: "paused",
    },
    count("ready") > 0 && {
      key: "ready",
      level: "info",
      count: count("ready"),
      title: "Ready",
      meaning: "They wait in their queues for a consumer.",
      step: "If they grow: see whether the consumers run.",
      state: "ready",
    },
  ];
  return found.filter(Boolean);
}

function overdueStep(stats) {
  if (stats.storeAvailable === false) {
    return "The store first: they fire once it answers.";
  }
  if ((stats.paused ?? []).length > 0) {
    return "A namespace is paused: see below.";
  }
  return stats.waiting > 0
    ? "A handler or receiver is too slow: see what it waits for."
    : "See whether the processor is busy, then the log.";
}

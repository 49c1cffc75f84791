// SPDX-License-Identifier: Apache-2.0
// Evaluates the figures for the person on call: a verdict, and each problem with its first step.

import { MINUTE, duration, durationMillis, millisOf, moment, number, plural } from "./format.js";

/** The lag from which a timer counts as late. */
const LATE = 1000;

/** The wait of a ready timer from which its queue counts as a problem. */
const BEHIND = MINUTE;

/** The number of queues that have their own row under the problems. */
const QUEUES_NAMED = 3;

/** Returns the first text for a count of one, otherwise the second. */
const by = (count, one, many) => (count === 1 ? one : many);

/** The queues whose oldest ready timer has waited too long, longest first. Paused queues wait on purpose. */
export function behind(queues, now) {
  return (queues ?? [])
    .filter((queue) => !queue.paused && queue.oldestReadyAt && now - millisOf(queue.oldestReadyAt) > BEHIND)
    .sort((a, b) => millisOf(a.oldestReadyAt) - millisOf(b.oldestReadyAt));
}

/** The verdict in one sentence: {level: "good" | "warn" | "bad" | "idle", title, detail}. */
export function verdict(stats, queues) {
  if (stats.storeAvailable === false) {
    return {
      level: "bad",
      title: "The store does not answer",
      detail: "No change is committed and no attempt starts until the store answers. No restart is needed.",
    };
  }
  if (stats.overdue > 0) {
    return {
      level: "bad",
      title: "Late",
      detail: `${plural(stats.overdue, "timer")} should have fired more than a second ago.`,
    };
  }
  if ((stats.paused ?? []).includes("*")) {
    return { level: "warn", title: "All timers are paused", detail: "No attempt starts until all timers are resumed." };
  }
  const { lag } = stats;
  const p99 = durationMillis(lag?.p99 ?? "PT0S");
  const kept = !lag
    ? "The lag of this namespace is not measured: too many namespaces are active."
    : lag.count === 0 ? "No timer came due within the last hour, and none is late."
    : lag.count === 1 ? `The one timer of the last hour started within ${duration(p99)} of its time.`
    : `Of ${number(lag.count)} timers of the last hour, half started within ${duration(durationMillis(lag.p50))} of their ` +
      `time, and 99 % within ${duration(p99)}.`;
  if (lag?.count > 0 && p99 > LATE) {
    return { level: "warn", title: "Late at times", detail: kept };
  }
  const broken = (stats.states?.failed ?? 0) + (stats.states?.blocked ?? 0);
  if (broken > 0) {
    return { level: "warn", title: `On time, but ${plural(broken, "timer")} ${by(broken, "needs", "need")} you`, detail: kept };
  }
  const late = behind(queues, millisOf(stats.now));
  if (late.length > 0) {
    const waited = duration(millisOf(stats.now) - millisOf(late[0].oldestReadyAt));
    return {
      level: "warn",
      title: `On time, but ${by(late.length, "a queue is", `${number(late.length)} queues are`)} behind`,
      detail: `A timer of the queue ${late[0].name} has been ready for ${waited}, and no consumer has claimed it.`,
    };
  }
  return lag?.count > 0
    ? { level: "good", title: "On time", detail: kept }
    : { level: "idle", title: "Nothing was due", detail: kept };
}

/** The verdict when the server does not answer. */
export function lost(stats) {
  return {
    level: "bad",
    title: "The server does not answer",
    detail: `It is unknown whether timers fire on time. The figures below are of ${moment(millisOf(stats.now))}.`,
  };
}

/** A row for each of the first queues, and one row for the others. */
function queueRows(queues, rowOf, others) {
  const rest = queues.length - QUEUES_NAMED;
  return rest > 1 ? [...queues.slice(0, QUEUES_NAMED).map(rowOf), { count: rest, page: "queues", ...others }] : queues.map(rowOf);
}

/**
 * The problems, worst first: [{key, level, count, title, meaning, step, state, queue, page}]. A state or a queue names the
 * timers to list, and a page the page to open.
 */
export function problems(stats, queues) {
  const count = (state) => stats.states?.[state] ?? 0;
  const now = millisOf(stats.now);
  const { overdue, backlog } = stats;
  const found = [
    stats.storeAvailable === false && {
      key: "store",
      level: "bad",
      title: "Store unavailable",
      meaning: "The store refuses changes, or does not answer.",
      step: "Check the space and the permissions of its disk, or the database. No restart is needed.",
    },
    overdue > 0 && {
      key: "overdue",
      level: "bad",
      count: overdue,
      title: "Overdue",
      meaning: by(overdue, "Its time passed more than a second ago, and no attempt has started.",
        "Their time passed more than a second ago, and no attempt has started."),
      step: overdueStep(stats),
      state: "scheduled,retrying",
      overdue: true,
    },
    count("failed") > 0 && {
      key: "failed",
      level: "bad",
      count: count("failed"),
      title: "Failed",
      meaning: by(count("failed"), "All its attempts failed. The timer and its errors are retained.",
        "All their attempts failed. The timers and their errors are retained."),
      step: by(count("failed"), "Open the timer and read its errors. Fix the receiver, then retry the timer.",
        "Open a timer and read its errors. Fix the receiver, then retry the timers."),
      state: "failed",
    },
    count("blocked") > 0 && {
      key: "blocked",
      level: "warn",
      count: count("blocked"),
      title: "Blocked",
      meaning: by(count("blocked"), "It is due, but no node can call its target.", "They are due, but no node can call their target."),
      step: by(count("blocked"), "Start the server with --webhook-secrets. The timer continues within a minute.",
        "Start the server with --webhook-secrets. The timers continue within a minute."),
      state: "blocked",
    },
    ...queueRows(behind(queues, now), (queue) => ({
      key: `queue ${queue.namespace} ${queue.name}`,
      level: "warn",
      title: "Queue behind",
      queue,
      meaning: `${plural(queue.ready, "timer")} ${by(queue.ready, "is", "are")} ready. ` +
        `${by(queue.ready, "It", "The oldest")} has waited for ${duration(floor(now - millisOf(queue.oldestReadyAt)))}. ` +
        (queue.waitingClaims > 0 ? "Consumers wait, but claim nothing." : "No consumer waits for a timer."),
      step: "Check whether the consumers of this queue run and acknowledge timers.",
    }), {
      key: "queues",
      level: "warn",
      title: "More queues behind",
      meaning: "Ready timers of each have waited for more than a minute.",
      step: "Check whether the consumers of these queues run.",
    }),
    count("retrying") > 0 && {
      key: "retrying",
      level: "warn",
      count: count("retrying"),
      title: "Retrying",
      meaning: by(count("retrying"), "An attempt failed. The next attempt follows after its backoff.",
        "An attempt of each failed. The next attempt follows after its backoff."),
      step: "If the number grows, open a timer and check whether its receiver answers.",
      state: "retrying",
    },
    backlog > 0 && {
      key: "backlog",
      level: "warn",
      count: backlog,
      title: "Catching up",
      meaning: `Overdue since a restart or a clock jump, in all namespaces of this node. ${by(backlog, "It starts", "They start")} at a limited rate.`,
      step: "Wait: new timers fire on time meanwhile.",
    },
    ...(stats.paused ?? []).map((namespace) => ({
      key: `paused ${namespace}`,
      level: "warn",
      namespace,
      title: namespace === "*" ? "All timers are paused" : "Namespace paused",
      meaning: "No attempt starts. Timers that become due wait.",
      step: namespace === "*"
        ? "Resume all timers in the application that paused them (DurableTimer.resumeAll): the HTTP API has no operation for it."
        : "Resume the namespace on the page Queues when the person who paused it agrees.",
    })),
    ...queueRows((queues ?? []).filter((queue) => queue.paused), (queue) => ({
      key: `paused queue ${queue.namespace} ${queue.name}`,
      level: "info",
      title: "Queue paused",
      queue,
      meaning: `${plural(queue.ready, "timer")} ${by(queue.ready, "is", "are")} ready. No timer is claimed until the queue is resumed.`,
      step: "Resume the queue when the person who paused it agrees.",
    }), {
      key: "paused queues",
      level: "info",
      title: "More queues paused",
      meaning: "No timer of these queues is claimed until they are resumed.",
      step: "Resume a queue when the person who paused it agrees.",
    }),
    count("paused") > 0 && {
      key: "paused",
      level: "info",
      count: count("paused"),
      title: "Paused",
      meaning: by(count("paused"), "Somebody paused the timer. If it is overdue, it fires after it is resumed.",
        "Somebody paused the timers. Overdue timers fire after they are resumed."),
      step: by(count("paused"), "None if the pause is intended. Otherwise resume the timer.",
        "None if the pause is intended. Otherwise resume the timers."),
      state: "paused",
    },
  ];
  return found.filter(Boolean);
}

/** Whole minutes, so that a row is not drawn again each second. */
function floor(millis) {
  return Math.floor(millis / MINUTE) * MINUTE;
}

function overdueStep(stats) {
  if (stats.storeAvailable === false) {
    return "Fix the store first. Overdue timers fire once the store answers.";
  }
  if ((stats.paused ?? []).length > 0) {
    return "A namespace is paused: see below.";
  }
  return stats.waiting > 0
    ? "A handler or a receiver is too slow. Open a timer to see which one."
    : "Check whether the processor is busy, then read the log.";
}

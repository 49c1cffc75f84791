// SPDX-License-Identifier: Apache-2.0
// Describes cron expressions in words. The server decides which expressions are valid. For an expression that this file does not understand, the words are null, and the page shows the expression.

const MONTHS = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September",
  "October", "November", "December",
];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const SECOND = { least: 0, size: 60, names: [] };
const MINUTE = { least: 0, size: 60, names: [] };
const HOUR = { least: 0, size: 24, names: [] };
const DATE = { least: 1, size: 31, names: [] };
const MONTH = { least: 1, size: 12, names: MONTHS.map((m) => m.slice(0, 3).toUpperCase()) };
const WEEKDAY = { least: 0, size: 7, names: WEEKDAYS.map((d) => d.slice(0, 3).toUpperCase()) };

const MACROS = {
  "@YEARLY": "0 0 1 1 *",
  "@ANNUALLY": "0 0 1 1 *",
  "@MONTHLY": "0 0 1 * *",
  "@WEEKLY": "0 0 * * 0",
  "@DAILY": "0 0 * * *",
  "@MIDNIGHT": "0 0 * * *",
  "@HOURLY": "0 * * * *",
};

/** A cron expression in words: "at 09:00, Monday to Friday". Null if it is not understood. */
export function words(expression) {
  const upper = String(expression).trim().toUpperCase();
  const fields = (MACROS[upper] ?? upper).split(/[ \t]+/);
  if (fields.length !== 5 && fields.length !== 6) {
    return null;
  }
  const [second, minute, hour, date, month, weekday] =
    fields.length === 6 ? fields : ["0", ...fields];
  try {
    const days = dayWords(date, weekday);
    const months = field(MONTH, month);
    const times = timeWords(field(SECOND, second), field(MINUTE, minute), field(HOUR, hour));
    const daily = days === "" && isEvery(months) && times.startsWith("at ");
    return [
      daily ? `every day ${times}` : times,
      days,
      isEvery(months) ? "" : `in ${spans(MONTH, months, (n) => MONTHS[n - 1])}`,
    ]
      .filter((part) => part !== "")
      .join(", ");
  } catch (e) {
    if (e instanceof NotUnderstood) {
      return null;
    }
    throw e;
  }
}

class NotUnderstood extends Error {}

/** {values: ascending, every: all of the field, step: of a single star with one, stepped: begins with a star}. */
function field(kind, text) {
  if (text === "?") {
    return field(kind, "*");
  }
  const values = new Set();
  for (const item of text.split(",")) {
    const [range, step = "1"] = item.split("/");
    const by = whole(step);
    let from = kind.least;
    let to = kind.least + kind.size - 1;
    if (range !== "*") {
      const [first, last] = range.split("-");
      from = value(kind, first);
      if (last !== undefined) {
        to = kind === WEEKDAY && last === "SUN" ? 7 : value(kind, last, 1);
      } else if (!item.includes("/")) {
        to = from;
      }
    }
    if (by < 1 || by > kind.size) {
      throw new NotUnderstood();
    }
    for (let i = from; i <= (to < from ? to + kind.size : to); i += by) {
      values.add(kind.least + ((i - kind.least) % kind.size));
    }
  }
  const sorted = [...values].sort((a, b) => a - b);
  const stepped = /^\*\/(\d+)$/.exec(text);
  return { values: sorted, size: kind.size, step: stepped ? Number(stepped[1]) : 0 };
}

function isEvery(parsed) {
  return parsed.values.length === parsed.size;
}

function value(kind, text, more = 0) {
  const named = kind.names.indexOf(text);
  if (named >= 0) {
    return kind.least + named;
  }
  const number = whole(text);
  const most = kind.least + kind.size - 1 + (kind === WEEKDAY ? 1 : 0) * Math.max(more, 1);
  if (number < kind.least || number > most) {
    throw new NotUnderstood();
  }
  return number;
}

function whole(text) {
  if (!/^\d{1,4}$/.test(text ?? "")) {
    throw new NotUnderstood();
  }
  return Number(text);
}

function timeWords(seconds, minutes, hours) {
  const plainSecond = seconds.values.length === 1 && seconds.values[0] === 0;
  if (!plainSecond) {
    return secondWords(seconds, minutes, hours);
  }
  if (isEvery(minutes)) {
    return "every minute" + hoursWords(hours, 59);
  }
  if (isEvery(hours)) {
    if (minutes.step > 1 && 60 % minutes.step === 0) {
      return `every ${minutes.step} minutes`;
    }
    if (minutes.values.length === 1 && minutes.values[0] === 0) {
      return hours.step > 1 ? `every ${hours.step} hours` : "every hour, on the hour";
    }
    return `${list(minutes.values.map(String))} ${
      minutes.values.length === 1 && minutes.values[0] === 1 ? "minute" : "minutes"
    } past every hour`;
  }
  if (hours.step > 1 && 24 % hours.step === 0 && minutes.values.length === 1) {
    const past = minutes.values[0];
    return past === 0
      ? `every ${hours.step} hours, on the hour`
      : `every ${hours.step} hours, at ${past} past`;
  }
  if (minutes.values.length * hours.values.length <= 8) {
    const times = hours.values.flatMap((hour) =>
      minutes.values.map((minute) => `${two(hour)}:${two(minute)}`),
    );
    return `at ${list(times)}`;
  }
  const last = minutes.values[minutes.values.length - 1];
  if (minutes.step > 1 && 60 % minutes.step === 0) {
    return `every ${minutes.step} minutes${hoursWords(hours, last)}`;
  }
  if (minutes.values.length === 1 && minutes.values[0] === 0) {
    return `every hour on the hour${hoursWords(hours, 0)}`;
  }
  return `${list(minutes.values.map(String))} minutes past the hour${hoursWords(hours, last)}`;
}

function secondWords(seconds, minutes, hours) {
  const often = isEvery(seconds)
    ? "every second"
    : seconds.step > 1 && 60 % seconds.step === 0
      ? `every ${seconds.step} seconds`
      : null;
  if (isEvery(minutes) && isEvery(hours)) {
    return often ?? `${list(seconds.values.map(String))} seconds past every minute`;
  }
  if (seconds.values.length * minutes.values.length * hours.values.length <= 8) {
    const times = hours.values.flatMap((hour) =>
      minutes.values.flatMap((minute) =>
        seconds.values.map((second) => `${two(hour)}:${two(minute)}:${two(second)}`),
      ),
    );
    return `at ${list(times)}`;
  }
  const first = often ?? `${list(seconds.values.map(String))} seconds past the minute`;
  const plain = { values: [0], size: 60, step: 0 };
  return `${first}, ${timeWords(plain, minutes, hours)}`;
}

/** ", from 08:00 to 17:45": for hours without a hole; otherwise they are listed. */
function hoursWords(hours, lastMinute) {
  if (isEvery(hours)) {
    return "";
  }
  const { values } = hours;
  const holes = values.filter((hour, i) => i > 0 && hour !== values[i - 1] + 1);
  if (holes.length === 0) {
    return `, from ${two(values[0])}:00 to ${two(values[values.length - 1])}:${two(lastMinute)}`;
  }
  if (holes.length === 1 && values[0] === 0 && values[values.length - 1] === 23) {
    const end = values[values.indexOf(holes[0]) - 1];
    return `, from ${two(holes[0])}:00 to ${two(end)}:${two(lastMinute)}`;
  }
  return `, in the hours ${list(values.map(two))}`;
}

function dayWords(date, weekday) {
  const openDate = date.startsWith("*") || date === "?";
  const openWeekday = weekday.startsWith("*") || weekday === "?";
  const dates = dateWords(date);
  const weekdays = weekdayWords(weekday);
  if (dates === "" || weekdays === "") {
    return dates + weekdays;
  }
  return openDate || openWeekday
    ? `${dates} where that is also ${weekdays.replace(/^on /, "")}`
    : `${dates}, or ${weekdays}`;
}

function dateWords(text) {
  const special = [];
  const plain = [];
  for (const item of text.split(",")) {
    const before = /^L-(\d+)$/.exec(item);
    const near = /^(\d+)W$/.exec(item);
    if (item === "L") {
      special.push("the last day of the month");
    } else if (item === "LW") {
      special.push("the last weekday of the month");
    } else if (before) {
      special.push(`${before[1] === "1" ? "1 day" : `${before[1]} days`} before the last of the month`);
    } else if (near) {
      special.push(`the weekday nearest to the ${ordinal(whole(near[1]))}`);
    } else {
      plain.push(item);
    }
  }
  if (plain.length > 0) {
    const parsed = field(DATE, plain.join(","));
    if (isEvery(parsed) && special.length === 0) {
      return "";
    }
    special.unshift(
      parsed.step > 1
        ? `every ${ordinal(parsed.step)} day from the 1st`
        : `the ${spans(DATE, parsed, ordinal)}${special.length === 0 ? " of the month" : ""}`,
    );
  }
  return `on ${list(special)}`;
}

function weekdayWords(text) {
  const special = [];
  const plain = [];
  for (const item of text.split(",")) {
    const [day, nth] = item.split("#");
    if (nth !== undefined) {
      special.push(`the ${ordinal(whole(nth))} ${WEEKDAYS[value(WEEKDAY, day) % 7]} of the month`);
    } else if (/.L$/.test(item)) {
      special.push(`the last ${WEEKDAYS[value(WEEKDAY, item.slice(0, -1)) % 7]} of the month`);
    } else {
      plain.push(item);
    }
  }
  if (plain.length > 0) {
    const parsed = field(WEEKDAY, plain.join(","));
    if (isEvery(parsed) && special.length === 0) {
      return "";
    }
    const days = spans(WEEKDAY, parsed, (n) => WEEKDAYS[n]);
    if (special.length === 0) {
      return days.includes(" to ") ? days : `on ${days}`;
    }
    special.unshift(days);
  }
  return `on ${list(special)}`;
}

/** Runs of three and more as "from to", going round: Friday to Monday. */
function spans(kind, parsed, label) {
  const { values } = parsed;
  if (values.length === kind.size) {
    return list(values.map(label));
  }
  const has = new Set(values);
  const previous = (n) => (n === kind.least ? kind.least + kind.size - 1 : n - 1);
  const next = (n) => (n === kind.least + kind.size - 1 ? kind.least : n + 1);
  const round = kind === WEEKDAY || kind === MONTH;
  const begins = (n) => !has.has(previous(n)) || (!round && n === kind.least);
  // The week is read from Monday on.
  const order = kind === WEEKDAY ? [...values].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7)) : values;
  const out = [];
  for (const start of order.filter(begins)) {
    let end = start;
    let length = 1;
    while (has.has(next(end)) && (round || next(end) > end)) {
      end = next(end);
      length++;
    }
    if (length >= 3) {
      out.push(`${label(start)} to ${label(end)}`);
    } else {
      out.push(label(start));
      if (length === 2) {
        out.push(label(end));
      }
    }
  }
  return list(out);
}

function list(items) {
  return items.length < 2
    ? items.join("")
    : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

function ordinal(n) {
  const teen = n % 100 >= 11 && n % 100 <= 13;
  return n + (teen ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th"));
}

function two(n) {
  return String(n).padStart(2, "0");
}

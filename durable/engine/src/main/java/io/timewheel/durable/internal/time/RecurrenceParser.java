// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import io.timewheel.durable.model.InvalidArgumentException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Parses the stored form of a {@link Recurrence}. */
final class RecurrenceParser {
  static final String FROM = " from ";
  static final String TIMES = "times";
  static final String UNTIL = "until";

  /** The largest length: that of a cron, the longest zone ID, a jitter, a first time and an end. */
  private static final int MAX_LENGTH = CronParser.MAX_LENGTH + 200;

  private static final int MAX_PARSED = 1_000;

  /** Recurrences by their forms, because each run of a timer needs its recurrence several times. */
  private static final Map<String, Recurrence> PARSED = new ConcurrentHashMap<>();

  private RecurrenceParser() {}

  static Recurrence parse(String text) {
    Recurrence known = PARSED.get(text);
    if (known != null) {
      return known;
    }
    Recurrence recurrence = parseNew(text);
    if (PARSED.size() >= MAX_PARSED) {
      PARSED.clear(); // rare, because many timers have the same form
    }
    PARSED.put(text, recurrence);
    return recurrence;
  }

  private static Recurrence parseNew(String text) {
    if (text.length() > MAX_LENGTH) {
      throw wrong(text, text.length() + " characters; expected at most " + MAX_LENGTH);
    }
    String stripped = text.strip();
    int blank = stripped.indexOf(' ');
    String form = blank < 0 ? stripped : stripped.substring(0, blank);
    String rest = blank < 0 ? "" : stripped.substring(blank + 1).strip();
    if (form.equals("jitter")) {
      return jittered(text, rest.split(" +", 3));
    }
    if (form.equals(TIMES) || form.equals(UNTIL)) {
      return ending(text, stripped.split(" +", 5));
    }
    int from = form.equals("once") ? -1 : rest.lastIndexOf(FROM);
    return from < 0
        ? parse(text, form, rest)
        : parse(text, form, rest.substring(0, from).strip())
            .from(millis(text, rest.substring(from + FROM.length()).strip()));
  }

  private static Recurrence parse(String text, String form, String rest) {
    return switch (form) {
      case "once" -> {
        if (!rest.isEmpty()) {
          throw wrong(text, "expected nothing after once");
        }
        yield Recurrence.once();
      }
      case "every" -> Recurrence.fixedRate(duration(text, rest));
      case "delay" -> Recurrence.fixedDelay(duration(text, rest));
      case "cron" -> {
        int lastBlank = rest.lastIndexOf(' ');
        if (lastBlank < 0) {
          throw wrong(text, "expected the fields of a cron and a zone");
        }
        String problem = "zone %s is not known; expected one like Europe/Berlin";
        ZoneId zone = value(text, rest.substring(lastBlank + 1), ZoneId::of, problem);
        yield Recurrence.cron(Cron.parse(rest.substring(0, lastBlank).strip()), zone);
      }
      default ->
          throw wrong(
              text,
              "unknown form %s; expected once, every, delay, cron, jitter, times or until"
                  .formatted(CronParser.quoted(form)));
    };
  }

  private static Recurrence jittered(String text, String[] parts) {
    if (parts.length < 3) {
      throw wrong(text, "expected two durations and a recurrence after jitter");
    }
    Duration jitter = duration(text, parts[0]);
    long offsetMillis = EpochMillis.ceil(duration(text, parts[1]));
    Recurrence moved = parse(parts[2]);
    long jitterMillis = moved.jitterMillis(jitter);
    if (offsetMillis < 0 || offsetMillis >= jitterMillis) {
      throw wrong(
          text,
          "offset %s is out of range; expected zero or more, and less than %s"
              .formatted(parts[1], parts[0]));
    }
    return new Jittered(moved, jitterMillis, offsetMillis);
  }

  private static Recurrence ending(String text, String[] parts) {
    long times = Recurrence.UNLIMITED;
    long untilMillis = EpochMillis.NEVER;
    int read = 0;
    if (parts[0].equals(TIMES) && parts.length > 2) {
      String problem = "number %s is not valid; expected one like 10";
      times = value(text, parts[1], Long::valueOf, problem);
      read = 2;
    }
    if (parts[read].equals(UNTIL) && parts.length > read + 2) {
      untilMillis = millis(text, parts[read + 1]);
      read += 2;
    }
    if (read == 0) {
      throw wrong(text, "expected a number after times, a time after until, and a recurrence");
    }
    String rest = String.join(" ", Arrays.asList(parts).subList(read, parts.length));
    return parse(rest).ending(untilMillis, times);
  }

  private static Duration duration(String text, String duration) {
    return value(
        text, duration, Duration::parse, "duration %s is not valid; expected one like PT5M");
  }

  private static long millis(String text, String time) {
    String problem = "time %s is not valid; expected one like 2026-05-01T00:00:00Z";
    return EpochMillis.ceil(value(text, time, Instant::parse, problem));
  }

  private static <T> T value(String text, String part, Function<String, T> parse, String problem) {
    try {
      return parse.apply(part);
    } catch (DateTimeException | NumberFormatException e) {
      throw wrong(text, problem.formatted(CronParser.quoted(part)), e);
    }
  }

  private static IllegalArgumentException wrong(String text, String problem) {
    return wrong(text, problem, null);
  }

  private static IllegalArgumentException wrong(
      String text, String problem, @Nullable Throwable cause) {
    return new InvalidArgumentException(
        "recurrence " + CronParser.quoted(text) + ": " + problem, cause);
  }
}

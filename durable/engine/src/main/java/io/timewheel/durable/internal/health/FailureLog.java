// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.durable.model.StackTraces;
import io.timewheel.durable.model.UnreadablePayloadException;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Logs the failed attempts of handlers, and shortens their stack traces for the store. */
public final class FailureLog {
  /** The largest number of lines for the attempts of one handler between two reports. */
  static final int MAX_LINES = 30;

  private static final int MAX_TRACE_LINES = 20;
  private static final int MAX_TRACE_BYTES = 4_096;

  /** The package that calls handlers. */
  private static final String CALLER = "io.timewheel.durable.internal.attempt.";

  /** The beginnings of the names of classes that may be between the engine and a handler. */
  private static final List<String> BETWEEN =
      List.of(
          "io.timewheel.durable.DurableTimerBuilder",
          "io.timewheel.durable.PayloadCodec",
          "io.timewheel.durable.jdbc.",
          "io.timewheel.spring.",
          "org.springframework.",
          "java.",
          "javax.",
          "jdk.",
          "sun.");

  private final OperatorLog log;
  private final StackTraces traces;

  FailureLog(OperatorLog log, StackTraces traces) {
    this.log = log;
    this.traces = traces;
  }

  /**
   * Logs a failed attempt.
   *
   * @param handler the handler, for which the lines are counted
   * @param record the timer, while the attempt is claimed
   * @param error the exception
   * @param text its text
   * @param nextMillis the time of the next attempt; empty if this was the last one
   */
  public void failed(
      Object handler, TimerRecord record, Throwable error, String text, OptionalLong nextMillis) {
    boolean hidden = error instanceof UnreadablePayloadException;
    boolean traced =
        switch (traces) {
          case FIRST_AND_LAST -> record.attempt() == 1 || nextMillis.isEmpty();
          case ALL -> true;
          case NONE -> false;
        };
    StackTraceElement place = place(error);
    String line =
        "attempt %d of %s has failed%s: %s; %s"
            .formatted(
                record.attempt(),
                record.key(),
                place == null ? "" : " at " + shown(place),
                hidden ? error.getClass().getName() : text,
                nextMillis.isEmpty()
                    ? "it was the last one"
                    : "the next one is at " + Instant.ofEpochMilli(nextMillis.getAsLong()));
    String what = "failed attempts of the handler " + record.definition().handler();
    log.add(handler, what, MAX_LINES, line, line, traced && !hidden ? error : null);
  }

  /** Returns a place without the module and the class loader of its class. */
  private static String shown(StackTraceElement at) {
    String line = at.getLineNumber() < 0 ? "" : ":" + at.getLineNumber();
    return "%s.%s(%s%s)".formatted(at.getClassName(), at.getMethodName(), at.getFileName(), line);
  }

  /**
   * Returns the innermost frame in the class of the handler; null if there is none. The class is
   * that of the outermost frame of the application, because the handler itself may be a proxy or a
   * lambda expression.
   */
  static @Nullable StackTraceElement place(Throwable error) {
    StackTraceElement[] frames = error.getStackTrace();
    int count = 0;
    while (count < frames.length && !frames[count].getClassName().startsWith(CALLER)) {
      count++;
    }
    int outermost = count - 1;
    while (outermost >= 0 && isBetween(frames[outermost])) {
      outermost--;
    }
    for (int i = 0; i <= outermost; i++) {
      if (topLevel(frames[i]).equals(topLevel(frames[outermost]))) {
        return frames[i];
      }
    }
    return null;
  }

  private static boolean isBetween(StackTraceElement frame) {
    return BETWEEN.stream().anyMatch(frame.getClassName()::startsWith);
  }

  private static String topLevel(StackTraceElement frame) {
    return frame.getClassName().split("\\$", 2)[0];
  }

  /**
   * Returns the first lines of a stack trace, at most 20 and 4 KB. Returns null for an exception
   * without a stack trace.
   */
  public static @Nullable String trace(Throwable error) {
    if (error.getStackTrace().length == 0) {
      return null;
    }
    StringWriter all = new StringWriter();
    error.printStackTrace(new PrintWriter(all));
    String lines = all.toString().lines().limit(MAX_TRACE_LINES).collect(Collectors.joining("\n"));
    lines = lines.substring(0, Math.min(lines.length(), MAX_TRACE_BYTES));
    while (lines.getBytes(UTF_8).length > MAX_TRACE_BYTES) {
      int surplus = lines.getBytes(UTF_8).length - MAX_TRACE_BYTES;
      lines = lines.substring(0, lines.length() - (surplus + 2) / 3);
    }
    return lines;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A durable timer as it was at one moment. */
public final class TimerInfo {
  /** How a stored recurrence begins if it has a jitter: the limit, then the offset. */
  private static final Pattern JITTER =
      Pattern.compile(
          "^jitter (PT(?=\\d)(?:\\d{1,2}H)?(?:\\d{1,2}M)?(?:\\d{1,2}(?:\\.\\d{1,3})?S)?) \\S+ ");

  private final TimerRecord record;

  TimerInfo(TimerRecord record) {
    this.record = requireNonNull(record, "record");
  }

  /** {@return its identity} */
  public TimerKey key() {
    return record.key();
  }

  /** {@return its version} */
  public long version() {
    return record.version();
  }

  /** {@return what it is doing} */
  public TimerState state() {
    return record.state();
  }

  /** {@return when its present or next run is due} */
  public Instant dueAt() {
    return Instant.ofEpochMilli(record.dueAt());
  }

  /** {@return when it is looked at next; empty if it is not waiting for a time} */
  public Optional<Instant> fireAt() {
    return record.isIndexed()
        ? Optional.of(Instant.ofEpochMilli(record.fireAt()))
        : Optional.empty();
  }

  /** {@return how many attempts of the present run have begun} */
  public int attempt() {
    return record.attempt();
  }

  /** {@return the handler; empty if it is for a queue} */
  public Optional<String> handler() {
    return record.definition().queue()
        ? Optional.empty()
        : Optional.of(record.definition().handler());
  }

  /** {@return the queue; empty if it is for a handler} */
  public Optional<String> queue() {
    return record.definition().queue()
        ? Optional.of(record.definition().handler())
        : Optional.empty();
  }

  /**
   * {@return how it recurs, such as {@code every PT10S}, {@code delay PT1M} or {@code cron 0 9 * *
   * * Europe/Berlin}, without its jitter; empty if it fires once}
   */
  public String recurrence() {
    return JITTER.matcher(record.definition().recurrence()).replaceFirst("");
  }

  /**
   * {@return the limit of the offset by which each run is later, see {@link TimerSpec#jitter};
   * empty if there is none}
   */
  public Optional<Duration> jitter() {
    Matcher stored = JITTER.matcher(record.definition().recurrence());
    return stored.lookingAt() ? Optional.of(Duration.parse(stored.group(1))) : Optional.empty();
  }

  /** {@return what becomes of missed runs} */
  public MissedRuns missed() {
    return record.definition().missed();
  }

  /** {@return how late a run may begin before it counts as missed, as it was asked for} */
  public Duration grace() {
    return Duration.ofMillis(record.definition().graceMillis());
  }

  /** {@return how often a run is attempted} */
  public RetryPolicy retry() {
    return record.definition().retry();
  }

  /** {@return its payload; not copied, and must not be changed} */
  public byte[] payload() {
    return record.definition().payload();
  }

  /** {@return its headers} */
  public Map<String, String> headers() {
    return record.definition().headers();
  }

  /** {@return when this version was scheduled} */
  public Instant createdAt() {
    return Instant.ofEpochMilli(record.createdAt());
  }

  /** {@return when it last changed} */
  public Instant changedAt() {
    return Instant.ofEpochMilli(record.changedAt());
  }

  /** {@return its latest ended attempts, oldest first} */
  public List<Attempt> attempts() {
    return record.attempts();
  }

  /** {@return why the last attempt that failed did, or why the timer is blocked} */
  public Optional<String> lastError() {
    if (record.note() != null) {
      return Optional.of(record.note());
    }
    for (int i = record.attempts().size() - 1; i >= 0; i--) {
      String error = record.attempts().get(i).error();
      if (error != null) {
        return Optional.of(error);
      }
    }
    return Optional.empty();
  }

  /**
   * When a recurring timer runs next, as far as that is known.
   *
   * @param count how many runs at most
   * @return their scheduled times, the present or next one first; none if it is finished
   */
  public List<Instant> next(int count) {
    if (record.state().isFinished() || !record.definition().isRecurring() || count < 1) {
      return List.of();
    }
    return Stream.concat(
            Stream.of(dueAt()),
            TimerSpec.recurrence(record.definition().recurrence())
                .preview(dueAt(), count - 1)
                .stream())
        .toList();
  }

  TimerRecord record() {
    return record;
  }

  @Override
  public String toString() {
    return "TimerInfo(" + key() + " v" + version() + ", " + state() + ", due " + dueAt() + ")";
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A snapshot of a durable timer. Immutable. */
public final class TimerInfo {
  /** The beginning of a stored recurrence: its end, then its jitter with the offset. */
  private static final Pattern PREFIX =
      Pattern.compile(
          "^(?:times (\\d{1,19}) )?(?:until (\\S+) )?(?:jitter"
              + " (PT(?=\\d)(?:\\d{1,2}H)?(?:\\d{1,2}M)?(?:\\d{1,2}(?:\\.\\d{1,3})?S)?) \\S+ )?");

  private final TimerRecord record;
  private final long readAtMillis;

  TimerInfo(TimerRecord record, long readAtMillis) {
    this.record = requireNonNull(record, "record");
    this.readAtMillis = readAtMillis;
  }

  /** {@return its key} */
  public TimerKey key() {
    return record.key();
  }

  /** {@return its version} */
  public long version() {
    return record.version();
  }

  /** {@return its state} */
  public TimerState state() {
    return record.state();
  }

  /**
   * {@return whether the timer of a handler was due and unclaimed when it was read, for example
   * because no concurrency slot was free} Its {@link #state} is still SCHEDULED or RETRYING.
   */
  public boolean isOverdue() {
    Claim former = record.former();
    boolean givenBack = former != null && former.end() == Attempt.End.GIVEN_BACK;
    return !record.definition().queue()
        && (state() == TimerState.SCHEDULED || state() == TimerState.RETRYING)
        && record.scheduledAt() <= readAtMillis
        && (record.fireAt() <= readAtMillis || givenBack);
  }

  /** {@return the due time of its present or next run} */
  public Instant dueAt() {
    return Instant.ofEpochMilli(record.dueAt());
  }

  /**
   * {@return the time at which the scheduler handles it next; empty if it does not wait for a time}
   */
  public Optional<Instant> fireAt() {
    return record.isIndexed()
        ? Optional.of(Instant.ofEpochMilli(record.fireAt()))
        : Optional.empty();
  }

  /** {@return the number of attempts of the present run that have begun} */
  public int attempt() {
    return record.attempt();
  }

  /** {@return the handler; empty for a timer of a queue} */
  public Optional<String> handler() {
    return record.definition().queue()
        ? Optional.empty()
        : Optional.of(record.definition().handler());
  }

  /** {@return the queue; empty for a timer of a handler} */
  public Optional<String> queue() {
    return record.definition().queue()
        ? Optional.of(record.definition().handler())
        : Optional.empty();
  }

  /**
   * {@return the recurrence, such as {@code every PT10S}, {@code delay PT1M} or {@code cron 0 9 * *
   * * Europe/Berlin}, without its jitter and its end; empty if it fires once}
   */
  public String recurrence() {
    return PREFIX.matcher(record.definition().recurrence()).replaceFirst("");
  }

  /**
   * {@return the limit of the offset that delays each run, see {@link TimerSpec#jitter}; empty if
   * there is none}
   */
  public Optional<Duration> jitter() {
    return prefix(3).map(Duration::parse);
  }

  /** {@return the time at which its schedule ends, see {@link TimerSpec#until}; empty if none} */
  public Optional<Instant> until() {
    return prefix(2).map(Instant::parse);
  }

  /** {@return the number of its runs, see {@link TimerSpec#times}; empty if it has no limit} */
  public Optional<Long> times() {
    return prefix(1).map(Long::valueOf);
  }

  private Optional<String> prefix(int group) {
    Matcher stored = PREFIX.matcher(record.definition().recurrence());
    return stored.lookingAt() ? Optional.ofNullable(stored.group(group)) : Optional.empty();
  }

  /** {@return the rule for missed runs} */
  public MissedRuns missed() {
    return record.definition().missed();
  }

  /** {@return the grace: how late a run may begin before it counts as missed} */
  public Duration grace() {
    return Duration.ofMillis(record.definition().graceMillis());
  }

  /** {@return the retry policy} */
  public RetryPolicy retry() {
    return record.definition().retry();
  }

  /** {@return its payload; not copied, so the caller must not change it} */
  public byte[] payload() {
    return record.definition().payload();
  }

  /** {@return its headers} */
  public Map<String, String> headers() {
    return record.definition().headers();
  }

  /** {@return the time at which this version was created} */
  public Instant createdAt() {
    return Instant.ofEpochMilli(record.createdAt());
  }

  /** {@return the time of its last change} */
  public Instant changedAt() {
    return Instant.ofEpochMilli(record.changedAt());
  }

  /** {@return its latest ended attempts, oldest first} */
  public List<Attempt> attempts() {
    return record.attempts();
  }

  /** {@return the error of the last failed attempt, or the reason why the timer is blocked} */
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
   * {@return the first lines of the stack trace of the last failed attempt, at most 20 and 4 KB;
   * empty if it has none}
   */
  public Optional<String> lastTrace() {
    return Optional.ofNullable(record.trace());
  }

  /**
   * Returns the next runs of a timer, as far as they are known.
   *
   * @param count the largest number of runs
   * @return their scheduled times, the present or next one first; none if it is finished
   */
  public List<Instant> next(int count) {
    return record.definition().isRecurring() ? runs(count) : List.of();
  }

  /** Returns the next runs, also for a timer that fires once. */
  List<Instant> runs(int count) {
    Recurrence recurrence = TimerSpec.recurrence(record.definition().recurrence());
    int left = (int) Math.min(count, recurrence.left(record.runs()));
    return record.state().isFinished() || left < 1
        ? List.of()
        : Stream.concat(Stream.of(dueAt()), recurrence.preview(dueAt(), left - 1).stream())
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

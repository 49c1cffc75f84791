// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.Cron;
import io.timewheel.durable.internal.time.Decision;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerDefinition;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Describes a durable timer to schedule. It needs a time ({@link #after}, {@link #at}, {@link
 * #every}, {@link #fixedDelay} or {@link #cron}) and a target ({@link #handler} or {@link #queue}).
 * Not thread-safe. It may be scheduled more than once.
 */
public final class TimerSpec {
  private static final Duration MIN_PERIOD = Duration.ofMillis(100);

  private final TimerKey key;
  private @Nullable Instant at;
  private @Nullable Duration after;
  private @Nullable Recurrence recurrence;
  private @Nullable Duration jitter;
  private @Nullable Instant until;
  private long times = Recurrence.UNLIMITED;
  private @Nullable String handler;
  private @Nullable String queue;
  private byte[] payload = new byte[0];
  private @Nullable Object typedPayload;
  private Map<String, String> headers = Map.of();
  private RetryPolicy retry = RetryPolicy.DEFAULT;
  private @Nullable MissedRuns missed;
  private @Nullable Duration grace;
  private Change.Condition condition = Change.Condition.NONE;
  private long version;
  private boolean evenFinished;
  private long maxPending = Long.MAX_VALUE;
  private @Nullable RequestId request;

  private TimerSpec(TimerKey key) {
    this.key = key;
  }

  /**
   * Creates the description of a timer.
   *
   * @param namespace the namespace; 1 to 256 bytes of UTF-8 without control characters
   * @param id unique within the namespace; the same range
   * @return the description
   */
  public static TimerSpec of(String namespace, String id) {
    return new TimerSpec(Limits.key(namespace, id));
  }

  /**
   * Fires once, after a delay from the call that schedules it.
   *
   * @param delay the delay; zero or less fires at once
   * @return this
   */
  public TimerSpec after(Duration delay) {
    after = requireNonNull(delay, "delay");
    return this;
  }

  /**
   * Fires once at a time, or immediately if the time has passed. For a recurring timer, sets the
   * first run. For a cron, the first run is the first match at or after the time. Runs in the past
   * count as {@linkplain #missed missed}. If a timer is scheduled again with another first time, it
   * is replaced.
   *
   * @param time the time
   * @return this
   */
  public TimerSpec at(Instant time) {
    at = requireNonNull(time, "time");
    return this;
  }

  /**
   * Fires at a fixed rate. The first run is after one period, or at {@link #at} if that is also
   * set.
   *
   * @param period the time from one run to the next, at least 100 ms
   * @return this
   */
  public TimerSpec every(Duration period) {
    return recur(Recurrence.fixedRate(period("period", period)));
  }

  /**
   * Fires with a fixed delay. The first run is after one delay, or at {@link #at} if that is also
   * set.
   *
   * @param delay the time from the end of a run to the next one, at least 100 ms
   * @return this
   */
  public TimerSpec fixedDelay(Duration delay) {
    return recur(Recurrence.fixedDelay(period("delay", delay)));
  }

  /**
   * Fires at the times of a cron expression, and not before {@link #at} if that is also set.
   *
   * @param cron five or six fields
   * @param zone the time zone of the fields
   * @return this
   */
  public TimerSpec cron(String cron, ZoneId zone) {
    return recur(Recurrence.cron(Cron.parse(requireNonNull(cron, "cron")), zone));
  }

  /**
   * Spreads the runs of timers that recur at the same times. Each run of this timer is delayed by
   * the same offset, which is at least zero and shorter than the jitter. The offset depends only on
   * the key and the jitter, so it is the same on each node and after a repeated call. It cannot be
   * combined with {@link #fixedDelay}.
   *
   * @param limit the limit of the offset; more than zero, at most 24 hours, and at most the period
   *     of {@link #every}
   * @return this
   */
  public TimerSpec jitter(Duration limit) {
    jitter = requireNonNull(limit, "limit");
    return this;
  }

  /**
   * Ends the schedule of a recurring timer at a time: no run is scheduled at that time or later.
   * The timer is then completed. It stays completed if it is scheduled again in the same way, for
   * as long as it is retained.
   *
   * @param end the time
   * @return this
   */
  public TimerSpec until(Instant end) {
    until = requireNonNull(end, "end");
    return this;
  }

  /**
   * Ends the schedule of a recurring timer after a number of runs, as {@link #until} ends it at a
   * time. Scheduled runs count when they end, even if all their attempts have failed. Skipped and
   * dropped runs, and runs by hand, do not count. A timer that is purged and scheduled again starts
   * from zero.
   *
   * @param runs the number of runs, at least 1
   * @return this
   */
  public TimerSpec times(long runs) {
    times = Recurrence.checkTimes(runs);
    return this;
  }

  private TimerSpec recur(Recurrence how) {
    if (recurrence != null && recurrence.getClass() != how.getClass()) {
      throw new InvalidArgumentException(
          key + ": " + recurrence + ", and " + how + " (expected: only one of them)");
    }
    recurrence = how;
    return this;
  }

  private static Duration period(String name, Duration period) {
    requireNonNull(period, name);
    if (period.compareTo(MIN_PERIOD) < 0) {
      throw new InvalidArgumentException(
          name + ": " + period + " (expected: at least " + MIN_PERIOD + ")");
    }
    return period;
  }

  /**
   * Sets the handler of the timer.
   *
   * @param name its name
   * @return this
   */
  public TimerSpec handler(String name) {
    handler = Limits.name("handler", name);
    return this;
  }

  /**
   * Sets the queue of the timer, from which consumers claim it.
   *
   * @param name its name, within the namespace
   * @return this
   */
  public TimerSpec queue(String name) {
    queue = Limits.name("queue", name);
    return this;
  }

  /**
   * Sets the payload.
   *
   * @param bytes at most 64 KB; not copied
   * @return this
   */
  public TimerSpec payload(byte[] bytes) {
    payload = Limits.payload(bytes);
    typedPayload = null;
    return this;
  }

  /**
   * Sets the payload as an object, which the codec of the scheduler encodes.
   *
   * @param object the object
   * @return this
   */
  public TimerSpec payload(Object object) {
    typedPayload = requireNonNull(object, "object");
    return this;
  }

  /**
   * Sets short texts that accompany the payload. If the same timer is scheduled again, a different
   * {@code traceparent} does not count as a change.
   *
   * @param texts the headers, at most 8 KB in total
   * @return this
   */
  public TimerSpec headers(Map<String, String> texts) {
    headers = Limits.headers(texts);
    return this;
  }

  /**
   * Sets the retry policy.
   *
   * @param policy the policy
   * @return this
   */
  public TimerSpec retry(RetryPolicy policy) {
    retry = requireNonNull(policy, "policy");
    return this;
  }

  /**
   * Sets the rule for the missed runs of a recurring timer (default: {@link MissedRuns#FIRE_ONCE}).
   *
   * @param rule the rule
   * @return this
   */
  public TimerSpec missed(MissedRuns rule) {
    missed = requireNonNull(rule, "rule");
    return this;
  }

  /**
   * Sets the grace: how late a run may begin before it counts as missed (default: one minute). A
   * timer that fires once is never missed.
   *
   * @param lag the grace; raised to at least one second, and to at least twice the node lease of
   *     the store
   * @return this
   */
  public TimerSpec grace(Duration lag) {
    requireNonNull(lag, "lag");
    if (lag.isNegative()) {
      throw new InvalidArgumentException("grace: " + lag + " (expected: zero or more)");
    }
    grace = lag;
    return this;
  }

  /**
   * Refuses to replace an existing timer.
   *
   * @return this
   */
  public TimerSpec onlyIfAbsent() {
    condition = Change.Condition.ABSENT;
    return this;
  }

  /**
   * Replaces only the given version of an unfinished timer. A timer that has fired or was cancelled
   * is not changed, unless {@link #evenIfFinished} is also set.
   *
   * @param expected the version
   * @return this
   */
  public TimerSpec onlyIfVersion(long expected) {
    if (expected <= 0) {
      throw new InvalidArgumentException(
          "version: " + expected + " (expected: a version from a result)");
    }
    condition = Change.Condition.VERSION;
    version = expected;
    return this;
  }

  /**
   * Counts a retained finished timer as present. Scheduling the same timer again then changes
   * nothing, even if it has fired. {@link #onlyIfAbsent} refuses it, and {@link #onlyIfVersion}
   * fires it again.
   *
   * @return this
   */
  public TimerSpec evenIfFinished() {
    evenFinished = true;
    return this;
  }

  /**
   * Refuses a new timer if its namespace has reached a number of unfinished timers, on all nodes
   * together. On a shared database, commits that run at the same time may exceed the limit by their
   * own timers.
   *
   * @param timers the largest number, including this timer
   * @return this
   */
  public TimerSpec maxPending(long timers) {
    if (timers < 1) {
      throw new IllegalArgumentException("maxPending: " + timers + " (expected: 1 or more)");
    }
    maxPending = timers;
    return this;
  }

  /**
   * Adds a request ID. For {@link RequestId#KEPT_HOURS} hours, a repeated call gets the first
   * answer, even after the timer fired.
   *
   * @param id an id that no other request has
   * @return this
   */
  public TimerSpec requestId(String id) {
    return requestId(RequestId.of(Limits.name("requestId", id)));
  }

  /**
   * Adds a request ID with a digest. A repeated call gets the first answer; a call with the same ID
   * and different content is refused.
   *
   * @param id the id and the digest of the request
   * @return this
   */
  public TimerSpec requestId(RequestId id) {
    request = requireNonNull(id, "id");
    return this;
  }

  /** {@return the identity of the timer} */
  public TimerKey key() {
    return key;
  }

  static Recurrence recurrence(String text) {
    return text.isEmpty() ? Recurrence.once() : Recurrence.parse(text);
  }

  /**
   * Returns the change that schedules the timer. Its due time is {@link EpochMillis#NEVER} if the
   * schedule has no run before its end.
   *
   * @param minGraceMillis the minimum grace, in milliseconds
   */
  Change.Schedule toChange(
      long nowMillis, long minGraceMillis, long maxPendingOfAll, PayloadCodec codec) {
    checkTarget();
    checkMissed();
    Recurrence recurs = recurs();
    TimerDefinition definition =
        new TimerDefinition(
            recurs == null ? "" : recurs.toString(),
            handler != null ? handler : requireNonNull(queue),
            queue != null,
            typedPayload == null ? payload : Limits.payload(codec.encode(typedPayload)),
            headers,
            retry,
            missed == null ? MissedRuns.FIRE_ONCE : missed,
            Math.max(
                minGraceMillis, EpochMillis.ceil(grace == null ? Decision.DEFAULT_GRACE : grace)));
    return new Change.Schedule(
        key,
        definition,
        dueMillis(recurs, definition, nowMillis),
        after != null,
        condition,
        version,
        evenFinished,
        request,
        Math.min(maxPending, maxPendingOfAll),
        nowMillis);
  }

  private @Nullable Recurrence recurs() {
    Recurrence recurs =
        recurrence == null || at == null ? recurrence : recurrence.from(EpochMillis.ceil(at));
    if (jitter != null) {
      recurs = orOnce(recurs).jittered(jitter, Shards.hash(key));
    }
    return until == null && times == Recurrence.UNLIMITED
        ? recurs
        : orOnce(recurs).ending(until == null ? EpochMillis.NEVER : EpochMillis.ceil(until), times);
  }

  private static Recurrence orOnce(@Nullable Recurrence recurs) {
    return recurs == null ? Recurrence.once() : recurs;
  }

  private void checkTarget() {
    if (handler == null && queue == null) {
      throw new InvalidArgumentException(key + ": no target (expected: a handler or a queue)");
    }
    if (handler != null && queue != null) {
      throw new InvalidArgumentException(
          key + ": handler " + handler + " and queue " + queue + " (expected: only one of them)");
    }
  }

  /**
   * Refuses a rule for missed runs on a timer that fires once: such a timer always fires, however
   * late.
   */
  private void checkMissed() {
    if (recurrence == null && missed != null && missed != MissedRuns.FIRE_ONCE) {
      throw new InvalidArgumentException(
          key
              + ": missed "
              + missed
              + " for a timer that fires once (expected: every, fixedDelay or cron)");
    }
  }

  private long dueMillis(@Nullable Recurrence recurs, TimerDefinition definition, long nowMillis) {
    if (after != null) {
      if (at != null || recurs != null) {
        throw new InvalidArgumentException(
            key
                + ": after "
                + after
                + ", and "
                + (at != null ? "at " + at : recurs)
                + " (expected: only one of them)");
      }
      long delayMillis = EpochMillis.ceil(after);
      return delayMillis <= 0
          ? nowMillis
          : checkDue(EpochMillis.saturatedAdd(nowMillis, delayMillis));
    }
    if (at != null) {
      checkDue(EpochMillis.ceil(at));
    }
    if (recurs != null) {
      long firstMillis = recurs.first(nowMillis);
      if (firstMillis == EpochMillis.NEVER && until == null) {
        throw new InvalidArgumentException(key + ": " + recurs + " never comes");
      }
      return Decision.of(
              recurs, definition.missed(), definition.graceMillis(), firstMillis, nowMillis)
          .atMillis();
    }
    if (at == null) {
      throw new InvalidArgumentException(
          key + ": no time (expected: one of after, at, every, fixedDelay, cron)");
    }
    return EpochMillis.ceil(at);
  }

  private long checkDue(long millis) {
    if (millis == EpochMillis.NEVER) {
      throw new InvalidArgumentException(
          key + ": a time beyond the year 292,278,994 (expected: one before it)");
    }
    return millis;
  }

  @Override
  public String toString() {
    return "TimerSpec(" + key + ")";
  }
}

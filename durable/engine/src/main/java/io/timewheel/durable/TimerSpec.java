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
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.TimerDefinition;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is asked for when a durable timer is scheduled. Needs a time ({@link #after}, {@link #at},
 * {@link #every}, {@link #fixedDelay} or {@link #cron}) and a target ({@link #handler} or {@link
 * #queue}). Not thread-safe; may be used again once it was scheduled.
 */
public final class TimerSpec {
  private static final Duration MIN_PERIOD = Duration.ofMillis(100);

  private final TimerKey key;
  private @Nullable Instant at;
  private @Nullable Duration after;
  private @Nullable Recurrence recurrence;
  private @Nullable Duration jitter;
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
   * Begins to describe a timer.
   *
   * @param namespace whose timer it is; 1 to 256 bytes of UTF-8, no control characters
   * @param id unique in the namespace; likewise
   * @return the description
   */
  public static TimerSpec of(String namespace, String id) {
    return new TimerSpec(Limits.key(namespace, id));
  }

  /**
   * Fires once, this long after the call that schedules it.
   *
   * @param delay how long; zero or less is at once
   * @return this
   */
  public TimerSpec after(Duration delay) {
    after = requireNonNull(delay, "delay");
    return this;
  }

  /**
   * Fires once, at this time; at once if it has passed. A timer that recurs runs for the first time
   * then; one with a cron, at the first time of its cron that is not before. First runs that are
   * past were {@linkplain #missed missed}. Another first time is another timer: scheduled again
   * with it, the timer is replaced.
   *
   * @param time when
   * @return this
   */
  public TimerSpec at(Instant time) {
    at = requireNonNull(time, "time");
    return this;
  }

  /**
   * Fires at a fixed rate, for the first time after one period, or at {@link #at} if that is given
   * too.
   *
   * @param period the time from one run to the next, at least 100 ms
   * @return this
   */
  public TimerSpec every(Duration period) {
    return recur(Recurrence.fixedRate(period("period", period)));
  }

  /**
   * Fires with a fixed delay, for the first time after one, or at {@link #at} if that is given too.
   *
   * @param delay the time from the end of a run to the next one, at least 100 ms
   * @return this
   */
  public TimerSpec fixedDelay(Duration delay) {
    return recur(Recurrence.fixedDelay(period("delay", delay)));
  }

  /**
   * Fires by a cron, at no other time; not before {@link #at} if that is given too.
   *
   * @param cron five or six fields
   * @param zone whose local time they are in
   * @return this
   */
  public TimerSpec cron(String cron, ZoneId zone) {
    return recur(Recurrence.cron(Cron.parse(requireNonNull(cron, "cron")), zone));
  }

  /**
   * Spreads the runs of timers that recur at the same times: each run of this timer is later by one
   * offset, which is at least zero and shorter than the jitter. The offset depends on the key and
   * the jitter alone, so it is the same on each node and after a repeated call. Not with {@link
   * #fixedDelay}.
   *
   * @param limit the limit of the offset: over zero, at most 24 hours, and at most the period of
   *     {@link #every}
   * @return this
   */
  public TimerSpec jitter(Duration limit) {
    jitter = requireNonNull(limit, "limit");
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
   * Fires for a handler.
   *
   * @param name its name
   * @return this
   */
  public TimerSpec handler(String name) {
    handler = Limits.name("handler", name);
    return this;
  }

  /**
   * Fires into a queue, from which consumers claim it.
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
   * Sets the payload as an object, which the timer's codec turns into bytes.
   *
   * @param object the object
   * @return this
   */
  public TimerSpec payload(Object object) {
    typedPayload = requireNonNull(object, "object");
    return this;
  }

  /**
   * Sets small texts that go with the payload, such as a {@code traceparent}, which does not count
   * when the same timer is scheduled again.
   *
   * @param texts the headers, 8 KB in all at most
   * @return this
   */
  public TimerSpec headers(Map<String, String> texts) {
    headers = Limits.headers(texts);
    return this;
  }

  /**
   * Sets how often a run is attempted.
   *
   * @param policy the policy
   * @return this
   */
  public TimerSpec retry(RetryPolicy policy) {
    retry = requireNonNull(policy, "policy");
    return this;
  }

  /**
   * Sets what becomes of missed runs of a timer that recurs: one for all, unless told otherwise.
   *
   * @param rule the rule
   * @return this
   */
  public TimerSpec missed(MissedRuns rule) {
    missed = requireNonNull(rule, "rule");
    return this;
  }

  /**
   * Sets how late a run may begin before it counts as missed: a minute, unless told otherwise. A
   * timer that fires once fires all the same.
   *
   * @param lateness how late; less than a second, or than twice the lease of the store's owners, is
   *     taken for that
   * @return this
   */
  public TimerSpec grace(Duration lateness) {
    requireNonNull(lateness, "lateness");
    if (lateness.isNegative()) {
      throw new InvalidArgumentException("grace: " + lateness + " (expected: zero or more)");
    }
    grace = lateness;
    return this;
  }

  /**
   * Refuses to replace a timer.
   *
   * @return this
   */
  public TimerSpec onlyIfAbsent() {
    condition = Change.Condition.ABSENT;
    return this;
  }

  /**
   * Replaces only a certain version of a timer that has not finished: to one that has fired or was
   * cancelled nothing is done, unless {@link #evenIfFinished} is asked for too.
   *
   * @param expected the version
   * @return this
   */
  public TimerSpec onlyIfVersion(long expected) {
    if (expected <= 0) {
      throw new InvalidArgumentException(
          "version: " + expected + " (expected: one that a result has named)");
    }
    condition = Change.Condition.VERSION;
    version = expected;
    return this;
  }

  /**
   * Counts a finished timer that is still remembered as present: the same again is then unchanged,
   * though it has fired, {@link #onlyIfAbsent} refuses, and {@link #onlyIfVersion} has it fire
   * again.
   *
   * @return this
   */
  public TimerSpec evenIfFinished() {
    evenFinished = true;
    return this;
  }

  /**
   * Refuses a new timer while its namespace has so many unfinished ones, on all nodes together.
   * Commits of the same moment on a shared database may exceed the limit once by their timers.
   *
   * @param timers how many there may be, this one included
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
   * Makes a repeated call answer as the first one did, even after the timer fired, for {@link
   * RequestId#KEPT_HOURS} hours.
   *
   * @param id an id that no other request has
   * @return this
   */
  public TimerSpec requestId(String id) {
    return requestId(RequestId.of(Limits.name("requestId", id)));
  }

  /**
   * Makes a repeated call answer as the first one did, and refuses one with another content.
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
   * The change that is asked for.
   *
   * @param minGraceMillis the least grace there is
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
            EpochMillis.ceil(grace == null ? Decision.DEFAULT_GRACE : grace));
    return new Change.Schedule(
        key,
        definition,
        dueMillis(recurs, definition, minGraceMillis, nowMillis),
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
    return jitter == null
        ? recurs
        : (recurs == null ? Recurrence.once() : recurs).jittered(jitter, Shards.hash(key));
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

  /** A timer that fires once is never missed: it always fires, however late. */
  private void checkMissed() {
    if (recurrence == null && missed != null && missed != MissedRuns.FIRE_ONCE) {
      throw new InvalidArgumentException(
          key
              + ": missed "
              + missed
              + " for a timer that fires once (expected: every, fixedDelay or cron)");
    }
  }

  private long dueMillis(
      @Nullable Recurrence recurs,
      TimerDefinition definition,
      long minGraceMillis,
      long nowMillis) {
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
      if (firstMillis == EpochMillis.NEVER) {
        throw new InvalidArgumentException(key + ": " + recurs + " never comes");
      }
      long graceMillis = Math.max(minGraceMillis, definition.graceMillis());
      return Decision.of(recurs, definition.missed(), graceMillis, firstMillis, nowMillis)
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

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The content of a timer as it was scheduled, except its time. Two definitions are equal if all of
 * their parts are equal, the payload by its bytes. A store keeps it unchanged and interprets only
 * {@link #queue()}.
 *
 * @param recurrence how the timer recurs, in the engine's text form; empty if it fires once
 * @param handler the handler or the queue of the timer
 * @param queue true if {@code handler} names a queue, from which consumers claim due timers
 * @param payload the bytes for the handler; not copied, so the caller must not change them
 * @param headers short texts for the handler
 * @param retry the limit and the waits of the attempts of a run
 * @param missed the rule for missed runs
 * @param graceMillis how late a run may begin before it counts as missed
 */
@SuppressWarnings("ArrayRecordComponent") // equals compares bytes; copies would be expensive
public record TimerDefinition(
    String recurrence,
    String handler,
    boolean queue,
    byte[] payload,
    Map<String, String> headers,
    RetryPolicy retry,
    MissedRuns missed,
    long graceMillis) {
  private static final String TRACE = "traceparent";

  /**
   * Checks that nothing is null.
   *
   * @param recurrence how the timer recurs, in the engine's text form; empty if it fires once
   * @param handler the handler or the queue of the timer
   * @param queue true if {@code handler} names a queue, from which consumers claim due timers
   * @param payload the bytes for the handler; not copied, so the caller must not change them
   * @param headers short texts for the handler
   * @param retry the limit and the waits of the attempts of a run
   * @param missed the rule for missed runs
   * @param graceMillis how late a run may begin before it counts as missed
   */
  public TimerDefinition {
    requireNonNull(recurrence, "recurrence");
    requireNonNull(handler, "handler");
    requireNonNull(payload, "payload");
    headers = Map.copyOf(headers);
    requireNonNull(retry, "retry");
    requireNonNull(missed, "missed");
  }

  /** {@return whether the timer fires more than once} */
  public boolean isRecurring() {
    return !recurrence.isEmpty();
  }

  /**
   * Returns the definition with another payload.
   *
   * @param newPayload the payload; not copied
   * @return the definition
   */
  public TimerDefinition withPayload(byte[] newPayload) {
    return new TimerDefinition(
        recurrence, handler, queue, newPayload, headers, retry, missed, graceMillis);
  }

  /**
   * Compares the definition with another. It ignores the header {@code traceparent}, which differs
   * in each request, even in a repeated one.
   *
   * @param other the other definition
   * @return true if both are the same
   */
  public boolean isSameAs(TimerDefinition other) {
    String trace = headers.get(TRACE);
    if (Objects.equals(trace, other.headers.get(TRACE))) {
      return equals(other);
    }
    Map<String, String> changed = new HashMap<>(other.headers);
    if (trace == null) {
      changed.remove(TRACE);
    } else {
      changed.put(TRACE, trace);
    }
    return equals(
        new TimerDefinition(
            other.recurrence,
            other.handler,
            other.queue,
            other.payload,
            changed,
            other.retry,
            other.missed,
            other.graceMillis));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TimerDefinition that
        && recurrence.equals(that.recurrence)
        && handler.equals(that.handler)
        && queue == that.queue
        && Arrays.equals(payload, that.payload)
        && headers.equals(that.headers)
        && retry.equals(that.retry)
        && missed == that.missed
        && graceMillis == that.graceMillis;
  }

  @Override
  public int hashCode() {
    return 31 * handler.hashCode() + Arrays.hashCode(payload);
  }

  /** {@return the definition without its payload and the values of its headers} */
  @Override
  public String toString() {
    return "TimerDefinition("
        + (queue ? "queue " : "handler ")
        + handler
        + (isRecurring() ? ", " + recurrence : "")
        + ", "
        + payload.length
        + " bytes)";
  }
}

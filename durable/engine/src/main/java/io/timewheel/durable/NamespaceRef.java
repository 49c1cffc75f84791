// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A namespace of a scheduler, or all of them. A namespace needs no creation. */
public final class NamespaceRef {
  private static final int MAX_BUCKETS = 100_000;

  private final Requests requests;

  /** The name; null for all namespaces. */
  private final @Nullable String name;

  private final String scope;

  NamespaceRef(Requests requests, @Nullable String name) {
    this.requests = requests;
    this.name = name;
    scope = name == null ? TimerStore.EVERYTHING : Limits.name("namespace", name);
  }

  /**
   * Pauses the namespace. Once this method returns, no node claims a timer in it until it is
   * resumed. Within a second, every node that reaches the store stops starting attempts that it
   * claimed before; other nodes stop when their node lease ends. Running attempts continue to their
   * end. The pause is stored. A pause of all namespaces is independent of those of single ones.
   *
   * @return the number of claimed timers in the namespace, on all nodes
   */
  public long pause() {
    requests.pause(scope);
    return counts().getOrDefault(TimerState.RUNNING, 0L);
  }

  /** Ends the pause. Overdue timers fire. */
  public void resume() {
    requests.resume(scope);
  }

  /** {@return the number of timers in each state; a missing entry is zero} */
  public Map<TimerState, Long> counts() {
    Map<String, Map<TimerState, Long>> counts = requests.ask(requests.store::counts);
    if (name != null) {
      return counts.getOrDefault(name, Map.of());
    }
    Map<TimerState, Long> sums = new EnumMap<>(TimerState.class);
    counts.values().forEach(each -> each.forEach((state, n) -> sums.merge(state, n, Long::sum)));
    return sums;
  }

  /**
   * Counts the timers that wait for their time or for their next attempt, in equal spans of time.
   *
   * @param from the beginning, inclusive
   * @param to the end, exclusive
   * @param buckets the number of spans of equal length, 1 to 100,000
   * @return the exact count of each span
   */
  public long[] histogram(Instant from, Instant to, int buckets) {
    Limits.count("buckets", buckets, MAX_BUCKETS);
    long fromMillis = EpochMillis.ceil(requireNonNull(from, "from"));
    long toMillis = EpochMillis.ceil(requireNonNull(to, "to"));
    long span = EpochMillis.saturatedSubtract(toMillis, fromMillis);
    if (span < buckets) {
      throw new InvalidArgumentException(
          "to: " + to + " (expected: at least " + buckets + " ms after " + from + ")");
    }
    long[] bounds = new long[buckets + 1];
    Arrays.setAll(bounds, i -> fromMillis + span / buckets * i + span % buckets * i / buckets);
    bounds[buckets] = toMillis; // the span may be saturated
    return histogram(bounds);
  }

  /**
   * Counts timers that wait for their time or for their next attempt, by the time at which they
   * fire.
   *
   * @param bounds 2 to 100,001 ascending times; bucket i begins at the i-th time and ends before
   *     the next
   * @return the exact count of each bucket, one fewer than there are bounds
   */
  public long[] histogram(List<Instant> bounds) {
    Limits.count("buckets", bounds.size() - 1, MAX_BUCKETS);
    long[] millis = bounds.stream().mapToLong(EpochMillis::ceil).toArray();
    for (int i = 1; i < millis.length; i++) {
      if (millis[i] <= millis[i - 1]) {
        throw new InvalidArgumentException(
            "bounds: %s after %s (expected: ascending by a millisecond at least)"
                .formatted(bounds.get(i), bounds.get(i - 1)));
      }
    }
    return histogram(millis);
  }

  private long[] histogram(long[] bounds) {
    return requests.ask(() -> requests.store.histogram(name, bounds));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.api.StatsAnswer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Traffic} of this node, also divided by namespace.
 *
 * <p>Each measured namespace takes about 20 KB. A bounded number of namespaces is measured. A
 * namespace without traffic for an hour gives its slot to the next one.
 */
public final class NamespaceTraffic {
  /** The maximum number of measured namespaces. */
  static final int MAX_NAMESPACES = 200;

  private static final long HOUR_MILLIS = 3_600_000;

  private final Traffic all = new Traffic();
  private final Map<String, Traffic> namespaces = new ConcurrentHashMap<>();

  /** True if a count found no slot since the last sample. */
  private volatile boolean refused;

  private volatile long refusedAtMillis = Long.MIN_VALUE;

  /** {@return the traffic of all namespaces} */
  public Traffic all() {
    return all;
  }

  /** Counts for the node and for a namespace. */
  void count(String namespace, Consumer<Traffic> counter) {
    counter.accept(all);
    Traffic own = namespaces.get(namespace);
    if (own == null) {
      if (namespaces.size() >= MAX_NAMESPACES) {
        refused = true;
        return;
      }
      own = namespaces.computeIfAbsent(namespace, name -> new Traffic());
    }
    counter.accept(own);
  }

  /** Adds the counts since the last call to the current minute. */
  public void sample(Instant now) {
    all.sample(now);
    if (refused) {
      refused = false;
      refusedAtMillis = now.toEpochMilli();
    }
    namespaces.values().forEach(each -> each.sample(now));
    namespaces.values().removeIf(Traffic::isIdle);
  }

  /**
   * Returns the traffic of some namespaces.
   *
   * @param names the namespaces; null for all
   * @return null if one of them may have had traffic that was not measured
   */
  public @Nullable Seen of(@Nullable Set<String> names, Instant now) {
    if (names == null) {
      return new Seen(List.of(all));
    }
    boolean complete = now.toEpochMilli() - HOUR_MILLIS > refusedAtMillis;
    List<Traffic> found = new ArrayList<>();
    for (String name : names) {
      Traffic own = namespaces.get(name);
      if (own != null) {
        found.add(own);
      } else if (!complete) {
        return null;
      }
    }
    return new Seen(found);
  }

  /** The sum of the traffic of some namespaces. */
  public static final class Seen {
    private final List<Traffic> parts;

    Seen(List<Traffic> parts) {
      this.parts = parts;
    }

    /** {@return the rates of the last ten seconds} */
    public StatsAnswer.Rates rates() {
      return parts.stream()
          .map(Traffic::rates)
          .reduce(
              new StatsAnswer.Rates(0, 0, 0),
              (one, other) ->
                  new StatsAnswer.Rates(
                      tenth(one.scheduled() + other.scheduled()),
                      tenth(one.fired() + other.fired()),
                      tenth(one.failed() + other.failed())));
    }

    private static double tenth(double rate) {
      return Math.round(rate * 10) / 10.0;
    }

    /** {@return the lag within the last hour} */
    public LagCounts lag() {
      LagCounts sum = new LagCounts();
      parts.forEach(each -> each.addTo(sum));
      return sum;
    }

    /** {@return up to 60 minutes, oldest first} */
    public List<StatsAnswer.Minute> minutes() {
      Map<Long, Traffic.Minute> sums = new TreeMap<>();
      parts.forEach(each -> each.addTo(sums));
      return sums.values().stream().map(Traffic.Minute::answer).toList();
    }
  }
}

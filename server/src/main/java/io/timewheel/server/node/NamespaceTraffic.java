// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The {@link Traffic} of this node, also divided by namespace.
 *
 * <p>Each measured namespace takes about 15 KB. A bounded number of namespaces is measured. A
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

    private Seen(List<Traffic> parts) {
      this.parts = parts;
    }

    /** {@return the rates of the last ten seconds} */
    public Traffic.Rates rates() {
      return parts.stream()
          .map(Traffic::rates)
          .reduce(new Traffic.Rates(0, 0, 0), Traffic.Rates::plus);
    }

    /** {@return the lag within the last hour} */
    public Traffic.Lag lag() {
      Traffic.Lag sum = new Traffic.Lag();
      parts.forEach(each -> sum.add(each.lag()));
      return sum;
    }

    /** {@return up to 60 minutes, oldest first} */
    public List<Traffic.Minute> minutes() {
      return Traffic.Minute.sums(parts.stream().flatMap(each -> each.minutes().stream()));
    }
  }
}

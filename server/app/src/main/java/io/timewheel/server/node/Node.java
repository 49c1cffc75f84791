// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** This process, and the statistics of its work. */
public final class Node {
  /** The ID of the only node of an embedded store. */
  private static final String ONLY = "node-1";

  private final NamespaceTraffic traffic = new NamespaceTraffic();
  private final Map<Target, LagCounts> lags = new EnumMap<>(Target.class);
  private final ChangeFeed feed;
  private final InstantSource clock;
  private final Instant startedAt;
  private final Supplier<String> address;
  private volatile @Nullable WatchedStore store;

  public Node(InstantSource clock, Supplier<String> address) {
    this.clock = clock;
    this.address = address;
    for (Target target : Target.values()) {
      lags.put(target, new LagCounts());
    }
    startedAt = Instant.ofEpochMilli(clock.millis());
    feed = new ChangeFeed(ChangeFeed.CAPACITY);
  }

  public TimerStore watch(String name, TimerStore unwatched) {
    WatchedStore watched = new WatchedStore(name, unwatched, traffic, this::lag, feed, clock);
    store = watched;
    return watched;
  }

  /** {@return the counts of this node} */
  public Traffic traffic() {
    return traffic.all();
  }

  /** {@return the counts of this node, also by namespace} */
  public NamespaceTraffic namespaceTraffic() {
    return traffic;
  }

  public LagCounts lag(Target target) {
    return requireNonNull(lags.get(target), "target");
  }

  /** {@return the latest changes of this node} */
  public ChangeFeed feed() {
    return feed;
  }

  /** {@return the store, if it is watched} */
  public @Nullable WatchedStore store() {
    return store;
  }

  /** {@return the ID of this node in the cluster} */
  public String id() {
    WatchedStore present = store;
    JdbcTimerStore shared = present == null ? null : present.shared();
    return shared == null ? ONLY : shared.nodeId();
  }

  public Instant startedAt() {
    return startedAt;
  }

  /** {@return the address that this node listens on} */
  public String address() {
    return address.get();
  }

  /** {@return the version of the jar; null if the classes are not in a jar} */
  public static @Nullable String version() {
    return Node.class.getPackage().getImplementationVersion();
  }
}

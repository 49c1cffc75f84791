// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** This process, and what it has seen of its own work. */
final class Node {
  /** An embedded store has one node. */
  private static final String ONLY = "node-1";

  final Traffic traffic = new Traffic();
  final ChangeFeed feed;
  private final InstantSource clock;
  private final Instant startedAt;
  private final Supplier<String> address;
  private volatile @Nullable WatchedStore store;

  Node(InstantSource clock, Supplier<String> address) {
    this.clock = clock;
    this.address = address;
    startedAt = Instant.ofEpochMilli(clock.millis());
    feed = new ChangeFeed(clock.millis(), ChangeFeed.CAPACITY);
  }

  TimerStore watch(String name, TimerStore unwatched) {
    WatchedStore watched = new WatchedStore(name, unwatched, traffic, feed, clock);
    store = watched;
    return watched;
  }

  /** {@return the store, if it is watched} */
  @Nullable WatchedStore store() {
    return store;
  }

  /** {@return what the cluster calls it} */
  String id() {
    WatchedStore present = store;
    JdbcTimerStore shared = present == null ? null : present.shared();
    return shared == null ? ONLY : shared.nodeId();
  }

  Instant startedAt() {
    return startedAt;
  }

  /** {@return where it listens} */
  String address() {
    return address.get();
  }

  /** {@return the version of the jar; null if these are mere classes} */
  static @Nullable String version() {
    return Node.class.getPackage().getImplementationVersion();
  }
}

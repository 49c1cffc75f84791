// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Timewheel nodes on one database, each with its own pool. Calls go to the nodes in turn. */
final class ClusterSubject implements Subject {
  /** Runs the due timers of a node. */
  @FunctionalInterface
  interface Handlers {
    void register(DurableTimerBuilder builder, JdbcTimerStore store);
  }

  private static final int SHARDS = 64;
  private static final int POOL = 8;
  private static final long TIMEOUT_SECONDS = 60;

  private final ServerPlace place;
  private final List<HikariDataSource> pools = new ArrayList<>();
  private final List<TimewheelSubject> nodes = new ArrayList<>();
  private final AtomicInteger turns = new AtomicInteger();

  private ClusterSubject(ServerPlace place) {
    this.place = place;
  }

  /**
   * Starts nodes, and returns when they have divided the shards.
   *
   * @param connections the number of connections for handlers
   */
  static ClusterSubject start(ServerPlace place, int nodes, int connections, Handlers handlers)
      throws Exception {
    ClusterSubject subject = new ClusterSubject(place);
    for (int i = 0; i < nodes; i++) {
      HikariDataSource pool = place.database().pool(POOL + connections);
      subject.pools.add(pool);
      JdbcTimerStore store =
          switch (place.kind()) {
            case POSTGRESQL -> JdbcTimerStore.postgresql(pool);
            case MARIADB -> JdbcTimerStore.mariadb(pool);
          };
      DurableTimerBuilder builder = DurableTimer.builder(store);
      handlers.register(builder, store);
      subject.nodes.add(new TimewheelSubject(builder.start(), () -> -1));
    }
    subject.awaitShares();
    return subject;
  }

  private void awaitShares() throws InterruptedException {
    long limitNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    int share = (SHARDS + nodes.size() - 1) / nodes.size();
    int least = SHARDS - (nodes.size() - 1) * share; // share of the last node
    while (!nodes.stream().allMatch(node -> node.stats().shards() >= least)) {
      if (System.nanoTime() - limitNanos > 0) {
        throw new IllegalStateException("the nodes have not divided the shards");
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private TimewheelSubject next() {
    return nodes.get(Math.floorMod(turns.getAndIncrement(), nodes.size()));
  }

  @Override
  public void schedule(List<Order> orders) {
    next().schedule(orders);
  }

  @Override
  public CompletionStage<?> scheduleAsync(Order order) {
    return next().scheduleAsync(order);
  }

  @Override
  public void recur(List<Order> orders, Duration every) {
    next().recur(orders, every);
  }

  /** Counts unfinished timers. Asks the database only if no node reports any. */
  @Override
  public long unfinished() throws Exception {
    long own = 0;
    for (TimewheelSubject node : nodes) {
      own += node.stats().running() + node.stats().ownQueued();
    }
    return own > 0 ? own : place.database().number("SELECT count(*) FROM timewheel_timer");
  }

  @Override
  public void close() {
    nodes.forEach(TimewheelSubject::close);
    pools.forEach(HikariDataSource::close);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.spi.StoreException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Runs the two threads of {@link Ownership}. One accesses the database; the other detects that the
 * first does not return in time.
 */
public final class LeaseThreads implements AutoCloseable {
  /** Half of the time in which a node stops beginning attempts that it claimed before a pause. */
  private static final long TICK_MILLIS = 500;

  private static final long LEAST_WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Ownership ownership;
  private final ClusterPauses pauses;
  private final ScheduledExecutorService keeper = thread("timewheel-lease");
  private final ScheduledExecutorService watcher = thread("timewheel-lease-watch");
  private boolean failing;
  private boolean balances;

  public LeaseThreads(Ownership ownership, ClusterPauses pauses) {
    this.ownership = ownership;
    this.pauses = pauses;
    ownership.onRelease(this::give);
    var unused =
        keeper.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    watcher.execute(this::watch);
  }

  private static ScheduledExecutorService thread(String name) {
    return Executors.newSingleThreadScheduledExecutor(
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  private void tick() {
    try {
      pauses.apply(); // if it fails, the lease expires, and no claimed attempt begins
      if (ownership.wantsRenewal()) {
        ownership.renew();
      }
      balances = !balances; // with every other tick
      if (balances) {
        ownership.balance();
      }
      if (failing) {
        failing = false;
        Log.LOG.log(System.Logger.Level.INFO, "the node lease is renewed again");
      }
    } catch (StoreException e) {
      if (!failing) {
        failing = true;
        Log.LOG.log(
            System.Logger.Level.WARNING,
            "the node lease cannot be renewed, and is tried again twice a second: "
                + e.getMessage(),
            e);
      }
    } catch (RuntimeException | Error e) {
      Log.LOG.log(System.Logger.Level.ERROR, "a renewal of the node lease has failed", e);
    }
  }

  private void give() {
    execute(ownership::give, "a shard cannot be given away");
  }

  /** Applies pauses immediately. */
  public void applyPauses() {
    execute(pauses::apply, "a pause cannot be applied");
  }

  private void execute(Runnable work, String failure) {
    try {
      keeper.execute(
          () -> {
            try {
              work.run();
            } catch (RuntimeException | Error e) {
              Log.LOG.log(
                  System.Logger.Level.WARNING,
                  failure + "; tried again with the next maintenance tick",
                  e);
            }
          });
    } catch (RejectedExecutionException e) {
      // Closed: the node gives all shards away as it leaves.
    }
  }

  /** Sleeps until the node lease might expire, then checks it. */
  private void watch() {
    try {
      ownership.watch();
    } catch (RuntimeException | Error e) {
      Log.LOG.log(System.Logger.Level.ERROR, "a check of the node lease has failed", e);
    }
    long leftNanos = ownership.leaseLeftNanos();
    long waitNanos = leftNanos <= 0 ? TimeUnit.SECONDS.toNanos(1) : leftNanos;
    try {
      var unused =
          watcher.schedule(
              this::watch, Math.max(LEAST_WATCH_NANOS, waitNanos), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closed.
    }
  }

  @Override
  public void close() {
    keeper.shutdownNow();
    watcher.shutdownNow();
    try {
      boolean unused = keeper.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

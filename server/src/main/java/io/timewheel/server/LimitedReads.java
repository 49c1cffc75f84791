// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that is read by some threads at a time, and the others wait. Each read takes a connection
 * of a pool, and a node that gets none for its own work loses its lease.
 */
final class LimitedReads extends ForwardingTimerStore {
  private final Semaphore permits;

  LimitedReads(TimerStore store, int reads) {
    super(store);
    permits = new Semaphore(reads, true);
  }

  /** {@return about how many wait} */
  int waiting() {
    return permits.getQueueLength();
  }

  private <T extends @Nullable Object> T limited(Supplier<T> read) {
    permits.acquireUninterruptibly();
    try {
      return read.get();
    } finally {
      permits.release();
    }
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return this.<@Nullable TimerRecord>limited(() -> super.get(key));
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return limited(() -> super.page(query, after, limit));
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return limited(() -> super.histogram(namespace, bounds));
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return limited(super::counts);
  }

  @Override
  public Set<String> paused() {
    return limited(super::paused);
  }
}

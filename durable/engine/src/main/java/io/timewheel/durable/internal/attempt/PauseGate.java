// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps attempts from beginning that were claimed before a pause of their namespace, or of
 * everything. Claims that are asked for after the pause are decided by the store, so the gate need
 * not hear of the end of a pause. Thread-safe.
 */
public final class PauseGate {
  private final AtomicLong pauses = new AtomicLong();

  /** The number of the last pause of each scope. */
  private final Map<String, Long> lastPauses = new ConcurrentHashMap<>();

  /** {@return how many pauses there were: noted before a claim is asked for} */
  public long pauses() {
    return pauses.get();
  }

  /** The store has paused a scope. */
  public void paused(String scope) {
    lastPauses.put(scope, pauses.incrementAndGet());
  }

  /** Whether no pause of a queue came between the claim of a consumer and now. */
  public boolean admits(TimerKey queue, long pausesBeforeClaim) {
    return admits(queue.namespace(), pausesBeforeClaim)
        && pausesBeforeClaim
            >= lastPauses.getOrDefault(Scopes.queue(queue.namespace(), queue.id()), 0L);
  }

  /** Whether no pause came between a claim and now. */
  boolean admits(String namespace, long pausesBeforeClaim) {
    return pausesBeforeClaim >= lastPauses.getOrDefault(namespace, 0L)
        && pausesBeforeClaim >= lastPauses.getOrDefault(TimerStore.EVERYTHING, 0L);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Prevents attempts from beginning if they were claimed before a pause of their namespace or of
 * everything. The store decides about claims that are sent after the pause, so the gate does not
 * need to know the end of a pause. Thread-safe.
 */
public final class PauseGate {
  private final AtomicLong pauses = new AtomicLong();

  /** The number of the last pause of each scope. */
  private final Map<String, Long> lastPauses = new ConcurrentHashMap<>();

  /** {@return the number of pauses so far; read before a claim is sent} */
  public long pauses() {
    return pauses.get();
  }

  /** Notes that the store has paused a scope. */
  public void paused(String scope) {
    lastPauses.compute(scope, (same, last) -> pauses.incrementAndGet());
  }

  /** Returns whether a queue has not been paused since the claim of a consumer. */
  public boolean admits(TimerKey queue, long pausesBeforeClaim) {
    return admits(queue.namespace(), pausesBeforeClaim)
        && pausesBeforeClaim
            >= lastPauses.getOrDefault(Scopes.queue(queue.namespace(), queue.id()), 0L);
  }

  /** Returns whether a namespace has not been paused since a claim. */
  boolean admits(String namespace, long pausesBeforeClaim) {
    return pausesBeforeClaim >= lastPauses.getOrDefault(namespace, 0L)
        && pausesBeforeClaim >= lastPauses.getOrDefault(TimerStore.EVERYTHING, 0L);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.internal.attempt.KnownHandlers;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.TimerDefinition;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Checks the handler of a timer that is being scheduled. If no live node has the handler, warns
 * once for each name, or refuses the timer in the strict mode.
 */
final class HandlerCheck {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** Bounds memory and log, because callers choose the names. */
  private static final int MAX_WARNED = 1_000;

  private final KnownHandlers known;
  private final boolean strict;
  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  HandlerCheck(KnownHandlers known, boolean strict) {
    this.known = known;
    this.strict = strict;
  }

  /** Throws an IllegalArgumentException in the strict mode. */
  void check(TimerKey key, TimerDefinition definition) {
    String handler = definition.handler();
    if (definition.queue() || !known.isUnknown(handler)) {
      return;
    }
    if (strict) {
      throw new IllegalArgumentException(
          key
              + ": no live node has the handler \""
              + handler
              + "\" (expected: one that is added to"
              + " a DurableTimerBuilder)");
    }
    if (warned.size() < MAX_WARNED && warned.add(handler)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "timer {0} is scheduled for the handler \"{1}\", which no live node has: it is blocked"
              + " when it becomes due, until a node with that handler starts. Logged once for each"
              + " handler",
          key,
          handler);
    }
  }
}

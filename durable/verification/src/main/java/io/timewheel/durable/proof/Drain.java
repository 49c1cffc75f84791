// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.TimerState;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Lets everything fire, and logs what is left: finished timers, and those set aside. */
final class Drain {
  private static final long PATIENCE_MILLIS = 240_000;
  private static final Set<TimerState> AT_REST =
      EnumSet.of(TimerState.DONE, TimerState.CANCELLED, TimerState.SET_ASIDE);

  private final DurableTimer timer;
  private final Load load;
  private final Log log;
  private final LoggedHandler handler;

  Drain(DurableTimer timer, Load load, Log log, LoggedHandler handler) {
    this.timer = timer;
    this.load = load;
    this.log = log;
    this.handler = handler;
  }

  void run() throws InterruptedException {
    long end = System.currentTimeMillis() + PATIENCE_MILLIS;
    while (!isAtRest() && System.currentTimeMillis() < end) {
      each(
          EnumSet.complementOf(EnumSet.copyOf(AT_REST)),
          info -> {
            TimerKey key = info.key();
            if (info.state() == TimerState.PAUSED) {
              timer.resume(key.namespace(), key.id());
            }
            if (key.id().startsWith(Story.RATE) && handler.hasBegun(key)) {
              load.cancel(key); // it has gone on after the last kill
            }
          });
      Thread.sleep(50);
    }
    each(EnumSet.allOf(TimerState.class), info -> log.left(info.key(), info.state()));
    log.end();
  }

  private boolean isAtRest() {
    for (Map<TimerState, Long> counts : timer.counts().values()) {
      if (!AT_REST.containsAll(counts.keySet())) {
        return false;
      }
    }
    return true;
  }

  private interface Visit {
    void visit(TimerInfo timer);
  }

  private void each(Set<TimerState> states, Visit visit) {
    @Nullable String page = null;
    do {
      TimerList list = timer.list(TimerFilter.all().states(states), 1_000, page);
      list.timers().forEach(visit::visit);
      page = list.nextPage().orElse(null);
    } while (page != null);
  }
}

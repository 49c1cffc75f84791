// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Waits until every timer has fired, and logs the remaining, finished and failed timers. */
final class Drain {
  /** Counts checks, not time: a suspended machine has not checked. */
  private static final int MAX_LOOKS = 4_800;

  private static final int LOOK_MILLIS = 50;
  private static final Set<TimerState> AT_REST =
      EnumSet.of(TimerState.COMPLETED, TimerState.CANCELLED, TimerState.FAILED);

  private final DurableTimer scheduler;
  private final Load load;
  private final Log log;
  private final LoggedHandler handler;
  private final boolean goOn;

  /**
   * Creates a drain.
   *
   * @param goOn whether it continues after an error of the store
   */
  Drain(DurableTimer scheduler, Load load, Log log, LoggedHandler handler, boolean goOn) {
    this.scheduler = scheduler;
    this.load = load;
    this.log = log;
    this.handler = handler;
    this.goOn = goOn;
  }

  void run() throws InterruptedException {
    for (int looks = 0; looks < MAX_LOOKS && !goesWell(this::checkAtRest); looks++) {
      Thread.sleep(LOOK_MILLIS);
    }
    while (!goesWell(this::logLeft)) {
      Thread.sleep(LOOK_MILLIS);
    }
    log.end();
  }

  /** A check, which returns whether its condition holds. */
  private interface Look {
    boolean look();
  }

  private boolean goesWell(Look look) {
    try {
      return look.look();
    } catch (DurableTimerException e) {
      if (goOn) {
        return false;
      }
      throw e;
    }
  }

  /** Takes the steps that are needed before the store is idle. Returns whether it is. */
  private boolean checkAtRest() {
    if (isAtRest()) {
      return true;
    }
    each(
        EnumSet.complementOf(EnumSet.copyOf(AT_REST)),
        info -> {
          TimerKey key = info.key();
          if (info.state() == TimerState.PAUSED) {
            scheduler.timer(key.namespace(), key.id()).resume();
          }
          if (key.id().startsWith(LogChecker.RATE) && handler.hasBegun(key)) {
            load.cancel(key); // it has continued after the last kill
          }
        });
    return false;
  }

  private boolean logLeft() {
    each(EnumSet.allOf(TimerState.class), info -> log.left(info.key(), info.state()));
    return true;
  }

  private boolean isAtRest() {
    for (Map<TimerState, Long> counts : scheduler.counts().values()) {
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
      TimerList list = scheduler.timers(TimerFilter.all().states(states)).list(1_000, page);
      list.timers().forEach(visit::visit);
      page = list.nextPage().orElse(null);
    } while (page != null);
  }
}

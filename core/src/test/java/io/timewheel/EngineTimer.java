// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Like {@link PolledTimer}, but on any wheel, and for one thread. */
final class EngineTimer implements Timer {
  final Engine engine;
  private int polls;
  private boolean stopped;

  EngineTimer(TimerBuilder<?> settings, Function<Ticks, Wheel> wheels) {
    engine = new Engine(this, settings, 1, false, wheels);
  }

  int poll(int limit) {
    polls++;
    try {
      return engine.runDue(limit);
    } finally {
      polls--;
    }
  }

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    return engine.start(task, delay, unit);
  }

  @Override
  public Set<Timeout> stop() {
    return stop(Duration.ZERO);
  }

  @Override
  public Set<Timeout> stop(Duration shutdownTimeout) {
    if (polls > 0) {
      throw new IllegalStateException("stop() cannot be called by a task inside poll()");
    }
    if (stopped) {
      return Set.of();
    }
    stopped = true;
    return engine.afterShutDown(engine.shutDown());
  }

  @Override
  public boolean isStopped() {
    return stopped;
  }

  @Override
  public long pendingTimeouts() {
    return engine.pendingTimeouts();
  }

  @Override
  public TimerStats stats() {
    return engine.stats();
  }

  @Override
  public TimeSource timeSource() {
    return engine.clock.timeSource;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Agrona's wheel, which reports only the ids of due timers: its users keep the tasks in a map, here
 * Agrona's own.
 *
 * <p>A new timer looks for a free place among those of its tick, one by one, so the wheel has many
 * ticks, but not as many as it could: each has room for as many timers as the fullest. The tick is
 * the power of two nearest to what is asked for, since it must be one.
 */
final class AgronaSubject implements Subject {
  private final DeadlineTimerWheel wheel;
  private final Long2ObjectHashMap<Runnable> tasks = new Long2ObjectHashMap<>();
  private final long originNanos = System.nanoTime();

  AgronaSubject(Settings settings) {
    int shift = (int) Math.round(Math.log((double) settings.tickNanos()) / Math.log(2));
    long wanted = Math.min(settings.pending() / 64, settings.horizonNanos() >> shift);
    int ticks = Integer.highestOneBit((int) Math.min(1 << 19, Math.max(1024, wanted)));
    wheel = new DeadlineTimerWheel(NANOSECONDS, 0, 1L << shift, ticks);
  }

  private long nowNanos() {
    return System.nanoTime() - originNanos;
  }

  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  public Object start(Object task, long delayNanos) {
    long id = wheel.scheduleTimer(nowNanos() + delayNanos);
    tasks.put(id, (Runnable) task);
    return id;
  }

  @Override
  public boolean cancel(Object handle) {
    long id = (Long) handle;
    return wheel.cancelTimer(id) && tasks.remove(id) != null;
  }

  @Override
  public long poll() {
    long nowNanos = nowNanos();
    do {
      wheel.poll(nowNanos, this::expired, Integer.MAX_VALUE);
    } while (wheel.currentTickTime() <= nowNanos);
    return wheel.currentTickTime() - nowNanos();
  }

  @SuppressWarnings("UnusedVariable") // as the wheel calls it
  private boolean expired(TimeUnit unit, long nowNanos, long id) {
    tasks.remove(id).run();
    return true;
  }

  @Override
  public void close() {
    wheel.clear();
  }
}

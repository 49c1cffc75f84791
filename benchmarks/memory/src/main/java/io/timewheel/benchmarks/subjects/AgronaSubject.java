// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Agrona's wheel, which reports only the IDs of due timers. Its users keep the tasks in a map, here
 * Agrona's own.
 *
 * <p>A new timer searches for a free place among those of its tick, one by one. So the wheel has
 * many ticks, but not as many as possible: each tick has the capacity of the fullest. The tick must
 * be a power of two; the nearest to the requested tick is used.
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

  @SuppressWarnings("UnusedVariable") // the signature that the wheel requires
  private boolean expired(TimeUnit unit, long nowNanos, long id) {
    tasks.remove(id).run();
    return true;
  }

  @Override
  public void close() {
    wheel.clear();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.timewheel.testing.Await;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;

/** Tests the memory that timeouts take, and that they release it. */
class MemoryTest {
  private static final TimerTask NOTHING = timeout -> {};

  private final TestClock clock = new TestClock();

  @Test
  void timeoutTakesAtMost40Bytes() {
    assertThat(ClassLayout.parseClass(WheelTimeout.class).instanceSize()).isLessThanOrEqualTo(40);
  }

  /**
   * The handle is also the node of the wheel. The slots take the only other memory, and many
   * timeouts share them.
   */
  @Test
  void pendingTimeoutTakesNoMemoryExceptItsHandle() {
    long ticks = Duration.ofMillis(1).toNanos();
    assertPendingTimeoutsTake40BytesEach(new HierarchicalWheel(new Ticks(ticks)), 48_000);
    assertPendingTimeoutsTake40BytesEach(new HashedWheel(new Ticks(ticks), 512), 66_000);
  }

  /** Uses timeouts of up to a day, which need four levels. */
  private void assertPendingTimeoutsTake40BytesEach(Wheel wheel, long slotsBytes) {
    PolledTimer owner = PolledTimer.builder().timeSource(clock).build();
    Engine engine =
        new Engine(owner, PolledTimer.builder().timeSource(clock), 1, false, ticks -> wheel);
    long before = footprint(engine);
    int timeouts = 20_000;
    for (int i = 0; i < timeouts; i++) {
      engine.start(NOTHING, 1 + i * 4_321L, TimeUnit.MILLISECONDS);
    }
    assertThat(footprint(engine) - before).isLessThanOrEqualTo(40L * timeouts + slotsBytes);
  }

  /** Slots are made when they are first needed, so an unused timer is small. */
  @Test
  void unusedTimerIsSmall() {
    assertThat(footprint(new HierarchicalWheel(new Ticks(1)))).isLessThan(1_200);
    assertThat(footprint(new HashedWheel(new Ticks(1), 512))).isLessThan(4_000);
    assertThat(footprint(PolledTimer.builder().timeSource(clock).build())).isLessThan(2_800);
  }

  private static long footprint(Object root) {
    return GraphLayout.parseInstance(root).totalSize();
  }

  /** Moves to an earlier time, a later one, another level, another slot and the same slot. */
  @ParameterizedTest
  @EnumSource
  void reschedulingAllocatesNothing(PassiveTimer.Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 1_000_000);
    WheelTimeout timeout = timer.start(1);
    int calls = 50_000;
    for (int warmUp = 0; warmUp < 3; warmUp++) {
      reschedule(timer, timeout, calls);
    }

    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    threads.setThreadAllocatedMemoryEnabled(true);
    long me = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(me);
    reschedule(timer, timeout, calls);
    long allocated = threads.getThreadAllocatedBytes(me) - before;

    assertThat((double) allocated / calls).isLessThan(1_000);
    assertThat(timer.engine.stats().rescheduled()).isEqualTo(4L * calls);
  }

  private static void reschedule(PassiveTimer timer, WheelTimeout timeout, int calls) {
    long delayMicros = 1;
    for (int i = 0; i < calls; i++) {
      delayMicros = delayMicros * 31 % 86_400_000_007L;
      timer.clock.set(timer.clock.nanoTime() + 1_000); // advance() would allocate
      timeout.reschedule(delayMicros, TimeUnit.MICROSECONDS);
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("promise-16")
  void cancelledTimeoutIsCollectable(PassiveTimer.Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, Duration.ofHours(1).toNanos());
    WeakReference<Timeout> cancelled = cancelledBetweenOthers(timer);

    assertThat(timer.engine.pendingTimeouts()).isEqualTo(2);
    Await.collected(cancelled);
  }

  private static WeakReference<Timeout> cancelledBetweenOthers(PassiveTimer timer) {
    timer.start(NOTHING, 5);
    Timeout timeout = timer.start(NOTHING, 5);
    timer.start(NOTHING, 5);
    timeout.cancel();
    return new WeakReference<>(timeout);
  }

  @ParameterizedTest
  @EnumSource
  void expiredTimeoutIsCollectable(PassiveTimer.Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 10);
    WeakReference<Timeout> expired = new WeakReference<>(timer.start(NOTHING, 5));
    timer.start(5_000);

    assertThat(timer.advance(10)).isEqualTo(1);

    Await.collected(expired);
  }

  /** A user may keep a handle forever. It must not keep its former neighbours reachable. */
  @ParameterizedTest
  @EnumSource
  @Tag("promise-16")
  void keptHandleDoesNotKeepFormerNeighboursReachable(PassiveTimer.Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 10);
    List<Timeout> kept = new ArrayList<>();
    List<WeakReference<Timeout>> neighbours = new ArrayList<>();
    startNeighbours(timer, kept, neighbours);

    timer.advance(50);

    neighbours.forEach(Await::collected);
    assertThat(kept).hasSize(3).allMatch(timeout -> timeout.task() == NOTHING);
  }

  /** Every second handle is kept: one cancelled first, one that runs, one cancelled last. */
  private static void startNeighbours(
      PassiveTimer timer, List<Timeout> kept, List<WeakReference<Timeout>> neighbours) {
    List<Timeout> slot = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      slot.add(timer.start(NOTHING, 50));
    }
    for (int i = 0; i < 7; i++) {
      if (i % 2 == 0) {
        neighbours.add(new WeakReference<>(slot.get(i)));
      } else {
        kept.add(slot.get(i));
      }
    }
    slot.get(1).cancel();
    slot.get(4).cancel();
    slot.get(6).cancel();
    slot.get(5).cancel();
  }

  @Test
  void stoppedTimerKeepsNothing() {
    PolledTimer timer = PolledTimer.builder().timeSource(clock).build();
    WeakReference<Timeout> stopped =
        new WeakReference<>(timer.newTimeout(NOTHING, 1, TimeUnit.HOURS));

    timer.stop();

    Await.collected(stopped);
    assertThat(timer.isStopped()).isTrue();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.testing.Await;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Tests one part of a timer: its counts, its lock and its close. A tick is a nanosecond. */
class StripeTest {
  private static final TimerTask NOTHING = timeout -> {};
  private static final VarHandle LOCK = field("holder", int.class);
  private static final VarHandle WANTED = field("wanted", boolean.class);

  private final TestClock clock = new TestClock();
  private final PolledTimer owner = PolledTimer.builder().timeSource(clock).build();
  private final Ticks ticks = new Ticks(1);
  private final Engine engine =
      new Engine(
          owner, PolledTimer.builder().timeSource(clock), 1, false, t -> new HashedWheel(t, 8));
  private final HierarchicalWheel wheel = new HierarchicalWheel(ticks);
  private final Stripe stripe = new Stripe(engine, wheel);

  @Test
  void countsTheOutcomesOfItsTimeouts() {
    WheelTimeout expires = add(1);
    WheelTimeout cancelled = add(2);
    WheelTimeout moved = add(3);
    assertThat(stripe.pending()).isEqualTo(3);

    assertThat(stripe.cancel(cancelled)).isTrue();
    assertThat(stripe.reschedule(moved, 9, 9, 0)).isTrue();
    assertThat(stripe.poll(1, WheelTimeout.EXPIRED)).isSameAs(expires);

    assertThat(counts()).containsExactly(3L, 1L, 1L, 1L);
    assertThat(stripe.pending()).isEqualTo(1);
  }

  @Test
  void settledTimeoutIsNeitherCancelledNorMoved() {
    WheelTimeout expired = add(1);
    WheelTimeout cancelled = add(5);
    stripe.poll(1, WheelTimeout.HANDED_OFF);
    stripe.cancel(cancelled);

    assertThat(stripe.cancel(expired)).isFalse();
    assertThat(stripe.cancel(cancelled)).isFalse();
    assertThat(stripe.reschedule(expired, 9, 9, 1)).isFalse();
    assertThat(stripe.reschedule(cancelled, 9, 9, 1)).isFalse();
    assertThat(counts()).containsExactly(2L, 0L, 1L, 1L);
    assertThat(stripe.pending()).isZero();
  }

  @Test
  void pollLeavesATimeoutInTheGivenState() {
    WheelTimeout run = add(1);
    WheelTimeout handedOff = add(1);

    stripe.poll(1, WheelTimeout.EXPIRED);
    stripe.poll(1, WheelTimeout.HANDED_OFF);
    run.run();
    handedOff.run();

    assertThat(run.isExpired()).isTrue();
    assertThat(handedOff.isExpired()).isTrue();
  }

  @Test
  void pollThatFindsNothingReturnsTheIdleTime() {
    add(5);

    assertThat(stripe.poll(3, WheelTimeout.EXPIRED)).isNull();
    assertThat(stripe.idleUntilTick()).isEqualTo(5);
    assertThat(stripe.nextTick()).isEqualTo(5);

    assertThat(stripe.poll(5, WheelTimeout.EXPIRED)).isNotNull();
    assertThat(stripe.poll(5, WheelTimeout.EXPIRED)).isNull();
    assertThat(stripe.idleUntilTick()).isEqualTo(Ticks.NEVER);
    assertThat(stripe.nextTick()).isEqualTo(Ticks.NEVER);
  }

  /** The wheel stops when its budget is spent on moving timeouts; the stripe polls it again. */
  @Test
  void pollContinuesWhenTheWheelsBudgetIsSpent() {
    int many = 10 * Wheel.POLL_BUDGET;
    for (int i = 0; i < many; i++) {
      add(4_096 + 3_000);
    }
    WheelTimeout first = add(4_096 + 1);

    assertThat(stripe.poll(4_096 + 1, WheelTimeout.EXPIRED)).isSameAs(first);
    assertThat(stripe.poll(4_096 + 1, WheelTimeout.EXPIRED)).isNull();
    assertThat(stripe.pending()).isEqualTo(many);
  }

  @Test
  void pollGivesWayToOtherStripesWhileALargeSlotIsOpened() {
    int polls = 10;
    for (int i = 0; i < polls * 16 * Wheel.POLL_BUDGET; i++) {
      add(65_536 + 3_000);
    }
    WheelTimeout last = add(65_536 + 1);

    int cut = 0;
    for (; stripe.poll(65_536 + 1, WheelTimeout.EXPIRED) == null; cut++) {
      assertThat(stripe.isCutShort()).isTrue();
      assertThat(stripe.idleUntilTick()).isZero();
    }

    assertThat(cut).isEqualTo(polls);
    assertThat(last.isExpired()).isTrue();
    assertThat(stripe.isCutShort()).isFalse();
    assertThat(stripe.poll(65_536 + 1, WheelTimeout.EXPIRED)).isNull();
    assertThat(stripe.isCutShort()).isFalse();
  }

  @Test
  void pollThatRunsOutOfMemoryLeavesTheTimeoutsAndTheLock() {
    AtomicBoolean lacksMemory = new AtomicBoolean();
    Stripe poor =
        new Stripe(
            engine,
            new HierarchicalWheel(
                ticks,
                HierarchicalWheel.LARGE_SLOT,
                (index, startTick) -> {
                  if (lacksMemory.get()) {
                    throw new OutOfMemoryError("injected");
                  }
                  return new Slot(index, startTick);
                }));
    List<WheelTimeout> added = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      WheelTimeout timeout = new WheelTimeout(NOTHING, poor, 300 + i);
      assertThat(poor.add(timeout, 300 + i, 0)).isTrue();
      added.add(timeout);
    }

    lacksMemory.set(true);
    assertThatExceptionOfType(OutOfMemoryError.class)
        .isThrownBy(() -> poor.poll(2_000, WheelTimeout.EXPIRED));
    assertThat(poor.pending()).isEqualTo(1_000);
    assertThat(poor.cancel(added.remove(7))).isTrue();

    lacksMemory.set(false);
    List<WheelTimeout> polled = new ArrayList<>();
    while (poor.pending() > 0) {
      polled.add(poor.poll(2_000, WheelTimeout.EXPIRED));
    }
    assertThat(polled).containsExactlyElementsOf(added);
  }

  /**
   * A timeout that was due at the later time is still due. A clock that goes back revokes nothing.
   */
  @Test
  void pollContinuesAfterTheClockWasSetBack() {
    WheelTimeout first = add(4_096 + 1);
    for (int i = 0; i < 10 * Wheel.POLL_BUDGET; i++) {
      add(4_096 + 3_000);
    }
    WheelTimeout last = add(4_096 + 1);

    assertThat(stripe.poll(4_096 + 1, WheelTimeout.EXPIRED)).isSameAs(first);
    assertThat(stripe.poll(10, WheelTimeout.EXPIRED)).isSameAs(last);
  }

  /** A wheel that reports a due timeout, and returns none: polling it would never end. */
  @Test
  void pollThatMakesNoProgressFails() {
    add(5);
    wheel.slots[5].earliestTick = 0;

    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              for (int polls = 0; polls < 1_000; polls++) {
                assertThat(stripe.poll(3, WheelTimeout.EXPIRED)).isNull();
                stripe.openAhead(3);
              }
            })
        .withMessage("the wheel is corrupt: it has something to do and makes no progress");
    assertThat(stripe.pending()).as("the lock is free").isEqualTo(1);
  }

  @Test
  void timeoutThatIsGivenOutTwiceDoesNotRunTwice() {
    add(5).settle(WheelTimeout.CANCELLED);

    assertThatIllegalStateException()
        .isThrownBy(() -> stripe.poll(5, WheelTimeout.EXPIRED))
        .withMessage("the wheel is corrupt: it gives out a timeout twice");
    assertThat(counts()).containsExactly(1L, 0L, 0L, 0L);
  }

  @Test
  void closedStripeAcceptsAndReleasesNothing() {
    WheelTimeout pending = add(1);
    stripe.close();

    WheelTimeout late = new WheelTimeout(NOTHING, stripe, 1);
    assertThat(stripe.add(late, 1, 0)).isFalse();
    assertThat(stripe.poll(1, WheelTimeout.EXPIRED)).isNull();
    assertThat(stripe.idleUntilTick()).isEqualTo(Ticks.NEVER);
    assertThat(stripe.nextTick()).isEqualTo(Ticks.NEVER);
    assertThat(pending.isPending()).isTrue();
    assertThat(counts()).containsExactly(1L, 0L, 0L, 0L);

    assertThat(stripe.cancel(pending)).as("cancel between close and drain").isTrue();
    assertThat(drain()).isEmpty();
    assertThat(counts()).containsExactly(1L, 0L, 0L, 1L);
  }

  @Test
  void drainCancelsPendingTimeouts() {
    List<WheelTimeout> added = new ArrayList<>();
    for (int i = 0; i < 3 * Wheel.POLL_BUDGET + 1; i++) {
      added.add(add(1 + i * 1_000L));
    }

    Set<Timeout> drained = drain();

    assertThat(drained).containsExactlyInAnyOrderElementsOf(added);
    assertThat(drained).allMatch(Timeout::isCancelled);
    assertThat(stripe.pending()).isZero();
    assertThat(counts()).containsExactly((long) added.size(), 0L, 0L, (long) added.size());
    assertThat(drain()).isEmpty();
  }

  @Test
  void longWaiterSleepsAndTakesTheLock() {
    add(1);
    CountDownLatch letGo = new CountDownLatch(1);
    Thread owner = HoldingDrain.hold(stripe, letGo);

    AtomicLong seen = new AtomicLong(-1);
    Thread contender = new Thread(() -> seen.set(stripe.pending()));
    contender.start();
    Await.until("a nap", () -> LockSupport.getBlocker(contender) == stripe);
    assertThat(seen).hasValue(-1);

    letGo.countDown();
    Await.end(contender);
    Await.end(owner);
    assertThat(seen).hasValue(0);
  }

  /** A thread that has met a poll signals that it sleeps, and the polling thread yields. */
  @Test
  void pollYieldsToAWaiter() {
    LOCK.set(stripe, Stripe.POLLING);
    Thread contender = new Thread(stripe::pending);
    contender.start();
    Await.until("a nap", () -> LockSupport.getBlocker(contender) == stripe);
    assertThat((boolean) WANTED.getVolatile(stripe)).isTrue();

    LOCK.setRelease(stripe, 0);
    Await.end(contender);
    stripe.giveWay();
    assertThat((boolean) WANTED.getVolatile(stripe)).isFalse();
  }

  /** A thread that wants the lock during a drain need not wait for the end of the drain. */
  @Test
  void drainYieldsToAWaiter() {
    int many = 300 * Wheel.POLL_BUDGET;
    for (int i = 0; i < many; i++) {
      add(1 + i);
    }
    AtomicLong seen = new AtomicLong();
    Thread contender = new Thread(() -> seen.set(stripe.pending()));
    stripe.drainTo(
        new Drained(many) {
          @Override
          public void accept(Node node) {
            if (size() == 0) {
              contender.start();
            }
            if (size() % Wheel.POLL_BUDGET == 0) {
              // It may miss its chance and try again, because it sleeps as long as the drain does.
              Await.until("a wish", () -> seen.get() > 0 || (boolean) WANTED.getVolatile(stripe));
            }
            super.accept(node);
          }
        });
    Await.end(contender);

    assertThat(seen.get()).isBetween(1L, many - 1L);
  }

  @Test
  void interruptedThreadWaitsForTheLockToo() {
    LOCK.set(stripe, Stripe.OTHERS);
    Thread contender =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              stripe.pending();
            });
    contender.start();
    Await.until("an interrupt", contender::isInterrupted);

    LOCK.setRelease(stripe, 0);
    Await.end(contender);
  }

  @Test
  void threadThatMeetsAnotherAddingMovesToAnotherStripe() {
    assertThat(staysAfterMeeting(Stripe.ADDING)).isFalse();
  }

  @Test
  void threadThatMeetsAnythingElseStays() {
    assertThat(staysAfterMeeting(Stripe.OTHERS)).isTrue();
  }

  /**
   * Returns whether a thread stays on its stripe after it has found it locked by the given holder.
   */
  private boolean staysAfterMeeting(int holder) {
    Engine shared =
        new Engine(
            owner, PolledTimer.builder().timeSource(clock), 4, false, t -> new HashedWheel(t, 8));
    List<Stripe> used = new ArrayList<>();
    Thread starter =
        new Thread(
            () -> {
              used.add(stripeOfStart(shared));
              used.add(stripeOfStart(shared));
              LOCK.set(used.get(0), holder);
              used.add(stripeOfStart(shared));
              used.add(stripeOfStart(shared));
            });
    starter.start();
    Await.until("a nap", () -> LockSupport.getBlocker(starter) instanceof Stripe);
    LOCK.setRelease(used.get(0), 0);
    Await.end(starter);

    assertThat(used.get(1)).isSameAs(used.get(0));
    assertThat(used.get(2)).isSameAs(used.get(0));
    return used.get(3) == used.get(0);
  }

  private static VarHandle field(String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(StripeLock.class, MethodHandles.lookup())
          .findVarHandle(StripeLock.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("no " + name, e);
    }
  }

  private static Stripe stripeOfStart(Engine engine) {
    return ((WheelTimeout) engine.start(NOTHING, 1, TimeUnit.HOURS)).stripe;
  }

  @Test
  void lockIsExclusive() {
    int threads = 4;
    int rounds = 20_000;
    Concurrently.run(
        threads,
        thread ->
            () -> {
              for (int i = 0; i < rounds; i++) {
                WheelTimeout timeout = add(1_000 + i);
                assertThat(stripe.reschedule(timeout, 2_000 + i, 2_000 + i, 0)).isTrue();
                assertThat(stripe.cancel(timeout)).isTrue();
              }
            });

    long all = (long) threads * rounds;
    assertThat(counts()).containsExactly(all, all, 0L, all);
    assertThat(stripe.nextTick()).isEqualTo(Ticks.NEVER);
  }

  private WheelTimeout add(long tick) {
    WheelTimeout timeout = new WheelTimeout(NOTHING, stripe, tick);
    assertThat(stripe.add(timeout, tick, clock.nanoTime())).isTrue();
    return timeout;
  }

  private Set<Timeout> drain() {
    Drained drained = new Drained(1_000);
    stripe.drainTo(drained);
    return drained.answer(engine.callbacks);
  }

  /** Returns the counts: started, rescheduled, expired, cancelled. */
  private List<Long> counts() {
    Stripe.Counts counts = new Stripe.Counts();
    stripe.addTo(counts);
    return List.of(counts.started, counts.rescheduled, counts.expired, counts.cancelled);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.testing.Await;
import io.timewheel.testkit.ManualTimer;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingOperationError;

/**
 * Tests an event loop under BlockHound, which throws if a thread of Netty spins, yields or parks.
 */
@SuppressWarnings("FutureReturnValueIgnored")
@Tag("blockhound")
@Timeout(60)
class BlockHoundTest {
  private enum Operation {
    START,
    CANCEL,
    RESCHEDULE,
    ASK,
    STOP
  }

  private final DefaultEventExecutor loop = new DefaultEventExecutor();
  private final BlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();
  private final HierarchicalWheelTimer wheel =
      HierarchicalWheelTimer.builder()
          .stripes(1)
          .onError((timeout, error) -> errors.add(error))
          .build();
  private final NettyTimer timer = new NettyTimer(wheel);
  private Thread thread;

  @BeforeAll
  static void install() {
    BlockHound.install();
  }

  @BeforeEach
  void findThread() throws Exception {
    thread = loop.submit(Thread::currentThread).get();
  }

  @AfterEach
  void stop() {
    wheel.stop();
    loop.shutdownGracefully(0, 0, NANOSECONDS);
  }

  private static void block() {
    LockSupport.parkNanos(1);
  }

  @Test
  void blockingAnEventLoopIsReported() {
    assertThatThrownBy(() -> loop.submit(BlockHoundTest::block).get())
        .hasCauseInstanceOf(BlockingOperationError.class);
  }

  @Test
  void timerMayBeMadeAndStartedOnAnEventLoop() throws Exception {
    CountDownLatch fired = new CountDownLatch(1);
    io.timewheel.Timer made =
        loop.submit(
                () -> {
                  HierarchicalWheelTimer its = HierarchicalWheelTimer.create();
                  new NettyTimer(its).newTimeout(t -> fired.countDown(), 1, NANOSECONDS);
                  return its;
                })
            .get();
    fired.await();
    made.stop();
  }

  @ParameterizedTest
  @EnumSource
  void eventLoopMayWaitForTheLockOfAStripe(Operation operation) throws Exception {
    io.netty.util.Timeout nettys = timer.newTimeout(t -> {}, 1, HOURS);
    io.timewheel.Timeout first = wheel.newTimeout(t -> {}, 1, HOURS);
    Stripe stripe = new Stripe(wheel);
    stripe.lock();
    Future<?> done;
    try {
      done =
          loop.submit(
              () ->
                  switch (operation) {
                    case START -> timer.newTimeout(t -> {}, 2, HOURS);
                    case CANCEL -> nettys.cancel();
                    case RESCHEDULE -> first.reschedule(2, HOURS);
                    case ASK -> timer.pendingTimeouts();
                    case STOP -> timer.stop();
                  });
      awaitWait(done, stripe.object);
    } finally {
      stripe.unlock();
    }
    assertThat(done.get()).isNotEqualTo(false);
  }

  /** Waits until the event loop is parked with the given blocker, or has failed. */
  private void awaitWait(Future<?> done, Object blocker) {
    Await.until(() -> LockSupport.getBlocker(thread) == blocker || done.isDone());
  }

  /** The polling thread releases the lock between two parts of a large slot, and spins there. */
  @Test
  void eventLoopThatPollsMayYield() throws Exception {
    ManualTimer manual = ManualTimer.create();
    AtomicInteger fired = new AtomicInteger();
    for (int i = 0; i < 1_000; i++) {
      manual.newTimeout(t -> fired.incrementAndGet(), 1, HOURS);
    }
    loop.submit(() -> manual.advanceBy(Duration.ofHours(1))).get();
    assertThat(fired).hasValue(1_000);
  }

  @Test
  void stopMayWaitForATaskOfTheTimerThread() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    timer.newTimeout(
        t -> {
          running.countDown();
          end.await();
        },
        0,
        NANOSECONDS);
    running.await();
    Future<?> stopped = loop.submit(() -> timer.stop());
    Await.until(() -> thread.getState() == Thread.State.TIMED_WAITING || stopped.isDone());
    assertThat(stopped.isDone()).isFalse();
    end.countDown();
    stopped.get();
  }

  @Test
  void taskMayNotBlockAnEventLoop() throws Exception {
    HierarchicalWheelTimer onLoop =
        HierarchicalWheelTimer.builder()
            .executor(loop)
            .onError((timeout, error) -> errors.add(error))
            .build();
    new NettyTimer(onLoop).newTimeout(t -> block(), 0, NANOSECONDS);
    assertThat(errors.take()).isInstanceOf(BlockingOperationError.class);
    onLoop.stop();
  }

  @Test
  void callbackOfACancelBlocksNoEventLoop() throws Exception {
    BlockingQueue<Thread> callers = new LinkedBlockingQueue<>();
    io.netty.util.Timeout nettys =
        timer.newTimeout(
            new io.netty.util.TimerTask() {
              @Override
              public void run(io.netty.util.Timeout timeout) {}

              @Override
              public void cancelled(io.netty.util.Timeout timeout) {
                block();
                callers.add(Thread.currentThread());
              }
            },
            1,
            HOURS);
    loop.submit(nettys::cancel).get();
    assertThat(callers.take()).isNotSameAs(thread);
    assertThat(errors).isEmpty();
  }

  /**
   * Controls the lock of a timer's only stripe. A thread that waits for the lock is parked with it
   * as blocker.
   */
  private static final class Stripe {
    final Object object;
    private final Method lock;
    private final Method unlock;

    Stripe(HierarchicalWheelTimer timer) throws ReflectiveOperationException {
      Object engine = read(HierarchicalWheelTimer.class.getSuperclass(), "engine", timer);
      object = Array.get(read(engine.getClass(), "stripes", engine), 0);
      Class<?> type = object.getClass().getSuperclass();
      lock = type.getDeclaredMethod("lock", int.class);
      unlock = type.getDeclaredMethod("unlock");
      lock.setAccessible(true);
      unlock.setAccessible(true);
    }

    private static Object read(Class<?> type, String name, Object from)
        throws ReflectiveOperationException {
      Field field = type.getDeclaredField(name);
      field.setAccessible(true);
      return field.get(from);
    }

    void lock() throws ReflectiveOperationException {
      int others = 3;
      lock.invoke(object, others);
    }

    void unlock() throws ReflectiveOperationException {
      unlock.invoke(object);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HandlerPoolTest {
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final AtomicInteger uncaught = new AtomicInteger();
  private final AtomicBoolean noThreads = new AtomicBoolean();
  private final HandlerPool pool = new HandlerPool(this::newThread);

  private Thread newThread(Runnable work) {
    if (noThreads.get()) {
      throw new OutOfMemoryError("on purpose");
    }
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler((same, e) -> uncaught.incrementAndGet());
    threads.add(thread);
    return thread;
  }

  @AfterEach
  void close() {
    pool.shutdown();
  }

  @Test
  void noTaskWaitsForOneThatBlocks() throws Exception {
    CyclicBarrier all = new CyclicBarrier(201);
    for (int i = 0; i < 200; i++) {
      pool.execute(() -> await(all));
    }
    all.await(); // returns only if all 200 run concurrently
  }

  @Test
  void noTaskWaitsForOneThatBlocksWhenThreadsAreIdle() throws Exception {
    for (int round = 0; round < 20; round++) {
      CyclicBarrier all = new CyclicBarrier(9);
      for (int i = 0; i < 8; i++) {
        pool.execute(() -> await(all));
      }
      all.await();
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void runsEveryTaskOfManyProducersOnce() throws Exception {
    AtomicInteger[] runs = new AtomicInteger[40_000];
    List<Thread> producers = new ArrayList<>();
    for (int p = 0; p < 4; p++) {
      int from = p * 10_000;
      Thread producer =
          new Thread(
              () -> {
                for (int i = from; i < from + 10_000; i++) {
                  AtomicInteger count = new AtomicInteger();
                  runs[i] = count;
                  pool.execute(count::incrementAndGet);
                }
              });
      producer.start();
      producers.add(producer);
    }
    for (Thread producer : producers) {
      producer.join();
    }
    pool.shutdown();
    assertThat(pool.awaitTermination(50, TimeUnit.SECONDS)).isTrue();
    assertThat(runs).allSatisfy(count -> assertThat(count).hasValue(1));
  }

  @Test
  void shortTasksShareThreads() throws Exception {
    CountDownLatch done = new CountDownLatch(10_000);
    for (int i = 0; i < 10_000; i++) {
      pool.execute(done::countDown);
    }
    done.await();
    assertThat(threads).hasSizeLessThan(5_000); // usually a few
  }

  @Test
  void aTaskThatThrowsAffectsNoOther() throws Exception {
    CountDownLatch done = new CountDownLatch(2);
    pool.execute(
        () -> {
          done.countDown();
          throw new IllegalStateException("on purpose");
        });
    pool.execute(done::countDown);
    done.await();
    pool.shutdown();
    assertThat(pool.awaitTermination(50, TimeUnit.SECONDS)).isTrue();
    assertThat(uncaught).hasValue(1);
  }

  @Test
  void anInterruptDoesNotAffectTheNextTask() throws Exception {
    CountDownLatch done = new CountDownLatch(100);
    AtomicInteger interrupted = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      pool.execute(
          () -> {
            if (Thread.currentThread().isInterrupted()) {
              interrupted.incrementAndGet();
            }
            Thread.currentThread().interrupt();
            done.countDown();
          });
    }
    done.await();
    assertThat(interrupted).hasValue(0);
  }

  @Test
  void refusesATaskThatNoThreadCanBeMadeFor() throws Exception {
    noThreads.set(true);
    AtomicInteger runs = new AtomicInteger();
    assertThatThrownBy(() -> pool.execute(runs::incrementAndGet))
        .isInstanceOf(OutOfMemoryError.class);
    noThreads.set(false);
    CountDownLatch done = new CountDownLatch(1);
    pool.execute(done::countDown);
    done.await();
    pool.shutdown();
    assertThat(pool.awaitTermination(50, TimeUnit.SECONDS)).isTrue();
    assertThat(runs).hasValue(0);
  }

  @Test
  void runsWaitingTasksAfterAShutdownAndRefusesLaterOnes() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger runs = new AtomicInteger();
    for (int i = 0; i < 10; i++) {
      pool.execute(
          () -> {
            try {
              gate.await();
              runs.incrementAndGet();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          });
    }
    pool.shutdown();
    assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    assertThat(pool.awaitTermination(1, TimeUnit.MILLISECONDS)).isFalse();
    gate.countDown();
    assertThat(pool.awaitTermination(50, TimeUnit.SECONDS)).isTrue();
    assertThat(runs).hasValue(10);
  }

  @Test
  void givesBackAttemptsThatHaveNotBegun() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    pool.execute(
        () -> {
          try {
            gate.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    List<Runnable> left = pool.shutdownNow();
    gate.countDown();
    assertThat(pool.awaitTermination(50, TimeUnit.SECONDS)).isTrue();
    assertThat(left.size()).isLessThanOrEqualTo(1);
    assertThat(pool.isTerminated()).isTrue();
  }
}

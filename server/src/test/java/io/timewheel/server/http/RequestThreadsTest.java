// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads of requests, and the queue for them. */
@Timeout(60)
class RequestThreadsTest {
  private final RequestThreads threads = new RequestThreads(2);

  @Test
  void aTaskRunsOnTheThreadThatBringsIt() {
    List<Thread> ran = new ArrayList<>();
    threads.run(() -> ran.add(Thread.currentThread()));
    assertThat(ran).containsExactly(Thread.currentThread());
  }

  @Test
  void aTaskAboveTheLimitWaitsForAThreadWithoutOccupyingOne() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch goOn = new CountDownLatch(1);
    List<Thread> busy = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thread =
          new Thread(
              () ->
                  threads.run(
                      () -> {
                        begun.countDown();
                        awaitUninterruptibly(goOn);
                      }));
      thread.start();
      busy.add(thread);
    }
    begun.await();
    List<Thread> ran = new ArrayList<>();
    threads.run(() -> ran.add(Thread.currentThread())); // returns
    assertThat(ran).isEmpty();
    goOn.countDown();
    for (Thread thread : busy) {
      thread.join();
    }
    assertThat(ran).hasSize(1);
    assertThat(busy).containsAll(ran);
  }

  @Test
  void noTaskIsLeftInTheQueue() throws InterruptedException {
    AtomicInteger ran = new AtomicInteger();
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread caller =
          new Thread(
              () -> {
                for (int j = 0; j < 10_000; j++) {
                  threads.run(ran::incrementAndGet);
                }
              });
      caller.start();
      callers.add(caller);
    }
    for (Thread caller : callers) {
      caller.join();
    }
    assertThat(ran).hasValue(80_000);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}

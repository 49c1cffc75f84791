// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.sneakyThrow;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of tasks: the thread that runs them, and the handling of exceptions and rejections.
 */
interface TaskContract extends TimeScript {
  @Test
  @Tag("promise-19")
  default void aTaskThatThrowsDoesNotAffectOtherTimeouts() {
    Map<Timeout, Throwable> handled = Collections.synchronizedMap(new IdentityHashMap<>());
    Timer timer = timer(settings().withOnError(handled::put));
    List<Throwable> errors =
        List.of(
            new IllegalStateException("unchecked"),
            new IOException("checked"),
            new AssertionError("error"),
            new StackOverflowError());
    List<Timeout> throwing = new ArrayList<>();
    List<Timeout> others = new ArrayList<>();
    for (Throwable error : errors) {
      others.add(startIn(timer, millis(10), new Probe()));
      throwing.add(startIn(timer, millis(10), new Probe(timeout -> sneakyThrow(error))));
      others.add(startIn(timer, millis(10), new Probe()));
    }
    others.add(startIn(timer, millis(11), new Probe()));
    advanceUntil(millis(11));
    others.forEach(Contracts::assertRan);
    for (int i = 0; i < throwing.size(); i++) {
      assertRan(throwing.get(i));
      assertFalse(throwing.get(i).cancel());
      assertSame(errors.get(i), handled.get(throwing.get(i)), "the arguments of the handler");
    }
    assertEquals(errors.size(), handled.size());
    assertEquals(errors.size(), timer.stats().failed());

    Timeout next = startIn(timer, millis(1), new Probe());
    advanceUntil(millis(12));
    assertRan(next);
  }

  @Test
  @Tag("promise-19")
  default void aHandlerThatThrowsDoesNotAffectOtherTimeouts() {
    Timer timer =
        timer(
            settings()
                .withOnError(
                    (timeout, error) -> {
                      throw new Contracts.Silent("the handler");
                    }));
    Timeout first =
        startIn(timer, millis(10), new Probe(timeout -> sneakyThrow(new Contracts.Silent("1"))));
    Timeout second =
        startIn(timer, millis(10), new Probe(timeout -> sneakyThrow(new Contracts.Silent("2"))));
    advanceUntil(millis(10));
    assertRan(first);
    assertRan(second);
    Timeout next = startIn(timer, millis(1), new Probe());
    advanceUntil(millis(11));
    assertRan(next);
  }

  @Test
  default void anExceptionOfCancelledDoesNotAffectOtherTimeouts() {
    Map<Timeout, Throwable> handled = Collections.synchronizedMap(new IdentityHashMap<>());
    Timer timer = timer(settings().withOnError(handled::put));
    Throwable error = new Contracts.Silent("cancelled()");
    TimerTask throwing =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {}

          @Override
          public void cancelled(Timeout timeout) {
            sneakyThrow(error);
          }
        };
    Timeout cancelled = startIn(timer, millis(10), throwing);
    List<Timeout> stopped = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      stopped.add(startIn(timer, millis(10), new Probe(throwing)));
    }
    assertTrue(cancelled.cancel());
    assertEquals(Map.of(cancelled, error), Map.copyOf(handled));
    assertEquals(5, timer.stop().size());
    stopped.forEach(Contracts::assertCancelled);
    assertEquals(6, handled.size());
    assertEquals(0, timer.stats().failed(), "failed counts tasks");
  }

  @Test
  default void withAnExecutorTasksRunThereAndNowhereElse() {
    Queue<Runnable> handedOff = new ConcurrentLinkedQueue<>();
    Timer timer = timer(settings().withExecutor(handedOff::add));
    Probe probe = new Probe();
    Timeout timeout = startIn(timer, millis(10), probe);
    Timeout later = startIn(timer, millis(20), new Probe());
    advanceUntil(millis(10));
    assertEquals(1, handedOff.size());
    assertEquals(0, probe.runs());
    assertTrue(timeout.isExpired(), "isExpired() once handed off");
    assertFalse(timeout.cancel(), "cancel() once handed off");
    assertFalse(timeout.reschedule(millis(1)), "reschedule() once handed off");
    assertEquals(1, timer.pendingTimeouts());

    handedOff.remove().run();
    assertRan(timeout);
    assertSame(Thread.currentThread(), probe.runner());
    advanceUntil(millis(20));
    handedOff.remove().run();
    assertRan(later);
    assertEquals(0, handedOff.size());
  }

  @Test
  default void aTaskThatThrowsOnAnExecutorIsHandledToo() {
    Queue<Runnable> handedOff = new ConcurrentLinkedQueue<>();
    Map<Timeout, Throwable> handled = Collections.synchronizedMap(new IdentityHashMap<>());
    Timer timer = timer(settings().withExecutor(handedOff::add).withOnError(handled::put));
    Throwable error = new Error("thrown on the executor");
    Timeout timeout = startIn(timer, millis(10), new Probe(self -> sneakyThrow(error)));
    advanceUntil(millis(10));
    handedOff.remove().run();
    assertSame(error, handled.get(timeout));
    assertEquals(1, timer.stats().failed());
  }

  @Test
  @Tag("promise-20")
  default void aTaskThatTheExecutorRejectsStillRuns() {
    for (Throwable refusal :
        List.of(new RejectedExecutionException("full"), new OutOfMemoryError("no thread"))) {
      Timer timer = timer(settings().withExecutor(work -> sneakyThrow(refusal)));
      List<Timeout> timeouts = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        timeouts.add(startIn(timer, millis(1 + i % 10), new Probe()));
      }
      advanceBy(millis(10));
      timeouts.forEach(Contracts::assertRan);
      assertEquals(100, timer.stats().rejected());
      assertEquals(100, timer.stats().expired());
    }
  }

  @Test
  @Tag("promise-20")
  default void aTaskThatTheExecutorRunsAndRejectsRunsOnce() {
    Executor fickle =
        work -> {
          work.run();
          throw new RejectedExecutionException("after all");
        };
    Timer timer = timer(settings().withExecutor(fickle));
    Timeout timeout = startIn(timer, millis(10), new Probe());
    advanceUntil(millis(10));
    assertRan(timeout);
  }

  @Test
  @Tag("promise-15")
  default void aHandedOffTaskRunsAfterTheTimerIsStopped() {
    Queue<Runnable> handedOff = new ConcurrentLinkedQueue<>();
    Timer timer = timer(settings().withExecutor(handedOff::add));
    Timeout timeout = startIn(timer, millis(10), new Probe());
    advanceUntil(millis(10));
    assertEquals(Set.of(), timer.stop());
    handedOff.remove().run();
    assertRan(timeout);
  }
}

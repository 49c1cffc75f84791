// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests tasks on an executor, and executors that misbehave. */
class HandOffTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private final List<Throwable> errors = new ArrayList<>();
  private final PolledTimer.Builder settings =
      PolledTimer.builder()
          .timeSource(clock)
          .tick(Duration.ofNanos(1))
          .onError((timeout, error) -> errors.add(error));

  @Test
  void executorRunsEveryTaskOnce() {
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try {
      PolledTimer timer = settings.executor(executor).build();
      for (int i = 0; i < 1_000; i++) {
        timer.newTimeout(task, 1 + i / 10, TimeUnit.NANOSECONDS);
      }
      clock.advance(100);

      assertThat(timer.poll()).isEqualTo(1_000);

      task.awaitRuns(1_000);
      assertThat(task.ran).doesNotHaveDuplicates();
      assertThat(task.threads).doesNotContain(Thread.currentThread());
      assertThat(timer.stats().expired()).isEqualTo(1_000);
      assertThat(timer.stats().rejected()).isZero();
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  @Tag("promise-15")
  void handedOffTaskIsNoLongerPending() {
    List<Runnable> queue = new ArrayList<>();
    PolledTimer timer = settings.executor(queue::add).maxPendingTimeouts(1).build();
    fire(timer);

    assertThat(timer.pendingTimeouts()).isZero();
    timer.newTimeout(task, 1, TimeUnit.NANOSECONDS);
    assertThat(timer.stop()).hasSize(1);

    queue.forEach(Runnable::run);
    assertThat(task.runs()).as("stop does not revoke a handed-off task").isEqualTo(1);
  }

  @Test
  void rejectedTaskRunsOnTheTimerThread() {
    PolledTimer timer = settings.executor(rejecting()).build();

    fire(timer);

    assertThat(task.runs()).isEqualTo(1);
    assertThat(task.threads).containsExactly(Thread.currentThread());
    assertThat(timer.stats().rejected()).isEqualTo(1);
    assertThat(timer.stats().expired()).isEqualTo(1);
    assertThat(errors).as("a rejection is not an error").isEmpty();
  }

  @Test
  void executorMayThrowAnything() {
    for (Throwable thrown : List.of(new IllegalStateException("odd"), new StackOverflowError())) {
      RecordingTask own = new RecordingTask(clock);
      PolledTimer timer = settings.executor(throwing(thrown)).build();
      timer.newTimeout(own, 1, TimeUnit.NANOSECONDS);
      timer.newTimeout(own, 1, TimeUnit.NANOSECONDS);
      clock.advance(1);

      assertThat(timer.poll()).isEqualTo(2);

      assertThat(own.runs()).isEqualTo(2);
      assertThat(timer.stats().rejected()).isEqualTo(2);
    }
  }

  @Test
  void executorThatAcceptsAndThenThrowsRunsATaskOnce() {
    List<Runnable> queue = new ArrayList<>();
    Executor executor =
        execution -> {
          queue.add(execution);
          throw new RejectedExecutionException("a wrong claim");
        };
    PolledTimer timer = settings.executor(executor).build();

    fire(timer);
    queue.forEach(Runnable::run);

    assertThat(queue).hasSize(1);
    assertThat(task.runs()).isEqualTo(1);
  }

  @Test
  void executorThatRunsAtOnceAndThenThrowsRunsATaskOnce() {
    Executor executor =
        execution -> {
          execution.run();
          throw new RejectedExecutionException("after running it");
        };
    PolledTimer timer = settings.executor(executor).build();

    fire(timer);

    assertThat(task.runs()).isEqualTo(1);
    assertThat(timer.stats().rejected()).isEqualTo(1);
  }

  @Test
  void policyReceivesTimeoutExecutionAndCause() {
    List<Object> notified = new ArrayList<>();
    PolledTimer timer =
        settings
            .executor(rejecting())
            .onRejected(
                (timeout, execution, cause) -> {
                  notified.add(timeout);
                  notified.add(cause.getMessage());
                  execution.run();
                  execution.run();
                })
            .build();
    Timeout timeout = timer.newTimeout(task, 1, TimeUnit.NANOSECONDS);
    clock.advance(1);
    timer.poll();

    assertThat(notified).containsExactly(timeout, "no room");
    assertThat(task.ran).as("once, however often it is called").containsExactly(timeout);
  }

  @Test
  void policyMayDropATask() {
    PolledTimer timer =
        settings.executor(rejecting()).onRejected((timeout, execution, cause) -> {}).build();

    Timeout timeout = fire(timer);

    assertThat(task.runs()).isZero();
    assertThat(timeout.isExpired()).isTrue();
    assertThat(timer.pendingTimeouts()).isZero();
  }

  @Test
  void policyMayRunATaskLaterAndElsewhere() {
    List<Runnable> later = new ArrayList<>();
    PolledTimer timer =
        settings
            .executor(rejecting())
            .onRejected((timeout, execution, cause) -> later.add(execution))
            .build();
    fire(timer);
    assertThat(task.runs()).isZero();

    Concurrently.run(later.get(0)::run);

    assertThat(task.runs()).isEqualTo(1);
  }

  @Test
  @Tag("promise-20")
  void taskRunsEvenIfThePolicyThrows() {
    AssertionError thrown = new AssertionError("the policy itself");
    PolledTimer timer =
        settings
            .executor(rejecting())
            .onRejected(
                (timeout, execution, cause) -> {
                  throw thrown;
                })
            .build();

    fire(timer);

    assertThat(task.runs()).isEqualTo(1);
    assertThat(errors).containsExactly(thrown);
  }

  @Test
  void taskThatThrowsOnAnExecutorIsHandledThere() {
    IllegalStateException thrown = new IllegalStateException("the task itself");
    PolledTimer timer = settings.executor(Runnable::run).build();
    timer.newTimeout(
        timeout -> {
          throw thrown;
        },
        1,
        TimeUnit.NANOSECONDS);
    clock.advance(1);

    assertThat(timer.poll()).isEqualTo(1);

    assertThat(errors).containsExactly(thrown);
    assertThat(timer.stats().failed()).isEqualTo(1);
    assertThat(timer.stats().rejected()).as("the executor did accept it").isZero();
  }

  private Timeout fire(PolledTimer timer) {
    Timeout timeout = timer.newTimeout(task, 1, TimeUnit.NANOSECONDS);
    clock.advance(1);
    assertThat(timer.poll()).isEqualTo(1);
    return timeout;
  }

  private static Executor rejecting() {
    return throwing(new RejectedExecutionException("no room"));
  }

  private static Executor throwing(Throwable thrown) {
    return execution -> {
      if (thrown instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) thrown;
    };
  }
}

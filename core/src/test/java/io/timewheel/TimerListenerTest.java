// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the calls of a listener: each once, on the right thread, with the right values. */
class TimerListenerTest {
  private final TestClock clock = new TestClock();
  private final RecordingListener listener = new RecordingListener();
  private final List<Throwable> errors = new ArrayList<>();
  private final PolledTimer.Builder settings =
      PolledTimer.builder()
          .timeSource(clock)
          .tick(Duration.ofNanos(1))
          .listener(listener)
          .onError((timeout, error) -> errors.add(error));

  @Test
  void isNotifiedOfATimeoutThatIsMovedAndRuns() {
    PolledTimer timer = settings.build();
    Timeout timeout = timer.newTimeout(running(3), 5, TimeUnit.NANOSECONDS);
    timeout.reschedule(9, TimeUnit.NANOSECONDS);
    clock.advance(11);
    timer.poll();

    assertThat(listener.events)
        .containsExactly("started", "rescheduled", "expired, lag 2", "completed, ran 3");
    assertThat(listener.timeouts).containsOnly(timeout);
    assertThat(listener.threads).containsOnly(Thread.currentThread());
  }

  @Test
  void isNotifiedOfATaskThatThrows() {
    PolledTimer timer = settings.build();
    timer.newTimeout(throwing(3), 5, TimeUnit.NANOSECONDS);
    clock.advance(5);
    timer.poll();

    assertThat(listener.events)
        .containsExactly("started", "expired, lag 0", "failed, on purpose, ran 3");
    assertThat(errors).extracting(Throwable::getMessage).containsExactly("on purpose");
  }

  @Test
  void isNotifiedOnceOfASuccessfulCancel() {
    PolledTimer timer = settings.build();
    Timeout timeout = timer.newTimeout(running(0), 5, TimeUnit.NANOSECONDS);
    timeout.cancel();
    timeout.cancel();
    timeout.reschedule(1, TimeUnit.NANOSECONDS);

    assertThat(listener.events).containsExactly("started", "cancelled");
  }

  @Test
  void isNotifiedOfCancellationsByStopOnItsThread() {
    PolledTimer timer = settings.build();
    timer.newTimeout(running(0), 5, TimeUnit.NANOSECONDS);
    listener.threads.clear();
    Thread[] stopping = new Thread[1];

    Concurrently.run(
        () -> {
          stopping[0] = Thread.currentThread();
          timer.stop();
        });

    assertThat(listener.events).containsExactly("started", "cancelled");
    assertThat(listener.threads).containsExactly(stopping[0]);
  }

  @Test
  void isNotNotifiedOfARefusedStart() {
    PolledTimer timer = settings.maxPendingTimeouts(1).build();
    timer.newTimeout(running(0), 5, TimeUnit.NANOSECONDS);
    assertThat(refused(timer)).isTrue();
    timer.stop();
    assertThat(refused(timer)).isTrue();

    assertThat(listener.events).containsExactly("started", "cancelled");
  }

  @Test
  void isNotifiedOfARejectionBeforeThePolicyDecides() {
    PolledTimer timer =
        settings
            .executor(
                execution -> {
                  throw new RejectedExecutionException("no room");
                })
            .onRejected(
                (timeout, execution, cause) -> {
                  listener.events.add("policy");
                  execution.run();
                })
            .build();
    timer.newTimeout(running(3), 5, TimeUnit.NANOSECONDS);
    clock.advance(5);
    timer.poll();

    assertThat(listener.events)
        .containsExactly(
            "started", "expired, lag 0", "rejected, no room", "policy", "completed, ran 3");
  }

  @Test
  void isNotifiedOfARunOnItsThread() {
    List<Runnable> queue = new ArrayList<>();
    PolledTimer timer = settings.executor(queue::add).build();
    timer.newTimeout(running(3), 5, TimeUnit.NANOSECONDS);
    clock.advance(5);
    timer.poll();
    assertThat(listener.events).containsExactly("started", "expired, lag 0");

    listener.threads.clear();
    Thread[] executing = new Thread[1];
    Concurrently.run(
        () -> {
          executing[0] = Thread.currentThread();
          queue.get(0).run();
        });

    assertThat(listener.events).containsExactly("started", "expired, lag 0", "completed, ran 3");
    assertThat(listener.threads).containsExactly(executing[0]);
  }

  /** Every single callback throws. The timeouts behave as if none had. */
  @Test
  @Tag("promise-22")
  void listenerThatThrowsHasNoOtherEffect() {
    int[] calls = new int[1];
    PolledTimer timer =
        settings
            .listener(
                new RecordingListener() {
                  @Override
                  void record(Timeout timeout, String event) {
                    calls[0]++;
                    throw new AssertionError(event);
                  }
                })
            .executor(
                execution -> {
                  throw new RejectedExecutionException("no room");
                })
            .build();
    RecordingTask task = new RecordingTask(clock);
    Timeout runs = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    Timeout throwsInstead = timer.newTimeout(throwing(0), 5, TimeUnit.NANOSECONDS);
    Timeout cancelled = timer.newTimeout(task, 5, TimeUnit.NANOSECONDS);
    assertThat(runs.reschedule(6, TimeUnit.NANOSECONDS)).isTrue();
    assertThat(cancelled.cancel()).isTrue();
    clock.advance(6);
    assertThat(timer.poll()).isEqualTo(2);

    assertThat(task.ran).containsExactly(runs);
    assertThat(throwsInstead.isExpired()).isTrue();
    assertThat(timer.stats()).isEqualTo(new TimerStats(0, 3, 1, 2, 1, 1, 2, 0, 1));
    // Three started, one moved, one cancelled; two expired, were rejected, and completed or failed.
    assertThat(calls[0]).isEqualTo(11);
    assertThat(errors)
        .extracting(Throwable::getMessage)
        .hasSize(12)
        .contains("on purpose", "started", "rescheduled", "cancelled", "expired, lag 0");
  }

  @Test
  void callbacksDoNothingByDefault() {
    PolledTimer timer =
        settings
            .listener(new TimerListener() {})
            .executor(
                execution -> {
                  throw new RejectedExecutionException("no room");
                })
            .build();
    timer.newTimeout(running(0), 5, TimeUnit.NANOSECONDS).reschedule(1, TimeUnit.NANOSECONDS);
    timer.newTimeout(throwing(0), 1, TimeUnit.NANOSECONDS);
    timer.newTimeout(running(0), 1, TimeUnit.NANOSECONDS).cancel();
    clock.advance(1);

    assertThat(timer.poll()).isEqualTo(2);

    assertThat(errors).extracting(Throwable::getMessage).containsExactly("on purpose");
  }

  private static boolean refused(Timer timer) {
    try {
      timer.newTimeout(timeout -> {}, 1, TimeUnit.SECONDS);
      return false;
    } catch (IllegalStateException | RejectedExecutionException e) {
      return true;
    }
  }

  private TimerTask running(long nanos) {
    return timeout -> clock.advance(nanos);
  }

  private TimerTask throwing(long afterNanos) {
    return timeout -> {
      clock.advance(afterNanos);
      throw new IllegalStateException("on purpose");
    };
  }
}

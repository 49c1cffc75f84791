// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that exceptions of callbacks and of error handlers affect nothing else. */
class ErrorHandlingTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask other = new RecordingTask(clock);
  private final PolledTimer.Builder settings =
      PolledTimer.builder().timeSource(clock).tick(Duration.ofNanos(1));

  @Test
  void handlerReceivesExceptionsAndErrorsOfTasks() {
    List<Object> notified = new ArrayList<>();
    PolledTimer timer =
        settings
            .onError(
                (timeout, error) -> {
                  notified.add(timeout);
                  notified.add(error);
                })
            .build();
    Exception checked = new Exception("checked");
    Error error = new StackOverflowError();
    Timeout first = timer.newTimeout(throwing(checked), 1, TimeUnit.NANOSECONDS);
    Timeout second = timer.newTimeout(throwing(error), 1, TimeUnit.NANOSECONDS);
    timer.newTimeout(other, 1, TimeUnit.NANOSECONDS);

    clock.advance(1);
    assertThat(timer.poll()).isEqualTo(3);

    assertThat(notified).containsExactly(first, checked, second, error);
    assertThat(other.runs()).isEqualTo(1);
    assertThat(timer.stats().failed()).isEqualTo(2);
    assertThat(first.isExpired()).isTrue();
    assertThat(first.isCancelled()).isFalse();
    assertThat(first.cancel()).isFalse();
  }

  @Test
  void handlerReceivesExceptionsOfCancelledAndTheCancelIsValid() {
    List<Throwable> notified = new ArrayList<>();
    PolledTimer timer = settings.onError((timeout, error) -> notified.add(error)).build();
    Error thrown = new AssertionError("cancelled");
    Timeout one = timer.newTimeout(throwingWhenCancelled(thrown), 1, TimeUnit.NANOSECONDS);
    timer.newTimeout(throwingWhenCancelled(thrown), 1, TimeUnit.NANOSECONDS);
    timer.newTimeout(other, 1, TimeUnit.NANOSECONDS);

    assertThat(one.cancel()).isTrue();
    assertThat(timer.stop()).hasSize(2);

    assertThat(notified).containsExactly(thrown, thrown);
    assertThat(other.cancelled).hasSize(1);
    assertThat(timer.stats().cancelled()).isEqualTo(3);
  }

  @Test
  void handlerThatThrowsIsLogged() {
    IllegalStateException thrown = new IllegalStateException("the handler itself");
    PolledTimer timer =
        settings
            .onError(
                (timeout, error) -> {
                  throw thrown;
                })
            .build();
    timer.newTimeout(throwing(new Exception()), 1, TimeUnit.NANOSECONDS);
    timer.newTimeout(other, 1, TimeUnit.NANOSECONDS);
    clock.advance(1);

    try (LogCapture log = new LogCapture()) {
      assertThat(timer.poll()).isEqualTo(2);
      assertThat(log.thrown()).containsExactly(thrown);
    }
    assertThat(other.runs()).isEqualTo(1);
  }

  /** The text of a task may be long, secret or broken. */
  @Test
  @Tag("promise-19")
  void defaultHandlerLogsTheClassOfATaskAndNotItsText() {
    PolledTimer timer = settings.build();
    Exception thrown = new Exception("on purpose");
    timer.newTimeout(new Secretive(thrown), 1, TimeUnit.NANOSECONDS);
    clock.advance(1);

    try (LogCapture log = new LogCapture()) {
      timer.poll();
      assertThat(log.lines())
          .containsExactly(
              "WARNING: a callback of task io.timewheel.ErrorHandlingTest$Secretive threw");
      assertThat(log.thrown()).containsExactly(thrown);
    }
  }

  @Test
  @Tag("promise-19")
  void logsTheClassThatAWrapperNames() {
    assertThat(logged(() -> Exception.class)).contains(" java.lang.Exception threw");
  }

  @Test
  void logsTheClassOfATaskThatCannotNameOne() {
    String ownName = Named.class.getName();
    assertThat(logged(() -> null)).contains(ownName);
    assertThat(logged(() -> throwUnchecked(new StackOverflowError()))).contains(ownName);
  }

  /** Returns the log of a task that throws and names a class. */
  private String logged(Supplier<Class<?>> name) {
    PolledTimer timer = settings.build();
    timer.newTimeout(new Named(name), 1, TimeUnit.NANOSECONDS);
    clock.advance(1);
    try (LogCapture log = new LogCapture()) {
      timer.poll();
      return log.lines().get(0);
    }
  }

  /** Logging may throw too, because log handlers and the texts of exceptions are user code. */
  @Test
  @Tag("promise-19")
  void logThatThrowsHasNoOtherEffect() {
    PolledTimer timer = settings.build();
    timer.newTimeout(throwing(new Exception()), 1, TimeUnit.NANOSECONDS);
    Timeout cancelled =
        timer.newTimeout(throwingWhenCancelled(new AssertionError()), 5, TimeUnit.NANOSECONDS);
    timer.newTimeout(throwingWhenCancelled(new AssertionError()), 5, TimeUnit.NANOSECONDS);
    timer.newTimeout(other, 1, TimeUnit.NANOSECONDS);
    clock.advance(1);

    try (LogCapture log = new LogCapture(entry -> throwUnchecked(new StackOverflowError()))) {
      assertThat(timer.poll()).isEqualTo(2);
      assertThat(cancelled.cancel()).isTrue();
      assertThat(timer.stop()).hasSize(1);
      assertThat(log.lines()).hasSize(3);
    }
    assertThat(other.runs()).isEqualTo(1);
  }

  private static TimerTask throwing(Throwable thrown) {
    return timeout -> throwUnchecked(thrown);
  }

  private static TimerTask throwingWhenCancelled(Throwable thrown) {
    return new TimerTask() {
      @Override
      public void run(Timeout timeout) {}

      @Override
      public void cancelled(Timeout timeout) {
        throwUnchecked(thrown);
      }
    };
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable, R> R throwUnchecked(Throwable thrown) throws T {
    throw (T) thrown;
  }

  /** A task that throws, and names a class. */
  private record Named(Supplier<Class<?>> name) implements TimerTask {
    @Override
    public void run(Timeout timeout) throws Exception {
      throw new Exception("on purpose");
    }

    @Override
    public Class<?> taskClass() {
      return name.get();
    }
  }

  /** A task whose text must not be read. */
  private static final class Secretive implements TimerTask {
    private final Exception thrown;

    Secretive(Exception thrown) {
      this.thrown = thrown;
    }

    @Override
    public void run(Timeout timeout) throws Exception {
      throw thrown;
    }

    @Override
    public String toString() {
      throw new AssertionError("a secret");
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.PolledTimer;
import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.TimerListener;
import io.timewheel.TimerTask;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Tests the features of the manual timer beyond the contract: its time, and exceptions of tasks.
 */
class ManualTimerTest {
  private static final TimerTask NOTHING = timeout -> {};

  private final ManualTimer timer = ManualTimer.create();
  private final List<Duration> seen = new ArrayList<>();
  private final TimerTask clockReader = timeout -> seen.add(timer.elapsed());

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  // How time passes

  @Test
  void everyTaskSeesTheClockAtItsTick() {
    timer.newTimeout(clockReader, millis(30));
    timer.newTimeout(clockReader, Duration.ofHours(5));
    timer.newTimeout(clockReader, millis(10).plusNanos(1));
    assertThat(timer.advanceBy(Duration.ofDays(1))).isEqualTo(3);
    assertThat(seen).containsExactly(millis(11), millis(30), Duration.ofHours(5));
    assertThat(timer.elapsed()).isEqualTo(Duration.ofDays(1));
  }

  @Test
  void timeoutsStartedByTasksFireInTheSameAdvance() {
    TimerTask repeating =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {
            seen.add(timer.elapsed());
            timer.newTimeout(this, millis(20));
          }
        };
    timer.newTimeout(repeating, millis(20));
    timer.newTimeout(clockReader, millis(50));
    assertThat(timer.advanceBy(millis(60))).isEqualTo(4);
    assertThat(seen).containsExactly(millis(20), millis(40), millis(50), millis(60));
    assertThat(timer.pendingTimeouts()).isEqualTo(1);
    assertThat(timer.nextDeadline()).contains(millis(80));
  }

  @Test
  void movesAndCancelsByTasksApplyInTheSameAdvance() {
    Timeout moved = timer.newTimeout(clockReader, millis(90));
    Timeout cancelled = timer.newTimeout(clockReader, millis(95));
    timer.newTimeout(timeout -> moved.reschedule(millis(1)), millis(10));
    timer.newTimeout(timeout -> cancelled.cancel(), millis(20));
    assertThat(timer.advanceBy(millis(100))).isEqualTo(3);
    assertThat(seen).containsExactly(millis(11));
  }

  @Test
  void advanceToCountsFromTheMomentTheTimerWasMade() {
    timer.timeSource().advanceBy(millis(5));
    ManualTimer later = ManualTimer.create(settings -> settings.timeSource(timer.timeSource()));
    assertThat(later.elapsed()).isZero();
    later.newTimeout(NOTHING, millis(10));
    assertThat(later.advanceTo(millis(9))).isZero();
    assertThat(later.advanceTo(millis(10))).isEqualTo(1);
    assertThat(later.advanceTo(millis(10))).isZero();
    assertThat(later.elapsed()).isEqualTo(millis(10));
    assertThat(timer.elapsed()).isEqualTo(millis(15));
  }

  @Test
  void timeDoesNotGoBack() {
    timer.advanceBy(millis(5));
    assertThatThrownBy(() -> timer.advanceTo(millis(4)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("elapsed: PT0.004S (expected: at least PT0.005S, the present time)");
    assertThatThrownBy(() -> timer.advanceBy(millis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("duration: PT-0.001S (expected: zero or more)");
    assertThatThrownBy(() -> timer.advanceBy(null)).hasMessage("duration");
    assertThatThrownBy(() -> timer.advanceTo(null)).hasMessage("elapsed");
    assertThat(timer.elapsed()).isEqualTo(millis(5));
  }

  @Test
  void refusesTooLongAnAdvanceBeforeAnythingRuns() {
    timer.newTimeout(clockReader, millis(1));
    assertThatThrownBy(() -> timer.advanceBy(Duration.ofSeconds(Long.MAX_VALUE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("292 years");
    assertThatThrownBy(() -> timer.advanceTo(Duration.ofSeconds(Long.MAX_VALUE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("292 years");
    assertThat(seen).isEmpty();
    assertThat(timer.elapsed()).isZero();
  }

  @Test
  void theEndOfTimeIsReached() {
    Duration end = Duration.ofNanos(Long.MAX_VALUE - 1);
    timer.newTimeout(clockReader, Duration.ofDays(100_000));
    timer.newTimeout(clockReader, Long.MAX_VALUE - 1, TimeUnit.NANOSECONDS);
    timer.newTimeout(clockReader, Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    timer.advanceTo(end);
    assertThat(seen).containsExactly(Duration.ofDays(100_000));
    assertThat(timer.elapsed()).isEqualTo(end);
    assertThat(timer.nextDeadline()).isEmpty();
    assertThat(timer.stop()).hasSize(2);
  }

  @Test
  void theEndOfTimeHasATickOfOneNanosecond() {
    ManualTimer fine = ManualTimer.create(settings -> settings.tick(Duration.ofNanos(1)));
    fine.newTimeout(NOTHING, Long.MAX_VALUE - 1, TimeUnit.NANOSECONDS);
    fine.newTimeout(NOTHING, Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    assertThat(fine.nextDeadline()).contains(Duration.ofNanos(Long.MAX_VALUE - 1));
    assertThat(fine.advanceTo(fine.nextDeadline().orElseThrow())).isEqualTo(1);
    assertThat(fine.nextDeadline()).isEmpty();
  }

  @Test
  void movingTheClockRunsNothingByItself() {
    timer.newTimeout(clockReader, millis(10));
    timer.newTimeout(clockReader, millis(20));
    timer.timeSource().advanceBy(millis(15));
    assertThat(seen).isEmpty();
    assertThat(timer.nextDeadline()).contains(millis(10));
    assertThat(timer.poll()).isEqualTo(1);
    assertThat(seen).containsExactly(millis(15));
    assertThat(timer.elapsed()).isEqualTo(millis(15));
    assertThat(timer.poll()).isZero();
  }

  @Test
  void aTaskCanPretendToTakeTime() {
    timer.newTimeout(timeout -> timer.timeSource().advanceBy(millis(100)), millis(10));
    timer.newTimeout(clockReader, millis(20));
    timer.newTimeout(clockReader, millis(110));
    timer.newTimeout(clockReader, millis(111));
    assertThat(timer.advanceBy(millis(10))).isEqualTo(3);
    assertThat(seen).containsExactly(millis(110), millis(110));
    assertThat(timer.elapsed()).isEqualTo(millis(110));
  }

  @Test
  void aTaskCannotAdvanceItsTimer() {
    timer.newTimeout(timeout -> timer.advanceBy(millis(1)), millis(10));
    timer.newTimeout(timeout -> timer.advanceTo(millis(20)), millis(10));
    timer.newTimeout(timeout -> timer.poll(), millis(10));
    timer.newTimeout(clockReader, millis(11));
    assertThatThrownBy(() -> timer.advanceBy(millis(10)))
        .isInstanceOf(AssertionError.class)
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot advance the timer that runs it")
        .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(2));
    assertThat(seen).isEmpty();
    timer.advanceBy(millis(1));
    assertThat(seen).containsExactly(millis(11));
  }

  // The next deadline

  @Test
  void nextDeadlineIsTheTickOfTheEarliestThatIsPending() {
    ManualTimer timer = ManualTimer.create(settings -> settings.tick(millis(10)));
    assertThat(timer.nextDeadline()).isEmpty();
    Timeout first = timer.newTimeout(NOTHING, millis(12));
    Timeout second = timer.newTimeout(NOTHING, Duration.ofHours(1));
    Timeout third = timer.newTimeout(NOTHING, Duration.ofHours(1).plusSeconds(1));
    assertThat(timer.nextDeadline()).contains(millis(20));
    first.cancel();
    assertThat(timer.nextDeadline()).contains(Duration.ofHours(1));
    second.reschedule(Duration.ofDays(1));
    assertThat(timer.nextDeadline()).contains(Duration.ofHours(1).plusSeconds(1));
    assertThat(timer.advanceTo(timer.nextDeadline().orElseThrow())).isEqualTo(1);
    assertThat(third.isExpired()).isTrue();
    assertThat(timer.nextDeadline()).contains(Duration.ofDays(1));
    timer.newTimeout(NOTHING, 0, TimeUnit.SECONDS);
    assertThat(timer.nextDeadline()).contains(timer.elapsed().plusMillis(10));
    timer.stop();
    assertThat(timer.nextDeadline()).isEmpty();
  }

  @Test
  void timeoutThatIsNeverDueIsNoNextDeadline() {
    timer.advanceBy(millis(1));
    timer.newTimeout(NOTHING, Long.MAX_VALUE, TimeUnit.DAYS);
    assertThat(timer.nextDeadline()).isEmpty();
    assertThat(timer.pendingTimeouts()).isEqualTo(1);
  }

  // Exceptions of tasks

  @Test
  void advanceThrowsTheExceptionOfATaskAtItsEnd() {
    IOException error = new IOException("first");
    Error second = new AssertionError("second");
    timer.newTimeout(
        timeout -> {
          throw error;
        },
        millis(10));
    timer.newTimeout(
        timeout -> {
          throw second;
        },
        millis(20));
    timer.newTimeout(clockReader, millis(30));
    assertThatThrownBy(() -> timer.advanceBy(millis(40)))
        .isInstanceOf(AssertionError.class)
        .hasMessage("a task or callback threw java.io.IOException: first")
        .hasCause(error)
        .hasSuppressedException(second);
    assertThat(seen).containsExactly(millis(30));
    assertThat(timer.elapsed()).isEqualTo(millis(40));
    assertThat(timer.advanceBy(millis(1))).isZero();
  }

  @Test
  void nextCallThrowsTheExceptionOfACallback() {
    TimerTask throwing =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {}

          @Override
          public void cancelled(Timeout timeout) {
            throw new IllegalStateException("cancelled");
          }
        };
    assertThat(timer.newTimeout(throwing, millis(10)).cancel()).isTrue();
    assertThatThrownBy(timer::poll).hasCauseInstanceOf(IllegalStateException.class);
    timer.newTimeout(throwing, millis(10)).cancel();
    assertThatThrownBy(() -> timer.advanceTo(timer.elapsed()))
        .hasCauseInstanceOf(IllegalStateException.class);

    Timeout pending = timer.newTimeout(throwing, millis(10));
    assertThatThrownBy(timer::stop).hasCauseInstanceOf(IllegalStateException.class);
    assertThat(timer.isStopped()).isTrue();
    assertThat(pending.isCancelled()).isTrue();
    timer.close();

    ManualTimer other = ManualTimer.create();
    other.newTimeout(throwing, millis(10));
    assertThatThrownBy(() -> other.stop(Duration.ZERO))
        .hasCauseInstanceOf(IllegalStateException.class);
    ManualTimer third = ManualTimer.create();
    third.newTimeout(throwing, millis(10));
    assertThatThrownBy(third::close).hasCauseInstanceOf(IllegalStateException.class);
  }

  @Test
  void ownErrorHandlerReplacesThrowing() {
    AtomicReference<Throwable> handled = new AtomicReference<>();
    ManualTimer timer =
        ManualTimer.create(settings -> settings.onError((timeout, error) -> handled.set(error)));
    Exception error = new Exception("handled");
    timer.newTimeout(
        timeout -> {
          throw error;
        },
        millis(1));
    assertThat(timer.advanceBy(millis(1))).isEqualTo(1);
    assertThat(handled).hasValue(error);
  }

  // Settings

  @Test
  void timersWithTheSameSettingsAreIndependent() {
    Consumer<PolledTimer.Builder> settings = builder -> builder.maxPendingTimeouts(1);
    ManualTimer first = ManualTimer.create(settings);
    ManualTimer second = ManualTimer.create(settings);
    first.advanceBy(millis(5));
    assertThat(second.elapsed()).isZero();
    Timeout timeout = first.newTimeout(NOTHING, millis(1));
    assertThat(timeout.timer()).isSameAs(first);
    assertThatThrownBy(() -> first.newTimeout(NOTHING, millis(1)))
        .isInstanceOf(RejectedExecutionException.class);
    assertThat(second.newTimeout(NOTHING, millis(1)).timer()).isSameAs(second);
  }

  @Test
  void rejectionGoesToPolicyAndListener() {
    List<String> events = new ArrayList<>();
    ManualTimer timer =
        ManualTimer.create(
            settings ->
                settings
                    .executor(
                        work -> {
                          throw new RejectedExecutionException();
                        })
                    .onRejected((timeout, execution, cause) -> events.add("policy"))
                    .listener(
                        new TimerListener() {
                          @Override
                          public void started(Timeout timeout) {
                            events.add("started");
                          }

                          @Override
                          public void rejected(Timeout timeout, Throwable cause) {
                            events.add("rejected");
                          }
                        }));
    timer.newTimeout(clockReader, millis(1));
    assertThat(timer.advanceBy(millis(1))).isEqualTo(1);
    assertThat(events).containsExactly("started", "rejected", "policy");
    assertThat(seen).isEmpty();
  }

  @Test
  void clockMustBeManual() {
    assertThatThrownBy(
            () -> ManualTimer.create(settings -> settings.timeSource(TimeSource.system())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("timeSource: " + TimeSource.system() + " (expected: a ManualTimeSource)");
  }

  @Test
  void pollLeavesTasksBeyondItsLimit() {
    timer.newTimeout(clockReader, millis(10));
    timer.newTimeout(clockReader, millis(20));
    timer.timeSource().advanceBy(millis(20));

    assertThat(timer.poll(1)).isEqualTo(1);
    assertThat(timer.poll()).isEqualTo(1);
  }

  @Test
  void pollThrowsTheExceptionOfATask() {
    timer.newTimeout(
        timeout -> {
          throw new IllegalStateException("for the test");
        },
        millis(10));
    timer.timeSource().advanceBy(millis(10));

    assertThatThrownBy(timer::poll).hasCauseInstanceOf(IllegalStateException.class);
    assertThat(timer.poll()).isZero();
  }

  @Test
  void builderRefusesInvalidSettings() {
    PolledTimer.Builder builder = PolledTimer.builder();
    assertThatThrownBy(() -> builder.tick(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("tick: PT0S");
    assertThatThrownBy(() -> builder.tick(null)).hasMessage("tick");
    assertThatThrownBy(() -> builder.executor(null)).hasMessage("executor");
    assertThatThrownBy(() -> builder.onRejected(null)).hasMessage("onRejected");
    assertThatThrownBy(() -> builder.onError(null)).hasMessage("onError");
    assertThatThrownBy(() -> builder.listener(null)).hasMessage("listener");
    assertThatThrownBy(() -> builder.timeSource(null)).hasMessage("timeSource");
  }

  @Test
  void textShowsTheTime() {
    timer.advanceBy(millis(1_500));
    assertThat(timer).hasToString("ManualTimer(PT1.5S)");
    timer.close();
    assertThat(timer).hasToString("ManualTimer(PT1.5S, stopped)");
  }
}

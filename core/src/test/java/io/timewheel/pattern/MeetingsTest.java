// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests races of two threads with one thread. The listener of the timer runs the actions of the
 * other thread, between the start of a timeout and the return of {@code newTimeout}.
 */
class MeetingsTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final Rig rig = new Rig();
  private final List<String> notified = new ArrayList<>();

  /** Runs an action once, when the next timeout is started. */
  private void meanwhile(Runnable other) {
    rig.onStart =
        () -> {
          rig.onStart = () -> {};
          other.run();
        };
  }

  /** An entry that fires without further effect. */
  private final class Entry extends TimedEntry {
    @Override
    void fired() {
      notified.add("fired");
    }
  }

  private final Entry entry = new Entry();

  @Test
  void entryThatIsSettledWhileItStartsIsNotPending() {
    meanwhile(entry::settle);
    entry.start(rig.timer, () -> HOUR.toNanos());
    rig.assertNothingPending();
    assertThat(entry.isSettled()).isTrue();
  }

  @Test
  void entryThatIsHastenedWhileItStartsLooksAgainForItsDelay() {
    long[] delayNanos = {HOUR.toNanos()};
    meanwhile(
        () -> {
          delayNanos[0] = Duration.ofMillis(5).toNanos();
          entry.hasten(delayNanos[0]);
        });
    entry.start(rig.timer, () -> delayNanos[0]);
    rig.advanceMillis(5);
    assertThat(notified).containsExactly("fired");
  }

  /**
   * Regression: a run that had read the state before the entry was settled left the entry pending
   * forever.
   */
  @Test
  void entryThatIsSettledBetweenItsFiringAndItsReArmingIsNotPending() {
    TimedEntry settled =
        new TimedEntry() {
          @Override
          void fired() {
            settle();
            rearm(HOUR::toNanos);
          }
        };
    settled.start(rig.timer, () -> Duration.ofMillis(5).toNanos());
    rig.advanceMillis(5);
    rig.assertNothingPending();
  }

  @Test
  void settledEntryIsNeitherHastenedNorFired() {
    entry.start(rig.timer, () -> HOUR.toNanos());
    entry.settle();
    entry.hasten(1);
    entry.run(rig.timer.newTimeout(timeout -> {}, HOUR));
    assertThat(notified).isEmpty();
  }

  @Test
  void entryThatWasNeverStartedIsNotStopped() {
    assertThat(entry.isStopped()).isFalse();
    entry.start(rig.timer, () -> HOUR.toNanos());
    assertThat(entry.isStopped()).isFalse();
    rig.timer.stop();
    assertThat(entry.isStopped()).isTrue();
  }

  @Test
  void leaseThatHasEndedIsNotHeldAndNotReleasedAgain() {
    Lease<String> lease = new Lease<>("key", 0);
    assertThat(lease.hold()).isOne();
    assertThat(lease.end()).isTrue();
    assertThat(lease.end()).isFalse();
    assertThat(lease.hold()).isZero();
    assertThat(lease.holds()).isZero();
    assertThat(lease.release(() -> {})).isEqualTo(Lease.Release.NOT_THE_LAST);
  }

  private Expirations<String, String> expirations() {
    return Expirations.builder(rig.timer, (String key, String value) -> notified.add(value))
        .executor(rig)
        .build();
  }

  @Test
  void oneOfTwoConcurrentAdditionsWins() {
    Expirations<String, String> expirations = expirations();
    meanwhile(() -> assertThat(expirations.add("key", "first", HOUR)).isTrue());
    assertThat(expirations.add("key", "second", HOUR)).isFalse();
    assertThat(rig.timer.pendingTimeouts()).isOne();
    assertThat(expirations.complete("key")).isEqualTo("first");
    rig.assertNothingPending();
  }

  @Test
  void replacementThatMeetsAnAdditionTakesItsPlace() {
    Expirations<String, String> expirations = expirations();
    meanwhile(() -> assertThat(expirations.add("key", "first", HOUR)).isTrue());
    assertThat(expirations.replace("key", "second", HOUR)).isEqualTo("first");
    assertThat(rig.timer.pendingTimeouts()).isOne();
    assertThat(expirations.complete("key")).isEqualTo("second");
  }

  @Test
  void additionThatMeetsAStopIsRefused() {
    Expirations<String, String> expirations = expirations();
    meanwhile(expirations::stop);
    assertThatIllegalStateException()
        .isThrownBy(() -> expirations.add("key", "value", HOUR))
        .withMessage("this Expirations is stopped");
    rig.assertNothingPending();
  }

  private Retries<String> retries() {
    return Retries.builder(rig.timer, rig, (String key, int attempt) -> notified.add(key))
        .backoff(Backoff.fixed(HOUR))
        .build();
  }

  @Test
  void oneOfTwoConcurrentRetriesWins() {
    Retries<String> retries = retries();
    meanwhile(() -> assertThat(retries.add("key")).isTrue());
    assertThat(retries.add("key")).isFalse();
    assertThat(rig.timer.pendingTimeouts()).isOne();
  }

  @Test
  void retryThatMeetsACloseIsRefused() {
    Retries<String> retries = retries();
    meanwhile(retries::close);
    assertThatIllegalStateException()
        .isThrownBy(() -> retries.add("key"))
        .withMessage("the retries are closed");
    rig.assertNothingPending();
  }

  @Test
  void retryThatMeetsAStopOfTheTimerIsRefused() {
    Retries<String> retries = retries();
    meanwhile(() -> rig.timer.stop());
    assertThatIllegalStateException()
        .isThrownBy(() -> retries.add("key"))
        .withMessage("the timer is stopped");
    assertThat(retries.size()).isZero();
  }

  @Test
  void backoffThatThrowsExhaustsItsKeyAtOnce() {
    Retries<String> retries =
        Retries.builder(rig.timer, rig, (String key, int attempt) -> {})
            .backoff(
                attempt -> {
                  throw new IllegalStateException("no delay");
                })
            .onExhausted((key, error) -> notified.add(key + ": " + error.getMessage()))
            .build();
    assertThat(retries.add("key")).isTrue();
    rig.runTasks();
    assertThat(notified).containsExactly("key: no delay");
    rig.assertNothingPending();
  }
}

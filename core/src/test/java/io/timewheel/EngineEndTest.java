// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.PassiveTimer.Kind;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the engine after a shutdown or a failure, without a thread. A tick is ten nanoseconds. */
class EngineEndTest {

  @Test
  void shutDownRefusesTimeoutsAndReturnsPendingOnes() {
    PassiveTimer timer = timer(2, 2);
    Engine engine = timer.engine;
    WheelTimeout first = timer.start(5);
    WheelTimeout second = timer.start(Long.MAX_VALUE);

    Drained drained = engine.shutDown();

    assertThat(drained.size()).isEqualTo(2);
    assertThat(first.isCancelled()).isTrue();
    assertThat(second.isCancelled()).isTrue();
    assertThat(engine.pendingTimeouts()).isZero();
    assertThat(timer.task.cancelled).as("callbacks are still pending").isEmpty();
    timer.clock.advance(10);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isZero();

    // More often than there are permits: none may be lost.
    for (int i = 0; i < 3; i++) {
      assertThatIllegalStateException()
          .isThrownBy(() -> timer.start(5))
          .withMessage("the timer is stopped")
          .withNoCause();
    }
    assertThat(engine.pendingTimeouts()).isZero();

    assertThat(engine.afterShutDown(drained)).containsExactlyInAnyOrder(first, second);
    assertThat(timer.task.cancelled).containsExactlyInAnyOrder(first, second);
  }

  /** A timer that is both full and stopped reports that it is stopped. */
  @Test
  void stoppedAndFullTimerReportsThatItIsStopped() {
    PassiveTimer timer = timer(1, 1);
    Engine engine = timer.engine;
    timer.start(5);
    engine.fail(new IllegalArgumentException("for some reason"));

    assertThatIllegalStateException().isThrownBy(() -> timer.start(5));
  }

  @Test
  @Tag("promise-29")
  void failedEngineReportsTheCauseAndKeepsPendingTimeouts() {
    PassiveTimer timer = timer(2, 0);
    Engine engine = timer.engine;
    WheelTimeout pending = timer.start(5);
    Throwable cause = new IllegalArgumentException("for some reason");

    engine.fail(cause);

    assertThatIllegalStateException()
        .isThrownBy(() -> timer.start(5))
        .withMessage("the timer has failed and runs no more tasks")
        .withCause(cause);
    timer.clock.advance(10);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isZero();
    assertThat(engine.nextTick()).isEqualTo(Ticks.NEVER);
    assertThat(engine.pendingTimeouts()).isEqualTo(1);
    assertThat(engine.afterShutDown(engine.shutDown())).containsExactly(pending);
  }

  /** Timeouts may be compared by identity only. The caller of stop may keep the result. */
  @Test
  void resultOfShutDownIsUnmodifiable() {
    PassiveTimer timer = timer(1, 0);
    Engine engine = timer.engine;
    timer.start(5);

    Set<Timeout> answer = engine.afterShutDown(engine.shutDown());

    assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(answer::clear);
  }

  private static PassiveTimer timer(int stripes, long maxPendingTimeouts) {
    return new PassiveTimer(Kind.HIERARCHICAL, 10, stripes, maxPendingTimeouts);
  }
}
